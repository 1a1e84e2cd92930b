"""`arena watch --web` in a real browser, while a tournament is played."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser_kit import COLOURED
from command_kit import arena, started


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_boards_move_and_standings_too(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    with started(tmp_path, "watch", "--web") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        try:
            page = context.new_page()
            console: list[str] = []
            requests: list[str] = []
            page.on("console", lambda message: console.append(message.text))
            page.on("pageerror", lambda error: console.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(address)
            assert "key" not in page.url
            page.wait_for_selector("html[data-ready]", state="attached")
            assert "Nothing has been played" in page.inner_text("#facts")
            with started(tmp_path, "tournament", "random", "greedy", "--deals", "40", "-q") as playing:
                page.wait_for_selector("iframe")
                frame = page.frame_locator("iframe")
                frame.locator("use[href^='#T']").first.wait_for(state="attached")  # a tile was laid
                frame.locator(".facts", has_text="only what everybody knows").first.wait_for(state="attached")
                page.wait_for_selector("#standings td.bot")
                assert {"random", "greedy"} == set(page.locator("#standings td.bot").all_inner_texts())
                page.wait_for_selector("#finished .row")
                page.locator("#finished .row").first.click()
                over = page.frame_locator("iframe").locator("#over")
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
        finally:
            context.close()


def test_a_page_that_lost_its_watch_says_so_and_comes_back(browser: Any, tmp_path: Path) -> None:
    arena(tmp_path, "tournament", "random", "random", "--deals", "1", "-q")
    context = browser.new_context()
    try:
        page = context.new_page()
        with started(tmp_path, "watch", "--web") as process:
            assert process.stdout is not None
            page.goto(process.stdout.readline().strip())
            page.wait_for_selector("#standings td.bot")
            process.send_signal(signal.SIGTERM)
            process.communicate()
        page.wait_for_selector("#facts:has-text('connection is lost')")
    finally:
        context.close()
