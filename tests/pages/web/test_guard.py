"""Who may ask a server of ours, asked over real sockets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from web_kit import ask, served

from arena.pages.web.guard import MOST_BODY, POLICY, Guard, new_key
from arena.pages.web.serving import Listening, listen

KEY = "k" * 43


async def _look(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"seen {request.url.path}")


async def _act(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"done {len(await request.body())}")


@pytest.fixture(scope="module")
def locked() -> Iterator[Listening]:
    app = Starlette(routes=[Route("/act", _act, methods=["POST"]), Route("/{path:path}", _look)])
    listening = listen()
    with served(Guard(app, key=KEY, port=listening.port, names=["cup.example"]), listening):
        yield listening


def _cookie(listening: Listening, key: str = KEY) -> str:
    return f"arena-{listening.port}={key}"


def test_without_the_key_nothing_is_shown(locked: Listening) -> None:
    for path in ("/", "/any", "/?key=", "/?key=wrong", f"/?other={KEY}"):
        answer = ask(locked, path)
        assert answer.status == 403, path
        assert b"seen" not in answer.body
    for cookie in ("", "x", _cookie(locked, "wrong"), f"arena-1={KEY}", f"key={KEY}"):
        assert ask(locked, cookie=cookie).status == 403, cookie


def test_the_key_moves_from_the_address_into_a_cookie(locked: Listening) -> None:
    answer = ask(locked, f"/games?t=3&key={KEY}&seat=1")
    assert answer.status == 303
    assert answer.headers["location"] == "/games?t=3&seat=1"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    given = answer.headers["set-cookie"].partition(";")[0]
    assert ask(locked, "/games", cookie=given).body == b"seen /games"


def test_the_way_in_leads_to_no_other_machine(locked: Listening) -> None:
    for path in ("//evil.example/", "/%2fevil.example", "/%5cevil.example", "/\\evil.example", "///evil.example"):
        location = ask(locked, f"{path}?key={KEY}").headers["location"]
        assert location[0] == "/"
        assert location[1:2] not in ("/", "\\"), location


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil.example", "127.0.0.1.nip.io",
                                  "[::1", "::1", "user@evil.example"])  # fmt: skip
def test_another_name_of_this_machine_is_refused(locked: Listening, host: str) -> None:
    answer = ask(locked, host=host, cookie=_cookie(locked))
    assert answer.status in (400, 421)
    assert b"seen" not in answer.body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "LOCALHOST:9", "[::1]:8080", "192.0.2.1", "Cup.Example"])
def test_our_own_names_pass(locked: Listening, host: str) -> None:
    assert ask(locked, host=host, cookie=_cookie(locked)).status == 200


def test_an_action_comes_from_a_page_of_ours(locked: Listening) -> None:
    cookie, host = _cookie(locked), f"127.0.0.1:{locked.port}"
    done = ask(locked, "/act", "POST", b"{}", cookie=cookie, origin=f"http://{host}")
    assert (done.status, done.body) == (200, b"done 2")
    for origin in ("null", "", "http://evil.example", f"http://{host}.evil.example", "http://127.0.0.1:1", f"//{host}"):
        assert ask(locked, "/act", "POST", b"{}", cookie=cookie, origin=origin).status == 403, origin
    assert ask(locked, "/act", "POST", b"{}", cookie=cookie).status == 403
    assert ask(locked, "/act", "POST", b"{}", origin=f"http://{host}").status == 403


def test_a_program_has_the_key_as_its_token(locked: Listening) -> None:
    right, wrong = f"Bearer {KEY}", "Bearer wrong"
    assert ask(locked, authorization=right).status == 200
    assert ask(locked, "/act", "POST", b"x", authorization=right).status == 200
    assert ask(locked, "/act", "POST", b"x" * (MOST_BODY + 1), authorization=right).status == 413
    for more in ({}, {"origin": "http://evil.example"}):
        assert ask(locked, "/act", "POST", b"x", authorization=wrong, **more).status == 403


def test_an_action_is_small(locked: Listening) -> None:
    said = {"cookie": _cookie(locked), "origin": f"http://127.0.0.1:{locked.port}"}
    assert ask(locked, "/act", "POST", bytes(MOST_BODY), **said).status == 200
    assert ask(locked, "/act", "POST", content_length=str(MOST_BODY + 1), **said).status == 413
    assert ask(locked, "/act", "POST", b"2\r\nab\r\n0\r\n\r\n", transfer_encoding="chunked", **said).status == 413


def test_every_answer_keeps_its_page_harmless(locked: Listening) -> None:
    for answer in (ask(locked), ask(locked, host="evil.example"), ask(locked, cookie=_cookie(locked))):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in POLICY


def test_without_a_key_everybody_may_look_and_no_other_page_act() -> None:
    app = Starlette(routes=[Route("/act", _act, methods=["POST"]), Route("/{path:path}", _look)])
    with served(Guard(app, key=None, port=1)) as listening:
        assert ask(listening).status == 200
        assert ask(listening, "/?key=x").status == 200
        assert ask(listening, host="evil.example").status == 421
        assert ask(listening, "/act", "POST", b"", origin="http://evil.example").status == 403


def test_a_web_socket_is_refused(locked: Listening) -> None:
    answer = ask(locked, "/", cookie=_cookie(locked), connection="Upgrade", upgrade="websocket",
                 sec_websocket_version="13", sec_websocket_key="AAAAAAAAAAAAAAAAAAAAAA==")  # fmt: skip
    assert answer.status != 101


def test_keys_differ() -> None:
    assert len({new_key() for _ in range(10)}) == 10
    assert all(len(new_key()) >= 43 for _ in range(10))
