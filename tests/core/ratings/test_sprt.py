"""The sequential test: answers that other programs publish, and what it refuses."""

from __future__ import annotations

import math

import pytest

from arena.core.errors import ConfigError
from arena.core.ratings.sprt import SHARES, Sprt, score_of


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "published"),
    [
        # Of the unit tests of fastchess; the first two in pairs of games, the others game by game.
        ((223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
        ((871, 26175, 55003 + 980, 26678, 821), 0.0, 2.0, -4.98),
        ((21184, 0, 40708, 0, 21404), 0.5, 2.5, -1.57),
        ((57030, 0, 106593, 0, 57433), 0.0, 2.0, -2.59),
    ],
)
def test_the_ratio_is_the_published_one(counts: tuple[int, ...], elo0: float, elo1: float, published: float) -> None:
    ratio = Sprt(elo0, elo1).log_ratio(dict(zip(SHARES, counts, strict=True)))
    assert ratio == pytest.approx(published, abs=0.006)


def test_two_shares_make_the_textbook_ratio() -> None:
    """With wins and losses only, the most likely distributions are the two hypotheses themselves."""
    test = Sprt(0, 50)
    textbook = 70 * math.log(score_of(50) / 0.5) + 50 * math.log((1 - score_of(50)) / 0.5)
    assert test.log_ratio({0.0: 50, 1.0: 70}) == pytest.approx(textbook, abs=0.01)


def test_the_bounds_are_those_of_wald() -> None:
    assert Sprt(0, 5).bounds == pytest.approx((-2.944, 2.944), abs=0.001)
    assert Sprt(0, 5, alpha=0.01, beta=0.2).bounds == pytest.approx((math.log(0.2 / 0.99), math.log(80)))


def test_a_verdict_falls_at_the_bounds() -> None:
    test = Sprt(0, 50)
    assert test.verdict({0.0: 5, 0.25: 10, 0.5: 20, 0.75: 12, 1.0: 6}) == "open"
    assert test.verdict({0.0: 10, 0.25: 20, 0.5: 60, 0.75: 60, 1.0: 50}) == "H1"
    assert test.verdict({0.0: 50, 0.25: 60, 0.5: 60, 0.75: 20, 1.0: 10}) == "H0"


def test_exchanging_the_bots_exchanges_the_hypotheses() -> None:
    counts = {0.0: 10.0, 0.25: 20.0, 0.5: 60.0, 0.75: 45.0, 1.0: 14.0}
    swapped = {1 - share: count for share, count in counts.items()}
    ratio = Sprt(-10, 30).log_ratio(counts)
    assert ratio is not None
    assert Sprt(-30, 10).log_ratio(swapped) == pytest.approx(-ratio)


@pytest.mark.parametrize("counts", [{}, {0.5: 16700.0}, {0.5: 200.0, 1.0: 1.0}])
def test_level_deals_alone_decide_nothing(counts: dict[float, float]) -> None:
    """Two copies of a bot play only level deals; what stands for unseen shares would decide."""
    assert Sprt(0, 5).log_ratio(counts) is None
    assert Sprt(0, 5).verdict(counts) == "open"


@pytest.mark.parametrize(("elo0", "elo1", "alpha"), [(5, 5, 0.05), (5, 0, 0.05), (0, 5, 0.0), (0, 5, 0.5)])
def test_what_makes_no_test_is_refused(elo0: float, elo1: float, alpha: float) -> None:
    with pytest.raises(ConfigError, match=r"at --sprt; "):
        Sprt(elo0, elo1, alpha=alpha)
