"""The geometry of a garden, by examples; tests/games/property/test_gardener.py compares it with a slow one."""

from __future__ import annotations

import pytest

from arena.games.gardener.geometry import EMPTY, plant, point, square

CARD = bytes([0, 1, 2, 3, 0, 1])


@pytest.mark.parametrize("at", [(0, 0), (-1, 0), (0, -1), (-63, 191), (126, -191), (5, 511), (5, -512)])
def test_a_square_is_one_number(at: tuple[int, int]) -> None:
    assert point(square(*at)) == at


def test_ascending_numbers_are_ascending_x_then_y() -> None:
    at = [(x, y) for x in range(-4, 5) for y in range(-200, 201, 40)]
    assert sorted(square(*one) for one in at) == [square(*one) for one in at]


def test_planting_leaves_the_garden_before_as_it_was() -> None:
    before = plant(EMPTY, CARD, square(0, 0))
    copy = dict(before.kinds), dict(before.touching), tuple(before.positions), before.rows
    plant(before, CARD, square(1, 1))
    assert (before.kinds, before.touching, before.positions, before.rows) == copy
