"""What one address may hold of a server of pages, and for how long.

Laws:
1. A request has `HEAD_S` to begin and to say what it wants, and `BODY_S` to come whole. Silent or slow ones are closed.
2. Nobody is turned away because others are silent. Where there are too many connections, of one address or of all, the
   one without an answer in progress that has waited longest gives way.
3. One address has at most half of all answers in progress. An IPv6 network of 64 bits is one address.
4. Of a request no more than `MOST_BYTES` are read, also if it was refused before its body came.
"""

from __future__ import annotations

import asyncio
import resource
from collections import defaultdict
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

import h11
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
BODY_S: Final = 30.0
MOST_BYTES: Final = 262_144
"""Bytes of a request: its head and its body."""
MOST_CONNECTIONS: Final = 1000
SPARE: Final = 128
"""Descriptors that are left to other things than connections."""
_FULL: Final = PlainTextResponse(
    "expected fewer pages that are open at this address, got: half of all that can be; close some\n",
    503,
    {"connection": "close"},
)


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
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


class Shares:
    """The connections of one server by address, the oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_address: defaultdict[str, dict[Connection, None]] = defaultdict(dict)
        self._count = 0

    def enter(self, new: Connection) -> None:
        """Takes a connection. One that waits may have to go for it."""
        own = self._by_address[new.address]
        own[new] = None
        self._count += 1
        if len(own) > self._most // 2 and not self._give_way(own, new):
            new.app = _FULL
        if self._count > self._most:
            self._give_way(max(self._by_address.values(), key=len), new)

    def leave(self, one: Connection) -> None:
        """Forgets a connection."""
        own = self._by_address.get(one.address, {})
        if one in own:
            del own[one]
            self._count -= 1
        if not own:
            self._by_address.pop(one.address, None)

    def _give_way(self, group: dict[Connection, None], new: Connection) -> bool:
        oldest = next((one for one in group if one is not new and not one.is_answering), None)
        if oldest is not None:
            self.leave(oldest)
            oldest.transport.abort()
        return oldest is not None


class Connection(H11Protocol):
    """A connection to the server, which ends when it takes more than its share."""

    def __init__(self, shares: Shares, **others: Any) -> None:
        super().__init__(**others)
        self._shares = shares
        self.address = ""
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether an answer is in progress."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts it."""
        super().connection_made(transport)
        self.address = whose(self.client[0] if self.client else "")
        self._begin()
        self._shares.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts it no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._shares.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what came, unless it is too much."""
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            self.transport.abort()
        else:
            super().data_received(data)

    def on_response_complete(self) -> None:
        """Waits for the next request, unless this one still comes."""
        if self.conn.their_state is h11.DONE:
            self._begin()
        super().on_response_complete()

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._bytes = 0
        self._timer = self.loop.call_later(HEAD_S, self._is_late, BODY_S - HEAD_S)

    def _is_late(self, more_s: float) -> None:
        if self.is_answering and not self.cycle.more_body:
            return
        if self.is_answering and more_s > 0:
            self._timer = self.loop.call_later(more_s, self._is_late, 0)
        else:
            self.transport.abort()
