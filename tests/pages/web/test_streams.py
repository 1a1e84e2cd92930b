"""Streams of events to many watchers, over real sockets and in the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from web_kit import PATIENCE_S, Watching, ask, run_apart, served

from arena.pages.web import streams
from arena.pages.web.serving import Listening
from arena.pages.web.streams import MOST_WAITING, EventStreams


class Counter:
    """An application whose scene is a number, which each look at /more raises."""

    def __init__(self) -> None:
        self.count = 0
        self.event_streams = EventStreams(lambda: [("scene", self.count)])
        self.app = Starlette(
            routes=[Route("/events", self.event_streams), Route("/more", self._more), Route("/who", self._who)]
        )

    async def _more(self, request: Request) -> PlainTextResponse:
        self.count += 1
        self.event_streams.tell("count", self.count)
        return PlainTextResponse("")

    async def _who(self, request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(self.event_streams.watchers))


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def listening(counter: Counter) -> Iterator[Listening]:
    with served(counter.app, on_stop=counter.event_streams.close) as listening:
        yield listening


@pytest.fixture
def watch() -> Iterator[Callable[[Listening], Watching]]:
    with ExitStack() as stack:
        yield lambda listening: stack.enter_context(closing(Watching(listening)))


Watch = Callable[[Listening], Watching]


def test_a_watcher_gets_the_scene_and_then_what_happens(listening: Listening, watch: Watch) -> None:
    ask(listening, "/more")
    watching = watch(listening)
    assert watching.until("scene") == 1
    ask(listening, "/more")
    ask(listening, "/more")
    assert [watching.until("count"), watching.until("count")] == [2, 3]
    later = watch(listening)
    assert later.until("scene") == 3


def test_a_watcher_that_leaves_is_forgotten(listening: Listening, watch: Watch) -> None:
    watching = watch(listening)
    watching.until("scene")
    watching.close()
    for _ in range(1000):
        if ask(listening, "/who").body == b"0":
            return
    raise AssertionError("expected no watcher, and there still was one")


def test_the_end_of_the_server_ends_streams(counter: Counter, watch: Watch) -> None:
    with served(counter.app, on_stop=counter.event_streams.close) as listening:
        watching = watch(listening)
        watching.until("scene")
    assert watching.until("count") is None


def test_only_so_many_watch(listening: Listening, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_WATCHERS", 1)
    watch(listening).until("scene")
    assert ask(listening, "/events").status == 503
    assert ask(listening, "/events", "HEAD").status == 405


class Slow:
    """A watcher whose connection takes nothing after the scene, in the event loop."""

    def __init__(self, event_streams: EventStreams) -> None:
        self.sent = b""
        self.takes = asyncio.Event()
        self.gone = asyncio.Event()
        self.has_scene = asyncio.Event()
        self.task = asyncio.create_task(event_streams({"type": "http", "method": "GET"}, self._receive, self._send))

    async def _receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if self.has_scene.is_set():
            await self.takes.wait()
        self.sent += message.get("body", b"")
        if self.sent:
            self.has_scene.set()


@asynccontextmanager
async def slow_watcher(event_streams: EventStreams) -> AsyncIterator[Slow]:
    watcher = Slow(event_streams)
    await watcher.has_scene.wait()
    yield watcher
    watcher.gone.set()
    await watcher.task


def test_a_watcher_that_does_not_keep_up_is_dropped() -> None:
    async def tried() -> None:
        event_streams = EventStreams(lambda: [("scene", 0)])
        async with slow_watcher(event_streams) as slow, slow_watcher(event_streams) as quick:
            quick.takes.set()
            for number in range(2 * MOST_WAITING + 10):
                event_streams.tell("count", number)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            assert (event_streams.watchers, event_streams.dropped) == (1, 1)
            await asyncio.wait_for(slow.task, PATIENCE_S)
            assert b"count" not in slow.sent
            assert quick.sent.count(b"event: count") == 2 * MOST_WAITING + 10

    run_apart(tried())


def test_what_waits_for_a_watcher_at_the_end_is_sent() -> None:
    async def tried() -> None:
        event_streams = EventStreams(list)
        async with slow_watcher(event_streams) as slow:
            for number in range(MOST_WAITING - 1):
                event_streams.tell("count", number)
            event_streams.close()
            slow.takes.set()
            await asyncio.wait_for(slow.task, PATIENCE_S)
            assert slow.sent.count(b"event: count") == MOST_WAITING - 1

    run_apart(tried())


def test_a_quiet_stream_has_a_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BEAT_S", 0.001)

    async def tried() -> None:
        event_streams = EventStreams(list)
        async with slow_watcher(event_streams) as watcher:
            watcher.takes.set()
            while watcher.sent.count(b"\n:\n") < 2:
                await asyncio.sleep(0.001)

    run_apart(tried())
