"""Swiss: who meets whom, byes, points, and that thousands are paired."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Literal

import pytest
from formats_kit import all_level, by_number, by_order, by_skill, check_laws, play

from arena.core.errors import ConfigError
from arena.core.tournament.formats.matching import MOST_EXACT, pairs, tables
from arena.core.tournament.formats.swiss import Swiss


def test_the_first_round_folds_the_seeds() -> None:
    first = Swiss().director(8, 2, b"").next()
    assert first is not None
    assert [meeting.entrants for meeting in first.meetings] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert (first.title, first.deals, first.byes) == ("round 1", 6, ())


def test_the_second_round_pairs_winners_and_losers() -> None:
    played = play(Swiss(rounds=2), 8, performances=by_number)
    assert {meeting.entrants for meeting in played.rounds[1].meetings} == {(0, 2), (1, 3), (4, 6), (5, 7)}


@pytest.mark.parametrize("seed", range(10))
def test_of_eight_without_draws_one_has_three_of_three(seed: int) -> None:
    order = random.Random(seed).sample(range(8), 8)
    played = play(Swiss(rounds=3, deals=1), 8, performances=by_order(order))
    points = played.director.points()
    assert points is not None
    assert sorted(points.values(), reverse=True) == [3, 2, 2, 2, 1, 1, 1, 0]
    assert points[order[0]] == 3
    assert len(set(played.pairs)) == len(played.pairs)
    check_laws(played)


def test_all_rounds_of_a_match_are_on_the_same_new_deals() -> None:
    played = play(Swiss(rounds=4, deals=5), 6)
    assert [{meeting.first_deal for meeting in round.meetings} for round in played.rounds] == [{0}, {5}, {10}, {15}]


def test_a_level_match_gives_half_a_point() -> None:
    played = play(Swiss(rounds=2, deals=1), 3, performances=all_level)
    assert [round.byes for round in played.rounds] == [(2,), (1,)]
    assert played.director.points() == {0: 1, 1: 1.5, 2: 1.5}


@pytest.mark.parametrize(("entrants", "players"), [(4, 3), (5, 3), (9, 4), (7, 5)])
def test_a_bye_at_tables_of_three_and_more_is_the_mean(entrants: int, players: int) -> None:
    """Among equals whoever rests is neither ahead nor behind, and the points of all are half a point a round."""
    for rounds in (1, 2, 3):
        played = play(Swiss(rounds=rounds, deals=1), entrants, players, performances=all_level)
        points = played.director.points()
        assert points is not None
        assert set(points.values()) == {rounds / 2}


@pytest.mark.parametrize(("players", "planning", "bye"), [(2, 1, 1), (2, 2, 1), (3, 1, 1), (3, 2, 0.5)])
def test_points_of_a_bye(players: int, planning: Literal[1, 2], bye: float) -> None:
    played = play(Swiss(rounds=1, deals=1, planning=planning), players + 1, players)
    points = played.director.points()
    assert points is not None
    assert [points[entrant] for entrant in played.rounds[0].byes] == [bye]


@pytest.mark.parametrize(("entrants", "players", "rounds"), [(5, 2, 5), (7, 3, 7), (9, 4, 9), (11, 4, 3), (6, 5, 6)])
def test_nobody_rests_twice_before_all_have_rested(entrants: int, players: int, rounds: int) -> None:
    played = play(Swiss(rounds=rounds, deals=1), entrants, players, by_skill([25] * entrants))
    byes = Counter(entrant for round in played.rounds for entrant in round.byes)
    assert set(byes.values()) == {1}
    assert len(byes) == rounds * (entrants % players)
    check_laws(played)


def test_the_lowest_rests() -> None:
    played = play(Swiss(rounds=2, deals=1), 5)
    # 0 has beaten 2, and 1 has beaten 3. The last rested.
    assert [round.byes for round in played.rounds] == [(4,), (3,)]


def test_pairs_come_again_only_if_there_is_no_other_way() -> None:
    played = play(Swiss(rounds=6, deals=1), 4)
    assert Counter(played.pairs) == dict.fromkeys(combinations(range(4), 2), 2)


def test_tables_are_filled_from_the_top_and_repeat_little() -> None:
    played = play(Swiss(rounds=2, deals=1), 16, 4)
    assert played.rounds[0].meetings[0].entrants == (0, 1, 2, 3)
    # The winners of the four tables meet, and so on: nobody meets anybody again.
    assert played.rounds[1].meetings[0].entrants == (0, 4, 8, 12)
    assert len(set(played.pairs)) == len(played.pairs)


def test_tables_change_places_rather_than_meet_again() -> None:
    met: list[Counter[int]] = [Counter() for _ in range(6)]
    for one, other in combinations((0, 1, 2), 2):
        met[one][other] = met[other][one] = 1
    assert tables(range(6), 3, [0.0] * 6, met) != [(0, 1, 2), (3, 4, 5)]
    # Here a change would put somebody with 2 points at the table of those who have none.
    assert tables(range(6), 3, [2.0] * 3 + [0.0] * 3, met) == [(0, 1, 2), (3, 4, 5)]


def test_above_the_exact_pairing_nobody_meets_twice_either() -> None:
    entrants = MOST_EXACT + 11
    rng = random.Random(1)
    played = play(
        Swiss(rounds=12, deals=1), entrants, performances=by_skill([rng.gauss(25, 6) for _ in range(entrants)])
    )
    assert len(set(played.pairs)) == len(played.pairs)
    byes = [round.byes for round in played.rounds]
    assert len({bye for (bye,) in byes}) == len(byes)


def test_a_pair_that_is_left_exchanges_partners() -> None:
    """Two of the last have met, which only an exchange with a pair above repairs."""
    entrants = MOST_EXACT + 2
    met: list[Counter[int]] = [Counter() for _ in range(entrants)]
    last = entrants - 1
    met[last - 1][last] = met[last][last - 1] = 1
    points = [1.0] * (entrants - 2) + [0.0] * 2
    found = pairs(range(entrants), points, met)
    assert sorted(entrant for pair in found for entrant in pair) == list(range(entrants))
    assert all(other not in met[one] for one, other in found)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("entrants", "players"), [(200, 2), (10_000, 2), (10_000, 4)])
def test_many_entrants_are_paired(entrants: int, players: int) -> None:
    rng = random.Random(2)
    skills = [rng.gauss(25, 6) for _ in range(entrants)]
    played = play(Swiss(rounds=2, deals=1), entrants, players, by_skill(skills))
    assert len(played.meetings) == 2 * entrants // players
    assert len(set(played.pairs)) == len(played.pairs)


def test_the_default_number_of_rounds_follows_from_the_entrants() -> None:
    assert [Swiss().rounds_of(entrants) for entrants in (2, 3, 8, 9, 200)] == [3, 4, 5, 6, 10]
    assert Swiss(deals=3).total(9, 2) == 6 * 4 * 3 * 2


def test_no_round_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected at least 1 round, got: 0; use --rounds"):
        Swiss(rounds=0).check(4, 2)
