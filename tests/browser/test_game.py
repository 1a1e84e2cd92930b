"""The page of a game in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden.logs import FOLDER
from msgspec.structs import replace

from arena.core.record.log import ActionRecord, Log, read_log
from arena.core.show.presenter import Presenter
from arena.core.show.replay import Remark
from arena.pages.frames import film
from arena.pages.game_page import game_page

SPRITES = "document.querySelectorAll('[class^=layer] > *').length"
Look = Callable[..., Any]
PageOf = Callable[..., Path]
NARROW = (390, 844)


@pytest.fixture(scope="module")
def game(samurai: Log, page_of: PageOf) -> Path:
    return page_of(samurai)


@pytest.fixture(scope="module")
def frames(samurai: Log) -> list[Any]:
    found: list[Any] = film(samurai)[0]["frames"]
    return found


def test_keys_go_where_they_say(look: Look, game: Path, frames: list[Any]) -> None:
    last = len(frames) - 1
    gains = [at for at, frame in enumerate(frames) if "c" in frame.get("m", "")]
    with look() as seen:
        seen.open(game)
        assert seen.at() == (0, "all")
        assert seen.press("ArrowRight") == (1, "all")
        assert seen.press("l", "l", "h") == (2, "all")
        assert seen.press("PageDown") == (12, "all")
        assert seen.press("PageUp", "ArrowLeft") == (1, "all")
        assert seen.press("End") == (last, "all")
        assert seen.press("ArrowRight") == (last, "all")
        assert seen.press("Home", "ArrowLeft") == (0, "all")
        assert seen.press("c") == (gains[0], "all")
        assert seen.press("c", "c", "C") == (gains[1], "all")
        assert seen.press("Home", "ArrowDown")[0] == next(at for at, frame in enumerate(frames) if frame["t"] == 1)
        assert seen.press("ArrowDown", "ArrowUp")[0] == next(at for at, frame in enumerate(frames) if frame["t"] == 1)
        assert seen.press("1") == (seen.at()[0], "1")
        assert seen.press("0")[1] == "0"
        assert seen.press("5")[1] == "0"
        assert seen.press("a")[1] == "all"
        assert seen.press("Control+ArrowRight", "Alt+c") == seen.at()


def test_space_plays_and_pauses(look: Look, game: Path) -> None:
    with look() as seen:
        seen.open(game)
        seen.press("+", "+", "+", "+", " ")
        seen.until("arena.viewer.at().t > 3")
        assert seen.page.locator("button[aria-label='pause (space)']").count() == 1
        seen.press(" ")
        now = seen.at()
        seen.page.wait_for_timeout(150)
        assert seen.at() == now
        assert seen.page.locator("button[aria-label='play (space)']").count() == 1


def test_the_slider_buttons_marks_and_charts_go_there(look: Look, game: Path, frames: list[Any]) -> None:
    with look() as seen:
        seen.open(game)
        slider = seen.page.locator(".slider")
        slider.fill("20")
        assert seen.at()[0] == 20
        assert slider.get_attribute("aria-valuetext").startswith("Set-up: seat 1 bob puts")
        slider.focus()
        assert seen.press("ArrowRight")[0] == 21
        seen.page.get_by_label("back (←)").click()
        assert seen.at()[0] == 20
        seen.page.locator(".moment.c").nth(1).click()
        gains = [at for at, frame in enumerate(frames) if "c" in frame.get("m", "")]
        assert seen.at()[0] == gains[1]
        assert seen.page.locator(".moment").count() == sum(bool(frame.get("m")) for frame in frames)
        seen.page.locator(".chart.bars > svg").click(position={"x": 120, "y": 20})
        assert 0 < seen.at()[0] < gains[0]
        seen.page.locator(".eye").nth(2).click()
        assert seen.at()[1] == "1"
        assert seen.page.locator(".eye[aria-pressed=true]").inner_text() == "1"


def test_what_was_found_in_an_analysis_is_there(look: Look, samurai: Log, tmp_path: Path) -> None:
    lines = [line for line, record in enumerate(samurai.records, start=2) if isinstance(record, ActionRecord)]
    seat = next(record.seat for record in samurai.records if isinstance(record, ActionRecord))
    remarks = {
        line: Remark(seat, (f"cost {line} pieces",), "", at / len(lines), is_costly=at == 9)
        for at, line in enumerate(lines)
        if getattr(samurai.records[line - 2], "seat", None) == seat or at == 9
    }
    page = tmp_path / "analysed.html"
    page.write_text(game_page(samurai, None, remarks), encoding="utf-8")
    with look() as seen:
        seen.open(page)
        assert seen.press("m")[0] == 10
        assert seen.page.locator("p.costly").inner_text() == f"cost {lines[9]} pieces"
        assert seen.page.locator(".moment.k").count() == 1
        chart = seen.page.locator(".chart.odds")
        assert chart.inner_text().startswith("chance to be first")
        assert chart.locator("circle.costly").count() == 1
        chart.locator("svg").last.click(position={"x": 200, "y": 20})
        assert seen.at()[0] != 10
        assert seen.press("Home", "m", str((seat + 1) % len(samurai.header.bots)))[0] == 10
        assert seen.page.locator("p.costly").count() == 0, "other eyes are not told"


def test_the_address_names_the_moment(look: Look, game: Path) -> None:
    with look() as seen:
        seen.open(game, "#t=12&seat=1")
        assert seen.at() == (12, "1")
        seen.press("ArrowRight", "0")
        seen.until("location.hash === '#t=13&seat=0'")
        seen.press("a")
        seen.until("location.hash === '#t=13'")
        seen.page.evaluate("location.hash = '#t=5&seat=1'")
        seen.until("arena.viewer.at().t === 5")
        assert seen.at() == (5, "1")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("#t=abc&seat=__proto__", (0, "all")),
        ("#t=-1", (0, "all")),
        ("#t=1e3&seat=constructor", (0, "all")),
        ("#t=99999999999999999999", (0, "all")),
        ("#t=999999&seat=9", (-1, "all")),
        ("#seat=1", (0, "1")),
        ("#t=%00&seat=%3Cscript%3E", (0, "all")),
        ("#&&==", (0, "all")),
    ],
)
def test_a_wrong_address_does_no_harm(
    address: str, expected: tuple[int, str], look: Look, game: Path, frames: list[Any]
) -> None:
    with look() as seen:
        seen.open(game, address)
        assert seen.at() == (expected[0] % len(frames), expected[1])


def test_each_step_has_its_sentence(look: Look, game: Path, frames: list[Any]) -> None:
    gain = next(at for at, frame in enumerate(frames) if "c" in frame.get("m", ""))
    with look() as seen:
        seen.open(game, f"#t={gain}")
        seen.until("document.querySelector('[aria-live]').textContent.includes('captures')")
        spoken = seen.page.locator("[aria-live]").text_content()
        assert "Influence, " in spoken
        assert not set(spoken) & set("▲■●◆★")
        seen.press("w")
        assert "captures" not in seen.page.locator("dialog ul").inner_text()
        assert seen.page.locator("dialog ul li").count() > 20
        seen.press("Escape", "L")
        assert seen.page.locator("dialog .moves li").count() == len(frames)
        seen.page.locator("dialog .moves a").nth(3).click()
        assert seen.at()[0] == 3
        seen.press("?")
        assert "whose" not in seen.page.locator("dialog").inner_text()
        assert seen.page.locator("dialog kbd").count() > 15
        assert seen.press("ArrowRight")[0] == 3, "behind a dialog, keys do nothing"


def test_a_seats_eyes_hide_the_other_hand(look: Look, samurai: Log, game: Path, page_of: PageOf) -> None:
    with look() as seen:
        seen.open(game, "#t=20")
        hands = "[...document.querySelectorAll('.seat')].map(seat => seat.querySelector('.cell').innerHTML)"
        assert "#T1" in seen.page.evaluate(hands)[1]
        seen.press("0")
        own, other = seen.page.evaluate(hands)
        assert "#T0" in own
        assert "#B1" in other
        assert "#T1" not in other
        seen.open(page_of(samurai, 0), "#t=20&seat=1")
        assert seen.at() == (20, "0")
        assert "#T1" not in seen.page.evaluate(hands)[1]
        assert seen.page.locator(".eye").count() == 0
        assert seen.press("1") == (20, "0")


def test_what_bots_write_stays_text(look: Look, samurai: Log, page_of: PageOf) -> None:
    evil = "</script><script>document.title='hacked'</script><img src='https://example.org/x' onerror=alert(1)>\u202e\0"
    bots = [replace(bot, name=evil, version=evil) for bot in samurai.header.bots]
    records = [
        replace(record, note=evil + "A" * 1_000_000 if at == 3 else evil)
        if isinstance(record, ActionRecord)
        else record
        for at, record in enumerate(samurai.records)
    ]
    log = replace(samurai, header=replace(samurai.header, bots=bots), records=records)
    with look() as seen:
        seen.open(page_of(log, name="evil"))
        for key in ("ArrowRight",) * 12:
            seen.press(key)
        seen.press("w", "Escape", "L", "Escape")
        assert "<img" in seen.page.locator(".note").first.inner_text()
        assert seen.page.locator("img").count() == 0
        assert seen.page.locator("script").count() == 2
        assert "hacked" not in seen.page.title()[:6]
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


WINDOWS = [(1280, 800), (1440, 900), NARROW, (860, 700), (320, 600)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", WINDOWS, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "seats"), [("samurai", 4), ("gardener", 5)])
def test_it_fits_every_window(
    name: str, seats: int, size: tuple[int, int], look: Look, game_of: Any, page_of: PageOf
) -> None:
    game = page_of(game_of(name, seats), name=f"{name}{seats}")
    with look(*size) as seen:
        seen.open(game, "#t=60")
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        board = seen.page.locator(".board > svg").first.bounding_box()
        assert board["width"] > 0.6 * min(size[0], 800)
        assert all(score.bounding_box()["height"] >= 8 for score in seen.page.locator(".board .score").all())
        bar = seen.page.locator("footer").bounding_box()
        assert bar["y"] + bar["height"] <= size[1] + 1
        if size[0] > 860:
            assert seen.page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "nothing scrolls"
            side = seen.page.evaluate(
                "(({scrollHeight, clientHeight}) => [scrollHeight, clientHeight])(document.querySelector('aside'))"
            )
            assert side[0] <= side[1] + 1, "nothing scrolls beside the board"
        small = [
            (box["width"], box["height"])
            for button in seen.page.locator(".controls button:visible").all()
            if (box := button.bounding_box()) and (box["width"] < 34 or box["height"] < 33)
        ]
        assert small == []


def test_dark_is_asked_of_the_system_and_turned_by_a_key(look: Look, game: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with look(color_scheme="dark") as seen:
        seen.open(game)
        assert seen.page.evaluate(colour) == "rgb(23, 25, 30)"
        seen.press("d")
        assert seen.page.evaluate(colour) == "rgb(253, 250, 243)"
        seen.press("d")
        assert seen.page.evaluate(colour) == "rgb(23, 25, 30)"
        seen.page.emulate_media(media="print")
        assert not seen.page.locator("footer").is_visible()
        assert seen.page.locator(".board").is_visible()


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["gardener-race", "samurai-forfeits", "gardener-absent"])
def test_other_games_open_and_are_stepped_through(name: str, look: Look, page_of: PageOf) -> None:
    log = read_log(FOLDER / f"{name}.jsonl")
    data = film(log)[0]
    with look() as seen:
        seen.open(page_of(log))
        last = len(data["frames"]) - 1
        seen.press("End")
        assert seen.press(*("ArrowLeft",) * min(40, last))[0] == max(0, last - 40)
        seen.press(*("ArrowRight",) * 40)
        drawn = seen.page.evaluate(SPRITES)
        seen.press("Home")
        seen.press("End")
        assert seen.page.evaluate(SPRITES) == drawn
        assert seen.page.locator(".moment.f").count() == sum("f" in frame.get("m", "") for frame in data["frames"])
        if name != "gardener-race":
            seen.press("Home", "m")
            assert seen.page.locator(".fault").count() >= 1


def test_a_game_without_a_drawing_is_a_table(
    look: Look, samurai: Log, page_of: PageOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.core.show.replay.presenter", lambda name: Presenter)
    with look() as seen:
        seen.open(page_of(samurai, name="plain"), "#t=20")
        assert seen.page.locator(".fields thead th").count() == 3
        assert seen.page.locator(".fields tbody tr").count() > 10
        assert seen.page.locator(".fields .changed").count() > 0
        seen.press("1")
        assert seen.page.locator(".fields thead th").count() == 2


def test_a_frame_can_be_added(look: Look, game: Path) -> None:
    """As a live game does."""
    with look() as seen:
        seen.open(game)
        last, _ = seen.press("End")
        frame = {"t": 99, "v": [1, 1], "w": {"h": 0}, "d": {"t3": None, "#0.stack": "7"}}
        seen.page.evaluate("frame => arena.viewer.append(frame)", frame)
        assert seen.at() == (last + 1, "all")
        assert seen.page.locator(".seat").first.get_by_text("7", exact=True).count() == 1
        seen.press("Home")
        seen.page.evaluate("frame => arena.viewer.append(frame, ['more'])", frame)
        assert seen.at() == (0, "all")


@pytest.mark.long
def test_what_a_narrow_bar_has_no_room_for_is_behind_a_button(
    look: Look, samurai: Log, page_of: Callable[..., Path]
) -> None:
    """A phone has no keys: each control of the wide bar can be reached by touch."""
    page = page_of(samurai)
    with look() as seen:
        seen.open(page)
        assert not seen.page.locator(".narrow").is_visible()
    for width, height in ((390, 844), (320, 600)):
        with look(width=width, height=height, has_touch=True) as seen:
            seen.open(page)
            more, opened = seen.page.locator(".narrow"), seen.page.locator("dialog[open]")

            def do(what: str, seen: Any = seen, more: Any = more, opened: Any = opened) -> None:
                more.tap()
                opened.get_by_role("button", name=what).tap()

            do("to the last")
            last = seen.at()[0]
            assert last > 3
            assert not opened.is_visible()
            do("to the first")
            assert seen.at()[0] == 0
            do("list of moves")
            assert opened.get_by_role("heading").inner_text() == "Moves"
            opened.get_by_role("button", name="close").tap()
            do("this moment in words")
            assert "in words" in opened.get_by_role("heading").inner_text()
            opened.get_by_role("button", name="close").tap()
            do("all keys")
            assert opened.get_by_role("heading").inner_text() == "Keys"
            opened.get_by_role("button", name="close").tap()
            do("dark or light")
            assert seen.page.evaluate("document.documentElement.classList.contains('dark')")
            more.tap()
            opened.get_by_label("speed").select_option("16")
            opened.get_by_role("button", name="close").tap()
            assert seen.page.evaluate("document.querySelector('.controls select').value") == "16"
            more.tap()
            assert opened.get_by_label("speed").input_value() == "16"
            assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
