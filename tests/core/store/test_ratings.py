"""TrueSkill as it is used: ranks with ties, any number of seats, no surprise at the extremes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.ratings.running import MU, SIGMA, Rating, rate

RATINGS = st.builds(Rating, st.floats(-60, 110), st.floats(0.02, SIGMA))


def test_one_begins_where_trueskill_begins() -> None:
    assert Rating() == Rating(25.0, 25 / 3)
    assert Rating().conservative == pytest.approx(0)


def test_winning_raises_and_losing_lowers_alike() -> None:
    winner, loser = rate([Rating(), Rating()], (1, 2))
    assert winner.mu > MU > loser.mu
    assert winner.mu - MU == pytest.approx(MU - loser.mu)
    assert winner.sigma == pytest.approx(loser.sigma)
    assert winner.sigma < SIGMA


def test_equal_ranks_of_equals_move_nobody() -> None:
    assert [rating.mu for rating in rate([Rating()] * 4, (1, 1, 1, 1))] == pytest.approx([MU] * 4)


def test_ranks_with_ties_order_the_means() -> None:
    first, tied, also, last = rate([Rating()] * 4, (1, 2, 2, 4))
    assert first.mu > tied.mu > last.mu
    assert tied.mu == pytest.approx(also.mu, abs=0.01)


def test_the_order_of_seats_is_kept() -> None:
    assert [rating.mu for rating in rate([Rating()] * 3, (3, 1, 2))] == pytest.approx(
        [rate([Rating()] * 3, (1, 2, 3))[place].mu for place in (2, 0, 1)], abs=0.01
    )


@given(
    st.lists(RATINGS, min_size=2, max_size=4).flatmap(lambda r: st.tuples(st.just(r), st.permutations(range(len(r)))))
)
def test_any_result_gives_numbers(case: tuple[list[Rating], list[int]]) -> None:
    before, order = case
    after = rate(before, tuple(place + 1 for place in order))
    assert all(math.isfinite(rating.mu) and 0 < rating.sigma <= SIGMA * 1.01 for rating in after)
