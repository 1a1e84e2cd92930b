"""What a seat was asked in a logged game: each request as it was, put together again from the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.record.log import ActionRecord, ForfeitRecord, LateRecord, Log, LoggedForfeit, OutcomeRecord, Record, told
from arena.referee.clock import NS_PER_MS, Clock
from arena.referee.replay import replay, rules_of
from arena.types import Payload, Seat, Termination, TimeControl
from arena.wire.messages import RequestClock


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request, and what came of it."""

    number: int
    """Which of the seat's requests in this game, from 1."""
    turn: int
    """The number of the turn; 0 is the set-up."""
    kind: str
    """Which decision."""
    clock: RequestClock
    view: Payload
    """All that the seat knew."""
    events: list[Payload]
    """What it had learnt since its last request."""
    legal: Payload
    """The legal first plays, as the protocol has them."""
    state: Any
    """The state in which it was asked."""
    answer: ActionRecord | LateRecord | None
    """What it answered; None if it forfeited."""
    forfeit: LoggedForfeit | None
    """How it forfeited, if it did."""


def requests_of(log: Log, seat: Seat) -> Iterator[Asked]:
    """The requests that a seat had, in their order. One that it never got, as its bot did not start, is none.

    Raises:
        ReplayMismatch: The log is not what the rules make of it.
    """
    rules = rules_of(log.header, log.source)
    clock = Clock(TimeControl.parse(log.header.time))
    events: list[Payload] = []
    number = 0
    asked: Asked | None = None
    for step in replay(log):
        if seat in step.asked:
            number += 1
            (kind,) = (decision.kind for decision in rules.pending(step.before) if decision.seat == seat)
            asked = Asked(
                number=number,
                turn=rules.turn(step.before),
                kind=kind,
                clock=RequestClock(clock.limit_ns() // NS_PER_MS, clock.bank_ms()),
                view=rules.view(step.before, seat),
                events=events,
                legal=rules.write_legal(step.before, seat),
                state=step.before,
                answer=None,
                forfeit=None,
            )
            events = []
        record = step.record
        if asked is not None and (answered := _answered(asked, record, seat)):
            if answered.answer is not None:
                clock.charge(round(answered.answer.used_ms * NS_PER_MS))
            asked = None
            yield answered
        if not isinstance(record, LateRecord | OutcomeRecord):
            events += [data for event in record.events if (data := told(event, seat)) is not None]


def _answered(asked: Asked, record: Record, seat: Seat) -> Asked | None:
    """A request with what a record says of it, if the record does."""
    if isinstance(record, ActionRecord | LateRecord) and record.seat == seat:
        return msgspec.structs.replace(asked, answer=record)
    if isinstance(record, ForfeitRecord):
        for forfeit in record.forfeits:
            if forfeit.seat == seat and forfeit.code != Termination.START_FAILED:
                return msgspec.structs.replace(asked, forfeit=forfeit)
    return None
