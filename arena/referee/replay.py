"""Plays a logged game again through the rules, step by step, and says precisely where log and rules part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from arena.errors import ActionError, ConfigError, ReplayMismatch
from arena.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LateRecord,
    Log,
    LogEvent,
    OutcomeRecord,
    Record,
    play_digest,
)
from arena.referee.asks import Asks
from arena.referee.chance import tie_draw, tie_order
from arena.referee.game import PROXY, is_late
from arena.referee.scribe import log_event
from arena.rules import make_rules
from arena.rules.base import Draw, Event, Rules
from arena.types import Seat, Termination


class Step(msgspec.Struct, frozen=True):
    """One record of a log, played again."""

    line: int
    """Its line in the log, from 1."""
    record: Record
    before: Any
    """The state before it."""
    after: Any
    """The state after it."""
    asked: tuple[Seat, ...]
    """The seats that were asked in the state `before`."""


def rules_of(header: Header, source: str) -> Rules[Any]:
    """The rules that a game was played by; `source` names its log in errors.

    Raises:
        ReplayMismatch: The header does not describe a game that this program can play.
    """
    try:
        rules = make_rules(header.rules, header.board.text, header.board.name, header.seats, header.options)
    except ConfigError as error:
        raise ReplayMismatch(source, 1, f"the header describes no game: {error}") from None
    for what, logged, actual in (
        ("board hash", header.board.hash, rules.board_payload()["hash"]),
        ("rules version", header.rules_version, rules.version),
        ("number of bots", len(header.bots), rules.seats),
    ):
        if logged != actual:
            raise ReplayMismatch(source, 1, f"expected the {what} {actual}, the header says {logged}")
    return rules


def replay(log: Log) -> Iterator[Step]:
    """Play a log again.

    Yields:
        A step for every record.

    Raises:
        ReplayMismatch: A record is not what the rules make of the records before it.
    """
    player = _Player(log, rules_of(log.header, log.source))
    for line, record in enumerate(log.records, start=2):
        before = player.state
        asked = player.step(line, record)
        yield Step(line, record, before, player.state, asked)


class _Player:
    def __init__(self, log: Log, rules: Rules[Any]) -> None:
        self.rules = rules
        self.state = rules.start()
        self._log = log
        self._actions = 0
        self._gone: set[Seat] = set()
        self._termination: str = Termination.FINISHED
        self._asks = Asks()

    def step(self, line: int, record: Record) -> tuple[Seat, ...]:
        """Play a record; the seats that were asked in the state before it."""
        self._line = line
        seat = record.seat if isinstance(record, ActionRecord | LateRecord) else None
        self._asks.watch(self.state, self.rules.pending(self.state), self._gone)
        self._asks.call(seat, self.state)
        if not self._asks.racing:
            self._check_nobody_passed_over(())
        asked = self._asks.asked()
        self._play(record)
        return asked

    def _play(self, record: Record) -> None:
        events: list[Event] = []
        match record:
            case Chance(tied=None):
                self._chance(record, events)
            case Chance():
                self._tie(record)
            case ActionRecord():
                self._action(record, events)
                self._asks.served(record.seat, self.state)
            case LateRecord():
                self._late(record)
                self._asks.served(record.seat, self.state, late=True)
                return
            case ForfeitRecord():
                self._forfeit(record, events)
            case OutcomeRecord():
                self._outcome(record)
                return
        self._same_events([log_event(event) for event in events], record.events)

    def _tie(self, record: Chance) -> None:
        tied = record.tied or []
        if not self._asks.racing or len(tied) < 2 or tied != sorted({*tied}) or not {*tied} <= {*self._asks.asked_in}:
            raise self._mismatch(f"the seats {tied} cannot be tied here")
        self._check_draw(record, tie_draw(tied))
        self._asks.tie(tie_order(tied, record.draw))

    def _chance(self, record: Chance, events: list[Event]) -> None:
        wanted = self.rules.draw_wanted(self.state)
        seat = None
        if wanted is None:
            owing = [decision.seat for decision in self.rules.pending(self.state) if decision.seat in self._gone]
            if not owing:
                raise self._mismatch(f"chance drew from {record.stream!r}, and no draw was due")
            seat = owing[0]
            wanted = Draw(f"{PROXY}/{seat}", len(self.rules.legal(self.state, seat)))
        self._check_draw(record, wanted)
        if seat is None:
            self.state = self.rules.draw(self.state, record.draw, events)
        else:
            play = self.rules.legal(self.state, seat)[record.draw]
            self.state = self.rules.apply(self.state, seat, play, events)

    def _check_nobody_passed_over(self, forfeiting: Sequence[Seat]) -> None:
        if passed_over := sorted(self._asks.failed.difference(forfeiting)):
            raise self._mismatch(f"the seats {passed_over} were passed over in a race, and did not forfeit")

    def _check_draw(self, record: Chance, wanted: Draw) -> None:
        if (record.stream, record.n) != (wanted.stream, wanted.n) or not 0 <= record.draw < wanted.n:
            raise self._mismatch(
                f"expected a draw of one of {wanted.n} from {wanted.stream!r}, "
                f"the log has {record.draw} of {record.n} from {record.stream!r}"
            )

    def _check_owed(self, record: ActionRecord | LateRecord) -> None:
        due = {decision.seat: decision.kind for decision in self.rules.pending(self.state)}
        if due.get(record.seat) != record.kind or record.seat in self._gone:
            raise self._mismatch(f"seat {record.seat} decided {record.kind!r}, which it did not owe")
        if record.turn != self.rules.turn(self.state):
            raise self._mismatch(f"expected turn {self.rules.turn(self.state)}, the log says {record.turn}")
        if record.seat in self._asks.failed:
            raise self._mismatch(f"seat {record.seat} was served after its turn in a race")

    def _late(self, record: LateRecord) -> None:
        self._check_owed(record)
        asked_in = self._asks.asked_in.get(record.seat, self.state)
        if not is_late(self.rules, record.seat, record.action, asked_in, self.state):
            raise self._mismatch(f"the action of seat {record.seat} was not too late")

    def _action(self, record: ActionRecord, events: list[Event]) -> None:
        self._check_owed(record)
        try:
            self.state = self.rules.act(self.state, record.seat, record.action, events)
        except ActionError as error:
            raise self._mismatch(f"the rules refuse the action of seat {record.seat}: {error}") from None
        self._actions += 1

    def _forfeit(self, record: ForfeitRecord, events: list[Event]) -> None:
        seats = [forfeit.seat for forfeit in record.forfeits]
        if not seats or sorted({*seats} - self._gone) != seats or not {*seats} <= {*range(self.rules.seats)}:
            raise self._mismatch(f"the seats {seats} cannot forfeit here")
        codes = {forfeit.code for forfeit in record.forfeits}
        if not codes <= {*Termination} - {Termination.FINISHED, Termination.INTERRUPTED}:
            raise self._mismatch(f"{sorted(codes)} are no forfeits")
        if record.turn != self.rules.turn(self.state):
            raise self._mismatch(f"expected turn {self.rules.turn(self.state)}, the log says {record.turn}")
        self._check_nobody_passed_over(seats)
        self._asks.forfeited()
        self._gone.update(seats)
        self.state = self.rules.forfeit(self.state, seats, events)
        if self.rules.ranks(self.state) is not None:
            self._termination = record.forfeits[0].code

    def _outcome(self, record: OutcomeRecord) -> None:
        ranks = self.rules.ranks(self.state)
        if ranks is None:
            raise self._mismatch("the log ends, and by the rules the game goes on")
        for what, logged, actual in (
            ("ranks", record.ranks, list(ranks)),
            ("termination", record.termination, self._termination),
            ("turns", record.turns, self.rules.turn(self.state)),
            ("actions", record.actions, self._actions),
            ("play digest", record.play_digest, play_digest([self._log.header, *self._log.records])),
        ):
            if logged != actual:
                raise self._mismatch(f"expected the {what} {actual}, the log says {logged}")

    def _same_events(self, expected: list[LogEvent], logged: list[LogEvent]) -> None:
        for position, event in enumerate(expected):
            if position >= len(logged):
                raise self._mismatch(f"the event {event} is missing")
            if logged[position] != event:
                raise self._mismatch(f"expected the event {event}, the log has {logged[position]}")
        if len(logged) > len(expected):
            raise self._mismatch(f"the event {logged[len(expected)]} did not happen")

    def _mismatch(self, reason: str) -> ReplayMismatch:
        return ReplayMismatch(self._log.source, self._line, reason)
