"""What one address may hold of a server of pages, and for how long.

Laws:
1. A request has `HEAD_S` to begin and to say what it wants, and `BODY_S` to come whole; where there is `Room` for more,
   `BODY_S` between two reads. Silent or slow ones are closed. A connection with TLS counts from its first byte, before
   its handshake, for which it has `HEAD_S` too.
2. Nobody is turned away because others are silent. Where there are too many connections, of one address or of all, the
   one without an answer in progress that has waited longest gives way: for its first request, or since its last. An
   open WebSocket is an answer in progress.
3. One address has at most half of all answers in progress. An IPv6 network of 64 bits is one address.
4. Of a request no more than `MOST_BYTES` are read, unless the application has `Room` for more. Once it is answered, no
   more than `MOST_DROPPED` is read of the rest of its body, and the connection closes.
5. A WebSocket brings few events at a time, and no message of endless parts. Its pings are answered as long as their
   sender reads.

It stands on methods of uvicorn and asyncio that are not public. A test looks whether they are as they were.
"""

from __future__ import annotations

import asyncio
import resource
from asyncio.sslproto import SSLProtocol
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address
from ssl import SSLContext
from typing import Any, Final, TypeAlias, Union

import h11
from starlette.responses import PlainTextResponse
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HEAD_S: Final = 10.0
BODY_S: Final = 30.0
MOST_BYTES: Final = 262_144
"""Bytes of a request: its head and its body."""
MOST_DROPPED: Final = 2_097_152
"""Bytes of the rest of a body that was answered: many clients read no answer before they have sent all."""
ANSWERED_S: Final = 1.0
"""Seconds in which whoever was answered, and still sends, is to read the answer."""
MOST_EVENTS: Final = 8_192
"""Bytes of a WebSocket that are read at a time: 1,400 messages at most, each of which is an event in memory."""
MOST_PARTS: Final = 64
"""Parts of one message of a WebSocket."""
MOST_UNSENT: Final = 65_536
"""Bytes of a WebSocket that wait for its other end, beyond which no ping is answered."""
RECORD: Final = 16_384
"""Bytes of a buffer of TLS, and of what was read and is not taken. asyncio has 256 KiB: memory, and a second's work."""
MOST_CONNECTIONS: Final = 1000
MANY: Final = 8
"""An address that has more than this part of all connections is the first whose connections give way."""
CHANCES: Final = 8
"""How often a connection of which a request was let in is passed over when another has to go."""
SPARE: Final = 256
"""Descriptors that are left to other things than connections."""
Counted: TypeAlias = Union["LimitedConnection", "Handshake"]
Room: TypeAlias = tuple[int, float]
"""Number of bytes that the body of a request may have beyond every other, and of seconds that it may take beyond."""
_FULL: Final = PlainTextResponse(
    "expected fewer pages that are open at this address, got: half of all that can be; close some\n",
    503, {"connection": "close"},
)  # fmt: skip


def most_connections() -> int:
    """Returns how many connections there may be: as many as this process may have descriptors for, or fewer."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(16, min(MOST_CONNECTIONS, soft - SPARE))


def whose(host: str) -> str:
    """Returns under which name the connections of an address are counted.

    >>> whose("::ffff:10.0.0.7"), whose("2001:db8:1:2:3::9"), whose("10.0.0.7")
    ('10.0.0.7', '2001:db8:1:2::', '10.0.0.7')
    """
    try:
        ip = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return str(ip if isinstance(ip, IPv4Address) else ip.ipv4_mapped or IPv6Address(int(ip) >> 64 << 64))


class Shares:
    """The connections of one server, in all and by address; of those that wait, who has waited longest comes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Counted] = set()
        self._by_address: defaultdict[str, set[Counted]] = defaultdict(set)
        self._waiting: dict[Counted, None] = {}
        self._waiting_at: defaultdict[str, dict[Counted, None]] = defaultdict(dict)
        self.closed: Counter[str] = Counter()
        """How many were closed, by reason: `endless`, `idle`, `many`."""

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, one: Counted) -> bool:
        """Takes a connection, as one that begins to wait. Returns whether it may be answered.

        Others that wait may have to go for it: of an address that has many, or whoever has waited longest.
        """
        own = self._by_address[one.address]
        for all_of in (self._all, own):
            all_of.add(one)
        for waiting in (self._waiting, self._waiting_at[one.address]):
            waiting.pop(one, None)
            waiting[one] = None
        may = len(own) <= self._most // 2 or self._give_way(self._waiting_at[one.address], one)
        if len(self._all) > self._most:
            largest = max(self._by_address, key=lambda address: len(self._by_address[address]))
            has_many = len(self._by_address[largest]) > self._most // MANY
            self._give_way(self._waiting_at[largest] if has_many else self._waiting, one)
        return may

    def leave(self, one: Counted) -> None:
        """Forgets a connection."""
        self._wait_no_more(one)
        self._all.discard(one)
        self._by_address[one.address].discard(one)
        if not self._by_address[one.address]:
            del self._by_address[one.address]
            del self._waiting_at[one.address]

    def close(self, one: Counted, reason: str) -> None:
        """Ends a connection."""
        self.closed[reason] += 1
        self.leave(one)
        one.transport.abort()

    def _give_way(self, waiting: dict[Counted, None], new: Counted) -> bool:
        """Closes what has waited longest. Whoever was let in lately is passed over a few times."""
        for _ in range(len(waiting)):
            oldest = next(iter(waiting))
            if oldest.is_answering:
                self._wait_no_more(oldest)
            elif oldest is new or oldest.chances:
                oldest.chances = max(0, oldest.chances - 1)
                waiting[oldest] = waiting.pop(oldest)
            else:
                self.close(oldest, "many")
                return True
        return False

    def _wait_no_more(self, one: Counted) -> None:
        for waiting in (self._waiting, self._waiting_at[one.address]):
            waiting.pop(one, None)


class LimitedConnection(H11Protocol):
    """A connection to the server, which ends when it takes more than its share."""

    def __init__(self, shares: Shares, room: Callable[[Scope], Room], **others: Any) -> None:
        super().__init__(**others)
        if self.ws_protocol_class is not None:
            self.ws_protocol_class = partial(WebSocket, self)  # type: ignore[assignment]
        self.shares = shares
        self.address = ""
        self.handshake: Handshake | None = None
        """Connection that was counted in its place until it was secure."""
        self._rooms = room
        self._room: Room = (0, 0.0)
        self.chances = 0
        """How often it is passed over yet when another has to go: the application has let a request of it in."""
        self._asked: object = None
        """The request that `_room` is of."""
        self._is_socket = False
        self._bytes = 0
        self._since = self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether an answer is in progress."""
        return self._is_socket or (self.cycle is not None and not self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts it."""
        super().connection_made(transport)
        if self.handshake is not None:
            self.shares.leave(self.handshake)
            self.handshake = None
            transport.set_read_buffer_limits(RECORD)  # type: ignore[attr-defined]
        self.address = whose(self.client[0] if self.client else "")
        self._begin()
        if not self.shares.enter(self):
            self.app = _FULL

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts it no more."""
        self._wait(None)
        self.shares.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what came, unless it is too much."""
        if self.transport.is_closing():  # TLS hands over what came before the end; h11 would raise, asyncio log it
            return
        self._bytes, self._heard = self._bytes + len(data), self.loop.time()
        if self._bytes <= (MOST_DROPPED if self.conn.our_state is h11.DONE else MOST_BYTES + self._room[0]):
            super().data_received(data)
            if self.cycle is not self._asked:
                self._asked, self._room = self.cycle, self._rooms(dict(self.scope))
        elif self.is_answering:
            self.shares.close(self, "endless")
        else:
            self.transport.pause_reading()
            self._wait(ANSWERED_S)

    def on_response_complete(self) -> None:
        """Waits for the next request, unless this one still comes."""
        self._bytes, self._room = 0, (0, 0.0)
        if "who" in self.scope:
            self.chances = CHANCES
        if self.conn.their_state is h11.DONE and not self.transport.is_closing():
            self._begin()
            self.shares.enter(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuses what is no HTTP, once, unless its request has an answer. The application says nothing more."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Becomes a WebSocket, which is counted as this connection."""
        self._is_socket = True
        self._wait(None)
        self.transport.max_size = MOST_EVENTS  # type: ignore[attr-defined]
        super().handle_websocket_upgrade(event)

    def _begin(self) -> None:
        self._bytes, self._room, self._since = 0, (0, 0.0), self.loop.time()
        self._wait(HEAD_S)

    def _wait(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._is_late)

    def _is_late(self) -> None:
        if self.is_answering and not self.cycle.more_body:
            return
        left = BODY_S + min(self._since + self._room[1], self._heard) - self.loop.time()
        if self.is_answering and left > 0:
            self._wait(left)
        else:
            self.shares.close(self, "idle")


class WebSocket(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket."""

    def __init__(self, of: LimitedConnection, **others: Any) -> None:
        super().__init__(**others)
        self._of = of

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts it no more."""
        self._of.shares.leave(self._of)
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Answers a ping of whoever reads the answers."""
        if self.transport.get_write_buffer_size() > MOST_UNSENT:
            self._of.shares.close(self._of, "endless")
        else:
            super().handle_ping()

    def handle_cont(self, event: Any) -> None:
        """Takes a part of a message."""
        if len(self.frames) >= MOST_PARTS:
            self._of.shares.close(self._of, "endless")
        else:
            super().handle_cont(event)


class Handshake(SSLProtocol):
    """A connection that is not secure yet, as it is counted, and then its TLS."""

    max_size = RECORD
    is_answering = False
    chances = 0

    def __init__(self, connection: LimitedConnection, context: SSLContext) -> None:
        # Nobody waits to hear of a handshake that fails: the connection is closed.
        others: dict[str, Any] = {"ssl_handshake_timeout": HEAD_S, "ssl_shutdown_timeout": ANSWERED_S}
        super().__init__(connection.loop, connection, context, None, server_side=True, **others)  # type: ignore[arg-type]
        self._connection = connection
        self.address = ""
        connection.handshake = self

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts it."""
        self.transport = transport
        self.address = whose((transport.get_extra_info("peername") or ("",))[0])
        super().connection_made(transport)
        if not self._connection.shares.enter(self):
            transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Counts it no more."""
        self._connection.shares.leave(self)
        self._connection.handshake = None  # no circle is left: what a flood leaves goes at once
        super().connection_lost(exc)
