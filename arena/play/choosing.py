"""A turn in the making, for a front that lists what may be chosen: what leaves no choice is chosen by itself. Pure.

Laws:
1. Whatever can be played can be reached by choosing, and nothing else can.
2. A value is chosen by its place in the list. A number that is no place changes nothing.
3. `undo` takes back what somebody chose, together with all that followed by itself.
"""

from __future__ import annotations

from arena.play.turn import Choice, Turn
from arena.rules.base import Choose


class Choosing:
    """Goes through a turn. The first choice of a play is always somebody's, even if there is one value only."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._made: list[int] = []
        """By choice of somebody, how many values were chosen with it."""

    @property
    def choice(self) -> Choice | None:
        """What is to be chosen next; None if the turn is whole."""
        return self.turn.choice()

    @property
    def is_begun(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self._made)

    def choose(self, place: int) -> bool:
        """Chooses the value at a place of the list. Returns False, and does nothing, if there is none."""
        choice = self.choice
        if choice is None or not 0 <= place < len(choice.values):
            return False
        self.turn.choose(choice.values[place])
        count = 1
        while (forced := self._forced()) is not None:
            self.turn.choose(forced.values[0])
            count += 1
        self._made.append(count)
        return True

    def fill(self, choose: Choose) -> bool:
        """Chooses the rest of a play by chance, as one choice of somebody. Returns False if nothing is left."""
        count = self.turn.fill(choose)
        if count:
            self._made.append(count)
        return count > 0

    def undo(self) -> bool:
        """Takes the last choice back. Returns False if there is none."""
        if not self._made:
            return False
        for _ in range(self._made.pop()):
            self.turn.undo()
        return True

    def _forced(self) -> Choice | None:
        """Returns the next choice of a play that has begun, if it has one value."""
        choice = self.choice if self.turn.chosen else None
        return choice if choice is not None and len(choice.values) == 1 else None
