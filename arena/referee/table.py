"""All seats of one game together: asking several at once, and waiting for whoever answers next."""

from __future__ import annotations

from collections.abc import Sequence

from arena.link.base import Link
from arena.referee.chair import Answer, Cause, Chair
from arena.referee.clock import NS_PER_MS
from arena.types import Seat, Termination
from arena.wire.messages import FromReferee

LATE_NS = 10 * NS_PER_MS
"""A referee that wakes so much later than it asked for runs on an overloaded machine."""


class Table:
    """The chairs, and what is awaited from them."""

    def __init__(self, chairs: Sequence[Chair], link: Link) -> None:
        self._chairs = chairs
        self._link = link
        self._due: dict[Seat, int] = {}
        """By seat that owes an answer: its deadline."""

    @property
    def waits(self) -> bool:
        """Whether any seat owes an answer."""
        return bool(self._due)

    def ask(self, messages: Sequence[tuple[Seat, FromReferee, int]]) -> dict[Seat, int]:
        """Send each seat a message that it has so many nanoseconds to answer; when each was sent, in nanoseconds.

        All are made ready before the first is sent, so that seats that compete start as nearly together as can be.
        """
        chairs = self._chairs
        ready = [(seat, chairs[seat].write(message), time_ns) for seat, message, time_ns in messages]
        sent = {}
        for seat, frame, time_ns in ready:
            sent[seat] = sent_ns = chairs[seat].post(frame)
            self._due[seat] = sent_ns + time_ns
        return sent

    def collect(self, late: str) -> dict[Seat, Answer | Cause]:
        """Wait until every seat that was asked has answered, failed, or reached its deadline."""
        answers: dict[Seat, Answer | Cause] = {}
        while self._due:
            came = self.next(late)
            assert came is not None
            answers[came[0]] = came[1]
        return answers

    def next(self, late: str, until_ns: int | None = None) -> tuple[Seat, Answer | Cause] | None:
        """Wait for the next answer or failure of a seat that was asked.

        Args:
            late: What a seat that reaches its deadline did: "did not answer in time".
            until_ns: Wait no longer than to this moment; in nanoseconds.

        Returns:
            The seat, and its answer or the cause of its failure; None if `until_ns` has passed, or nobody was asked.
        """
        link, due = self._link, self._due
        while due:
            deadline_ns = min(due.values())
            wait_ns = deadline_ns if until_ns is None else min(deadline_ns, until_ns)
            arrival = link.receive(wait_ns)
            if arrival is None:
                if wait_ns < deadline_ns:
                    return None
                seat = min(due, key=due.__getitem__)
                del due[seat]
                return seat, Cause(Termination.TIMEOUT, late, overloaded=link.lateness_ns > LATE_NS)
            seat = arrival.seat
            answer = self._chairs[seat].read(arrival)
            if answer is None or seat not in due:
                continue
            deadline_ns = due.pop(seat)
            if isinstance(answer, Cause):
                return seat, answer
            if answer.at_ns > deadline_ns:
                over_ms = (answer.at_ns - deadline_ns) / NS_PER_MS
                detail = f"{late}: its answer came {over_ms:.1f} ms after the deadline"
                return seat, Cause(Termination.TIMEOUT, detail, overloaded=link.lateness_ns > LATE_NS)
            return seat, answer
        return None
