"""The seats of remote bots: connections of relay programs (`relay_seat.py`), which workers run as the bots.

Each is a stream on a Unix socket that only this user can reach. A message is its length (4 bytes), its kind (1 byte)
and its content. The first one names the version; all others are frames of the game. Nothing here waits.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from arena.core.face import wire_messages

VERSION: Final = b"v"
"""From the seat, first: the version that is to play, `NAME/3`."""
FRAME: Final = b"f"
"""A frame of the game, in either direction."""
ENDED: Final = b"e"
"""From the league, alone on its connection: `@AUTHOR GAME CODE`, how the game of an author's seat ended for them."""
CLOSED: Final = b"x"
"""To the seat, last: why there is no bot, the rest of a sentence."""

HEAD: Final = struct.Struct("!Ic")
"""The head of a message: the length of its content in bytes, and its kind."""
_READ: Final = 65_536
_MOST_UNSENT: Final = 4 * wire_messages.MAX_REFEREE_FRAME


class Gone(Exception):
    """The seat's connection is closed, or broke a rule."""


class SeatConnection:
    """The connection of one seat."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._received = bytearray()
        self._unsent = bytearray()
        self.sitting = ""
        """The sitting that it has, once there is one."""
        self.version = ""
        """The version that is to play, once the seat has named it."""
        self.ended = False
        """Whether it is over: nothing is taken from it, and whoever polls it closes it."""

    @property
    def descriptor(self) -> int:
        """The file descriptor, for polling."""
        return self._socket.fileno()

    @property
    def is_behind(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._unsent)

    def receive(self) -> Iterator[tuple[bytes, bytes]]:
        """Yields the messages that have come, as kinds and contents. Reads once from the system.

        Raises:
            Gone: Nothing more comes.
        """
        try:
            data = self._socket.recv(_READ)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            raise Gone from None
        if not data:
            raise Gone
        self._received += data
        while len(self._received) >= HEAD.size:
            length, kind = HEAD.unpack_from(self._received)
            if length > wire_messages.MAX_REFEREE_FRAME:
                raise Gone
            end = HEAD.size + length
            if len(self._received) < end:
                return
            content = bytes(self._received[HEAD.size : end])
            del self._received[:end]
            yield kind, content

    def send(self, kind: bytes, content: bytes) -> None:
        """Sends a message, or keeps what there is no room for.

        Raises:
            Gone: The connection is closed, or too much waits already.
        """
        if len(self._unsent) + len(content) > _MOST_UNSENT:
            raise Gone
        self._unsent += HEAD.pack(len(content), kind) + content
        self.flush()

    def flush(self) -> None:
        """Sends what waits, as far as there is room.

        Raises:
            Gone: The connection is closed.
        """
        if not self._unsent:
            return
        try:
            sent = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            raise Gone from None
        del self._unsent[:sent]

    def end(self, reason: str = "") -> None:
        """Ends it, after a last message with the reason if there is one."""
        if reason and not self.ended:
            with suppress(Gone):
                self.send(CLOSED, reason.encode()[:1024])
        self.ended = True

    def close(self) -> None:
        """Closes it. Its descriptor is not polled any more."""
        self._socket.close()
