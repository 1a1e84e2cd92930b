"""The figures that the benchmarks of fairness print, beside published and hand-counted ones."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SHARES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "shares.py"))
wilson, mean_interval, fair_coin_p = (SHARES[name] for name in ("wilson", "mean_interval", "fair_coin_p"))


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(wins: int, games: int, low: float, high: float) -> None:
    """Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    assert wilson(wins / games, games) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_symmetric_and_narrows_with_the_number_of_games() -> None:
    low, high = wilson(0.3, 100)
    assert wilson(0.7, 100) == pytest.approx((1 - high, 1 - low))
    assert wilson(1.0, 5)[1] == 1.0
    narrow = wilson(0.3, 400)
    assert low < narrow[0] < 0.3 < narrow[1] < high


def test_mean_interval() -> None:
    assert mean_interval([0.5] * 9) == (0.5, 0.5)
    assert mean_interval([0.0, 1.0]) == (0.0, 1.0)
    assert mean_interval([0.0, 1.0] * 50) == pytest.approx((0.5 - 0.0985, 0.5 + 0.0985), abs=5e-5)


@pytest.mark.parametrize(
    ("heads", "throws", "p"),
    [(5, 10, 1.0), (4, 10, 772 / 1024), (10, 10, 2 / 1024), (0, 1, 1.0), (0, 0, 1.0), (2, 10, 112 / 1024)],
)
def test_fair_coin(heads: int, throws: int, p: float) -> None:
    assert fair_coin_p(heads, throws) == fair_coin_p(throws - heads, throws) == p


def test_a_fair_coin_thrown_many_times() -> None:
    assert fair_coin_p(1045, 2000) == pytest.approx(0.0466, abs=1e-4)
    assert fair_coin_p(0, 2000) == 2 / 2**2000
