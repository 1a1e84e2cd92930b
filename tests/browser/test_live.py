"""`arena watch --web` in a real browser, while a tournament is played."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser_kit import COLOURED, heard, played
from command_kit import arena, started

from arena.core.record.log import Log
from arena.core.referee.feed import Feed, feed_folder

SHOWN = "iframe:not(.next)"


@pytest.mark.quick(1)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_boards_move_and_standings_too(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    with started(tmp_path, "watch", "--web") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
            page = context.new_page()
            console, requests = heard(page)
            page.goto(address)
            assert "key" not in page.url
            page.wait_for_selector("html[data-ready]", state="attached")
            assert "Nothing has been played" in page.inner_text("#facts")
            with started(tmp_path, "tournament", "random", "greedy", "--deals", "40", "-q") as playing:
                page.wait_for_selector(SHOWN)
                frame = page.frame_locator(SHOWN)
                frame.locator("use[href^='#T']").first.wait_for(state="attached")  # a tile was laid
                frame.locator(".facts", has_text="only what everybody knows").first.wait_for(state="attached")
                page.wait_for_selector("#standings td.bot")
                assert {"random", "greedy"} == set(page.locator("#standings td.bot").all_inner_texts())
                page.wait_for_selector("#finished .row")
                page.locator("#finished .row").first.click()
                assert page.locator(SHOWN).count() == 1, "the last position stays until the next is there"
                page.wait_for_selector("iframe.next", state="detached")
                over = page.frame_locator(SHOWN).locator("#over")
                over.wait_for(state="visible")
                assert "won against" in over.inner_text() or "drawn" in over.inner_text()
                playing.send_signal(signal.SIGINT)
                playing.communicate()
            with context.expect_page() as opened:
                over.locator("a").click()
            replay = opened.value
            replay.on("console", lambda message: console.append(message.text))
            replay.wait_for_selector("html[data-ready]", state="attached")
            assert replay.evaluate("arena.viewer.at().eyes") == "all"
            assert console == []
            for window in (*page.frames, replay):
                assert window.evaluate(COLOURED), window.url
            own = urlsplit(address).netloc
            assert all(url.startswith("data:") or urlsplit(url).netloc == own for url in requests), requests
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
def test_a_page_that_lost_its_watch_says_so_and_comes_back(browser: Any, tmp_path: Path) -> None:
    arena(tmp_path, "tournament", "random", "random", "--deals", "1", "-q")
    with browser.new_context() as context:
        page = context.new_page()
        with started(tmp_path, "watch", "--web") as process:
            assert process.stdout is not None
            page.goto(process.stdout.readline().strip())
            page.wait_for_selector("#standings td.bot")
            process.send_signal(signal.SIGTERM)
            process.communicate()
        page.wait_for_selector("#facts:has-text('connection is lost')")


GARDENER_S = 3.0  # about how often the board of a Gardener game is laid out anew


class Playing:
    """A Gardener game that is played at a steady pace, in a thread."""

    def __init__(self, folder: Path, log: Log) -> None:
        self._feed = Feed(feed_folder(folder / "arena.db"))
        self._log = log
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play)

    def _play(self) -> None:
        while not self._stop.is_set():
            self._feed(self._log.header)
            for record in self._log.records:
                if self._stop.wait(0.1):
                    break
                self._feed(record)
        self._feed.close()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def watching(browser: Any, folder: Path, *more: str) -> Iterator[tuple[Any, str]]:
    """A context of the browser that has the key of a watch, and the address."""
    with started(folder, "watch", "--web", *more) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("html[data-ready]", state="attached")
            page.close()
            yield context, address.partition("?")[0]


@pytest.mark.long
def test_a_board_that_grows_leaves_everybody_at_their_moment(browser: Any, tmp_path: Path) -> None:
    log = played(tmp_path, "gardener", 3)
    with watching(browser, tmp_path) as (context, address), Playing(tmp_path, log):
        page = context.new_page()
        console, _ = heard(page)
        page.goto(address)
        page.wait_for_selector(SHOWN)
        page.frame_locator(SHOWN).locator(".place").wait_for()
        (frame,) = [frame for frame in page.frames if "/game/" in frame.url]
        frame.wait_for_function("() => arena.viewer.at().frames > 4")
        frame.evaluate("""() => {
            globalThis.stayed = true;
            globalThis.first = arena.viewer;
            document.documentElement.classList.add("dark");
            const pace = document.querySelector(".pace select");
            pace.value = "4";
            pace.dispatchEvent(new Event("change"));
            arena.viewer.go(2);
        }""")
        words = frame.locator(".say h2").inner_text()
        frame.wait_for_function("() => arena.viewer !== first")  # the board has grown
        assert frame.evaluate("stayed")
        assert frame.locator(".say h2").inner_text() == words
        assert frame.evaluate("document.documentElement.className") == "dark"
        assert frame.evaluate("document.querySelector('.pace select').value") == "4"
        frame.evaluate("""() => {
            globalThis.first = arena.viewer;
            document.querySelector("[aria-label^='list of moves']").click();
        }""")
        frame.wait_for_timeout(1300 * GARDENER_S)
        assert frame.locator("dialog[open]").count() == 1
        assert frame.evaluate("arena.viewer === first")
        frame.evaluate("document.querySelector('dialog').close(), arena.viewer.go(Infinity)")
        frame.wait_for_function("() => arena.viewer !== first")
        assert console == []


@pytest.mark.thorough
def test_many_tabs_can_watch(browser: Any, tmp_path: Path) -> None:
    """A browser allows six connections to a server; a tab that nobody sees needs none."""
    log = played(tmp_path, "samurai", 2)
    with watching(browser, tmp_path) as (context, address), Playing(tmp_path, log):
        pages = []
        for _ in range(5):  # two streams each, if all had theirs
            page = context.new_page()
            for other in pages:
                hide(other)
            page.goto(address, wait_until="commit")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.frame_locator(SHOWN).locator(".place").wait_for()
            pages.append(page)
        first = pages[0]
        before = first.frame_locator(SHOWN).locator(".place").inner_text()
        hide(pages[-1])
        hide(first, hidden=False)
        (frame,) = [frame for frame in first.frames if "/game/" in frame.url]
        frame.wait_for_function("before => document.querySelector('.place').textContent !== before", arg=before)


def hide(page: Any, *, hidden: bool = True) -> None:
    """Tells a page and its frames what a browser tells a tab behind others: without a window it never does."""
    for frame in page.frames:
        frame.evaluate(
            """hidden => {
            Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
            hidden,
        )


@pytest.mark.long
def test_a_page_says_why_it_has_no_standings(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_bytes(b"no database" * 1000)
    with watching(browser, tmp_path) as (context, address):
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("#trouble:has-text('arena.db')")
        assert "Nothing has been played" not in page.inner_text("#facts")
