"""Writes the README's pictures into a folder, small: `make pictures`."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from browser_kit import chromium_or_exit, launch, played
from command_kit import arena
from PIL import Image
from playwright.sync_api import sync_playwright
from screenshots import tournament
from walk import record

from arena.core.record.log import read_log
from arena.learn.analysis.analyse import analyse
from arena.learn.analysis.words import AnalysisWords
from arena.pages.game_page import game_page

COLOURS = 200  # so many colours has a picture: enough for what is drawn in flat ones


def main(folder: Path) -> None:
    """Writes the pictures, and prints their names and sizes."""
    program = chromium_or_exit()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = launch(playwright, program)
        site = tournament(Path(made), deals=10)
        gardens = Path(made) / "gardens.html"
        gardens.write_text(game_page(played(Path(made), "gardener", 3)), encoding="utf-8")
        [game] = site.glob("*/game.html")
        shoot(browser, f"{site}/index.html", folder / "site.png", (1180, 800))
        number = meeting(game.with_name("games-0.html"), "daimyo", "greedy")
        shoot(browser, f"{game}?n={number}#t=0", folder / "game.png", (1280, 800), keys="cccccc")
        shoot(
            browser,
            f"{analysed(site.parent, site.parent / 'analysed.html')}#t=0",
            folder / "analysis.png",
            (1280, 800),
            keys="m",
        )
        shoot(browser, f"{gardens}#t=60&seat=1", folder / "seat-dark.png", (1280, 800), color_scheme="dark")
        shoot(browser, f"{tuned(Path(made) / 'tuned')}/index.html", folder / "tuning.png", (1180, 560))
        record(browser, Path(made), folder / "author.webp")
        browser.close()


def tuned(folder: Path) -> Path:
    """Tunes a planner with five spoiled weights, and returns the folder of its page."""
    folder.mkdir()
    spoiled = "planner@face_up=20,future=2,open_end=8,spite=3,spread=20"
    words = ("--rules", "gardener", "--ruleset", "draft", "--time", "20ms/move", "--rounds", "30", "--max-deals", "0")
    arena(folder, "tune", spoiled, *words, "--concurrency", "2", "--seed", "picture")
    arena(folder, "site")
    return next((folder / "site").glob("*/index.html")).parent


def analysed(folder: Path, page: Path) -> Path:
    """Writes the page of the first game that `banzai` lost to `greedy` by some decision, with what was found."""
    for path in sorted((folder / "logs").rglob("*.jsonl")):
        log = read_log(path)
        bots = [bot.name for bot in log.header.bots]
        if bots == ["greedy", "banzai"] and log.outcome.ranks == [1, 2]:
            found = analyse(log, 1, processes=2)
            if found.marks:
                page.write_text(game_page(log, None, AnalysisWords(log, found).remarks()), encoding="utf-8")
                return page
    raise AssertionError("expected a game that banzai lost by a decision, got: none")


def meeting(page: Path, *bots: str) -> str:
    """The number of a game in a list of games that these played."""
    rows = re.findall(r'id="g(\d+)"(.*?)</tr>', page.read_text(encoding="utf-8"))
    return next(number for number, row in rows if all(f">{bot}</a>" in row for bot in bots))


def shoot(browser: Any, address: str, file: Path, size: tuple[int, int], *, keys: str = "", **options: Any) -> None:
    """Writes one picture, after some keys were pressed."""
    window = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **options)
    window.goto(f"file://{address}")
    if "#" in address:
        window.wait_for_selector("html[data-ready]", state="attached")
    for key in keys:
        window.keyboard.press(key)
    image = Image.open(io.BytesIO(window.screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    window.close()
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
