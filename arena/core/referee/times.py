"""Checks the times in a log: what no clock allows, and races that were served in the wrong order.

It finds times that contradict each other or the rules of time (SPEC.md, section 9). It cannot find a time that is
false and could be true: how long a bot took is what the organiser says.
"""

from __future__ import annotations

from collections import deque

import msgspec

from arena.core.errors import ReplayMismatch
from arena.core.record.log import (
    MEASURED,
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LateRecord,
    Log,
    OutcomeRecord,
    Record,
)
from arena.core.referee.clock import Clock
from arena.core.rules.base import Decision
from arena.core.rules.course import Course, Race
from arena.core.types import NS_PER_MS, Seat, Termination


class _Claim(msgspec.Struct):
    line: int
    seat: Seat
    used_ns: int
    late: bool
    tied: tuple[Seat, ...]  # the seats of the group in which it was served; empty if it came alone


class Times:
    """Follows the times of one game. Give `asked` to the replay, and each record to `check` after it was replayed."""

    def __init__(self, log: Log) -> None:
        settings = log.header.settings
        self._source = log.source
        self._seats = settings.players
        self._margin_ns = settings.margin_ms * NS_PER_MS
        self._window_ns = round(settings.race_window_ms * NS_PER_MS)
        self._clocks = {seat: Clock(log.header.time(seat)) for seat in range(len(log.header.bots))}
        self._asked_ms: dict[Seat, int] = {}  # by seat that was asked: a moment before that, since the game began
        self._latest_ms = 0
        self._unfinished: set[Seat] = set()
        """The seats whose decision goes on: one limit and one increment are for all of it."""
        self._racers: set[Seat] = set()  # the seats of the race that is on
        self._claims: list[_Claim] = []
        self._tied: tuple[Seat, ...] = ()
        self._unserved: set[Seat] = set()  # those of the tied seats whose turn has not come

    def asked(self, course: Course, decision: Decision) -> None:
        """Notes that a seat is asked.

        Raises:
            ReplayMismatch: The race before it was served in another order than its times say.
        """
        again = decision.race and any(claim.late and claim.seat == decision.seat for claim in self._claims)
        if not again and (not decision.race or decision.seat in self._racers):
            self._settle_race()
        if decision.race:
            self._racers.add(decision.seat)
        self._asked_ms[decision.seat] = self._latest_ms
        self._unfinished = course.unfinished
        if decision.seat not in self._unfinished:
            self._clocks[decision.seat].begin()

    def check(self, line: int, record: Header | Record) -> None:
        """Checks the times of a record.

        Raises:
            ReplayMismatch: They are impossible.
        """
        match record:
            case ActionRecord() | LateRecord():
                self._check_answer(line, record)
            case Chance() if record.tied is not None:
                self._tied = tuple(record.tied)
                self._unserved = {*record.tied}
            case ForfeitRecord():
                self._check_timeouts(line, record)
            case OutcomeRecord():
                self._settle_race()
                self._check_measured(line, record)
        if not isinstance(record, ActionRecord | LateRecord) and record.ms < self._latest_ms:
            raise self._mismatch(line, f"it happened {record.ms} ms after the beginning, before the record above it")
        self._latest_ms = max(self._latest_ms, record.ms)

    def _check_answer(self, line: int, record: ActionRecord | LateRecord) -> None:
        seat, used_ns = record.seat, record.used_ns
        clock = self._clocks[seat]
        allowed_ns = clock.limit_ns() + self._margin_ns
        if not 0 <= used_ns <= allowed_ns:
            raise self._mismatch(
                line, f"seat {seat} used {_ms(used_ns)} ms, and its clock allowed {_ms(allowed_ns)} ms"
            )
        passed_ms = record.ms + 1 - self._asked_ms[seat]
        if used_ns > passed_ms * NS_PER_MS:
            raise self._mismatch(
                line, f"seat {seat} used {_ms(used_ns)} ms of the {max(0, passed_ms)} ms since it was asked"
            )
        clock.charge(used_ns, goes_on=seat in self._unfinished)
        if seat in self._racers:
            if seat not in self._unserved:
                self._tied = ()
            self._unserved.discard(seat)
            self._claims.append(_Claim(line, seat, used_ns, isinstance(record, LateRecord), self._tied))

    def _check_timeouts(self, line: int, record: ForfeitRecord) -> None:
        for forfeit in record.forfeits:
            asked_ms = self._asked_ms.get(forfeit.seat)
            if forfeit.code == Termination.TIMEOUT and asked_ms is not None:
                due_ms = asked_ms + (self._clocks[forfeit.seat].limit_ns() + self._margin_ns) // NS_PER_MS
                if record.ms < due_ms:
                    raise self._mismatch(
                        line, f"seat {forfeit.seat} ran out of time at {record.ms} ms; it had time until {due_ms} ms"
                    )

    def _check_measured(self, line: int, record: OutcomeRecord) -> None:
        for name in MEASURED:
            if (found := getattr(record, name)) is not None and len(found) != self._seats:
                raise self._mismatch(line, f"expected the {name} of each of {self._seats} seats, got: {found}")

    def _settle_race(self) -> None:
        """Serves the race that is over once more, by its times, and compares."""
        for claim, group, waiting in zip(self._claims, *_turns(self._claims, self._window_ns), strict=True):
            tied = {*claim.tied} & waiting
            if claim.seat not in group or (tied or {claim.seat}) != {*group}:
                expected = f"seat {group[0]}" if len(group) == 1 else f"the tied seats {group}"
                got = f"the tied seats {sorted(tied)}" if tied else f"seat {claim.seat} alone"
                raise self._mismatch(claim.line, f"by their times {expected} came next in the race, not {got}")
        self._racers, self._claims, self._tied = set(), [], ()

    def _mismatch(self, line: int, reason: str) -> ReplayMismatch:
        return ReplayMismatch(self._source, line, reason, check="time")


def _turns(claims: list[_Claim], window_ns: int) -> tuple[list[list[Seat]], list[set[Seat]]]:
    """Returns for each claim that was served which seats were to be served then, and which had claims that waited."""
    left: dict[Seat, deque[_Claim]] = {}
    for claim in claims:
        left.setdefault(claim.seat, deque()).append(claim)
    race = Race(window_ns)
    groups: list[list[Seat]] = []
    waiting: list[set[Seat]] = []
    asked = list(left)
    while len(groups) < len(claims):
        for seat in asked:
            race.ask(seat, 0)
            race.answer(seat, left[seat][0].used_ns)
        now = {seat for seat, its_claims in left.items() if its_claims}
        group = race.serve()
        groups += [group] * len(group)
        waiting += [now] * len(group)
        asked = [seat for seat in group if left[seat].popleft().late and left[seat]]
    return groups, waiting


def _ms(ns: int) -> str:
    return f"{ns / NS_PER_MS:,.3f}".rstrip("0").rstrip(".")
