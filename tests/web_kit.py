"""Serves an application for a test, in a thread, on a real socket; and asks it what a browser would, and would not."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from starlette.types import ASGIApp

from arena.web.serving import Listening, Server, listen

PATIENCE_S = 60.0


class Answer(msgspec.Struct):
    """What came back."""

    status: int
    headers: dict[str, str]
    """By name in small letters."""
    body: bytes


@contextmanager
def served(
    app: ASGIApp,
    listening: Listening | None = None,
    *,
    on_stop: Callable[[], object] = lambda: None,
    errors: Sequence[str] = (),
) -> Iterator[Listening]:
    """Serves an application while the block runs. It raises the errors that are named, and no others."""
    listening = listening or listen()
    ready = threading.Event()
    raised: list[Exception] = []
    server = Server(app, listening, ready=ready.set, on_stop=on_stop, on_error=raised.append)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield listening
    finally:
        server.stop()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert [str(error) for error in raised] == [*errors]


def ask(
    listening: Listening, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str
) -> Answer:
    """Sends a request and returns the answer. Underscores in names of headers stand for hyphens."""
    connection = http.client.HTTPConnection("127.0.0.1", listening.port, timeout=PATIENCE_S)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host="host" in named, skip_accept_encoding="accept-encoding" in named)
        if body is not None and "content-length" not in named and "transfer-encoding" not in named:
            named["content-length"] = str(len(body))
        for name, value in named.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()
