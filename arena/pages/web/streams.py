"""Sends what happens to watchers, as server-sent events.

Laws:
1. A watcher is first sent the whole scene, and then what happens. So it never matters what was sent before it came.
2. A watcher never holds up anything. What waits for it is bounded: one that does not keep up is dropped, and its
   browser connects again by itself, to a whole scene.
3. What is sent is encoded once, whoever watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

MOST_WAITING: Final = 256
"""Messages that wait for one watcher."""
MOST_WATCHERS: Final = 500
"""Watchers of one page; whoever comes then is refused."""
BEAT_S: Final = 15.0
"""After so long without a message an empty one is sent: proxies keep the connection, and a dead one is noticed."""
RETRY_MS: Final = 1000
"""Backoff of a browser before it connects again, in milliseconds."""

_BEAT: Final = b":\n\n"
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would keep messages back
]


def message(event: str, data: Any) -> bytes:
    r"""Returns a message as it is sent.

    >>> message("turn", {"t": 3})
    b'event: turn\ndata: {"t":3}\n\n'
    """
    return b"event: %s\ndata: %s\n\n" % (event.encode(), msgspec.json.encode(data))


class EventStreams:
    """An ASGI application that streams what it is told to everybody who connects.

    All of it happens in the event loop's thread; from another one, use `loop.call_soon_threadsafe(streams.tell, …)`.

    Args:
        scene: Returns the messages that a watcher is sent first: (event, data).
    """

    def __init__(self, scene: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        self._scene = scene
        self._watchers: dict[asyncio.Queue[bytes | None], asyncio.Task[None]] = {}
        self._closed = False
        self.dropped = 0
        """Number of watchers that did not keep up so far."""

    @property
    def watchers(self) -> int:
        """How many watch now."""
        return len(self._watchers)

    def tell(self, event: str, data: Any) -> None:
        """Sends a message to all watchers."""
        if not self._watchers:
            return
        told = message(event, data)
        for queue, sending in list(self._watchers.items()):
            try:
                queue.put_nowait(told)
            except asyncio.QueueFull:
                self.dropped += 1
                del self._watchers[queue]
                sending.cancel()

    def close(self) -> None:
        """Ends all streams, after what waits was sent. Who connects now is refused."""
        self._closed = True
        for queue, sending in list(self._watchers.items()):
            try:
                queue.put_nowait(None)
            except asyncio.QueueFull:
                sending.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams to one watcher until it leaves, is dropped, or the streams are closed."""
        if scope["method"] != "GET":
            await PlainTextResponse("expected GET\n", 405, {"Allow": "GET"})(scope, receive, send)
            return
        if self._closed or len(self._watchers) >= MOST_WATCHERS:
            await PlainTextResponse("too many watchers; try again later\n", 503)(scope, receive, send)
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        # The scene is made in the same step in which the queue begins to fill: nothing is missing between them.
        scene = b"".join((b"retry: %d\n\n" % RETRY_MS, *(message(event, data) for event, data in self._scene())))
        sending = asyncio.create_task(_send_all(queue, scene, send))
        leaving = asyncio.create_task(_until_gone(receive))
        self._watchers[queue] = sending
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._watchers.pop(queue, None)
            sending.cancel()
            leaving.cancel()
        await asyncio.wait({sending, leaving})
        if not sending.cancelled() and (error := sending.exception()) is not None and not isinstance(error, OSError):
            raise error


async def _send_all(queue: asyncio.Queue[bytes | None], scene: bytes, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": scene, "more_body": True})
    more = True
    while more:
        parts = []
        try:
            parts.append(await asyncio.wait_for(queue.get(), BEAT_S))
        except TimeoutError:
            parts.append(_BEAT)
        while not queue.empty():  # all that waits goes in one piece
            parts.append(queue.get_nowait())
        more = None not in parts
        body = b"".join(part for part in parts if part is not None)
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
