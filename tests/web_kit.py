"""Serves an application for a test, in a thread, on a real socket; and asks it what a browser would, and would not."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from starlette.types import ASGIApp

from arena.pages.web.serving import Listening, Server, listen

T = TypeVar("T")

PATIENCE_S = 60.0


def run_apart(course: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in a loop and a thread of its own: where a browser was driven, the main thread has a loop."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, course).result()


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


class Watching:
    """A browser that listens."""

    def __init__(self, listening: Listening, path: str = "/events", *headers: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", listening.port), timeout=PATIENCE_S)
        lines = (f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", "")
        self.socket.sendall("\r\n".join(lines).encode())
        self.lines = self.socket.makefile("rb")

    def until(self, event: str) -> Any:
        """Returns the data of the next event of a name; None if the stream ends before."""
        named = False
        for line in self.lines:
            if line.startswith(b"event: "):
                named = line == f"event: {event}\n".encode()
            elif line.startswith(b"data: ") and named:
                return json.loads(line[6:])
        return None

    def close(self) -> None:
        self.lines.close()
        self.socket.close()
