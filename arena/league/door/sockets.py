"""The connections of remote bots: a WebSocket for each of their authors' programs, and a seat for each of their games.

Laws:
1. Whose a WebSocket is, is asked again at each message: a token may be revoked meanwhile.
2. What is sent waits in a short queue. Whoever does not read loses what would not fit, and then the connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from arena.core.face import errors
from arena.league.door.author_seats import AuthorSeats, read_said
from arena.league.door.codec import decode, encode, number_of
from arena.league.door.health import DoorFiles
from arena.league.door.limits import Usage
from arena.league.door.local_requests import LocalRequests, Who
from arena.league.door.messages import SUBPROTOCOL, Error, Frame, FromDoor, Leave, Pong, Serve, Serving, Withdraw
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal
from arena.league.door.relay import SEAT, SOCKET
from arena.league.door.remote_bots import Presence, RemoteBots
from arena.league.door.seats import Gone, SeatConnection

QUEUE: Final = 16
"""Messages that wait for an author's program."""
UNREAD_S: Final = 15.0
"""Seconds for which it may read nothing."""
SILENT_S: Final = 30.0
"""Seconds for which a connection may bring no message before its first one ..."""
IDLE_S: Final = 300.0
"""... and after it."""


class _Connection:
    """A WebSocket, with what waits to be sent over it."""

    def __init__(self, websocket: WebSocket, key: str) -> None:
        self.key = key
        """The hash of the token that was shown."""
        self.tasks: set[asyncio.Task[None]] = set()
        self.ended = False
        self._websocket = websocket
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(QUEUE)

    def send(self, message: FromDoor) -> bool:
        """Sends a message, if the connection is there and reads. Returns whether it did."""
        if self.ended or self._queue.full():
            return False
        self._queue.put_nowait(encode(message))
        return True

    async def send_all(self) -> None:
        """Sends what waits, and closes the connection of whoever does not read."""
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            while True:
                data = await self._queue.get()
                async with asyncio.timeout(UNREAD_S):
                    await self._websocket.send_bytes(data)
        with suppress(Exception):
            await self._websocket.close(1011)


class Sockets:
    """All connections of remote bots."""

    def __init__(
        self,
        folder: Path,
        published: Published,
        requests: LocalRequests,
        usage: Usage,
        telling: DoorFiles,
        clock: Callable[[], float],
    ) -> None:
        (folder / SEAT).mkdir(parents=True, exist_ok=True)
        self._place = folder / SEAT / SOCKET
        self._published = published
        self._requests = requests
        self._usage = usage
        self._telling = telling
        self._clock = clock
        self._remote_bots = RemoteBots()
        self.author_seats = AuthorSeats(published, clock)
        self._seats: dict[int, SeatConnection] = {}

    def presence(self) -> dict[str, Presence]:
        """Returns who is served now, by version."""
        return self._remote_bots.presence()

    def tick(self, now: float) -> None:
        """Does what it is time for. Call it every second or so."""
        self._remote_bots.tick(now)
        self.author_seats.tick(now)
        self._sweep()
        for version, served in list(self._remote_bots.served.items()):
            found = [each for each in self._published.versions(served.author) if each.get("version") == version]
            if not found and served.known:
                self._remote_bots.taken(version)
            served.known |= bool(found)
            for each in found:
                if (state := str(each.get("state", ""))) != served.said.state:
                    served.said = Serving(id=served.said.id, version=version, state=state)
                    served.peer.send(served.said)

    # Authors

    async def serve(self, websocket: WebSocket) -> None:
        """Serves a WebSocket until its end."""
        if SUBPROTOCOL not in websocket.scope["subprotocols"]:
            reason = f"expected a WebSocket with the subprotocol {SUBPROTOCOL}, got: another or none"
            raise Refusal("protocol", reason, "use the version of arena that the league has")
        await websocket.accept(subprotocol=SUBPROTOCOL)
        connection = _Connection(websocket, websocket.scope["who"].key)
        sender = asyncio.create_task(connection.send_all())
        wait_s = SILENT_S
        try:
            while True:
                async with asyncio.timeout(wait_s):
                    event = await websocket.receive()
                if event["type"] == "websocket.disconnect":
                    break
                wait_s = IDLE_S
                answer = self._heard(connection, event.get("bytes"))
                if answer is not None and not connection.send(answer):
                    break
                await asyncio.sleep(0)  # a queue that is never empty would let nobody else come in between
        except TimeoutError:
            pass
        finally:
            connection.ended = True
            self._remote_bots.gone(connection, "lost its connection")
            self._telling.show(self.presence())  # at once: the league begins no game of it any more
            self._sweep()
            for task in (sender, *connection.tasks):
                task.cancel()

    async def sit(self, websocket: WebSocket) -> None:
        """Serves an author's seat over a WebSocket: tells each state, and takes what `POST /seat` takes."""
        who: Who = websocket.scope["who"]
        await self.author_seats.state(who.author)
        await websocket.accept()
        telling = asyncio.create_task(self._tell_seat(websocket, who))
        try:
            while True:
                async with asyncio.timeout(IDLE_S):
                    event = await websocket.receive()
                if event["type"] == "websocket.disconnect" or self._published.author_of(who.key) != who.author:
                    break
                self._telling.messages += 1
                try:
                    self._usage.take(who.key, "plays", 1, self._clock())
                    self.author_seats.say(who.author, read_said((event.get("text") or "").encode()))
                except Refusal as refusal:
                    self._telling.refused[refusal.code] += 1
                    async with asyncio.timeout(UNREAD_S):
                        await websocket.send_text(msgspec.json.encode(refusal.problem).decode())
        except TimeoutError:
            pass
        finally:
            telling.cancel()

    async def _tell_seat(self, websocket: WebSocket, who: Who) -> None:
        """Sends each state of a seat until it is over, or its author's token is revoked; then closes the connection."""
        known = ("", 0)
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError, Refusal):
            while known[0] not in ("over", "gone"):
                state = await self.author_seats.state(who.author, IDLE_S, known)
                if self._published.author_of(who.key) != who.author:
                    break
                known = state.phase, state.request
                async with asyncio.timeout(UNREAD_S):
                    await websocket.send_text(msgspec.json.encode(state).decode())
        with suppress(Exception):
            await websocket.close()

    def _heard(self, connection: _Connection, data: bytes | None) -> Error | None:
        """Takes a message. Returns what to answer at once, if there is something."""
        self._telling.messages += 1
        try:
            author = self._published.author_of(connection.key)
            if author is None:
                self._remote_bots.gone(connection, "lost its author's token")
                reason = "expected a token that the league knows, got: one that was revoked"
                raise Refusal("unknown_token", reason, "give the league's operator the hash of another")
            if data is None:
                raise Refusal(
                    "protocol", "expected a binary message, got: text", "see protocol/LEAGUE.md", rule="§D4-4"
                )
            self._take(connection, Who(connection.key, author), data)
        except Refusal as refusal:
            self._telling.refused[refusal.code] += 1
            return refusal.message(number_of(data or b""))
        except errors.RemoteProtocolError as error:
            self._telling.refused[error.error_code] += 1
            with suppress(Refusal):
                self._usage.take(connection.key, "requests", 1, self._clock())
            remedy = "see protocol/LEAGUE.md, or use the version of arena that the league has"
            return Refusal(error.error_code, str(error), remedy, rule=error.rule).message(number_of(data or b""))
        return None

    def _take(self, connection: _Connection, who: Who, data: bytes) -> None:
        now = self._clock()
        message = decode(data)
        try:
            self._usage.take(who.key, "frames", 1, now)
        except Refusal:
            self._remote_bots.gone(connection, "sent too many frames")
            raise
        match message:
            case Frame():
                self._remote_bots.frame(connection, message)
            case Pong():
                self._remote_bots.pong(connection, message, now)
            case Leave():
                self._remote_bots.leave(connection, message)
            case Withdraw():
                self._remote_bots.withdraw(connection)
                self._telling.show(self.presence())
            case Serve():
                self._usage.take(who.key, "requests", 1, now)
                task = asyncio.create_task(self._offered(connection, who, message))
                connection.tasks.add(task)
                task.add_done_callback(connection.tasks.discard)

    async def _offered(self, connection: _Connection, who: Who, message: Serve) -> None:
        """Answers an offer of a bot."""
        try:
            version, state = await self._requests.serve(who, message)
            said = Serving(id=message.id, version=version, state=state)
            self._remote_bots.serve(connection, who.author, message.bot, said, self._clock())
            self._telling.show(self.presence())
            connection.send(said)
        except Refusal as refusal:
            self._telling.refused[refusal.code] += 1
            connection.send(refusal.message(message.id))
        except OSError:
            reason = "expected to write to the league's disk, got: an error"
            connection.send(Refusal("internal", reason, "try again later").message(message.id))

    # Seats

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes seats while the block runs, in the loop that runs."""
        loop = asyncio.get_running_loop()
        with _listener(self._place) as listener:
            loop.add_reader(listener.fileno(), self._accept, listener)
            try:
                yield
            finally:
                loop.remove_reader(listener.fileno())
                for seat in self._seats.values():
                    seat.end("lost its league's door")
                self._sweep()
                self._place.unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            accepted, _ = listener.accept()
            seat = SeatConnection(accepted)
            self._seats[seat.descriptor] = seat
            asyncio.get_running_loop().add_reader(seat.descriptor, self._hear, seat)

    def _hear(self, seat: SeatConnection) -> None:
        try:
            for kind, content in seat.receive():
                if not self.author_seats.takes(seat, kind, content):
                    self._remote_bots.from_seat(seat, kind, content)
        except Gone:
            self._left(seat)
        self._sweep()

    def _left(self, seat: SeatConnection) -> None:
        if not self.author_seats.left(seat):
            self._remote_bots.left(seat)

    def _flush(self, seat: SeatConnection) -> None:
        try:
            seat.flush()
        except Gone:
            self._left(seat)
        self._sweep()

    def _sweep(self) -> None:
        """Closes seats that are over, and has the others written to as soon as they can be."""
        loop = asyncio.get_running_loop()
        for descriptor, seat in list(self._seats.items()):
            loop.remove_writer(descriptor)
            if seat.ended:
                loop.remove_reader(descriptor)
                del self._seats[descriptor]
                seat.close()
            elif seat.is_behind:
                loop.add_writer(descriptor, self._flush, seat)


def _listener(path: Path) -> socket.socket:
    """Returns the listener for seats. Only this user can reach it, or, if that is root, whoever runs bots for it."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    try:
        os.fchmod(listener.fileno(), 0o600)  # before anybody can connect
        listener.bind(str(path))
        os.chmod(path, 0o666 if os.geteuid() == 0 else 0o600)
        listener.listen(64)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise errors.ConfigError(
            f"expected a league's folder whose path is short enough for a socket, got: {error} - at {str(path)!r}; "
            "move the league's folder"
        ) from None
    return listener
