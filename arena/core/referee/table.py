"""Handles the seats of one game for the referee: messages to and from each seat, its clock and its transcript.

Inside the referee times are integer nanoseconds, in names that end in `_ns`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from arena.core.errors import ActionError, IllegalAction, RemoteProtocolError
from arena.core.link.base import Cause, Fault, Frame, Link
from arena.core.referee.clock import FOREVER_NS, Clock, CpuClock, CpuShare, too_late
from arena.core.referee.transcript import Transcript
from arena.core.text import plain
from arena.core.types import NS_PER_MS, Level, Seat, Termination, TimeControl
from arena.core.wire.messages import MAX_IGNORED, Action, Error, FromReferee, Hello, Ready
from arena.core.wire.session import State

_PATIENCE_NS: Final = 20 * NS_PER_MS
_PATIENCE_SHARE: Final = 16
"""Part of a decision's time after which it is found out what the bot was denied before; `_PATIENCE_NS` if that is less.
Most bots have answered by then, so that measuring costs them nothing."""
_LEAST_LOOK_NS: Final = 5 * NS_PER_MS  # the shortest time between two looks at a CPU clock
_CORES: Final = os.cpu_count() or 1
_LONGEST_WORDS: Final = 400  # characters of what a bot says of itself that are repeated
MEASURED: Final = frozenset({Level.FENCED, Level.ISOLATED, Level.STRICT})
"""The levels at which the CPU time off turn is measured."""
_LONG_NS: Final = 10 * NS_PER_MS
"""After a time as long as this a bot's processes are looked for again, which takes some 0.2 ms. After a shorter one
only those are asked that are known. A process that was started and ended within it may be counted to the wrong side,
so the error of a decision is below this on each core."""


class Answer(msgspec.Struct, frozen=True):
    """An answer that arrived."""

    message: Action | Ready
    at_ns: int
    used_ns: int
    """The time from the request to the answer."""


def refused(error: ActionError) -> Cause:
    """Returns the cause of forfeit for an action that the rules refuse."""
    if isinstance(error, IllegalAction):
        return Cause(Termination.ILLEGAL_ACTION, f"sent an illegal action: {error}", "§8.6-5")
    return Cause(Termination.MALFORMED, f"sent an action that cannot be read: {error}", "§8.6-4")


class Chair:
    """A seat. Once it has a fault, the fault stays and no later message is read."""

    def __init__(self, seat: Seat, link: Link, time: TimeControl, level: Level = Level.TRUSTED) -> None:
        self.seat = seat
        self.clock = Clock(time)
        self.cpu = None if time.cpu_ms is UNSET else CpuClock(time.cpu_ms)  # its CPU time, if that is limited
        self.off_turn = OffTurn(link, seat) if level in MEASURED else None
        """Its CPU time while others are to move, if that is measured."""
        self.transcript = Transcript()
        self.wants: frozenset[str] = frozenset()  # what its requests carry
        self.seated = False  # whether its bot can take part in a game
        self.fault: Cause | None = None  # what is wrong with its process or with what it sent
        self._link = link
        self._posted_ns = 0
        self._unread = 0  # messages that came after its fault

    def greet(self, hello: Hello | Fault, rules: str, version: int) -> None:
        """Takes the bot's `hello`, or the fault that the link found instead.

        Args:
            hello: What `Link.open` returned for the seat.
            rules: The game that it shall play.
        """
        if isinstance(hello, Fault):
            self.fault = hello
        elif not hello.plays(rules, version):
            known = "; ".join(f"{played.name} {', '.join(map(str, played.versions))}" for played in hello.rules)
            detail = f"does not play {rules} {version}: by its hello it plays {_quoted(known)}"
            self.fault = Cause(Termination.START_FAILED, detail, "§8.1-6")
        else:
            self.wants = hello.wants(rules)
            self.session = self._link.session(self.seat)
            self.seated = True

    def begin(self) -> None:
        """Begins the game: it said that it is ready."""
        if self.cpu is not None:
            self.cpu.begin(self._link.cpu_ns(self.seat))
        if self.off_turn is not None:
            self.off_turn.begin()

    def leave(self) -> None:
        """Ends what is measured: it has forfeited, or the game is over."""
        if self.off_turn is not None:
            self.off_turn.asked()

    def measured(self) -> dict[str, int]:
        """Returns what was measured of it in the game, by name of `MEASURED`."""
        return {} if self.off_turn is None else {"off_turn_cpu_ms": self.off_turn.cpu_ms}

    @property
    def is_in_game(self) -> bool:
        """Whether the bot knows of the game and has not been told its end."""
        return self.seated and self.session.state in (State.PREPARING, State.PLAYING, State.ASKED)

    def send(self, message: FromReferee) -> int:
        """Sends a message. Returns the moment at which it was handed over."""
        return self.post(self.write(message))

    def write(self, message: FromReferee) -> bytes:
        """Returns the frame of a message, for `post` to send next."""
        return self.session.send(message)

    def post(self, frame: bytes) -> int:
        """Sends a frame from `write`. Returns the moment at which it was handed over."""
        self._posted_ns = self._link.send(self.seat, frame)
        self.transcript.add("referee", frame, self._posted_ns)
        return self._posted_ns

    def read(self, arrival: Frame | Fault) -> Answer | Cause | None:
        """Returns what an arrival means, or None if it needs no reaction. A cause is kept as the seat's fault."""
        if self.fault is not None:
            self._unread += 1
            if self._unread >= MAX_IGNORED:
                self._link.stop(self.seat)
            return None
        if isinstance(arrival, Fault):
            self.fault = arrival
            return arrival
        self.transcript.add("bot", arrival.data, arrival.at_ns)
        try:
            message = self.session.receive(arrival.data)
        except RemoteProtocolError as error:
            malformed = error.error_code == Termination.MALFORMED
            code = Termination.MALFORMED if malformed else Termination.PROTOCOL_VIOLATION
            what = "a message that cannot be read" if malformed else "a message that the protocol does not allow"
            self.fault = Cause(code, f"sent {what}: {error}", error.rule, error.error_code)
            return self.fault
        if isinstance(message, (Action, Ready)):
            self._link.rest(self.seat)
            return Answer(message, arrival.at_ns, arrival.at_ns - self._posted_ns)
        if isinstance(message, Error) and self.session.state is State.PREPARING:
            words = f"{message.code}: {message.message}" if message.message else message.code
            self.fault = Cause(Termination.START_FAILED, f"would not play: {_quoted(words)}", "§8.4-2")
        return self.fault


def _quoted(text: str) -> str:
    """Returns words of a bot as they may be shown, cut short."""
    shown = plain(text)
    return shown if len(shown) <= _LONGEST_WORDS else f"{shown[:_LONGEST_WORDS]}…"


class Table:
    """The chairs and the answers that they owe."""

    def __init__(self, chairs: Sequence[Chair], link: Link) -> None:
        self._chairs = chairs
        self._link = link
        self._due: dict[Seat, int] = {}  # the deadline of each seat that owes an answer
        self._time_ns: dict[Seat, int] = {}  # the time that it had
        self._shares: dict[Seat, CpuShare | None] = {}
        """Shares of the machine that its bot had got in its life when that was looked at first."""
        self._look_ns = FOREVER_NS  # when to look at the bots that have not answered

    def ask(self, messages: Sequence[tuple[Seat, FromReferee, int]]) -> dict[Seat, int]:
        """Sends each seat a message and gives it so many nanoseconds to answer. Returns when each was sent.

        All frames are ready before the first is sent, so that competing seats start as close together as possible.
        """
        chairs = self._chairs
        ready = [(seat, chairs[seat].write(message), time_ns) for seat, message, time_ns in messages]
        sent = {}
        if not self._due:
            self._look_ns = FOREVER_NS
        for seat, _, _ in ready:
            if (off_turn := chairs[seat].off_turn) is not None:
                off_turn.asked()
        for seat, frame, time_ns in ready:
            sent[seat] = sent_ns = chairs[seat].post(frame)
            self._due[seat] = sent_ns + time_ns
            self._time_ns[seat] = time_ns
            self._shares.pop(seat, None)
            self._look_ns = min(self._look_ns, sent_ns + min(_PATIENCE_NS, time_ns // _PATIENCE_SHARE))
        return sent

    def collect(self, late: str) -> dict[Seat, Answer | Cause]:
        """Waits until every seat that was asked has answered, failed, or reached its deadline."""
        answers: dict[Seat, Answer | Cause] = {}
        while self._due:
            came = self.next(late)
            assert came is not None
            answers[came[0]] = came[1]
        return answers

    def next(self, late: str, until_ns: int | None = None) -> tuple[Seat, Answer | Cause] | None:
        """Waits for the next answer or failure of a seat that was asked.

        Args:
            late: What to say of a seat that reaches its deadline: "did not answer in time".
            until_ns: Wait no longer than to this moment; in nanoseconds.

        Returns:
            The seat, and its answer or the cause of its failure; None if `until_ns` has passed, or nobody was asked.
        """
        link, due = self._link, self._due
        while due:
            deadline_ns = min(due.values())
            wait_ns = min(deadline_ns, self._look_ns if until_ns is None else min(until_ns, self._look_ns))
            arrival = link.receive(wait_ns)
            if arrival is None:
                if wait_ns == deadline_ns:
                    seat = min(due, key=due.__getitem__)
                    del due[seat]
                    return seat, self._too_late(seat, late)
                if wait_ns == until_ns:
                    return None
                exhausted = self._look()
                if exhausted is not None:
                    return exhausted
                continue
            seat = arrival.seat
            answer = self._chairs[seat].read(arrival)
            if answer is None or seat not in due:
                continue
            deadline_ns = due.pop(seat)
            if isinstance(answer, Cause):
                return seat, answer
            if (off_turn := self._chairs[seat].off_turn) is not None:
                off_turn.answered(answer.used_ns)
            if answer.at_ns > deadline_ns:
                return seat, self._too_late(seat, late, answer.at_ns - deadline_ns)
            clock = self._chairs[seat].cpu
            return seat, (clock and clock.excess(link.cpu_ns(seat))) or answer
        return None

    def _too_late(self, seat: Seat, detail: str, over_ns: int | None = None) -> Cause:
        """Returns the cause of forfeit of a seat whose time is over; `over_ns` is as in `too_late`."""
        detail = f"{detail}: it had {round(self._time_ns[seat] / NS_PER_MS / 1_000, 3):g} s"
        if over_ns is not None:
            detail += f", and its answer came {over_ns / NS_PER_MS:.1f} ms later"
        before, after = self._shares.get(seat), self._share(seat)
        share = None if before is None or after is None else after.since(before)
        late_ns = self._link.lateness_ns
        if share is None and (off_turn := self._chairs[seat].off_turn) is not None:
            late_ns -= self._link.cpu_ns(seat) - off_turn.asked_ns  # it was never looked at: perhaps by its own doing
        return too_late(detail, self._time_ns[seat], share=share, late_ns=late_ns, over_ns=over_ns)

    def _share(self, seat: Seat) -> CpuShare | None:
        """Returns what a seat's bot has got of the machine in its life."""
        denied_ns = self._link.denied_ns(seat)
        if denied_ns is None:
            return None
        return CpuShare(denied_ns, self._link.cpu_ns(seat), self._link.crowd_ns(seat))

    def _look(self) -> tuple[Seat, Cause] | None:
        """Looks at the bots that have not answered, and returns a seat that has used up its CPU time, if there is one.

        The next look is when the first of them can have used it up, with all cores.
        """
        self._look_ns = FOREVER_NS
        for seat in list(self._due):
            if seat not in self._shares:  # a look that comes after its time shows nothing of that
                is_late = self._link.now_ns() >= self._due[seat]
                self._shares[seat] = None if is_late else self._share(seat)
            clock = self._chairs[seat].cpu
            if clock is not None:
                cpu_ns = self._link.cpu_ns(seat)
                exhausted = clock.excess(cpu_ns)
                if exhausted is not None:
                    del self._due[seat]
                    self._look_ns = 0
                    return seat, exhausted
                soonest_ns = max(_LEAST_LOOK_NS, clock.left_ns(cpu_ns) // _CORES)
                self._look_ns = min(self._look_ns, self._link.now_ns() + soonest_ns)
        return None


class OffTurn:
    """What one seat uses in one game while others are to move. Before the game begins nothing is counted."""

    __slots__ = ("_at_ns", "_before_ns", "_link", "_seat", "_total_ns", "asked_ns")

    def __init__(self, link: Link, seat: Seat) -> None:
        self._link = link
        self._seat = seat
        self._at_ns = 0  # when it was last found to be off turn
        self._before_ns: int | None = None
        """CPU time that it had used by then in its life; None while it is asked, and outside the game."""
        self._total_ns = 0
        self.asked_ns = 0  # what it had used in its life when it was last asked

    @property
    def cpu_ms(self) -> int:
        """The CPU time so far, in milliseconds."""
        return self._total_ns // NS_PER_MS

    def begin(self) -> None:
        """Begins the game: nobody is to move yet."""
        self._total_ns = 0
        self.answered(_LONG_NS)

    def answered(self, used_ns: int) -> None:
        """Begins to count: its answer has come, after so many nanoseconds."""
        self._at_ns = self._link.now_ns()
        self._before_ns = self._used_ns(used_ns)

    def asked(self) -> None:
        """Ends counting: it is about to be asked, or its game is over."""
        if self._before_ns is not None:
            self.asked_ns = self._used_ns(self._link.now_ns() - self._at_ns)
            self._total_ns += self.asked_ns - self._before_ns
            self._before_ns = None

    def _used_ns(self, since_ns: int) -> int:
        """Returns what it has used in its life, `since_ns` after it was looked at last."""
        link = self._link
        return link.cpu_ns(self._seat) if since_ns >= _LONG_NS else link.known_cpu_ns(self._seat)
