"""Mean scores of a cooperative game, and how sure they are."""

from __future__ import annotations

import random

import pytest

from arena.core.ratings.scores import MeanScore, mean_scores, ranked


def test_a_deal_counts_once_however_often_it_was_played() -> None:
    first, second, without = mean_scores([(0, 0, 4), (0, 0, 6), (0, 0, 8), (1, 0, 10), (1, 1, 3)], 3)
    assert first == MeanScore(8.0, pytest.approx(12.7062 * 2, abs=1e-3))  # Student's quantile, one degree of freedom
    assert (second, without) == (MeanScore(3.0, None), None)


def test_nothing_is_known_of_the_interval_as_long_as_all_deals_are_alike() -> None:
    assert mean_scores([(deal, 0, 7) for deal in range(20)], 1) == [MeanScore(7.0, None)]


def test_the_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(1_000):
        scores = []
        for deal in range(12):
            luck = chance.gauss(0, 20)  # all games of a deal share it
            scores += [(deal, 0, round(100 + luck + chance.gauss(0, 5))) for _ in range(6)]
        (found,) = mean_scores(scores, 1)
        assert found is not None
        assert found.half_width is not None
        held += abs(found.mean - 100) <= found.half_width
    assert 930 <= held <= 970


def test_ranks_differ_where_intervals_lie_apart() -> None:
    scores = [MeanScore(9.0, 0.5), MeanScore(12.0, 1.0), MeanScore(10.5, 1.5), None, MeanScore(20.0, None)]
    assert ranked(scores, range(5)) == [(4, 1), (1, 1), (2, 1), (0, 2), (3, 5)]
    assert ranked(scores, [0, 3]) == [(0, 1), (3, 2)]
