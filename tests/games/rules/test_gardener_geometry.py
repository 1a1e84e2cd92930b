"""The geometry of a garden, by examples; tests/games/property/test_gardener.py compares it with a slow one."""

from __future__ import annotations

import pytest

from arena.games.gardener.geometry import EMPTY, Row, plant, point, square

CARD = bytes([0, 1, 2, 3, 0, 1])


@pytest.mark.parametrize("at", [(0, 0), (-1, 0), (0, -1), (-63, 191), (126, -191), (5, 511), (5, -512)])
def test_a_square_is_one_number(at: tuple[int, int]) -> None:
    assert point(square(*at)) == at


def test_ascending_numbers_are_ascending_x_then_y() -> None:
    at = [(x, y) for x in range(-4, 5) for y in range(-200, 201, 40)]
    assert sorted(square(*one) for one in at) == [square(*one) for one in at]


def test_the_first_card_lies_at_the_origin() -> None:
    assert [point(position) for position in EMPTY.positions] == [(0, 0)]
    layout = plant(EMPTY, CARD, square(0, 0))
    assert {point(number): kind for number, kind in layout.kinds.items()} == {
        (0, 0): 0,
        (1, 0): 1,
        (0, 1): 2,
        (1, 1): 3,
        (0, 2): 0,
        (1, 2): 1,
    }
    assert len(layout.positions) == 30


def test_planting_leaves_the_garden_before_as_it_was() -> None:
    before = plant(EMPTY, CARD, square(0, 0))
    copy = dict(before.kinds), dict(before.touching), tuple(before.positions), before.rows
    plant(before, CARD, square(1, 1))
    assert (before.kinds, before.touching, before.positions, before.rows) == copy


def test_a_card_of_one_kind_is_full_of_rows() -> None:
    layout = plant(EMPTY, bytes(6), square(0, 0))
    assert layout.rows == (Row(0, 0, True, 0, 3), Row(0, 1, True, 0, 3))
    assert all(abs(x) == 2 or abs(y) == 3 for x, y in map(point, layout.positions))
