"""Seatings: each entrant has each seat, and follows each other one about equally often."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest

from arena.core.tournament.formats.seating import balanced_circles, orders


def followed(players: int, deals: int) -> Counter[tuple[int, int]]:
    """How often one place sat right after another, over the first deals, counting each circle once."""
    circles = orders(players, "cyclic")
    count = Counter(dict.fromkeys(permutations(range(players), 2), 0))
    for deal in range(deals):
        circle = circles[deal % len(circles)][0]
        count.update(zip(circle, circle[1:] + circle[:1], strict=True))
    return count


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("seatings", ["cyclic", "all"])
def test_on_each_deal_everybody_has_each_seat_equally_often(players: int, seatings: str) -> None:
    for deal in orders(players, seatings):  # type: ignore[arg-type]
        assert len(set(deal)) == len(deal)
        for seat in range(players):
            assert set(Counter(order[seat] for order in deal).values()) == {len(deal) // players}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_all_circles_come_once(players: int) -> None:
    circles = balanced_circles(players)
    assert len(set(circles)) == len(circles) == math.factorial(players - 1)
    assert all(circle[0] == 0 and sorted(circle) == list(range(players)) for circle in circles)


@pytest.mark.parametrize(("players", "farthest"), [(3, 0.5), (4, 1), (5, 1.25)])
def test_in_any_number_of_deals_everybody_follows_everybody_about_equally_often(players: int, farthest: float) -> None:
    for deals in range(1, 4 * math.factorial(players - 1)):
        even = deals / (players - 1)
        assert max(abs(times - even) for times in followed(players, deals).values()) <= farthest


def test_the_figures_for_five_players_are_those_that_were_designed() -> None:
    assert set(followed(5, 6).values()) == {1, 2}
    assert set(followed(5, 30).values()) == {7, 8}
    assert set(followed(5, 24).values()) == {6}
