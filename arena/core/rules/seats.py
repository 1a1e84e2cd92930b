"""What the rules of all games say alike of seats: who is still in the game, and how those who forfeited are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.core.types import Ranks, Seat


def with_item(items: Any, index: int, value: Any) -> Any:
    """Returns a tuple with one item replaced: that of a seat, for example."""
    return (*items[:index], value, *items[index + 1 :])


def still_in(everyone: Sequence[Seat], forfeited: Sequence[Sequence[Seat]]) -> Sequence[Seat]:
    """Returns the seats that have not forfeited, given those that have, moment by moment."""
    if not forfeited:
        return everyone
    gone = {seat for seats in forfeited for seat in seats}
    return [seat for seat in everyone if seat not in gone]


def rank(scores: Sequence[Any], forfeited: Sequence[Sequence[Seat]]) -> Ranks:
    """Returns the ranks: those who finished by score, larger is better, then those who forfeited, the latest first.

    Args:
        forfeited: The seats that forfeited, in order; those of one moment together.
    """
    order = [(1, score) for score in scores]
    for moment, seats in enumerate(forfeited):
        for seat in seats:
            order[seat] = 0, moment
    return tuple(1 + sum(other > own for other in order) for own in order)
