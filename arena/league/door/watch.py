"""Closes connections that would fill the door: what libzmq does not bound, the system's own counts do.

libzmq keeps the frames of a message until the last has come, and counts them as no message: neither its limit on the
size of a frame nor its queue ends a message of endless frames. Within CURVE nobody but libzmq sees where a message
ends. But the system says how many bytes a connection has brought, and libzmq says on which connection a message came.

Laws:
1. A connection that brings `MOST_UNFINISHED` bytes without a whole message is closed, and libzmq forgets what it kept
   for it. A queue of whole messages is smaller than that.
2. A connection on which no message comes for long is closed, and of those of one key the quietest beyond
   `MOST_CONNECTIONS`. So a patient author can use up neither descriptors nor memory. Clients of libzmq connect again by
   themselves.
3. Only connections to the door's own port are touched. A descriptor that was used again is told by its inode.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import termios
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

MOST_UNFINISHED: Final = 512 * 1024
"""Bytes without a whole message. The queue of a connection, 4 messages of 65 KiB and one that is coming, is 325 KiB."""
IDLE_S: Final = 300.0
"""How long a connection may bring no message."""
SILENT_S: Final = 30.0
"""The same before its first message."""
MOST_CONNECTIONS: Final = 16
"""Connections of one key that bring messages."""
LOOK_S: Final = 0.05
"""How often all connections are looked at. In that time they can bring 35 MB, which is far below the door's memory."""
_SHARE: Final = 0.05
"""The largest part of the time that looking may take."""
_DESCRIPTORS: Final = Path("/proc/self/fd")
_LINUX: Final = hasattr(socket, "TCP_INFO") and _DESCRIPTORS.is_dir()
_RECEIVED: Final = struct.Struct("=Q")
_RECEIVED_AT: Final = 128
"""Where `struct tcp_info` has `tcpi_bytes_received`, since Linux 4.1."""
_WAITING: Final = struct.Struct("=i")
_AT_ONCE: Final = struct.pack("=ii", 1, 0)
"""`struct linger`: no time to send what is left."""


class _Connection(msgspec.Struct):
    inode: int
    since: float
    """When it last brought a message, or was first seen."""
    read: int = 0
    """Bytes that libzmq had read by then."""
    key: str = ""
    """Whose it is; empty before its first message."""
    routing_id: bytes = b""
    """What libzmq calls it; empty before its first message."""


class Looked(msgspec.Struct, frozen=True):
    """What a look has found."""

    endless: list[str]
    """Keys of connections that were closed because of frames without end; empty if it was not known yet."""
    gone: list[tuple[bytes, str]]
    """Connections that have ended since the last look: routing id and key."""


class Watch:
    """All connections to a port of this process."""

    def __init__(self, port: int, now: float) -> None:
        """Takes the port, and the time in seconds."""
        self._port = port
        self._found: dict[int, _Connection] = {}
        self._came: dict[int, tuple[bytes, str]] = {}
        """By descriptor who has brought a message since the last look, which perhaps has not seen the connection."""
        self._due = now
        self.cuts: Counter[str] = Counter()
        """How many connections were closed, by reason: `endless`, `idle`, `many`."""

    def __len__(self) -> int:
        """How many connections there were at the last look."""
        return len(self._found)

    def heard(self, descriptor: int, routing_id: bytes, key: str) -> None:
        """Notes that a whole message has come on a connection, which has proved this key."""
        self._came[descriptor] = routing_id, key

    def due(self, now: float) -> bool:
        """Tells whether it is time to look."""
        return now >= self._due

    def look(self, now: float, took: float = 0.0) -> Looked:
        """Looks at all connections, and closes those that break a law.

        Args:
            now: The time in seconds.
            took: How long the last look took; it is rested accordingly.
        """
        self._due = now + max(LOOK_S, took / _SHARE)
        if not _LINUX:
            return Looked([], [])
        known, self._found = self._found, {}
        came, self._came = self._came, {}
        endless = []
        for descriptor in map(int, os.listdir(_DESCRIPTORS)):
            with suppress(OSError):  # closed meanwhile, or no socket
                inode = os.fstat(descriptor).st_ino
                connection = known.get(descriptor)
                if connection is None or connection.inode != inode:
                    if not self._is_own(descriptor):
                        continue
                    connection = _Connection(inode, now)
                self._found[descriptor] = connection
                read = _bytes_read(descriptor)
                if descriptor in came:
                    connection.routing_id, connection.key = came[descriptor]
                    connection.since, connection.read = now, read
                elif read - connection.read > MOST_UNFINISHED:
                    self._cut(descriptor, "endless")
                    endless.append(connection.key)
        self._cut_surplus(now)
        gone = [
            (connection.routing_id, connection.key)
            for descriptor, connection in known.items()
            if connection.key and self._found.get(descriptor) is not connection
        ]
        gone += [peer for descriptor, peer in came.items() if descriptor not in self._found and peer not in gone]
        return Looked(endless, gone)

    def _is_own(self, descriptor: int) -> bool:
        """Tells whether a descriptor is a TCP connection to the port."""
        with _borrowed(descriptor) as sock:
            if sock.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN) not in (socket.AF_INET, socket.AF_INET6):
                return False
            sock.getpeername()  # a listener has none
            port: int = sock.getsockname()[1]
            return port == self._port

    def _cut_surplus(self, now: float) -> None:
        of_keys: dict[str, list[tuple[float, int]]] = {}
        for descriptor, connection in list(self._found.items()):
            if now - connection.since > (IDLE_S if connection.key else SILENT_S):
                self._cut(descriptor, "idle")
            elif connection.key:
                of_keys.setdefault(connection.key, []).append((connection.since, descriptor))
        for found in of_keys.values():
            for _, descriptor in sorted(found, reverse=True)[MOST_CONNECTIONS:]:
                self._cut(descriptor, "many")

    def _cut(self, descriptor: int, why: str) -> None:
        """Ends a connection. libzmq sees its end, and closes its descriptor."""
        self._found.pop(descriptor, None)
        self.cuts[why] += 1
        with suppress(OSError), _borrowed(descriptor) as sock:
            # A reset: else a peer whose window was closed would be left to wait, and the system with what it has sent.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            sock.shutdown(socket.SHUT_RDWR)


def _bytes_read(descriptor: int) -> int:
    """Returns how many bytes this process has read from a connection.

    Raises:
        OSError: It is closed.
    """
    with _borrowed(descriptor) as sock:
        (received,) = _RECEIVED.unpack_from(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192), _RECEIVED_AT)
    (waiting,) = _WAITING.unpack(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(_WAITING.size)))
    return int(received) - int(waiting)


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    """Yields a socket for a descriptor that libzmq owns and closes."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    try:
        yield sock
    finally:
        sock.detach()
