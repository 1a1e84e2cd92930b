"""Running ratings: a game of two by its closed form is rated as the library rates it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trueskill import TrueSkill

from arena.core.ratings.running import BETA, DRAW_PROBABILITY, MU, SIGMA, TAU, Rating, rate

LIBRARY = TrueSkill(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU, draw_probability=DRAW_PROBABILITY, backend=None)
RATINGS = st.builds(Rating, st.floats(-20, 70), st.floats(0.3, SIGMA))
EXTREME = st.builds(Rating, st.floats(-60, 110), st.floats(0.02, SIGMA))


def by_the_library(ratings: list[Rating], ranks: tuple[int, ...]) -> list[tuple[float, float]]:
    groups = [(LIBRARY.create_rating(rating.mu, rating.sigma),) for rating in ratings]
    return [(rating.mu, rating.sigma) for (rating,) in LIBRARY.rate(groups, ranks=ranks)]


@given(st.lists(RATINGS, min_size=2, max_size=2), st.sampled_from([(1, 2), (2, 1), (1, 1)]))
def test_a_game_of_two_is_rated_as_the_library_rates_it(ratings: list[Rating], ranks: tuple[int, ...]) -> None:
    try:
        expected = by_the_library(ratings, ranks)
    except FloatingPointError:  # too unlikely to be computed
        with pytest.raises(FloatingPointError):
            rate(ratings, ranks)
        return
    found = [number for rating in rate(ratings, ranks) for number in (rating.mu, rating.sigma)]
    assert found == pytest.approx([number for pair in expected for number in pair], abs=1e-9)


def test_a_team_is_rated_as_the_sum_of_its_members() -> None:
    ratings = [Rating(25, 3), Rating(28, 4), Rating(22, 2), Rating(30, 5)]
    one, two, three, four = (LIBRARY.create_rating(rating.mu, rating.sigma) for rating in ratings)
    (one, three), (two, four) = LIBRARY.rate([(one, three), (two, four)], ranks=[1, 3])
    expected = [(rating.mu, rating.sigma) for rating in (one, two, three, four)]
    assert [(each.mu, each.sigma) for each in rate(ratings, (1, 3, 1, 3), (0, 1, 0, 1))] == expected


def test_where_all_are_of_one_team_nobody_is_rated() -> None:
    ratings = [Rating(25, 3), Rating(28, 4)]
    assert rate(ratings, (1, 1), (0, 0)) == ratings


def test_more_players_are_rated_by_the_library() -> None:
    ratings = [Rating(25, 3), Rating(28, 4), Rating(22, 2)]
    assert [(each.mu, each.sigma) for each in rate(ratings, (2, 1, 2))] == by_the_library(ratings, (2, 1, 2))


@given(
    st.lists(EXTREME, min_size=2, max_size=4).flatmap(lambda r: st.tuples(st.just(r), st.permutations(range(len(r)))))
)
def test_any_result_gives_numbers(case: tuple[list[Rating], list[int]]) -> None:
    before, order = case
    after = rate(before, tuple(place + 1 for place in order))
    assert all(math.isfinite(rating.mu) and 0 < rating.sigma <= SIGMA * 1.01 for rating in after)
