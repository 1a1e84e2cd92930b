"""Who was asked in which state, as a log tells it. Requests are not logged: they follow from the rest."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from arena.rules.base import Decision
from arena.types import Seat


class Asks:
    """The decisions that are due while a log is played again, and whose turn it is in a tie."""

    def __init__(self) -> None:
        self.asked_in: dict[Seat, Any] = {}
        """The state in which each seat was asked: those that still owe an answer, and in a race all."""
        self.racing = False
        """Whether those who were asked compete."""
        self.failed: set[Seat] = set()
        """Tied seats whose turn came and of whom there is no record: they must forfeit."""
        self._order: list[Seat] = []
        self._late: list[Seat] = []
        self._asked: list[Seat] = []

    def watch(self, state: Any, pending: Sequence[Decision], gone: Container[Seat]) -> None:
        """Note who is asked before a record; chance decides for a seat that is `gone`, before others are asked."""
        if self.racing and not any(decision.race for decision in pending):
            self.racing = False
            self.asked_in = {}
        if pending and not self.asked_in and not any(decision.seat in gone for decision in pending):
            self.racing = pending[0].race
            self._ask([decision.seat for decision in pending], state)

    def asked(self) -> tuple[Seat, ...]:
        """Who was asked since this was last called."""
        asked, self._asked = tuple(self._asked), []
        return asked

    def call(self, seat: Seat | None, state: Any) -> None:
        """It is a seat's turn, or, in a tie, nobody's any more."""
        if seat in self._order:
            at = self._order.index(seat)
            self.failed.update(self._order[:at])
            self._order = self._order[at:]
        else:
            self._close(state)

    def tie(self, order: Sequence[Seat]) -> None:
        """Seats that race are tied, and come in an order."""
        self._order = list(order)

    def served(self, seat: Seat, state: Any, *, late: bool = False) -> None:
        """A seat had its turn."""
        if not self.racing:
            self.asked_in.pop(seat, None)
            return
        self._order = self._order[1:]
        if late:
            self._late.append(seat)
        if not self._order:
            self._close(state)

    def forfeited(self) -> None:
        """Seats forfeited: that ends a decision, whoever owed it."""
        self.failed.clear()
        self.asked_in = {}
        self.racing = False

    def _close(self, state: Any) -> None:
        """All that were tied have had their turn; who was late is asked again."""
        self.failed.update(self._order)
        self._order = []
        self._ask(self._late, state)
        self._late = []

    def _ask(self, seats: Iterable[Seat], state: Any) -> None:
        for seat in seats:
            self.asked_in[seat] = state
            self._asked.append(seat)
