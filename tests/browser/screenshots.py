"""Writes pictures of each kind of page into a folder, light and dark, wide and narrow: `make screenshots`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from browser_kit import chromium_or_exit, launch, played
from command_kit import started
from golden.logs import FOLDER
from playwright.sync_api import sync_playwright

from arena.core.record.log import Log, read_log
from arena.core.show import replay
from arena.core.show.presenter import Presenter
from arena.pages.game_page import game_page

WIDE, NARROW = (1280, 800), (390, 844)
LOOKS = (
    ("light", WIDE, "light"),
    ("dark", WIDE, "dark"),
    ("narrow", NARROW, "light"),
    ("narrow-dark", NARROW, "dark"),
)
CRASHING = f"cmd:{sys.executable} -c 1/0"


def main(folder: Path) -> None:
    """Writes the pictures, and prints their names."""
    program = chromium_or_exit()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = launch(playwright, program)
        for name, page in pages(Path(made)):
            for address, at in (("begin", 0), ("middle", -40), ("end", -1)):
                shoot(browser, page, folder / f"{name}-{address}.png", at, WIDE)
            shoot(browser, page, folder / f"{name}-dark.png", -2, WIDE, color_scheme="dark")
            shoot(browser, page, folder / f"{name}-eyes.png", -2, WIDE, eyes="1")
            shoot(browser, page, folder / f"{name}-narrow.png", -2, NARROW)
            shoot(browser, page, folder / f"{name}-narrow-dark.png", -2, NARROW, color_scheme="dark")
        site = tournament(Path(made), CRASHING)
        for page in (site / "index.html", *sorted(site.glob("*/bot-[01].html")), *site.glob("*/games-0.html")):
            for name, size, scheme in LOOKS:
                shoot_whole(browser, page, folder / f"site-{page.stem}-{name}.png", size, scheme)
        shoot_live(browser, Path(made) / "live", folder)
        for rules in ("samurai", "gardener"):
            shoot_seat(browser, Path(made) / f"play-{rules}", folder, rules)
        browser.close()


def tournament(folder: Path, *more: str, deals: int = 3) -> Path:
    """Plays a tournament of the bundled bots and more, and returns the folder of its site."""
    arena = [sys.executable, "-m", "arena"]
    words = ("tournament", "random", "greedy", "daimyo", "banzai", *more, "--deals", str(deals), "--seed", "a")
    subprocess.run([*arena, *words, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*arena, "site", "--replays", "all", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "site"


def shoot_whole(browser: Any, page: Path, file: Path, size: tuple[int, int], scheme: str) -> None:
    """Writes a picture of a whole page of a site."""
    window = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    window.goto(f"file://{page}")
    window.screenshot(path=file, full_page=True)
    window.close()
    print(file)


def shoot_looks(window: Any, stem: Path) -> None:
    """Writes pictures of what a window shows now."""
    for name, size, scheme in LOOKS:
        window.set_viewport_size({"width": size[0], "height": size[1]})
        window.emulate_media(color_scheme=scheme)
        file = stem.with_name(f"{stem.name}-{name}.png")
        window.screenshot(path=file, full_page=True)
        print(file)


def shoot_live(browser: Any, place: Path, folder: Path) -> None:
    """Writes pictures of `arena watch --web` while a tournament is played."""
    place.mkdir()
    with started(place, "watch", "--web") as process:
        assert process.stdout is not None
        context = browser.new_context()
        window = context.new_page()
        window.goto(process.stdout.readline().strip())
        with started(place, "tournament", "random", "greedy", "banzai", "--players", "3", "--deals", "200", "-q"):
            window.wait_for_selector("#finished .row:nth-child(5)")
            window.frame_locator("iframe:not(.next)").locator("use[href^='#T']").first.wait_for(state="attached")
            shoot_looks(window, folder / "live")
        context.close()


def shoot_seat(browser: Any, place: Path, folder: Path, rules: str) -> None:
    """Writes pictures of `arena play --web`: the first thing that is asked, and what a choice leads to."""
    place.mkdir()
    with started(place, "play", "--web", "random", "--rules", rules, "--seed", "tea") as process:
        assert process.stderr is not None
        process.stderr.readline()
        window = browser.new_page(reduced_motion="reduce")
        window.goto(process.stderr.readline().strip())
        window.wait_for_selector(".pick, .ring")
        shoot_looks(window, folder / f"play-{rules}-first")
        asked = window.inner_text(".ask")
        window.locator(".pick, .ring").first.click(force=True)
        window.locator(".ask").filter(has_not_text=asked).wait_for()
        shoot_looks(window, folder / f"play-{rules}-chosen")
        window.close()


def pages(folder: Path) -> Any:
    """Yields the pages to be looked at, with their names."""
    games: dict[str, Log] = {}
    for name, counts in (("samurai", (2, 3, 4)), ("gardener", (2, 3, 4, 5))):
        for seats in counts:
            games[f"{name}-{seats}"] = played(folder, name, seats)
    for name in ("samurai-forfeits", "gardener-race"):
        games[name] = read_log(FOLDER / f"{name}.jsonl")
    for name, log in games.items():
        path = folder / f"{name}.html"
        path.write_text(game_page(log), encoding="utf-8")
        yield name, path
    shown, replay.presenter = replay.presenter, lambda name: Presenter  # type: ignore[assignment]
    path.write_text(game_page(games["samurai-2"]), encoding="utf-8")
    replay.presenter = shown  # type: ignore[assignment]
    yield "without-a-drawing", path


def shoot(browser: Any, page: Path, file: Path, at: int, size: tuple[int, int], eyes: str = "", **options: Any) -> None:
    """Writes one picture; `at` is the frame, or from the end if it is negative."""
    window = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **options)
    window.goto(f"file://{page}")
    window.wait_for_selector("html[data-ready]", state="attached")
    window.evaluate(
        "([at, eyes]) => arena.viewer.go(at < 0 ? Math.max(0, arena.viewer.at().frames + at) : at, eyes || undefined)",
        [at, eyes],
    )
    window.screenshot(path=file)
    window.close()
    print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
