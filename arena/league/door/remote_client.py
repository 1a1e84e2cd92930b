"""The connection by which a remote bot is served: messages of a league as frames of a WebSocket.

It has no thread: whoever uses it polls `socket` together with the bots, and asks what was heard.
"""

from __future__ import annotations

import select
import ssl
import time
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from arena.core.face import errors
from arena.league.door.addresses import ANSWER_S, Address, connect, headers, reached
from arena.league.door.client import refused
from arena.league.door.codec import decode_from_door, encode
from arena.league.door.messages import API, MAX_DOOR_FRAME, SUBPROTOCOL, FromAuthor, FromDoor

_AGAIN = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_MOST_READ = 65_536


class RemoteClient:
    """A WebSocket to a league that stands. Use it with `with`."""

    def __init__(self, league: Address, token: str) -> None:
        """Connects.

        Raises:
            DoorError: The league cannot be reached, or refuses.
        """
        self._league = league
        self._parts: list[bytes] = []
        self._protocol = ClientProtocol(
            parse_uri(f"ws{league.scheme[4:]}://{league.place}{API}/remote"),
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]  # a NewType of str
            max_size=MAX_DOOR_FRAME,
        )
        request = self._protocol.connect()
        for name, value in headers(token).items():
            request.headers[name] = value
        self._protocol.send_request(request)
        with reached(league):
            self.socket = connect(league).sock
            try:
                self._flush()
                self._early = self._begun()
            except BaseException:
                self.socket.close()
                raise
        self.socket.setblocking(False)

    def _begun(self) -> list[Any]:
        """Waits until the league has agreed. Returns what came behind that."""
        protocol = self._protocol
        while not (events := protocol.events_received()):
            if protocol.handshake_exc is not None:
                raise ConnectionAbortedError("it ended before an answer of HTTP")
            self._take(self.socket.recv(_MOST_READ))
        response, *more = events
        if protocol.handshake_exc is not None:
            assert isinstance(response, Response)
            raise refused(self._league, response.status_code, response.headers, bytes(response.body or b""))
        return more

    def __enter__(self) -> RemoteClient:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._protocol.send_close()
            self._flush()
        except (InvalidState, OSError, errors.DoorError):
            pass  # it was lost
        self.socket.close()

    @property
    def connected(self) -> bool:
        """Whether the connection stands."""
        return self._protocol.state is State.OPEN

    def send(self, message: FromAuthor) -> None:
        """Sends a message, and waits for no answer.

        Raises:
            DoorError: The connection is lost.
        """
        if self.connected:
            with reached(self._league):
                self._protocol.send_binary(encode(message))
                self._flush()

    def heard(self) -> list[FromDoor]:
        """Returns the messages that have come.

        Raises:
            DoorError: The league has sent something else.
        """
        events, self._early = self._early, []
        while self._protocol.state is not State.CLOSED:
            try:
                self._take(self.socket.recv(_MOST_READ))
            except _AGAIN:
                break
            except OSError:
                self._protocol.receive_eof()
            events += self._protocol.events_received()
            if not (isinstance(self.socket, ssl.SSLSocket) and self.socket.pending()):
                break
        return [message for event in events if (message := self._message(event)) is not None]

    def _message(self, frame: Frame) -> FromDoor | None:
        """Returns the message that a frame ends; None if it ends none, or one of a type that is not known."""
        if frame.opcode not in (Opcode.BINARY, Opcode.CONT):
            return None
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return None
        data, self._parts = b"".join(self._parts), []
        try:
            return decode_from_door(data)
        except errors.RemoteProtocolError as error:
            raise errors.DoorError(
                f"expected a message as leagues send it, got: {error}; use the version of arena that the league has",
                "internal",
            ) from None

    def _take(self, data: bytes) -> None:
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._flush()

    def _flush(self) -> None:
        """Sends what is to be sent, waiting for room."""
        until = time.monotonic() + ANSWER_S
        for data in self._protocol.data_to_send():
            rest = memoryview(data)
            while rest:
                try:
                    rest = rest[self.socket.send(rest) :]
                except _AGAIN:
                    if time.monotonic() > until:
                        raise TimeoutError from None
                    select.select([], [self.socket], [], 0.2)
