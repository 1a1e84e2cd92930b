"""A game a step at a time, as programs that learn play it: chance draws, or one seat makes one play.

Laws:
1. Seats that decide at once make their plays one after another. Until all have, `shown` stays as it was: what a seat
   knows, and what it may do, is read from there.
2. In a race chance says who comes first.
3. A copy (`copy.copy`) costs nothing: states never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from arena.core.rules.base import Choose, Event, Outcome, Rules
from arena.core.types import Payload, Seat


class Table:
    """A game in progress."""

    def __init__(self, rules: Rules[Any]) -> None:
        self.rules = rules
        self.state: Any = rules.start()
        self.shown: Any = self.state
        """State as the seats that decide know it."""
        self.draws: int | None = None
        """The number of equally likely outcomes of the next draw; None if chance draws nothing."""
        self.due: Sequence[Seat] = ()
        """The seats that decide now; the first is the next to make its play."""
        self._together: Sequence[Seat] = ()
        """All that decide at once with these, those that have made their play too."""
        self._racing: Sequence[Seat] = ()
        """The seats of which chance draws the first."""
        self._go_on()

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        return None if self.due or self.draws is not None else self.rules.outcome(self.state)

    def draw(self, index: int, events: list[Event] | None = None) -> None:
        """Lets chance draw one of `draws` outcomes; appends what happened to `events` if given."""
        if self._racing:
            self.due = self._together = (self._racing[index],)
            self._racing, self.draws = (), None
            return
        self.state = self.rules.draw(self.state, index, events)
        self._go_on()

    def make(self, play: Any, events: list[Event] | None = None) -> None:
        """Makes a legal play of the seat whose turn it is; appends what happened to `events` if given."""
        self._made(self.rules.apply(self.state, self.due[0], play, events))

    def act(self, action: Payload) -> None:
        """Makes a whole decision of the seat whose turn it is, as a bot answers it.

        Raises:
            ActionError: It cannot be read, or is not legal; the game is as it was.
        """
        plays = self.rules.read_action(self.shown, self.due[0], action)
        self._made(self.rules.act(self.state, self.due[0], plays))

    def _made(self, state: Any) -> None:
        self.state, self.due = state, self.due[1:]
        if not self.due:
            self._go_on()

    def resampled(self, seat: Seat, choose: Choose) -> Table:
        """Returns another game that a seat cannot tell from this one; see `Rules.resample`."""
        other = copy(self)
        other.state = other.shown = self.rules.resample(self.shown, seat, choose)
        for done in self._together:
            if done not in self.due:
                legal = self.rules.legal(other.shown, done)
                other.state = self.rules.apply(other.state, done, legal[choose(len(legal))])
        return other

    def _go_on(self) -> None:
        rules = self.rules
        self.shown = self.state
        draw = rules.draw_wanted(self.state)
        self.draws = None if draw is None else draw.n
        if draw is not None:
            return
        pending = rules.pending(self.state)
        seats = tuple(decision.seat for decision in pending)
        if len(seats) > 1 and pending[0].race:
            self._racing, self.draws = seats, len(seats)
        else:
            self.due = self._together = seats
