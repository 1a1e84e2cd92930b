"""Seats the entrants of a meeting: rotated, and deal after deal in another circle.

A rotation alone would leave every entrant behind the same neighbour, and with three players or more it matters whom one
plays after. So the circle that is rotated changes from deal to deal, through all circles (one for two players, two for
three, six for four). They come in the order in which, after each deal, everybody has followed everybody else as equally
often as can be: in dictionary order one bot of five follows another 0 to 6 times in the first six deals.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Literal, TypeAlias

Seatings: TypeAlias = Literal["cyclic", "all"]
"""Seatings of a meeting's entrants on a deal: rotated, or in every order."""

Order: TypeAlias = tuple[int, ...]
"""Entrants of a meeting by seat."""


@cache
def orders(players: int, seatings: Seatings) -> tuple[tuple[Order, ...], ...]:
    """Returns the seatings of a deal, for one deal after another, and then from the beginning again."""
    if seatings == "all":
        return (tuple(permutations(range(players))),)
    return tuple(tuple(circle[by:] + circle[:by] for by in range(players)) for circle in balanced_circles(players))


def balanced_circles(players: int) -> list[Order]:
    """Returns all circles of so many places, each beginning with place 0, in the balanced order.

    Each circle is the one that leaves the numbers of times that one place followed another most even: the smallest sum
    of squares, and of equal ones the first in dictionary order.
    """
    left = [(0, *rest) for rest in permutations(range(1, players))]
    followed = dict.fromkeys(permutations(range(players), 2), 0)
    chosen = []
    while left:
        circle = min(left, key=lambda circle: sum(followed[pair] for pair in _neighbours(circle)))
        left.remove(circle)
        chosen.append(circle)
        for pair in _neighbours(circle):
            followed[pair] += 1
    return chosen


def _neighbours(circle: Order) -> list[tuple[int, int]]:
    """Returns each place of a circle with the one that follows it."""
    return list(zip(circle, circle[1:] + circle[:1], strict=True))
