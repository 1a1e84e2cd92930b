"""Adaptive: neighbours meet until their order is shown, and a budget ends it."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from formats_kit import Played, all_level, by_number, by_skill, play

from arena.core.errors import ConfigError
from arena.core.ratings.evidence import Evidence
from arena.core.tournament.formats.adaptive import Adaptive, cover


def deals(played: Played) -> int:
    return sum(round.deals * len(round.meetings) for round in played.rounds)


def evidence(played: Played, one: int, other: int) -> Evidence:
    return Evidence.of(
        share
        for result in played.results
        for meeting in result.meetings
        if {one, other} <= set(meeting.meeting.entrants)
        for share in meeting.deal_shares(one, other)
    )


def test_it_begins_with_two_rounds_of_all_pairs_and_ends_when_all_neighbours_are_settled() -> None:
    played = play(Adaptive(), 6, performances=by_number)
    for round in played.rounds[:2]:
        assert [meeting.entrants for meeting in round.meetings] == list(combinations(range(6), 2))
    for one, other in pairwise(range(6)):
        assert evidence(played, one, other).verdict(comparisons=15) == "better"
    later = {meeting.entrants for round in played.rounds[2:] for meeting in round.meetings}
    assert later <= set(pairwise(range(6)))
    # 1 + log2(2 * 15 / .05) is 10.2: so many deals a pair, won without a loss, are not enough, and 16 are.
    assert 120 + 5 * 4 <= deals(played) <= 120 + 5 * 12


def test_games_go_where_the_order_is_open() -> None:
    """Of four bots two are about equal: this pair gets nearly all deals after the first."""
    played = play(Adaptive(budget=500, delta=0.02), 4, performances=by_skill([40, 30, 30, 10]))
    assert deals(played) == 500
    assert evidence(played, 1, 2).deals > 300
    assert evidence(played, 0, 3).deals == 8


def test_level_bots_settle_as_level_before_the_budget_is_spent() -> None:
    played = play(Adaptive(delta=0.1), 3, performances=all_level)
    assert played.ended
    assert deals(played) < 1_000
    assert evidence(played, 0, 1).verdict(delta=0.1, comparisons=3) == "level"


def test_every_meeting_has_new_deals() -> None:
    for players in (2, 3):
        played = play(Adaptive(budget=200), 5, players, by_skill([25.0] * 5))
        numbers = [
            meeting.first_deal + deal
            for round in played.rounds
            for meeting in round.meetings
            for deal in range(round.deals)
        ]
        assert numbers == list(range(len(numbers)))


def test_batches_grow_to_a_tenth_of_what_was_played() -> None:
    played = play(Adaptive(budget=2_000, delta=0), 2, performances=by_skill([25, 25]))
    sizes = [round.deals for round in played.rounds[:-1]]
    assert sizes[0] == 4
    assert 80 <= max(sizes) <= 200
    assert len(sizes) < 60


def test_an_open_pair_is_joined_by_those_that_are_open_with_it_and_near() -> None:
    played = play(Adaptive(budget=300, delta=0.01), 6, 3, by_skill([60, 30, 30, 30, 0, -30]))
    assert len(played.rounds) > 15
    tables = [meeting.entrants for round in played.rounds[2:] for meeting in round.meetings]
    assert tables.count((1, 2, 3)) >= 0.8 * len(tables)


@pytest.mark.parametrize(("entrants", "players"), [(2, 2), (7, 2), (7, 3), (9, 4), (12, 5), (5, 5)])
def test_a_cover_has_all_pairs(entrants: int, players: int) -> None:
    tables = cover(entrants, players)
    pairs = [pair for table in tables for pair in combinations(table, 2)]
    assert set(pairs) == set(combinations(range(entrants), 2))
    assert len(pairs) <= 2.5 * len(set(pairs))


@pytest.mark.long
def test_a_wrong_order_is_hardly_ever_shown() -> None:
    """Four equal bots: of 20 leagues, at most 3 show a difference (1 in 20 is allowed; 4 would be 1.6 % likely)."""
    wrong = 0
    for league in range(20):
        played = play(Adaptive(budget=250), 4, performances=by_skill([25.0] * 4), draw=bytes([league]))
        verdicts = {evidence(played, *pair).verdict(delta=0, comparisons=6) for pair in combinations(range(4), 2)}
        wrong += bool(verdicts & {"better", "worse"})
    assert wrong <= 3


@pytest.mark.parametrize(
    ("format", "message"),
    [
        (Adaptive(budget=223), "expected a budget of at least 224 deals, in which every pair can meet twice, got: 223"),
        (Adaptive(alpha=0), "expected alpha to be above 0 and below 1, got: 0"),
        (Adaptive(delta=0.5), "expected delta to be from 0 to below 0.5, got: 0.5"),
        (Adaptive(budget=10**9), "expected at most 1,000,000,000 games, got: 2,000,000,000 with --budget"),
        (Adaptive(deals=0), "expected at least 1 deal, got: 0; use --deals"),
    ],
)
def test_what_cannot_be_is_refused(format: Adaptive, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        format.check(8, 2)
