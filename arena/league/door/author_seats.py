"""The seats of authors who play themselves, over HTTP or a WebSocket: each is one unrated game of theirs.

Laws:
1. All that an author is told is made from the messages of their own seat, those that a bot gets.
2. A seat is its author's, over whatever connection they come. They may go and come back; their clock runs meanwhile.
3. No rules of a game run here. A play is held against what the referee has offered, and nothing else goes to it.
4. An author has one seat at a time. Of those that are over, the latest are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from arena.core.face import Payload, codec, errors, wire_messages
from arena.league.door.messages import API, SeatSaid, SeatState
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal
from arena.league.door.relay import GUEST, OF_AUTHOR
from arena.league.door.seats import ENDED, FRAME, VERSION, Gone, SeatConnection
from arena.pages.agents.seat import GONE, OVER, AgentSeat, read_json

ABSENT_S: Final = 120.0
"""Seconds in which the author must have come to a seat that has begun: others wait for the place."""
PUBLISHED_S: Final = 10.0
"""Longest wait, in seconds, until the league has published a seat that was asked for."""
MOST_KEPT: Final = 64
"""Seats that are over and kept."""
_ENDED: Final = "the game has ended: a notice says why, or its log"
_LATE: Final = "your time was over: you have forfeited"


def read_said(data: bytes | bytearray) -> SeatSaid:
    """Returns what an author says. Raises Refusal: it is something else."""
    try:
        return read_json(data, SeatSaid, f"a body as {API}/openapi.json has it")
    except ValueError as error:
        raise Refusal("malformed", str(error), "correct the body") from None


class _Seat(msgspec.Struct):
    """A seat with its game."""

    connection: SeatConnection
    agent: AgentSeat
    game: str
    began: float
    met: bool = False
    """Whether its author has come since."""
    asked: int = 0
    """Number of the open request, as the referee has it."""
    left: float | None = None
    """When the league's end left it, and its word on why was still to come."""
    word: str = ""
    """Why the game has ended, by the league's word."""

    def send(self, message: wire_messages.Message) -> None:
        self.connection.send(FRAME, codec.encode(message))

    def end(self, reason: str = "", why: str = _ENDED) -> None:
        self.connection.end(reason)
        self.agent.close(why)

    def lose(self, now: float) -> None:
        """Ends a connection that the league's end has left. Why is the league's to say."""
        self.connection.end()
        if self.word:
            self.agent.close(self.word)
        elif self.agent.phase not in (OVER, GONE):
            self.left = now
            self.agent.wait()


class AuthorSeats:
    """All seats of authors."""

    def __init__(self, published: Published, clock: Callable[[], float]) -> None:
        self._published = published
        self._clock = clock
        self._seats: dict[str, _Seat] = {}
        self._changed = asyncio.Event()

    # Requests of authors

    async def expect(self, author: str, game: str) -> None:
        """Waits until the league has published a seat that it has promised."""
        until = self._clock() + PUBLISHED_S
        while self._published.seat(author) != game and self._clock() < until:
            await asyncio.sleep(0.1)

    async def state(self, author: str, wait_s: float = 0.0, known: tuple[str, int] | None = None) -> SeatState:
        """Returns how an author's seat stands.

        Args:
            author: The author.
            wait_s: Seconds to wait at most, until they are asked or the game is over.
            known: Phase and request that they know: it is waited for others, instead of until they are asked.

        Raises:
            Refusal: They have none.
        """
        until = self._clock() + wait_s
        while True:
            found = self._state(author)
            left = until - self._clock()
            news = found.phase != "waiting" if known is None else (found.phase, found.request) != known
            if news or left <= 0:
                return found
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(left, 5))

    def say(self, author: str, said: SeatSaid) -> None:
        """Does what an author says in their seat.

        Raises:
            Refusal: They are not asked that, or the play is not legal.
        """
        seat = self._seats.get(author)
        if seat is None or seat.connection.ended:
            got = "none yet" if seat is None else "one that is over"
            raise Refusal("state", f"expected a game of yours that is played, got: {got}", "see how your seat stands")
        seat.met = True
        try:
            if said.do == "resign":
                seat.end("resigned", "you have resigned")
            else:
                line = seat.agent.play(said.request, said.plays, said.note, msgspec.to_builtins(said.cost))
                seat.send(wire_messages.Action(id=seat.asked, **line))
        except errors.ConfigError as error:
            raise Refusal("state", str(error), "see how your seat stands") from None
        except errors.ActionError as error:
            raise Refusal("illegal", str(error), "make the play from one of `legal`, while your time runs") from None
        except Gone:
            seat.lose(self._clock())
        self._tell()

    def _state(self, author: str) -> SeatState:
        seat, due = self._seats.get(author), self._published.seat(author)
        if due and (seat is None or (seat.agent.phase in ("over", "gone") and seat.game != due)):
            return SeatState(phase="waiting", game=due)
        if seat is None:
            expected = "expected a seat that you have asked for, got: none"
            raise Refusal("unknown", expected, "ask with PUT /seat?against=BOT; notices say how others ended")
        seat.met = True
        agent, state = seat.agent, seat.agent.state()
        left = None if agent.left_s is None else max(0, round(agent.left_s * 1_000))
        told = {name: value for name, value in state.items() if name in SeatState.__struct_fields__}
        return SeatState(
            game=seat.game, start=agent.start, view=agent.known, clock=left,
            result={name: value for name, value in state.items() if name not in told}, **told,
        )  # fmt: skip

    # Messages of the league's end

    def takes(self, connection: SeatConnection, kind: bytes, content: bytes) -> bool:
        """Takes a message of a seat's connection, if it is one of an author. Returns whether it is."""
        if kind == VERSION and not connection.version and content.startswith(OF_AUTHOR.encode()):
            connection.version = content.decode(errors="replace")
            self._begin(connection)
        if kind == ENDED and not connection.version:
            connection.end()
            author, game, code = f"{content.decode(errors='replace')}  ".removeprefix(OF_AUTHOR).split(" ")[:3]
            if (seat := self._seats.get(author)) is not None and seat.game == game:
                seat.word = _LATE if code == "timeout" else _ENDED
                if seat.left is not None:  # else what the referee has said is still to be heard
                    seat.end(why=seat.word)
                    self._tell()
            return True
        seat = self._of(connection)
        if seat is None:
            return connection.version.startswith(OF_AUTHOR)
        if kind == FRAME:
            try:
                self._hear(seat, msgspec.msgpack.decode(content))
            except (msgspec.DecodeError, LookupError, TypeError, ValueError, Gone):
                seat.end()  # no referee says that, or it has gone
            self._tell()
        return True

    def _hear(self, seat: _Seat, message: Payload) -> None:
        seat.agent.hear(message)
        match message["type"]:
            case "game_start":
                seat.send(wire_messages.Ready(game=message["game"]))
            case "request":
                seat.asked = message["id"]
            case "goodbye" | "error":
                seat.end(why=_LATE if message.get("code") == "timeout" else _ENDED)

    def left(self, connection: SeatConnection) -> bool:
        """Takes the end of a seat's connection, if it is one of an author. Returns whether it is."""
        if (seat := self._of(connection)) is not None:
            seat.lose(self._clock())
            self._tell()
        return connection.version.startswith(OF_AUTHOR)

    def tick(self, now: float) -> None:
        """Gives up the seats whose authors never came or are none any more, so that others get the place."""
        for author, seat in list(self._seats.items()):
            if not self._published.has(author):  # whoever gets the name later is another author
                seat.end("has left the league")
                del self._seats[author]
                self._tell()
            elif not (seat.met or seat.connection.ended) and now - seat.began > ABSENT_S:
                reason = f"did not come within {ABSENT_S:g} seconds"
                seat.end(reason, f"you {reason} of its begin")
            elif (
                seat.left is not None and now - seat.left > PUBLISHED_S
            ):  # a service that is stopped, or older, says nothing
                seat.end()
                self._tell()

    def _begin(self, connection: SeatConnection) -> None:
        author, _, game = connection.version.removeprefix(OF_AUTHOR).partition(" ")
        try:
            seat = _Seat(connection, AgentSeat(None, int(game.rpartition("-")[2])), game, self._clock())
            want = ("view", "events", "legal")
            seat.send(wire_messages.Hello(token="", protocol=wire_messages.PROTOCOL, name=GUEST, want=want))
        except (ValueError, Gone):  # no worker of the league asks for that, or it has gone
            connection.end()
            return
        if (before := self._seats.pop(author, None)) is not None:
            before.end("has another seat now")
        self._seats[author] = seat
        for other in [one for one, its in self._seats.items() if its.connection.ended][:-MOST_KEPT]:
            del self._seats[other]

    def _of(self, connection: SeatConnection) -> _Seat | None:
        seat = self._seats.get(connection.version.removeprefix(OF_AUTHOR).partition(" ")[0])
        return seat if seat is not None and seat.connection is connection else None

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
