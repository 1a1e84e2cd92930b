"""The printed address in a real browser: it works as a link, too, wherever somebody reads it."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from web_kit import served

from arena.pages.web.guard import Guard
from arena.pages.web.serving import listen

KEY = "k" * 43


def _page(text: str, seen: list[str] | None = None) -> Starlette:
    """A site of one page. It notes who was let through to it."""

    async def page(request: Request) -> HTMLResponse:
        if seen is not None:
            seen.append(request.method)
        return HTMLResponse(f"<!doctype html><link rel='icon' href='data:,'><title>page</title><p>{text}</p>")

    return Starlette(routes=[Route("/{path:path}", page, methods=["GET", "POST"])])


def test_a_link_on_another_site_leads_in(browser: Any) -> None:
    """The address stands in a mail or a chat. With and without the key, for later the key is gone from the address."""
    ours = listen()
    with served(Guard(_page("the game"), key=KEY, port=ours.port), ours):
        address = f"http://127.0.0.1:{ours.port}/game?t=3"
        mail = _page(f'<a id="way" href="{address}&key={KEY}">in</a> <a id="later" href="{address}">later</a>')
        with served(mail) as other, browser.new_context() as context:
            page = context.new_page()
            begin = f"http://localhost:{other.port}/"  # another site than 127.0.0.1
            page.goto(begin)
            page.click("#later")
            assert "expected a key" in page.inner_text("body"), "a stranger is sent nothing"
            page.goto(begin)
            page.click("#way")
            assert page.inner_text("body") == "the game"
            assert page.url == address
            page.reload()
            assert page.inner_text("body") == "the game"
            page.goto(begin)
            page.click("#later")
            assert page.inner_text("body") == "the game"


def test_another_site_can_neither_read_nor_act_with_the_key_of_a_browser(browser: Any) -> None:
    """What it asks for in the background comes without the cookie, whoever has one."""
    ours, seen = listen(), list[str]()
    with served(Guard(_page("the game", seen), key=KEY, port=ours.port), ours):
        address = f"http://127.0.0.1:{ours.port}/"
        with served(_page("another site")) as other, browser.new_context() as context:
            page = context.new_page()
            page.goto(f"{address}?key={KEY}")
            assert seen == ["GET"]
            page.goto(f"http://localhost:{other.port}/")
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.method))
            for method in ("GET", "POST"):
                fetch = "(a) => fetch(a[0], {method: a[1], mode: 'no-cors', credentials: 'include'}).catch(() => 0)"
                page.evaluate(fetch, [address, method])
            page.evaluate(
                "(address) => new Promise((done) => { const frame = document.createElement('iframe');"
                " frame.onload = done; frame.src = address; document.body.append(frame); })",
                address,
            )
            assert asked == ["GET", "POST", "GET"]
            assert seen == ["GET"], "none of them came through"
