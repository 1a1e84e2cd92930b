"""What rows are worth, and the feature cards (rules page, "Score")."""

from __future__ import annotations

from collections.abc import Sequence

from arena.rules.gardener.geometry import Row
from arena.rules.gardener.state import ALL_KINDS

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
