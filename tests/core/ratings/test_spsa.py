"""SPSA finds better numbers from comparisons alone, whatever the scale of their shares is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random

import pytest

from arena.learn.tune.spsa import Spsa

Strength = Callable[[Sequence[float]], float]


def search(strength: Strength, start: Sequence[float], steps: int, *, noise: float = 0.1, scale: float = 1.0) -> Spsa:
    """A search in which a deal's share is a half, the difference of both strengths, and noise."""
    chance, spsa = Random(7), Spsa(start, steps)
    for step in range(steps):
        up, down = spsa.ends(step)
        difference = strength(up) - strength(down)
        spsa.take([0.5 + scale * (difference + chance.gauss(0, noise)) for _ in range(4)])
    return spsa


def near(*best: float) -> Strength:
    return lambda numbers: -sum((number - there) ** 2 for number, there in zip(numbers, best, strict=True))


def test_five_numbers_come_near_the_best() -> None:
    best = (0.1, 0.3, 0.5, 0.9, 0.4)
    found = search(near(*best), [0.9, 0.9, 0.1, 0.2, 0.9], 80).found()
    assert found == pytest.approx(best, abs=0.12)


def test_the_scale_of_the_shares_means_nothing() -> None:
    strength = near(0.2, 0.7)
    one, other = (search(strength, [0.9, 0.1], 30, scale=scale) for scale in (1.0, 0.01))
    assert one.found() == pytest.approx(other.found())


def test_shares_without_any_deviation_say_which_way() -> None:
    assert search(near(0.2), [0.9], 30, noise=0.0).found() == pytest.approx([0.2], abs=0.1)


@pytest.mark.parametrize("numbers", [1, 2, 3, 5, 8])
def test_over_a_period_every_two_numbers_move_alike_as_often_as_not(numbers: int) -> None:
    spsa = Spsa([0.5] * numbers, 100)
    period = 1 << numbers.bit_length()
    ways = []
    for step in range(period):
        up, down = spsa.ends(step)
        assert [one + other for one, other in zip(up, down, strict=True)] == pytest.approx([1.0] * numbers)
        ways.append([1 if one > other else -1 for one, other in zip(up, down, strict=True)])
    for one, other in combinations(range(numbers), 2):
        assert sum(way[one] * way[other] for way in ways) == 0


def test_numbers_stay_in_their_range() -> None:
    spsa = Spsa([1.0, 0.0], 20)
    for step in range(20):
        ends = spsa.ends(step)
        assert all(0 <= number <= 1 for end in ends for number in end)
        spsa.take([1.0, 1.0, 0.9])
    assert all(0 <= number <= 1 for number in spsa.found())


def test_whole_numbers_are_moved_far_enough_to_differ() -> None:
    up, down = Spsa([0.5, 0.5], 10, [0.0, 0.25]).ends(3)
    assert abs(up[1] - down[1]) == pytest.approx(0.5)
    assert abs(up[0] - down[0]) < 0.5


def test_a_step_of_which_nothing_is_known_moves_nothing() -> None:
    spsa = Spsa([0.3, 0.6], 4)
    spsa.take([])
    assert spsa.at == [0.3, 0.6]
