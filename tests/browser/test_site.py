"""The site of a database in a real browser, opened from disk."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_kit import COLOURED
from web_kit import served

from arena.core.record.log import Log
from arena.pages.game_page import game_page
from arena.pages.web import site_app
from tests import site_kit

Look = Callable[..., Any]
NARROW = {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site of two tournaments, and the identifier of the larger one, which is the latest."""
    folder = tmp_path_factory.mktemp("cup")
    site_kit.tournament(folder, ("ann", "bob"), seed="before")
    id = site_kit.tournament(folder, ("ann", *(f"bot{number}" for number in range(8))), real=4)
    site_kit.make(folder)
    return folder / "site", id


def visit(seen: Any, file: Path, address: str = "") -> None:
    seen.page.goto(f"file://{file}{address}")
    seen.page.wait_for_load_state("load")


def test_every_page_loads_without_an_error_and_fits(look: Look, cup: tuple[Path, str]) -> None:
    """Wide and narrow, light and dark: nothing is asked of a network, and nothing makes the page scroll sideways."""
    site, id = cup
    pages = [site / "index.html", *(site / id / name for name in ("index.html", "bot-0.html", "games-0.html"))]
    for options in ({}, {**NARROW, "color_scheme": "dark"}):
        with look(**options) as seen:
            for page in pages:
                visit(seen, page)
                assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
                assert seen.page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
                assert seen.page.locator("h1").count() == 1
            missing = "[...document.querySelectorAll('table')].filter(table => !table.caption).length"
            assert seen.page.evaluate(missing) == 0


def test_a_long_remark_beside_a_bot_hides_no_rating_on_a_phone(look: Look, cup: tuple[Path, str]) -> None:
    with look(**NARROW) as seen:
        visit(seen, cup[0] / cup[1] / "index.html")
        table = seen.page.locator(".standings")
        table.locator(".version").first.evaluate("span => span.innerText = 'dora, provisional, remote, uncontrolled'")
        assert table.evaluate("table => table.offsetWidth <= table.parentElement.clientWidth")


def test_served_pages_run_no_script_but_the_sites_and_that_of_a_games_page(
    browser: Any, cup: tuple[Path, str], samurai: Log, tmp_path: Path
) -> None:
    """What would get into a page could act for an author who is signed in beside it."""
    folder = Path(shutil.copytree(cup[0], tmp_path / "site"))
    (folder / "alone.html").write_text(game_page(samurai))
    inside = "<script>document.title = 'ran'</script><img src=data:, onerror='document.title = 1'>"
    index = (
        (folder / "index.html").read_text().replace("<meta http-equiv", "<meta name").replace("</h1>", f"</h1>{inside}")
    )
    (folder / "index.html").write_text(index)
    alone = (folder / "alone.html").read_text().replace("</body>", f"{inside}</body>")
    (folder / "changed.html").write_text(alone.replace("<meta http-equiv", "<meta name"))
    with browser.new_context() as context:
        page = context.new_page()
        with served(site_app(folder, ("live/", "live"), [])) as listening:
            for name in ("alone.html", "changed.html", f"{cup[1]}/game.html?n=2"):
                page.goto(f"http://127.0.0.1:{listening.port}/{name}")
                page.wait_for_selector("html[data-ready]", state="attached")
                page.reload()
                page.wait_for_selector("html[data-ready]", state="attached")
                assert "ran" not in page.title()
                assert page.evaluate(COLOURED)
            page.goto(f"http://127.0.0.1:{listening.port}/")
            assert page.title() not in ("ran", "1")


@pytest.mark.long
def test_dark_pages_have_the_dark_picture(look: Look, cup: tuple[Path, str]) -> None:
    shown = {}
    for scheme in ("light", "dark"):
        with look(color_scheme=scheme) as seen:
            visit(seen, cup[0] / "index.html")
            shown[scheme] = seen.page.evaluate("document.querySelector('.plot').currentSrc")
    assert re.sub("light", "dark", shown["light"].rpartition("/")[2]) == shown["dark"].rpartition("/")[2]
    assert shown["light"] != shown["dark"]


def test_links_lead_from_the_first_page_to_a_replay_and_on(look: Look, cup: tuple[Path, str]) -> None:
    site, id = cup
    with look() as seen:
        visit(seen, site / "index.html")
        seen.page.get_by_role("link", name="all games").click()
        seen.page.get_by_role("link", name="watch game 2").click()
        seen.page.wait_for_selector("html[data-ready]", state="attached")
        seen.until("location.hash === '#t=0'")
        assert seen.page.url.endswith(f"{id}/game.html?n=2#t=0")
        assert seen.page.title() == "bot6 v. ann · game 2", "as they were entered"
        frames = seen.page.evaluate("arena.viewer.at().frames")
        assert frames > 30
        seen.press("End", "1")
        assert seen.at() == (frames - 1, "1")
        assert seen.page.locator("svg .ground > *").count() > 20
        seen.until("location.hash.includes('seat=1')")
        seen.page.get_by_role("link", name="game 1").click()
        seen.page.wait_for_selector("html[data-ready]", state="attached")
        assert seen.at()[0] == 0
        seen.page.get_by_role("link", name="standings").click()
        seen.page.get_by_role("link", name="bot3").first.click()
        assert seen.page.locator("h1").inner_text().startswith("bot3")
        seen.page.get_by_role("link", name="Cup").click()
        seen.page.get_by_role("link", name=re.compile("Samurai")).last.click()
        assert id not in seen.page.url


@pytest.mark.quick(1)
@pytest.mark.parametrize("address", ["", "?n=", "?n=__proto__", "?n=../../x", "?n=1e3", "?n=12345678", "?n=%3Cimg%3E"])
def test_a_wrong_number_of_a_game_does_no_harm(address: str, look: Look, cup: tuple[Path, str]) -> None:
    with look() as seen:
        seen.open(cup[0] / cup[1] / "game.html", address)
        assert "No game is named" in seen.page.locator("h1").inner_text()


@pytest.mark.long
def test_of_a_game_without_a_replay_it_is_said(look: Look, cup: tuple[Path, str]) -> None:
    with look() as seen:
        seen.open(cup[0] / cup[1] / "game.html", "?n=77")
        assert "There is no replay of game 77" in seen.page.locator("h1").inner_text()
        assert seen.page.get_by_role("link", name="all games").count() == 1
        seen.console.clear()  # the browser says that the file is missing


def test_hostile_names_do_nothing(look: Look, tmp_path: Path) -> None:
    import json
    import sqlite3

    id = site_kit.tournament(tmp_path, ("ann", "bob"))
    with sqlite3.connect(tmp_path / "arena.db") as database:
        database.execute("UPDATE entrants SET name = ?, version = ? WHERE number = 1", (site_kit.EVIL * 9, "v"))
        database.execute(site_kit.WORDS, (site_kit.EVIL, json.dumps([site_kit.EVIL])))
    site_kit.make(tmp_path)
    for options in ({}, NARROW):
        with look(**options) as seen:
            for name in ("index.html", "bot-1.html", "games-0.html"):
                visit(seen, tmp_path / "site" / id / name)
                assert seen.page.title() != "hacked"
                assert seen.page.locator("script").count() == 0
                assert seen.page.locator("img").count() <= 1
                assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_everything_is_reached_by_keys(look: Look, cup: tuple[Path, str]) -> None:
    with look() as seen:
        visit(seen, cup[0] / "index.html")
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.textContent") == "to the content"
        reached = set()
        for _ in range(80):
            seen.page.keyboard.press("Tab")
            reached.add(seen.page.evaluate("document.activeElement.getAttribute('href')"))
        assert {f"{cup[1]}/bot-0.html", f"{cup[1]}/games-0.html", "#all"} <= reached


@pytest.mark.thorough
def test_the_site_of_ten_thousand_games_opens_and_grows_in_under_a_second(look: Look, tmp_path: Path) -> None:
    bots = ("ann", *(f"bot{number}" for number in range(20)))
    id = site_kit.tournament(tmp_path, bots, deals=1, games=420)
    site_kit.repeat(tmp_path, id, 420, range(1, 24))
    first = site_kit.make(tmp_path)
    site_kit.repeat(tmp_path, id, 420, range(24, 25))
    began = time.process_time()
    grown = site_kit.make(tmp_path)
    assert time.process_time() - began < 2.0, "0.7 s of a core; other machines are slower"
    assert first.pages == 21 + 21 + 3
    assert grown.pages == 21 + 1 + 3, "of the lists of games only the last; the page of a game knows which is the last"
    with look() as seen:
        visit(seen, tmp_path / "site" / "index.html")  # the browser itself starts
        took = []
        for page in ("index.html", f"{id}/bot-0.html", f"{id}/games-3.html", f"{id}/game.html?n=1"):
            began = time.monotonic()
            visit(seen, tmp_path / "site", f"/{page}")
            took.append(time.monotonic() - began)
        assert sorted(took)[1] < 1.0, took
    assert max(path.stat().st_size for path in (tmp_path / "site").rglob("*")) < 300_000
