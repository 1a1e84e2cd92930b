"""A person at the board in a real browser: whole games by clicks and by keys, and all that can happen on the way."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.core.record.log import ForfeitRecord, Log, OutcomeRecord, read_log
from tests.command_kit import started

Look = Callable[..., Any]
NARROW = {"width": 400, "height": 820}
STATE = """(() => {
  const ask = document.querySelector(".ask"), now = (name) => ask.classList.contains(`is-${name}`);
  if (now("over") || now("gone")) return ask.textContent.includes("play again") ? "over" : "ending";
  return now("asked") ? "asked" : "waiting";
})()"""
COUNTS = "['.ring', '.pick', '.ask .main'].map((name) => document.querySelectorAll(name).length)"
NUMBERED = """['.pick kbd', '.ring-number', '.ring title'].flatMap((kind) =>
  [...document.querySelectorAll(kind)].map((one) => one.textContent)).join(' ')"""
"""The numbers of what is offered, among words; first those that are written beside it."""
SHOWN = """document.querySelector(".ask").textContent + document.querySelectorAll(".ring").length
  + document.querySelector(".place").textContent"""


class Sitter:
    """A person at a page."""

    def __init__(self, seen: Any, url: str, folder: Path, process: subprocess.Popen[str]) -> None:
        self.seen, self.page, self.url, self.folder, self.process = seen, seen.page, url, folder, process
        seen.ours = (url.split("?")[0], "data:")
        self.opens()

    def opens(self) -> None:
        self.page.goto(self.url)
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def waits(self) -> str:
        """Waits until something is asked, or the game is over."""
        self.seen.until(f"['asked', 'over'].includes({STATE})")
        state: str = self.page.evaluate(STATE)
        return state

    def does(self, act: Callable[[], object]) -> None:
        """Does something, and waits until the page shows something else."""
        before = self.page.evaluate(SHOWN)
        act()
        for _ in range(1000):
            if self.page.evaluate(SHOWN) != before:
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"expected the page to change, it still shows: {before}")

    def asked(self) -> str:
        text: str = self.page.locator(".ask").inner_text()
        return text

    def log(self) -> Log:
        [path] = self.folder.glob("logs/play-*/*.jsonl")
        return read_log(path)


@contextmanager
def seated(look: Look, folder: Path, *words: str, **options: Any) -> Iterator[Sitter]:
    with (
        started(folder, "play", "--web", *words) as process,
        look(offline=False, **{"reduced_motion": "reduce", **options}) as seen,
    ):
        assert process.stderr is not None
        assert "open this address" in process.stderr.readline()
        yield Sitter(seen, process.stderr.readline().strip(), folder, process)


def clicks(sitter: Sitter, rng: random.Random) -> None:
    """Clicks on something that is offered."""
    rings, picks, sends = sitter.page.evaluate(COUNTS)
    if sends and (not rings + picks or rng.random() < 0.5):
        sitter.does(sitter.page.locator(".ask .main").click)
    elif rings:
        sitter.does(lambda: sitter.page.locator(".ring").nth(rng.randrange(rings)).click(force=True))
    else:
        sitter.does(sitter.page.locator(".pick").nth(rng.randrange(picks)).click)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "words",
    [
        ("random", "--ruleset", "basic", "--seat", "1"),
        ("--rules", "gardener", "random", "--players", "5", "--rule", "target=1"),
    ],
    ids=["samurai", "gardener"],
)
def test_a_person_plays_a_whole_game_by_clicks(look: Look, tmp_path: Path, words: tuple[str, ...]) -> None:
    rng = random.Random(1)
    with seated(look, tmp_path, *words, "--seed", "tea") as sitter:
        for _ in range(400):
            if sitter.waits() == "over":
                break
            clicks(sitter, rng)
        assert re.search("You have won!|you are number [2-5]", sitter.asked())
        assert "logs/play-" in sitter.asked()
        log = sitter.log()
        last = log.records[-1]
        assert isinstance(last, OutcomeRecord)
        assert last.termination == "finished"
        assert not any(isinstance(record, ForfeitRecord) for record in log.records)
        assert sitter.page.locator(".eye").count() == 0
        sitter.page.get_by_text("look at the game").click()
        sitter.seen.until("document.querySelectorAll('.eye').length > 0")
        assert sitter.page.locator(".eye").count() == log.header.settings.players + 1
        sitter.page.keyboard.press("End")
        assert "rank 1" in sitter.page.locator(".seats").inner_text()
        sitter.page.get_by_text("leave").click()
        assert sitter.process.wait(60) == 0
        assert sitter.process.stdout is not None
        assert "1. " in sitter.process.stdout.read()


@pytest.mark.thorough
def test_a_person_plays_a_whole_game_by_keys(look: Look, tmp_path: Path) -> None:
    words = (
        "--rules",
        "gardener",
        "random",
        "--players",
        "5",
        "--ruleset",
        "young",
        "--rule",
        "target=1",
        "--seed",
        "tea",
    )
    with seated(look, tmp_path, *words, **NARROW) as sitter:
        for turn in range(400):
            if sitter.waits() == "over":
                break
            rings, picks, _ = sitter.page.evaluate(COUNTS)
            if not rings + picks:
                sitter.does(lambda: sitter.page.keyboard.press("Enter"))
            elif turn % 3:  # by number
                found = re.search(r"\d+", sitter.page.evaluate(NUMBERED))
                if found is None and sitter.waits() == "asked":
                    continue  # somebody else was faster, and something else is asked now
                assert found
                sitter.does(lambda found=found: sitter.page.keyboard.type(found[0] + "\n"))
            else:
                sitter.page.locator(".ring, .pick").first.focus()
                sitter.page.keyboard.press("ArrowRight")
                sitter.page.keyboard.press("ArrowDown")
                assert sitter.page.evaluate("!!document.activeElement.closest('.ring, .pick')")
                sitter.does(lambda: sitter.page.keyboard.press("Enter"))
            assert sitter.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "The log:" in sitter.asked()


@pytest.mark.long
def test_a_turn_is_undone_and_survives_a_reload_and_another_window(look: Look, tmp_path: Path) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "basic", "--seed", "tea", color_scheme="dark") as sitter:
        page = sitter.page
        sitter.waits()
        assert "Which tile?" in sitter.asked()
        page.evaluate("document.querySelector('.board > svg').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        assert "First choose" in sitter.asked()
        tiles = "document.querySelectorAll('.layer2 > *').length"
        before = page.evaluate(tiles)
        sitter.does(page.locator(".pick").first.click)
        assert "On which space?" in sitter.asked()
        ring = page.locator(".ring").nth(3)
        ring.hover(force=True)
        assert page.evaluate(tiles) == before + 1, "the board shows what the choice would do"
        page.mouse.move(2, 2)
        assert page.evaluate(tiles) == before
        page.keyboard.type("0")
        assert page.evaluate(tiles) == before, "space 0 is sea"
        assert "expected one of the numbers shown, got: 0" in sitter.asked()
        sitter.does(lambda: ring.click(force=True))
        assert page.evaluate(tiles) == before + 1
        shown = sitter.asked()
        page.reload()
        page.wait_for_selector("html[data-ready]", state="attached")
        assert sitter.asked() == shown
        assert page.evaluate(tiles) == before + 1
        sitter.does(lambda: page.keyboard.press("Backspace"))
        sitter.does(lambda: page.keyboard.press("Backspace"))
        assert "Which tile?" in sitter.asked()
        assert page.evaluate(tiles) == before
        page.keyboard.press("Backspace")
        assert "There is nothing to undo." in sitter.asked()
        other = page.context.new_page()
        other.goto(sitter.url)
        other.wait_for_selector("html[data-ready]", state="attached")
        sitter.seen.until("document.querySelector('.ask').textContent.includes('open in another window')")
        assert page.locator(".ring, .pick").count() == 0
        sitter.page.get_by_text("play here").click()
        page.wait_for_selector(".pick")
        page.keyboard.press("?")
        assert "set aside for nobody" in page.locator("dialog[open]").inner_text()
        page.keyboard.press("Escape")
        os.killpg(sitter.process.pid, signal.SIGTERM)  # as a service manager does it: the worker hears it too
        assert sitter.process.wait(60) == 128 + signal.SIGTERM
        assert "Interrupted: a game that is not over has no log." in sitter.process.stderr.read()  # type: ignore[union-attr]
        assert not list(tmp_path.glob("logs/*/*.jsonl"))


@pytest.mark.long
def test_what_the_others_did_is_shown_step_by_step(look: Look, tmp_path: Path) -> None:
    words = ("random", "random", "--ruleset", "basic", "--seed", "tea")
    with seated(look, tmp_path, *words, reduced_motion="no-preference") as sitter:
        page = sitter.page
        page.wait_for_selector(".pick")
        sitter.does(page.locator(".pick").first.click)
        sitter.does(lambda: page.locator(".ring").first.click(force=True))
        frames = page.evaluate("arena.viewer.at().frames")
        page.locator(".ask .main").click()
        sitter.seen.until(f"arena.viewer.at().frames === {frames + 3}")
        sitter.seen.until(f"arena.viewer.at().t === {frames + 1}")
        assert "This is what happened before your turn." in sitter.asked()
        assert page.locator(".ring, .pick").count() == 0
        sitter.seen.until(f"arena.viewer.at().t === {frames + 2}")
        sitter.seen.until("document.querySelectorAll('.pick').length > 0")
        said = page.locator(".say").inner_text()
        assert "random places" in said or "random" in said
        assert "#2" in said, "all that happened is told"
        page.keyboard.press("ArrowLeft")
        assert page.locator(".pick").count() == 0
        page.keyboard.press("Enter")
        page.wait_for_selector(".pick")


@pytest.mark.long
def test_the_clock_runs_and_a_late_person_is_told(look: Look, tmp_path: Path) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "basic", "--time", "3s/move") as sitter:
        sitter.page.wait_for_selector(".clock")
        assert re.fullmatch("0:0[0-3]", sitter.page.locator(".clock").inner_text())
        sitter.seen.until(f"{STATE} === 'over'")
        assert "Your time was over" in sitter.asked()
        sitter.page.get_by_text("play again").click()
        sitter.page.wait_for_selector(".clock")


TOLD = """(() => {
  window.told = [];
  for (const place of document.querySelectorAll('[role=status], [role=alert], [aria-live]'))
    new MutationObserver(() => told.push(place.textContent))
      .observe(place, {childList: true, characterData: true, subtree: true});
})()"""
"""Notes what changes in places whose changes a screen reader tells."""


@pytest.mark.long
def test_what_is_asked_is_told_and_choices_are_named_by_it(look: Look, tmp_path: Path) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "basic", "--seed", "tea") as sitter:
        page = sitter.page
        sitter.waits()
        page.evaluate(TOLD)
        assert page.get_by_role("group", name=re.compile("Which tile")).get_by_role("button").count() > 1
        page.locator(".pick").first.focus()
        sitter.does(lambda: page.keyboard.press("Enter"))
        assert any("On which space?" in words for words in page.evaluate("told"))
        board = page.get_by_role("group", name=re.compile("On which space"))
        assert board.get_by_role("button").count() > 1
        assert page.evaluate("!!document.activeElement.closest('.ring')")
        before = len(page.evaluate("told"))
        page.keyboard.type("9")
        page.keyboard.press("Backspace")
        assert not any("On which space?" in words for words in page.evaluate("told")[before:]), "not told again"


@pytest.mark.long
def test_the_focus_stays_where_it_is_asked_while_others_decide(look: Look, tmp_path: Path) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "basic", "--seed", "tea") as sitter:
        page = sitter.page
        for _ in range(12):
            sitter.waits()
            page.locator(".ring, .pick, .ask .main").first.focus()
            sitter.does(lambda: page.keyboard.press("Enter"))
            sitter.waits()
            assert page.evaluate(
                "document.activeElement !== document.body && !!document.activeElement.closest('.ask, .ring')"
            )


@pytest.mark.long
def test_the_bar_names_the_turn_that_is_asked_for(look: Look, tmp_path: Path) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "basic", "--seed", "tea", "--seat", "0") as sitter:
        for _ in range(3):
            sitter.waits()
            heading = sitter.page.locator(".say h2").inner_text()
            [turn] = re.findall(r"Turn (\d+): your turn", heading)
            assert sitter.page.locator(".place").inner_text().endswith(f"Turn {turn}")
            clicks(sitter, random.Random(1))


@pytest.mark.long
def test_of_the_tiles_for_a_first_hand_the_chosen_are_drawn_and_the_numbers_stay_free(
    look: Look, tmp_path: Path
) -> None:
    with seated(look, tmp_path, "random", "--ruleset", "standard", "--seed", "tea") as sitter:
        page = sitter.page
        for chosen in range(3):
            sitter.waits()
            assert page.locator(".asked .taken").count() == chosen
            sitter.does(page.locator(".pick").last.click)
        covered = page.evaluate("""[...document.querySelectorAll('.pick.pictured')].filter((pick) => {
          const number = document.createRange(), tile = pick.querySelector('.item').getBoundingClientRect();
          number.selectNodeContents(pick.querySelector('kbd'));
          const box = number.getBoundingClientRect();
          // The tile is a hexagon with flat top: its upper left corner is free, a quarter wide and half as high.
          const right = box.right - tile.left, low = box.bottom - 3 - tile.top;  // figures have no descenders
          return right > 0 && low > 0 && right / (tile.width / 4) + low / (tile.height / 2) > 1.15;
        }).length""")
        assert covered == 0
