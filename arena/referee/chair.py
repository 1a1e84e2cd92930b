"""One seat of one game, as the referee deals with it: what goes to it and comes from it, its clock, its transcript."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from arena.errors import ActionError, IllegalAction, RemoteProtocolError
from arena.link.base import Fault, Frame, Link
from arena.referee.clock import Clock
from arena.referee.transcript import Transcript
from arena.rules.base import Event
from arena.types import Payload, Seat, Termination, TimeControl
from arena.wire.messages import Action, FromReferee, Hello, Ready

MAX_IDLE_MESSAGES = 1_000
"""So many messages of a seat in one game may be ignored (unknown types, `error`): enough for any later version of the
protocol, too few to keep a referee busy."""


class Answer(msgspec.Struct, frozen=True):
    """What was asked for has come."""

    message: Action | Ready
    at_ns: int
    """When it arrived."""
    used_ns: int
    """How long after it was asked for."""


class Cause(msgspec.Struct, frozen=True):
    """Why a seat forfeits: the rest of the sentence that begins with the seat."""

    code: Termination
    detail: str
    error_code: str = ""
    """The code of the `error` message, where it differs from the termination."""
    overloaded: bool = False
    """The machine was overloaded at that moment."""


def refused(error: ActionError) -> Cause:
    """What an action that the rules refuse comes to."""
    if isinstance(error, IllegalAction):
        return Cause(Termination.ILLEGAL_ACTION, f"sent an illegal action: {error}")
    return Cause(Termination.MALFORMED, f"sent an action that cannot be read: {error}")


class Chair:
    """A seat. Its fault, once it has one, stays; nothing that comes after it is read."""

    def __init__(self, seat: Seat, link: Link, time: TimeControl) -> None:
        self.seat = seat
        self.clock = Clock(time)
        self.transcript = Transcript()
        self.wants: frozenset[str] = frozenset()
        """What its requests shall carry."""
        self.seated = False
        """Whether it knows of the game: it was sent a `game_start`."""
        self.fault: Cause | None = None
        """What is wrong with its process, or with what it sent."""
        self._link = link
        self._news: list[Payload] = []
        self._posted_ns = 0
        self._idle_messages = 0

    def greet(self, hello: Hello | Fault) -> None:
        """Take in what the link says of the bot."""
        if isinstance(hello, Fault):
            self.fault = Cause(hello.code, hello.detail)
        else:
            self.wants = frozenset(hello.want)
            self.session = self._link.session(self.seat)
            self.seated = True

    def send(self, message: FromReferee) -> int:
        """Send a message; the moment it was handed over, in nanoseconds."""
        return self.post(self.write(message))

    def write(self, message: FromReferee) -> bytes:
        """The frame of a message, to be posted next."""
        return self.session.send(message)

    def post(self, frame: bytes) -> int:
        """Send what was written; the moment it was handed over, in nanoseconds."""
        self._posted_ns = self._link.send(self.seat, frame)
        self.transcript.add("referee", frame, self._posted_ns)
        return self._posted_ns

    def read(self, arrival: Frame | Fault) -> Answer | Cause | None:
        """What an arrival means; None if it asks for nothing. A cause is kept as the seat's fault."""
        if self.fault is not None:
            if self._is_flooding():
                self._link.stop(self.seat)
            return None
        if isinstance(arrival, Fault):
            self.fault = Cause(arrival.code, arrival.detail)
            return self.fault
        self.transcript.add("bot", arrival.data, arrival.at_ns)
        try:
            message = self.session.receive(arrival.data)
        except RemoteProtocolError as error:
            malformed = error.error_code == Termination.MALFORMED
            code = Termination.MALFORMED if malformed else Termination.PROTOCOL_VIOLATION
            what = "a message that cannot be read" if malformed else "a message that the protocol does not allow"
            self.fault = Cause(code, f"sent {what}: {error}", error.error_code)
            return self.fault
        if isinstance(message, (Action, Ready)):
            return Answer(message, arrival.at_ns, arrival.at_ns - self._posted_ns)
        if self._is_flooding():
            self.fault = Cause(
                Termination.PROTOCOL_VIOLATION, f"sent {MAX_IDLE_MESSAGES} messages that ask for nothing"
            )
        return self.fault

    def _is_flooding(self) -> bool:
        """Count a message that came to nothing."""
        self._idle_messages += 1
        return self._idle_messages >= MAX_IDLE_MESSAGES

    def learn(self, events: Iterable[Event]) -> None:
        """Note what the seat is told, if it wants to be told."""
        if "events" in self.wants:
            self._news += [event.data for event in events if event.reaches(self.seat)]

    def news(self) -> list[Payload] | None:
        """What it has learnt since the last call, or None if it does not want to be told."""
        if "events" not in self.wants:
            return None
        news, self._news = self._news, []
        return news
