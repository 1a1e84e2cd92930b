"""The socket of one bot process: a private listener, and then its one connection, in ZMTP 3.

Each process has a socket of its own in a folder of its own, so that who speaks over a connection needs no name. The
listener takes one connection and is gone. Only a TCP port of this machine, for bots without Unix sockets, can be
reached by others: there the token in the `hello` tells the bot from them.

Everything that a bot can do to its connection is bounded in bytes here and in `core/wire/zmtp.py`.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns
from typing import Final

from arena.core.errors import ConfigError, RemoteProtocolError
from arena.core.link.faults import machine_fault
from arena.core.types import NS_PER_MS
from arena.core.wire.messages import MAX_REFEREE_FRAME
from arena.core.wire.zmtp import Zmtp, frame

SOCKET_NAME: Final = "referee"
MAX_SOCKET_PATH: Final = 103  # bytes that the path of a Unix socket may have; macOS has the least room
MAX_UNSENT: Final = 256  # messages that wait for a bot to read them, beside what the system buffers
MAX_UNSENT_BYTES: Final = 4 * MAX_REFEREE_FRAME
_READ_BYTES: Final = 65_536
_FREE_COMMANDS: Final = 1_000
_COMMAND_NS: Final = 10 * NS_PER_MS
"""The most heartbeats that a peer may send at once; in the long run one in the time below."""
_BACKLOG: Final = 8  # connections to a TCP port that may wait to be taken


class Closed(Exception):
    """The connection is closed. All that the bot had sent before was returned."""


class Unread(Exception):
    """The bot has not read its messages for so long that no more can be queued."""


class Connection:
    """A connection to a bot. No call waits. Only `Closed`, `Unread` and `RemoteProtocolError` are raised for what the
    bot does; after the last two nothing more is read, but something can still be sent."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._zmtp = Zmtp()
        self._unsent = bytearray()
        self._waiting = 0  # messages of which a part is unsent
        self.begun_ns = monotonic_ns()
        self.has_more = False
        """Whether a message may have been received that `receive` has not returned: polling would not tell."""
        with suppress(Closed):  # `receive` finds that out
            self._put(self._zmtp.answers())

    @property
    def descriptor(self) -> int:
        """The file descriptor, for polling."""
        return self._socket.fileno()

    @property
    def routing_id(self) -> bytes:
        """What the bot's socket calls itself, or nothing."""
        return self._zmtp.routing_id

    @property
    def is_behind(self) -> bool:
        """Whether something waits to be sent: poll for room then, and `flush`."""
        return bool(self._unsent)

    @property
    def unread(self) -> bytes:
        """What was received and is no message; after an error what begins with the fault."""
        return self._zmtp.unread

    def receive(self) -> bytes | None:
        """Returns the next message, or None if none has come whole. Reads at most once from the system.

        Raises:
            Closed: It is closed.
            RemoteProtocolError: The bot breaks the protocol.
        """
        if self.has_more:
            message = self._zmtp.next()
        else:
            try:
                data = self._socket.recv(_READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return None
            except OSError:
                raise Closed from None
            if not data:
                raise Closed
            if (message := self._zmtp.alone(data)) is not None:
                return message
            message = self._zmtp.feed(data)
            if answers := self._zmtp.answers():
                self._answer(answers)
            commands = self._zmtp.commands
            if commands > _FREE_COMMANDS + (monotonic_ns() - self.begun_ns) // _COMMAND_NS:
                raise RemoteProtocolError("protocol_violation", f"expected few heartbeats, got: {commands:,}", "§4.1-5")
        self.has_more = message is not None and self._zmtp.has_unread
        return message

    def send(self, message: bytes) -> None:
        """Sends a message, or queues it.

        Raises:
            Closed: It is closed. What the bot has sent can still be received.
            Unread: The queue is full.
        """
        data = frame(message)
        if self._unsent:
            if self._waiting >= MAX_UNSENT or len(self._unsent) + len(data) > MAX_UNSENT_BYTES:
                raise Unread
            self._waiting += 1
        self._put(data)
        if self._unsent and not self._waiting:
            self._waiting = 1

    def flush(self) -> bool:
        """Sends more of what waits, as far as there is room now. Returns whether something still waits."""
        with suppress(Closed):  # reading finds that out
            self._put(b"")
        return self.is_behind

    def close(self) -> None:
        """Closes it. What is unsent is lost."""
        self._socket.close()

    def _answer(self, answers: bytes) -> None:
        if len(self._unsent) + len(answers) > MAX_UNSENT_BYTES:
            raise RemoteProtocolError(
                "protocol_violation", "expected a bot that reads, got: one that does not", "§4.1-3"
            )
        with suppress(Closed):  # what came before the end is still to be received
            self._put(answers)

    def _put(self, data: bytes) -> None:
        """Sends bytes as far as there is room, and keeps the rest."""
        if self._unsent:
            self._unsent += data
            data = bytes(self._unsent)
            self._unsent.clear()
        if not data:
            return
        try:
            sent = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            raise Closed from None
        if sent < len(data):
            self._unsent += data[sent:]
        else:
            self._waiting = 0


class Listener:
    """Waits for the connection of one bot process."""

    def __init__(self, folder: Path, *, user: int | None = None, tcp: bool = False, most: int = 1) -> None:
        """Opens it.

        Args:
            folder: A folder of its own, which exists. The socket is in it.
            user: The only user who may connect; None means this process's own.
            tcp: Whether it is a port of this machine instead.
            most: How many connections it takes in all before it is gone; a port takes more.

        Raises:
            ConfigError: The folder's path is too long for a socket. Show the message to the operator.
            MachineFault: The system has no room for it.
        """
        self._path = None if tcp else folder / SOCKET_NAME
        self._left = most
        if self._path is not None and len(os.fsencode(self._path)) > MAX_SOCKET_PATH:
            raise ConfigError(
                f"expected a temporary folder whose path leaves room for a socket ({MAX_SOCKET_PATH} bytes in all), "
                f"got: {self._path}; set TMPDIR to a folder with a shorter path"
            )
        try:
            self._socket = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
            try:
                if self._path is None:
                    self._socket.bind(("127.0.0.1", 0))
                else:
                    self._socket.bind(str(self._path))
                    os.chmod(self._path, 0o600)
                    if user is not None:
                        os.chown(self._path, user, -1)
                self._socket.listen(_BACKLOG if tcp else most)
                self._socket.setblocking(False)
            except BaseException:
                self._socket.close()
                raise
        except OSError as error:
            raise machine_fault("open a socket for a bot", error) from error
        self.endpoint = (
            f"tcp://127.0.0.1:{self._socket.getsockname()[1]}" if self._path is None else f"ipc://{self._path}"
        )

    @property
    def is_open(self) -> bool:
        """Whether more connections may come."""
        return self._socket.fileno() >= 0

    @property
    def descriptor(self) -> int:
        """The file descriptor, for polling."""
        return self._socket.fileno()

    def accept(self) -> Connection | None:
        """Returns a connection that has been made, or None. With its last one, the listener is gone.

        Raises:
            MachineFault: The system has no room for it.
        """
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return None
        except OSError as error:
            raise machine_fault("take a bot's connection", error) from error
        if self._path is not None:
            self._left -= 1
            if not self._left:
                self.close()
        return Connection(accepted)

    def close(self) -> None:
        """Closes it and removes its name."""
        if self.is_open:
            self._socket.close()
            if self._path is not None:
                self._path.unlink(missing_ok=True)
