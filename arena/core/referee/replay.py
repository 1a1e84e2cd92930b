"""Plays a logged game again: feeds the records to its course, and compares each record with what is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from arena.core import catalogue as games
from arena.core.errors import ConfigError, LaterVersion, ReplayMismatch, Unchecked
from arena.core.record import log as records
from arena.core.rules import course
from arena.core.rules.base import Decision, Event, Rules
from arena.core.rules.course import Accepted, Answers, Ask, Course, Late, Over
from arena.core.types import Seat, Termination, board_hash

Listen: TypeAlias = Callable[[Course, Decision], None]
"""Called with the course and a decision at the moment when the seat is asked for it."""

_GUILTY = {*Termination} - {Termination.FINISHED, Termination.INTERRUPTED}


class Step(msgspec.Struct, frozen=True):
    """One record of a log, played again."""

    line: int
    record: records.Record
    before: Any
    after: Any
    margins: tuple[int, ...] | None = None
    """Leads of each seat over all others in the last one, if the game counts them."""


def rules_of(header: records.Header, source: str) -> Rules[Any]:
    """Returns the rules of a logged game; `source` names its log in errors.

    Raises:
        ReplayMismatch: The header does not describe a game that this program can play.
    """
    settings = header.settings
    try:
        known = games.game(settings.rules).version
    except ConfigError as error:
        raise Unchecked(f"not checked: {error} - at {source}:1; install the package that brings these rules") from None
    version = f"by version {settings.rules_version} of the rules of {settings.rules}"
    if settings.rules_version > known:  # asked before its options, which this version may not know
        raise LaterVersion(f"{version}, where this one knows up to {known}", f"{source}:1")
    if settings.rules_version < known:
        raise Unchecked(f"not checked: {version}, which this arena has no more - at {source}:1; use an earlier one")
    try:
        rules = games.rules_of(settings)
    except ConfigError as error:
        raise ReplayMismatch(source, 1, f"the header describes no game: {error}") from None
    board = settings.board
    if any(time.bank_ms is None and time.limit_ms is None for time in map(header.time, range(len(header.bots)))):
        raise ReplayMismatch(source, 1, "expected a bank or a limit, the header has neither")
    for what, logged, actual in (
        ("board hash", board and board.hash, board and board_hash(board.text)),
        ("number of bots", len(header.bots), rules.seats),
        ("teams", None if settings.teams is UNSET else settings.teams, rules.teams(rules.seats, rules.options)),
    ):
        if logged != actual:
            raise ReplayMismatch(source, 1, f"expected the {what} {actual}, the header says {logged}")
    seeds = [bot.bot_seed for bot in header.bots]
    if len({*seeds}) < len(seeds):
        raise ReplayMismatch(source, 1, f"expected another bot_seed for each seat, the header says {seeds}")
    return rules


def replay(log: records.Log, listen: Listen | None = None) -> Iterator[Step]:
    """Plays a log again. Yields a step for every record.

    Args:
        listen: Called for each seat that is asked, before the record that follows.

    Raises:
        ReplayMismatch: A record disagrees with what the rules make of the records before it.
    """
    line = 1
    try:
        player = _Player(log, listen)
        for line, record in enumerate(log.records, start=2):
            before = player.course.state
            player.play(line, record)
            margins = player.course.margins if isinstance(record, records.OutcomeRecord) else None
            yield Step(line, record, before, player.course.state, margins)
    except RecursionError:
        raise ReplayMismatch(log.source, line, "the values in it nest too deeply") from None


class _Player:
    """Feeds the records of a log to the course of its game."""

    def __init__(self, log: records.Log, listen: Listen | None) -> None:
        self.course = Course(rules_of(log.header, log.source))
        self._log = log
        self._listen = listen
        self._line = 1
        if records.canonical(log.header.board) != records.canonical(self.course.rules.board_payload):
            raise self._mismatch("the board is not the one that its text describes")

    def play(self, line: int, record: records.Record) -> None:
        self._line = line
        self._pass_over(record.seat if isinstance(record, records.ActionRecord | records.LateRecord) else None)
        if not self._never_came(record):
            while isinstance(self.course.due, Ask):
                for decision in self.course.ask().decisions:
                    if self._listen is not None:
                        self._listen(self.course, decision)
        match record:
            case records.Chance():
                self._chance(record)
            case records.ActionRecord() | records.LateRecord():
                self._answer(record)
            case records.ForfeitRecord():
                self._forfeit(record)
            case records.OutcomeRecord():
                self._outcome(record)

    def _pass_over(self, seat: Seat | None) -> None:
        """Lets tied seats fail whose turn is past: an action that the rules refused has no record of its own."""
        tied = self.course.order
        while tied and tied[0] != seat:
            self.course.fail(tied[0], Termination.ILLEGAL_ACTION)
            tied = self.course.order

    def _never_came(self, record: records.Record) -> bool:
        """Says whether a record names seats that did not start. They forfeit before any seat is asked."""
        if self.course.begun or not isinstance(record, records.ForfeitRecord):
            return False
        rules, guilty = self.course.rules, {forfeit.seat for forfeit in record.forfeits}
        pending = {decision.seat for decision in rules.pending(self.course.state)}
        return not pending <= guilty or all(f.code == Termination.START_FAILED for f in record.forfeits)

    def _chance(self, record: records.Chance) -> None:
        if record.tied is not None:
            try:
                self.course.tie(record.tied)
            except ValueError as error:
                raise self._mismatch(str(error)) from None
        due = self.course.due
        if not isinstance(due, course.Chance):
            raise self._mismatch(f"chance drew from {record.stream!r}, and no draw was due")
        wanted = due.draw
        if (record.stream, record.n) != (wanted.stream, wanted.n) or not 0 <= record.draw < wanted.n:
            raise self._mismatch(
                f"expected a draw of one of {wanted.n} from {wanted.stream!r}, "
                f"the log has {record.draw} of {record.n} from {record.stream!r}"
            )
        self._same_events(self.course.draw(record.draw), record.events)

    def _answer(self, record: records.ActionRecord | records.LateRecord) -> None:
        due, seat = self.course.due, record.seat
        if (
            not isinstance(due, Answers)
            or seat not in due.seats
            or self.course.asked[seat].decision.kind != record.kind
        ):
            raise self._mismatch(f"seat {seat} decided {record.kind!r}, which it did not owe")
        self._same_turn(record.turn)
        if not self.course.asked[seat].decision.race:
            for passed in [other for other in due.seats if other < seat]:  # seats are served by their numbers
                self.course.fail(passed, Termination.ILLEGAL_ACTION)
        answered = self.course.answer(seat, record.action)
        if isinstance(answered, course.Refused):
            raise self._mismatch(f"the rules refuse the action of seat {seat}: {answered.error}")
        if isinstance(answered, Late) != isinstance(record, records.LateRecord):
            was = "was too late" if isinstance(answered, Late) else "was not too late"
            raise self._mismatch(f"the action of seat {seat} {was}")
        if records.canonical(answered.action) != records.canonical(record.action):
            raise self._mismatch(f"expected the action {answered.action}, the log has {record.action}")
        if isinstance(answered, Accepted) and isinstance(record, records.ActionRecord):
            self._same_events(answered.events, record.events)

    def _forfeit(self, record: records.ForfeitRecord) -> None:
        seats = [forfeit.seat for forfeit in record.forfeits]
        known = [seat for seat in range(self.course.rules.seats) if seat not in self.course.gone]
        if not seats or seats != sorted({*seats}) or not {*seats} <= {*known}:
            raise self._mismatch(f"the seats {seats} cannot forfeit here")
        codes = {forfeit.code for forfeit in record.forfeits}
        if not codes <= _GUILTY:
            raise self._mismatch(f"{sorted(codes)} are no forfeits")
        self._same_turn(record.turn)
        for forfeit in record.forfeits:
            if self.course.begun and forfeit.seat not in {*self.course.asked, *self.course.failed}:
                raise self._mismatch(f"seat {forfeit.seat} owed no answer, and cannot forfeit here")
            self.course.fail(forfeit.seat, Termination(forfeit.code))
        if owing := sorted({*self.course.asked, *self.course.failed}.difference(seats)):
            raise self._mismatch(f"the seats {owing} did not answer, and did not forfeit")
        self._same_events(self.course.forfeit(), record.events)

    def _outcome(self, record: records.OutcomeRecord) -> None:
        due = self.course.due
        if not isinstance(due, Over):
            raise self._mismatch("the log ends, and by the rules the game goes on")
        outcome = due.outcome
        for what, logged, actual in (
            ("ranks", record.ranks, list(outcome.ranks)),
            ("scores", record.scores, None if outcome.scores is None else list(outcome.scores)),
            ("termination", record.termination, self.course.termination),
            ("turns", record.turns, self.course.turn),
            ("actions", record.actions, self.course.accepted),
            ("limit", record.limit, self.course.limit),
            ("play digest", record.play_digest, records.play_digest([self._log.header, *self._log.records])),
        ):
            if logged != actual:
                raise self._mismatch(f"expected the {what} {actual}, the log says {logged}")

    def _same_turn(self, logged: int) -> None:
        if logged != self.course.turn:
            raise self._mismatch(f"expected turn {self.course.turn}, the log says {logged}")

    def _same_events(self, happened: Sequence[Event], logged: Sequence[Event]) -> None:
        if records.canonical(happened) == records.canonical(logged):
            return
        for position, event in enumerate(happened):
            if position >= len(logged):
                raise self._mismatch(f"the event {_words(event)} is missing")
            if records.canonical(logged[position]) != records.canonical(event):
                raise self._mismatch(f"expected the event {_words(event)}, the log has {_words(logged[position])}")
        if len(logged) > len(happened):
            raise self._mismatch(f"the event {_words(logged[len(happened)])} did not happen")

    def _mismatch(self, reason: str) -> ReplayMismatch:
        return ReplayMismatch(self._log.source, self._line, reason)


def _words(event: Event) -> str:
    told = "" if event.to is None else f" to the seats {list(event.to)}"
    return f"{event.data}{told}"
