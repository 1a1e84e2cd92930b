"""Floods: nobody is turned away because others hold connections, and nothing is taken without a bound."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import inspect
import socket
import time
from asyncio.selector_events import _SelectorSocketTransport
from asyncio.sslproto import SSLProtocol
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from web_kit import PATIENCE_S, ask, served

from arena.pages.web import limits, serving
from arena.pages.web.guard import Guard
from arena.pages.web.serving import Listening
from arena.pages.web.streams import EventStreams

MOST = 20


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """A server that takes few connections, for a short time."""
    monkeypatch.setattr(serving, "most_connections", lambda: MOST)
    monkeypatch.setattr(limits, "HEAD_S", 1.5)
    monkeypatch.setattr(limits, "BODY_S", 2.0)
    streams = EventStreams(lambda: [("scene", 1)])
    app = Starlette(routes=[Route("/", _hello, methods=["GET", "POST"]), Route("/events", streams)])
    with served(Guard(app, key=None, port=0), on_stop=streams.close) as listening:
        yield listening


@contextmanager
def connected(
    page: Listening, count: int, source: str = "127.0.0.1", sent: bytes = b""
) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", page.port), PATIENCE_S, (source, 0))
            found.append(stack.enter_context(one))
            one.sendall(sent)
        yield found


def asked(source: str, page: Listening) -> bytes:
    """The answer that another address gets."""
    with connected(page, 1, source, b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n") as [one]:
        answer = b""
        while part := one.recv(65_536):
            answer += part
        return answer


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: localhost\r\norigin: http"])
def test_silent_connections_turn_nobody_away(page: Listening, sent: bytes) -> None:
    with connected(page, 3 * MOST, sent=sent) as silent:
        assert ask(page).body == b"hello"
        assert asked("127.0.0.2", page).endswith(b"hello")
        began = time.monotonic()
        assert silent[-1].recv(1) == b"", "it is closed without a word"
        assert time.monotonic() < began + 10


def test_one_address_has_half_of_the_answers_at_most(page: Listening) -> None:
    head = b"GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with connected(page, MOST // 2, sent=head) as streams:
        for one in streams:
            assert b" 200 " in one.recv(100)
        for _ in range(MOST):
            assert b" 503 " in asked("127.0.0.1", page)
            assert asked("127.0.0.2", page).endswith(b"hello")
        assert all(one.recv(100) for one in streams), "those go on"


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: elsewhere.example\r\ntransfer-encoding: chunked\r\n\r\n",
        b"GET /events HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999999\r\n\r\n",
    ],
)
def test_no_body_is_read_without_end(page: Listening, head: bytes) -> None:
    piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n" if b"chunked" in head else b"x" * 65_536
    with connected(page, 1, sent=head) as [one]:
        assert sent_to(one, piece, 2**12) < 2**8, "what fits into the system's buffers"


def sent_to(one: socket.socket, piece: bytes, most: int, pause_s: float = 0.0) -> int:
    """How many pieces were sent until the other end closed."""
    for count in range(most):
        try:
            one.sendall(piece)
        except ConnectionError:
            return count
        time.sleep(pause_s)
    return most


def test_who_sends_byte_by_byte_is_not_waited_for(page: Listening) -> None:
    with connected(page, 1, sent=b"GET / HTTP/1.1\r\n") as [one]:
        assert sent_to(one, b"a", 600, 0.05) < 600


def test_a_browser_may_ask_again_and_again(page: Listening) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE_S)
    for _ in range(8):
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"hello"
        time.sleep(0.3)
    connection.close()


def test_what_comes_after_an_answer_that_ends_the_connection_raises_nothing_that_is_logged() -> None:
    transport = Mock(spec=asyncio.Transport, **{"is_closing.return_value": False})
    transport.close.side_effect = lambda: transport.is_closing.configure_mock(return_value=True)
    config = uvicorn.Config(Starlette())
    with closing(asyncio.new_event_loop()) as loop:
        others = {"config": config, "server_state": ServerState(), "app_state": {}, "_loop": loop}
        config.load()
        one = limits.LimitedConnection(limits.Shares(MOST), lambda scope: (0, 0.0), **others)
        one.connection_made(transport)
        for _ in range(2):
            one.data_received(b"\0\r\n\r\n")
        assert b"".join(call.args[0] for call in transport.write.call_args_list).count(b"HTTP/1.1 400") == 1


class Waiting:
    """A connection that is counted."""

    address = "10.0.0.7"
    is_answering = False
    chances = 0

    def __init__(self, name: str) -> None:
        self.name = name
        self.transport = Mock()


def test_who_was_let_in_lately_goes_after_others_and_who_is_answered_not_at_all() -> None:
    shares = limits.Shares(8)
    answered, known, *_ = all_of = [*map(Waiting, ("answered", "known", *"abcdefgh"))]
    answered.is_answering, known.chances = True, 1
    gone: list[str] = []
    for one in all_of:
        assert shares.enter(one)  # type: ignore[arg-type]
        gone += [each.name for each in all_of if each.transport.abort.called and each.name not in gone]
    assert (gone, len(shares)) == ([*"abc", "known", *"de"], 4), "half of all places are for one address"


INSIDES = {
    H11Protocol: "__init__ connection_made connection_lost data_received on_response_complete handle_websocket_upgrade"
    " handle_events shutdown",
    WebSocketsSansIOProtocol: "__init__ connection_lost handle_events handle_ping handle_cont receive"
    " send_receive_event_to_app shutdown",
    uvicorn.Server: "_serve startup main_loop on_tick shutdown",
}
"""What `limits` and `serving` override of uvicorn, and what calls that."""
KNOWN = {
    "H11Protocol": "04919b62a65c2a72",
    "WebSocketsSansIOProtocol": "c1141593e8c509a1",
    "Server": "b2b16f7d90eb1dab",
}


@pytest.mark.parametrize("kind", INSIDES, ids=lambda kind: kind.__name__)
def test_the_insides_of_uvicorn_are_those_that_the_limits_stand_on(kind: type) -> None:
    """After a new version of uvicorn: read what has changed there, run `make test-thorough`, change the digest."""
    sources = "".join(inspect.getsource(getattr(kind, name)) for name in INSIDES[kind].split())
    assert hashlib.sha256(sources.encode()).hexdigest()[:16] == KNOWN[kind.__name__], uvicorn.__version__


def test_the_insides_of_asyncio_are_those_that_the_limits_stand_on() -> None:
    assert {"connection_made", "connection_lost", "get_buffer"} <= vars(SSLProtocol).keys()
    assert {"waiter", "server_side", "ssl_handshake_timeout"} <= inspect.signature(SSLProtocol).parameters.keys()
    assert (SSLProtocol.max_size, limits.Handshake.max_size) == (262_144, limits.RECORD)
    assert _SelectorSocketTransport.max_size == 262_144, "`handle_websocket_upgrade` gives each WebSocket another"
