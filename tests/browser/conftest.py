"""A real browser: Debian's chromium, driven by playwright, without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser_kit import COLOURED, chromium, heard, launch, played
from golden.logs import FOLDER

from arena.core.record.log import Log, read_log
from arena.pages.game_page import game_page


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser, without a window; the test is skipped where there is none."""
    program = chromium()
    if program is None:
        pytest.skip("needs chromium, which is not on this machine's path")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright, which is not installed")
    with api.sync_playwright() as playwright:
        browser = launch(playwright, program)
        yield browser
        browser.close()


class Seen:
    """A page in the browser, and what it did that it should not."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.console, self.requests = heard(page)
        self.ours = ("file:", "data:", "about:")
        """What addresses begin with that may be asked for."""

    def open(self, file: Path, address: str = "") -> None:
        """Opens a file from disk and waits until it is ready."""
        self.page.goto("about:blank")
        self.page.goto(f"file://{file}{address}")
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def at(self) -> tuple[int, str]:
        """The frame and the eyes."""
        now = self.page.evaluate("arena.viewer.at()")
        return now["t"], now["eyes"]

    def press(self, *keys: str) -> tuple[int, str]:
        """Presses keys one after another, and returns where that led."""
        for key in keys:
            self.page.keyboard.press(key)
        return self.at()

    def until(self, condition: str) -> None:
        """Waits until an expression is true. (playwright's own wait needs `eval`, which the page's policy forbids.)"""
        for _ in range(500):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"expected {condition}, and it never was")

    def check(self) -> None:
        """Nothing was written to the console, nothing was asked of a network, and the colours are there."""
        self.page.wait_for_load_state()  # a link may just have been followed
        assert self.console == []
        assert self.page.evaluate(COLOURED), "a page without its colours"
        assert all(url.startswith(self.ours) for url in self.requests), self.requests


@pytest.fixture
def look(browser: Any) -> Callable[..., Any]:
    """Opens a window: `with look(width=…, height=…, …) as seen`. At its end, it is checked."""

    @contextmanager
    def look(width: int = 1280, height: int = 800, **options: Any) -> Iterator[Seen]:
        with browser.new_context(
            viewport={"width": width, "height": height}, **{"offline": True, **options}
        ) as context:
            seen = Seen(context.new_page())
            yield seen
            seen.check()

    return look


@pytest.fixture(scope="session")
def samurai() -> Log:
    return read_log(FOLDER / "samurai-standard.jsonl")


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes the page of a log."""
    folder = tmp_path_factory.mktemp("pages")

    def make(log: Log, seat: int | None = None, name: str = "") -> Path:
        path = folder / f"{name or Path(log.source).stem}{'' if seat is None else f'-{seat}'}.html"
        path.write_text(game_page(log, seat), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def game_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Log]:
    """Plays a game at random, once for each number of players."""
    return cache(lambda name, seats: played(tmp_path_factory.mktemp("logs"), name, seats))
