"""What rows are worth, the feature cards, and the ranks that come of the scores (rules page, "Score" and "End")."""

from __future__ import annotations

from collections.abc import Sequence

from arena.rules.gardener.geometry import Row
from arena.rules.gardener.state import ALL_KINDS
from arena.types import Ranks, Seat

POINTS = {3: 1, 4: 2, 5: 4}
"""For a row, by its length."""
BONUS = (0, 0, 2, 4, 6)
"""By the number of different kinds scored in a round."""


def scorable(rows: Sequence[Row], features: int) -> list[Row]:
    """The rows whose kind's feature card is face up."""
    return [row for row in rows if features >> row.kind & 1]


def turn_down(features: int, kind: int) -> int:
    """The feature cards face up after a row was scored: the moment all four are face down, all turn face up."""
    return features & ~(1 << kind) or ALL_KINDS


def rank(scores: Sequence[int], forfeited: Sequence[Sequence[Seat]]) -> Ranks:
    """The ranks: those who finished by score, then those who forfeited, the latest to forfeit first."""
    order = [(1, score) for score in scores]
    for moment, seats in enumerate(forfeited):
        for seat in seats:
            order[seat] = 0, moment
    return tuple(1 + sum(other > own for other in order) for own in order)
