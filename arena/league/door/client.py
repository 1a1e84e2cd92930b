"""Talks to the door of a league elsewhere, for one author.

Requests go one by one: each waits for its answer. libzmq tells a client that is refused nothing, and tries for ever; so
the client watches the socket, and says in a sentence what is wrong.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import BinaryIO, Final, TypeVar

import zmq
from msgspec.structs import replace
from zmq.utils.monitor import recv_monitor_message

from arena import __version__
from arena.core.face import Payload, errors
from arena.league.door.codec import decode_from_door, encode
from arena.league.door.keys import Address, Pair
from arena.league.door.messages import (
    MAX_CHUNK,
    MAX_DOOR_FRAME,
    PROTOCOL,
    Accepted,
    Chunk,
    Error,
    Finish,
    FromAuthor,
    FromDoor,
    Games,
    Have,
    Hello,
    Log,
    Part,
    Played,
    Report,
    Request,
    Retire,
    Season,
    Standings,
    Status,
    Submit,
    Table,
    Upload,
    Versions,
    Welcome,
)

CONNECT_S: Final = 5.0
"""Seconds without an answer after which the author is told that nobody listens."""
ANSWER_S: Final = 20.0
"""How long an answer may take: the league has ten seconds, and the network some."""
LONGEST_PAUSE_S: Final = 90
"""How long the client waits by itself when a limit is reached."""
_SHORT_PAUSE_S: Final = 2
"""Of pauses up to this the author is told once for each limit: a long list may have dozens."""
TRIES: Final = 5
"""How often an upload is taken up again."""
_QUEUE: Final = 16
_RETRY_MS: Final = 200
_HUNG_UP: Final = 5
"""So often has a league to hang up before its key must be another. A busy one does so too, and one to which a key has
connected too often; libzmq tries again by itself, within three seconds so often."""
_REST_S: Final = 0.5
_EVENTS: Final = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_DISCONNECTED
)
_M = TypeVar("_M", bound=FromDoor)


class Client:
    """A connection to a league, by an author's key. Use it with `with`."""

    def __init__(
        self,
        address: Address,
        pair: Pair,
        *,
        tell: Callable[[str], None] = lambda sentence: None,
        connect_s: float = CONNECT_S,
        answer_s: float = ANSWER_S,
    ) -> None:
        """Begins to connect.

        Args:
            address: The league.
            pair: The author's keys.
            tell: Called with sentences for the author, when something takes time.
            connect_s: How long nobody may listen.
            answer_s: How long an answer may take.
        """
        self._address = address
        self._pair = pair
        self._tell = tell
        self._connect_s = connect_s
        self._answer_s = answer_s
        self._numbers = count(1)
        self._told: set[str] = set()
        """The limits of which the author was told that they are reached."""
        self.connected = False
        """Whether the connection stands."""
        self._hung_up = 0
        """How often, one after another, the other end hung up before there was a connection."""
        with ExitStack() as held:
            context = held.enter_context(zmq.Context())
            self.socket = held.enter_context(context.socket(zmq.DEALER))
            _set_up(self.socket, address, pair)
            self.monitor = held.enter_context(self.socket.get_monitor_socket(_EVENTS))
            # Before the monitor is closed: libzmq tells it of its end, and waits for ever if nobody can hear that.
            held.callback(self.socket.disable_monitor)
            self.socket.connect(address.endpoint)
            self._poller = zmq.Poller()
            self._poller.register(self.socket, zmq.POLLIN)
            self._poller.register(self.monitor, zmq.POLLIN)
            self._held = held.pop_all()
        self._since = time.monotonic()
        """Since when there has been no connection."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    # What an author asks

    def hello(self) -> Welcome:
        """Asks who the league is.

        Raises:
            DoorError: The league cannot be reached, or refuses. This holds for all calls.
        """
        return self.ask(Hello(self.number(), PROTOCOL, f"arena {__version__}"), Welcome)

    def submit(self, archive: BinaryIO, bot: str, digest: str, progress: Callable[[int], None]) -> Accepted:
        """Sends a bot's archive. What was sent before is not sent again.

        Args:
            archive: The archive; it is read as often as that is needed.
            bot: The bot's name.
            digest: The archive's digest.
            progress: Called with the number of bytes that are there.
        """
        size = archive.seek(0, 2)
        for tries in count(1):
            try:
                begun = self._either(Submit(self.number(), bot, digest, size))
                if isinstance(begun, Accepted):
                    return begun
                have = begun.have
                while have < size:
                    progress(have)
                    archive.seek(have)
                    data = archive.read(MAX_CHUNK)
                    have = self.ask(Chunk(self.number(), begun.upload, have, data), Have).have
                progress(have)
                return self.ask(Finish(self.number(), begun.upload), Accepted)
            except errors.DoorError as error:
                if tries >= TRIES or error.refusal not in ("bad_offset", "expired", "no_answer"):
                    raise
                self._tell(f"{error}; going on where it stopped")
        raise AssertionError

    def _either(self, message: Submit) -> Upload | Accepted:
        answer = self._asked(message)
        if not isinstance(answer, Upload | Accepted):
            raise _strange(answer)
        return answer

    def retire(self, bot: str) -> Accepted:
        """Takes a bot of the author out of the league."""
        return self.ask(Retire(self.number(), bot), Accepted)

    def status(self, bot: str = "") -> Versions:
        """Returns how the author's versions stand, of one bot or of all."""
        return self.ask(Status(self.number(), bot), Versions)

    def games(self, *, bot: str = "", only: str = "", most: int = 100) -> Iterator[Payload]:
        """Yields games of the author's versions, the latest first, as many as there are and are wanted.

        The door answers a search for few among many in parts: they are asked for one after another.

        Args:
            bot: Of this bot only.
            only: `lost` or `forfeits`: those only.
            most: The most that are returned.
        """
        after = ""
        while most > 0:
            page = self.ask(Games(self.number(), bot, only, after, min(most, 100)), Played)
            yield from page.games
            most -= len(page.games)
            after = page.next
            if not after:
                return

    def standings(self) -> tuple[str, list[Payload]]:
        """Returns the season's name and the rows of its standings, the best first."""
        rows: list[Payload] = []
        digest = None
        while True:
            page = self.ask(Standings(self.number(), len(rows)), Table)
            if digest not in (None, page.digest):
                rows.clear()
                digest = None
                continue
            digest = page.digest
            rows += page.items
            if len(rows) >= page.total or not page.items:
                return page.season, rows

    def log(self, game: str, *, public: bool = False) -> bytes:
        """Returns the log of a game, compressed with zstd: as this author may see it, or as everybody may."""
        return self._whole(lambda offset: Log(self.number(), game, offset, public))

    def season(self, tournament: str, file: str) -> bytes:
        """Returns a file of a season."""
        return self._whole(lambda offset: Season(self.number(), tournament, file, offset))

    def report(self, version: str, kind: str) -> bytes:
        """Returns the report on a step of a version's life, as JSON."""
        return self._whole(lambda offset: Report(self.number(), version, kind, offset))

    def _whole(self, request: Callable[[int], Request]) -> bytes:
        data = b""
        while True:
            part = self.ask(request(len(data)), Part)
            data += part.data
            if len(data) >= part.total or not part.data:
                break
        if hashlib.sha256(data).hexdigest() != part.digest:
            raise errors.DoorError(
                "expected what the league published, got: it changed meanwhile; try again", "no_answer"
            )
        return data

    # One request

    def number(self) -> int:
        """Returns the number of the next request."""
        return next(self._numbers)

    def ask(self, message: Request, kind: type[_M]) -> _M:
        """Sends a request and returns its answer, which must be of this kind."""
        answer = self._asked(message)
        if not isinstance(answer, kind):
            raise _strange(answer)
        return answer

    def _asked(self, message: Request) -> FromDoor:
        while True:
            answer = self._answer(message)
            if not isinstance(answer, Error):
                return answer
            pause = answer.retry_after_s
            if answer.code != "too_many" or pause is None or pause > LONGEST_PAUSE_S:
                raise refused(answer)
            if pause > _SHORT_PAUSE_S or answer.limit not in self._told:
                self._told.add(answer.limit)
                self._tell(f"{answer.message}; waiting {pause} s")
            time.sleep(pause)
            message = replace(message, id=self.number())

    def _answer(self, message: Request) -> FromDoor:
        self.send(message)
        until = time.monotonic() + self._answer_s
        while (left := until - time.monotonic()) > 0:
            for heard in self.heard(min(left, _REST_S)):
                if getattr(heard, "id", None) == message.id or (isinstance(heard, Error) and heard.id is None):
                    return heard
        raise errors.DoorError(
            f"expected an answer of the league within {self._answer_s:g} s, got: none; try again", "no_answer"
        )

    def send(self, message: FromAuthor) -> None:
        """Sends a message, and waits for no answer.

        Raises:
            DoorError: The league cannot be reached.
        """
        until = time.monotonic() + self._answer_s
        while True:
            # Once a league has refused the key there is no connection to send on, and never will be: libzmq gives up.
            try:
                self.socket.send(encode(message), zmq.NOBLOCK)
                return
            except zmq.Again:
                self.monitor.poll(_RETRY_MS)
                self._watch()
            if time.monotonic() > until:
                raise errors.DoorError(
                    f"expected the league to take a message within {self._answer_s:g} s, got: it did not; try again",
                    "no_answer",
                )

    def heard(self, wait_s: float, ready: dict[object, int] | None = None) -> list[FromDoor]:
        """Returns what has come, after waiting for it at most so long.

        Args:
            wait_s: How long to wait.
            ready: What the caller's own poll has found ready, if it polls `socket` and `monitor` itself.

        Raises:
            DoorError: The league cannot be reached.
        """
        found = dict(self._poller.poll(round(wait_s * 1_000))) if ready is None else ready
        if self.monitor in found:
            self._watch()
        if not self.connected and time.monotonic() - self._since > self._connect_s:
            raise errors.DoorError(
                f"expected a league at {self._address.endpoint}, got: nobody listens there; "
                "check the address, or ask its operator whether `arena league open` runs",
                "nobody",
            )
        messages = []
        while self.socket.poll(0):
            message = decode_from_door(self.socket.recv())
            if message is not None:
                messages.append(message)
        return messages

    def _watch(self) -> None:
        """Notices what became of the connection."""
        while self.monitor.poll(0):
            event = recv_monitor_message(self.monitor)["event"]
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self.connected = True
                self._hung_up = 0
            elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                raise errors.DoorError(
                    f"expected a key that the league knows, got: {self._pair.public}, which is not known here; "
                    "send its .pub file to the league's operator",
                    "unknown_key",
                )
            elif event in (zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL):
                self._hung_up += 1
                if self._hung_up < _HUNG_UP:
                    continue
                raise errors.DoorError(
                    f"expected the league with the key in the address, got: another at {self._address.endpoint}: this "
                    "is not this league's server key, or yours has connected too often; ask its operator for the "
                    "address of today, or wait a minute",
                    "server_key",
                )
            elif event == zmq.EVENT_DISCONNECTED and self.connected:
                self.connected = False
                self._since = time.monotonic()


def refused(error: Error) -> errors.DoorError:
    """Returns the exception for an `error` of the door."""
    where = " - at ".join(filter(None, (error.rule, error.path)))
    return errors.DoorError(f"{error.message}{f' ({where})' if where else ''}; {error.remedy}", error.code)


def _strange(answer: FromDoor) -> errors.DoorError:
    kind = type(answer).__name__.lower()
    return errors.DoorError(f"expected the answer that belongs to the request, got: {kind}; report this", "internal")


def _set_up(socket: zmq.Socket[bytes], address: Address, pair: Pair) -> None:
    try:
        socket.curve_serverkey = address.key.encode()
        socket.curve_publickey = pair.public.encode()
        socket.curve_secretkey = pair.secret.encode()
    except zmq.ZMQError as error:
        raise errors.ConfigError(
            f"expected keys of CURVE, got: {error}; make a new one with `arena league key new`"
        ) from None
    for option, value in (
        (zmq.LINGER, 0),
        (zmq.MAXMSGSIZE, MAX_DOOR_FRAME),
        (zmq.SNDHWM, _QUEUE),
        (zmq.RECONNECT_IVL, _RETRY_MS),
        (zmq.RECONNECT_IVL_MAX, 5_000),
        (zmq.TCP_KEEPALIVE, 1),
        (zmq.TCP_KEEPALIVE_IDLE, 30),
    ):
        socket.setsockopt(option, value)
