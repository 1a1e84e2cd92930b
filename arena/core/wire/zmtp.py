"""Speaks ZMTP 3 as the server's side of one connection, without I/O: bytes in, messages out.

ZMTP is what ZeroMQ sockets speak (RFC 23 and 37 of ZeroMQ); the mechanism is NULL. The peer is a DEALER, and we look to
it like a ROUTER. libzmq could do this for us, but not within bounds: it keeps an endless message of many frames in
memory, and aborts the process when descriptors run out.

Laws:
1. Whatever the peer sends becomes a message, an answer to send, or a `RemoteProtocolError`; nothing else is raised.
2. No more is kept than one frame of `MAX_READ` bytes, and what one call of `feed` brings beyond it.
3. A length is checked as soon as it is known, before the frame has come.
4. After an error nothing more is read: the position in the stream is lost.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from arena.core.errors import RemoteProtocolError
from arena.core.wire.messages import MAX_FRAME

MAX_READ: Final = 2 * MAX_FRAME
"""Bytes of the longest frame that is read at all. It is above `MAX_FRAME`, so that the transcript can show a frame
that is a bit too long."""
MAX_COMMAND: Final = 1_024
"""Bytes of the longest command: a READY with its metadata, a PING with its context."""

_MORE, _LONG, _COMMAND = 1, 2, 4
_SIGNATURE: Final = b"\xff" + bytes(8) + b"\x7f"
_GREETING: Final = _SIGNATURE + b"\3\1" + b"NULL".ljust(20, b"\0") + bytes(32)
_VERSION_AT: Final = len(_SIGNATURE)
_MECHANISM: Final = slice(12, 32)
_PING: Final = b"\4PING"
_PONG: Final = b"\4PONG"
_CONTEXT: Final = slice(7, 23)
"""Part of a PING's body that its PONG repeats. Before it comes the time to live, two bytes."""


def frame(message: bytes) -> bytes:
    """Returns a message as it goes over the connection: one frame."""
    size = len(message)
    return (bytes((0, size)) if size < 256 else b"\2" + size.to_bytes(8, "big")) + message


def _command(body: bytes) -> bytes:
    return bytes((_COMMAND, len(body))) + body


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value


_READY: Final = _command(b"\5READY" + _property(b"Socket-Type", b"ROUTER") + _property(b"Identity", b""))


class _Stage(Enum):
    GREETING = "greeting"
    READY = "ready"
    OPEN = "open"


class Zmtp:
    """One connection. Give it all that is received, take messages until there is none, and send what it answers."""

    def __init__(self) -> None:
        self.routing_id = b""
        """Name that the peer gives itself; known once it is ready. It means nothing here."""
        self.commands = 0
        """Number of commands that have come: READY, heartbeats, unknown ones."""
        self._stage = _Stage.GREETING
        self._data = bytearray()
        self._answers = bytearray(_GREETING)

    @property
    def is_open(self) -> bool:
        """Whether both sides have greeted, so that messages may be sent."""
        return self._stage is _Stage.OPEN

    @property
    def has_unread(self) -> bool:
        """Whether bytes are left of which `next` may make a message."""
        return bool(self._data)

    @property
    def unread(self) -> bytes:
        """What has come and is no message yet; after an error what begins with the fault."""
        return bytes(self._data)

    def answers(self) -> bytes:
        """Returns what is to be sent now: our greeting first, later what the peer's commands ask for. Only once."""
        answers = bytes(self._answers)
        self._answers.clear()
        return answers

    def alone(self, data: bytes) -> bytes | None:
        """Returns the message of received bytes that are one short frame, as nearly every answer is; else None."""
        if len(data) > 1 and not data[0] and data[1] + 2 == len(data) and not self._data and self._stage is _Stage.OPEN:
            return data[2:]
        return None

    def feed(self, data: bytes) -> bytes | None:
        """Takes received bytes, and returns the next message, or None if none is whole.

        Raises:
            RemoteProtocolError: The peer breaks the protocol. Close the connection, perhaps after a last message.
        """
        self._data += data
        return self.next()

    def next(self) -> bytes | None:
        """Returns the next message of those that have come, or None if none is whole.

        Raises:
            RemoteProtocolError: As `feed`.
        """
        if self._stage is _Stage.GREETING and not self._greet():
            return None
        while self._data:
            body = self._frame()
            if body is None:
                return None
            flags, content = body
            if not flags & _COMMAND:
                return content
            self._obey(content)
        return None

    def _greet(self) -> bool:
        """Reads the greeting, as far as it has come; tells whether it is whole."""
        data = self._data
        if data[:1] not in (b"", _SIGNATURE[:1]):
            raise _refused("a connection that speaks ZMTP 3", "one of an older version, or no ZMTP at all")
        at = _VERSION_AT
        if (len(data) >= at and not data[at - 1] & 1) or (len(data) > at and data[at] < 3):
            raise _refused("a connection that speaks ZMTP 3", "one of an older version")
        if len(data) < len(_GREETING):
            return False
        mechanism = bytes(data[_MECHANISM]).rstrip(b"\0")
        if mechanism != b"NULL":
            raise _refused("the mechanism NULL", repr(mechanism)[1:])
        del data[: len(_GREETING)]
        self._answers += _READY
        self._stage = _Stage.READY
        return True

    def _frame(self) -> tuple[int, bytes] | None:
        """Takes the next frame, if it has come: its flags and its content."""
        data = self._data
        flags = data[0]
        if flags & ~(_MORE | _LONG | _COMMAND) or (flags & _COMMAND and flags & _MORE):
            raise _refused("a frame of ZMTP 3", f"one with the flags {flags:#04x}")
        start = 9 if flags & _LONG else 2
        if len(data) < start:
            return None
        size = int.from_bytes(data[1:start], "big")
        if flags & _COMMAND:
            if size > MAX_COMMAND:
                raise _refused(f"a command of ZMTP of at most {MAX_COMMAND:,} bytes", f"{size:,}")
        elif self._stage is not _Stage.OPEN:
            raise _refused("the command READY of ZMTP", "a message")
        elif flags & _MORE:
            raise RemoteProtocolError("protocol_violation", "expected one frame per message, got: several", "§5.1-1")
        elif size > MAX_READ:
            raise RemoteProtocolError("oversized", f"expected at most {MAX_FRAME} bytes, got: {size}", "§5.1-4")
        if len(data) < start + size:
            return None
        content = bytes(data[start : start + size])
        del data[: start + size]
        return flags, content

    def _obey(self, command: bytes) -> None:
        """Carries out a command. Those that are unknown change nothing."""
        self.commands += 1
        if self._stage is _Stage.READY:
            properties = _properties(command)
            kind = properties.get(b"socket-type", b"")
            if kind != b"DEALER":
                raise _refused("a socket of the type DEALER", repr(kind)[1:])
            self.routing_id = properties.get(b"identity", b"")
            self._stage = _Stage.OPEN
        elif command.startswith(_PING):
            self._answers += _command(_PONG + command[_CONTEXT])


def _properties(ready: bytes) -> dict[bytes, bytes]:
    """Returns the metadata of a READY: by lower-case name."""
    name, rest = b"\5READY", ready
    if not ready.startswith(name):
        raise _refused("the command READY of ZMTP", repr(ready[1 : 1 + ready[0]] if ready else b"")[1:])
    rest = ready[len(name) :]
    found = {}
    while rest:
        size = rest[0]
        key, value_at = rest[1 : 1 + size], 1 + size + 4
        length = int.from_bytes(rest[1 + size : value_at], "big")
        if not size or len(rest) < value_at + length:
            raise _refused("metadata of ZMTP in READY", "something else")
        found[key.lower()] = rest[value_at : value_at + length]
        rest = rest[value_at + length :]
    return found


def _refused(expected: str, got: str) -> RemoteProtocolError:
    return RemoteProtocolError("protocol_violation", f"expected {expected}, got: {got[:80]}", "§4.1-4")
