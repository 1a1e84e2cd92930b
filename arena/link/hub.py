"""The referee's socket: one ROUTER for all bots of a worker, and what libzmq knows of their connections.

Nothing here knows bots or seats. A connection is named by its `Route`, which is no identity: a bot chooses its own.
Who a connection belongs to is settled by the token in its `hello`.

For bots that are trusted not to attack the socket: libzmq keeps an endless message of many frames in memory, and aborts
this process when it runs out of descriptors. No option prevents either.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import zmq

from arena.link.process import BotProcess
from arena.wire.messages import MAX_FRAME

Route: TypeAlias = bytes
"""What ROUTER prefixes a connection's messages with."""

QUICK_MS: Final = 10
"""How long `router.recv` itself waits. Waiting there costs less than polling, and sees nothing but messages."""
MAX_READ: Final = 2 * MAX_FRAME
"""Bytes beyond which libzmq drops the connection. Above `MAX_FRAME`, so that the session can name the fault of a
frame that is a bit too long."""
MAX_QUEUED: Final = 32
"""Messages of one connection that wait to be read; then it is read no further. With `MAX_READ`, the memory for it."""
MAX_UNSENT: Final = 256
"""Messages that wait for a bot to read them, beside what the system buffers."""
HANDSHAKE_MS: Final = 2_000
"""Time for a connection to greet in ZMTP."""

OLD_ZMTP: Final = -1
"""Stands for the descriptor of a connection that does not speak ZMTP 3."""

NOW: Final = int(zmq.DONTWAIT)
MORE_NOW: Final = int(zmq.SNDMORE | zmq.DONTWAIT)
"""Flags as plain integers: combining pyzmq's enumerations costs microseconds."""
_SRCFD: Final = int(zmq.SRCFD)
_READ: Final = int(zmq.POLLIN)


class Part(msgspec.Struct, frozen=True):
    """A message as it came, from any connection."""

    route: Route
    data: bytes
    more: bool
    """It has more than one frame; `data` is the first."""
    descriptor: int
    """The connection's file descriptor in this process: other connections have had it before, or will. `OLD_ZMTP` if it
    greeted in ZMTP 1 or 2: libzmq does not tell it then."""


class Unread(Exception):
    """The bot has not read its messages for so long that no more can be queued."""


class Hub:
    """A ROUTER bound to a Unix socket in a private directory, and to a port of this machine if a bot asks for one."""

    def __init__(self, directory: Path) -> None:
        """Binds `referee` in `directory`, which must be open to this user only."""
        path = directory / "referee"
        self.endpoint = f"ipc://{path}"
        """Where bots connect."""
        self._context = zmq.Context()
        self.router: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        """For the link's hot path only: a frame is a `send` of the route and one of the data."""
        self.router.router_mandatory = True  # else messages that cannot be sent are dropped in silence
        self.router.linger = 0
        self.router.maxmsgsize = MAX_READ
        self.router.handshake_ivl = HANDSHAKE_MS
        self.router.rcvhwm = MAX_QUEUED
        self.router.sndhwm = MAX_UNSENT
        self.router.rcvtimeo = QUICK_MS
        self._monitor = self.router.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.router.bind(self.endpoint)
        path.chmod(0o600)
        self._tcp_endpoint = ""

    def tcp_endpoint(self) -> str:
        """Returns where bots connect that cannot use a Unix socket: a port that was free when this was first called.

        Raises:
            OSError: There is none.
        """
        if not self._tcp_endpoint:
            try:
                self.router.bind("tcp://127.0.0.1:*")
            except zmq.ZMQError as error:
                raise OSError(error.errno, str(error)) from None
            self._tcp_endpoint = self.router.getsockopt_string(zmq.LAST_ENDPOINT)
        return self._tcp_endpoint

    def send(self, route: Route, data: bytes) -> bool:
        """Queues a frame for a connection. Returns False if it is closed; all that came over it can be received then.

        Raises:
            Unread: The queue is full.
        """
        try:
            self.router.send(route, MORE_NOW)
            self.router.send(data, NOW)
        except zmq.Again:
            raise Unread from None
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            return False
        return True

    def receive(self) -> Part | None:
        """Returns the next message that has come, or None."""
        try:
            route = self.router.recv(NOW)
        except zmq.Again:
            return None
        return self.complete(route, self.router.recv(NOW, copy=False))

    def complete(self, route: Route, frame: zmq.Frame) -> Part:
        """Completes a message whose route and first frame were read; any other frames are read and dropped."""
        try:
            descriptor = int(frame.get(_SRCFD))
        except zmq.ZMQError:
            descriptor = OLD_ZMTP
        part = Part(route, frame.bytes, frame.more, descriptor)
        while frame.more:
            frame = self.router.recv(NOW, copy=False)
        return part

    def closed(self) -> list[int]:
        """Returns the descriptors of connections closed since the last call. All that they sent can be received now."""
        descriptors: list[int] = []
        while True:
            try:
                event = self._monitor.recv_multipart(NOW)[0]
            except zmq.Again:
                return descriptors
            descriptors.append(struct.unpack("=Hi", event)[1])

    def wait(self, processes: Iterable[BotProcess], wait_ms: int) -> None:
        """Waits until there is something to receive, a connection is closed, or one of the processes ends."""
        items: list[tuple[zmq.Socket[bytes] | int, int]] = [(self.router, _READ), (self._monitor, _READ)]
        for process in processes:
            if process.pidfd is not None and process.end() is None:
                items.append((process.pidfd, _READ))
        zmq.zmq_poll(items, wait_ms)

    def close(self) -> None:
        """Closes the socket. What is unsent is lost."""
        self.router.disable_monitor()
        self._monitor.close(0)
        self.router.close(0)
        self._context.term()


def group_of(descriptor: int) -> int | None:
    """Returns the process group at the other end of a connection; None where the system does not tell, as with TCP."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    try:
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process = struct.unpack("3i", credentials)[0]
        return os.getpgid(process) if process else None
    except OSError:
        return None
