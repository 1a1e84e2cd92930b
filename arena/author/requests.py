"""Reconstructs from a log what a seat was asked, request by request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from arena.core.face import clocks, courses, game_kit, log_records, stepping, telling, value_types, wire_messages

_EVERYTHING: Final = ("view", "events", "legal")


class AskedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its answer."""

    turn: int
    """The number of the turn; 0 is the set-up."""
    begins: bool
    """Whether it begins a decision; else it asks for the rest of one."""
    request: wire_messages.Request
    """The request with everything that it can carry. Its `id` counts the seat's requests in this game, from 1."""
    state: Any
    """The state in which the seat was asked."""
    answer: log_records.ActionRecord | log_records.LateRecord | None = None
    """The seat's answer; None if it forfeited."""
    forfeit: value_types.LoggedForfeit | None = None
    goes_on: bool = False
    """Whether the decision goes on after it."""


def requests_of(log: log_records.Log, seat: value_types.Seat) -> Iterator[AskedRequest]:
    """Yields the requests of a seat, in order, without a request that was not sent because the bot did not start.

    Raises:
        ReplayMismatch: The log disagrees with the rules.
    """
    clock = clocks.Clock(log.header.time(seat))
    open_requests: list[AskedRequest] = []
    number = 0
    unfinished: set[value_types.Seat] = set()

    def listen(course: courses.Course, decision: game_kit.Decision) -> None:
        nonlocal number, unfinished
        if decision.seat == seat:
            unfinished = course.unfinished
            begins = seat not in unfinished
            if begins:
                clock.begin()
            number += 1
            message = telling.request(course, decision, _EVERYTHING, number, clock.told())
            open_requests.append(AskedRequest(turn=course.turn, begins=begins, request=message, state=course.state))

    for step in stepping.replay(log, listen):
        if open_requests and (answered := _answered(open_requests[0], step.record, seat)):
            if answered.answer is not None:
                clock.charge(answered.answer.used_ns, goes_on=seat in unfinished)
            open_requests.clear()
            yield msgspec.structs.replace(answered, goes_on=seat in unfinished)


def _answered(asked: AskedRequest, record: log_records.Record, seat: value_types.Seat) -> AskedRequest | None:
    """Returns a request with its answer or forfeit from a record, or None if the record holds neither."""
    if isinstance(record, log_records.ActionRecord | log_records.LateRecord) and record.seat == seat:
        return msgspec.structs.replace(asked, answer=record)
    if isinstance(record, log_records.ForfeitRecord):
        for forfeit in record.forfeits:
            if forfeit.seat == seat and forfeit.code != value_types.Termination.START_FAILED:
                return msgspec.structs.replace(asked, forfeit=forfeit)
    return None
