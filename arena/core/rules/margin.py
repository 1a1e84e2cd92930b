"""Margins: by how much seats are ahead of each other when a game is over."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from arena.core.types import Seat


class Margin(msgspec.Struct, frozen=True):
    """By how much a seat can be ahead of another in the end: so a close game and a clear one are not the same.

    `arena compare --by margin` judges by it. Raise `Rules.version` when it changes: stored margins are compared with
    those of a replay.
    """

    unit: str
    """Unit of what is counted, in the plural: `captured pieces`."""
    most: int
    """A larger lead counts as this one; at least 1. Choose what a clear game ends with: a lead far beyond says little
    more, and a limit far beyond what happens makes every lead small."""

    def leads(self, amounts: Sequence[int], forfeited: Collection[Seat]) -> tuple[int, ...]:
        """Returns by seat its leads over all others, added up.

        Args:
            amounts: By seat how much it has of what is counted.
            forfeited: These are behind those that did not forfeit by as much as can be, whatever they have.
        """
        seats = range(len(amounts))

        def lead(one: Seat, other: Seat) -> int:
            if (one in forfeited) != (other in forfeited):
                return self.most if other in forfeited else -self.most
            return 0 if one in forfeited else max(-self.most, min(self.most, amounts[one] - amounts[other]))

        return tuple([sum([lead(one, other) for other in seats if other != one]) for one in seats])
