"""Knockout: the bracket, byes, replays, the third place, and tables of three and more."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from formats_kit import Performances, Played, all_level, by_number, by_skill, check_laws, play

from arena.core.errors import ConfigError
from arena.core.ratings.evidence import Evidence
from arena.core.tournament.formats.knockout import MOST_SHOWN, Knockout, _Bracket, _Tie, seeding, size_below


def places(played: Played) -> dict[int, int]:
    found = played.director.places()
    assert found is not None
    return found


def titles(played: Played) -> list[str]:
    return [round.title for round in played.rounds]


def level_until(game: int) -> Performances:
    """Is level for so many games, then lets the larger number win."""
    left = [game]

    def performances(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
        left[0] -= 1
        return [0] * len(entrants) if left[0] >= 0 else entrants

    return performances


def test_eight_play_three_rounds_and_the_better_seeds_go_on() -> None:
    played = play(Knockout(), 8)
    assert titles(played) == ["quarter-finals", "semi-finals", "final"]
    assert [[meeting.entrants for meeting in round.meetings] for round in played.rounds] == [
        [(0, 7), (3, 4), (1, 6), (2, 5)],
        [(0, 3), (1, 2)],
        [(0, 1)],
    ]
    assert places(played) == {0: 1, 1: 2, 2: 3, 3: 3, 4: 5, 5: 5, 6: 5, 7: 5}
    assert [{meeting.first_deal for meeting in round.meetings} for round in played.rounds] == [{0}, {4}, {8}]


@pytest.mark.parametrize("entrants", range(2, 34))
def test_byes_go_to_the_first_seeds_and_only_in_the_first_round(entrants: int) -> None:
    played = play(Knockout(deals=1), entrants)
    size = 1 << (entrants - 1).bit_length()
    assert sorted(played.rounds[0].byes) == list(range(size - entrants))
    assert all(not round.byes for round in played.rounds[1:])
    assert len(played.meetings) == entrants - 1
    assert played.rounds[-1].meetings[0].entrants == (0, 1)
    assert places(played)[0] == 1


def test_the_first_round_is_called_by_the_places_of_the_bracket() -> None:
    assert titles(play(Knockout(deals=1), 33))[:2] == ["round of 64", "round of 32"]
    assert titles(play(Knockout(deals=1), 9)) == ["round of 16", "quarter-finals", "semi-finals", "final"]
    assert titles(play(Knockout(deals=1), 2)) == ["final"]


def test_the_losers_of_the_semi_finals_play_for_the_third_place() -> None:
    played = play(Knockout(deals=1, third_place=True), 6)
    check_laws(played)
    assert titles(played) == ["quarter-finals", "semi-finals", "third place", "final"]
    assert played.rounds[2].meetings[0].entrants == (2, 3)
    assert places(played) == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 5}


def test_a_level_tie_is_played_again_on_new_deals() -> None:
    played = play(Knockout(deals=2), 2, performances=level_until(8))
    check_laws(played)
    assert titles(played) == ["final", "final, replay 1", "final, replay 2"]
    assert [round.meetings[0].first_deal for round in played.rounds] == [0, 2, 4]
    assert places(played) == {1: 1, 0: 2}


def test_only_level_ties_are_played_again() -> None:
    def performances(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
        return [0, 0] if 3 in entrants and 0 in entrants else by_number(rng, entrants)

    played = play(Knockout(deals=1), 4, performances=performances)
    assert titles(played)[:2] == ["semi-finals", "semi-finals, replay 1"]
    assert [meeting.entrants for meeting in played.rounds[1].meetings] == [(0, 3)]


def test_after_six_times_the_deals_the_seed_decides() -> None:
    level = play(Knockout(deals=1), 4, performances=all_level)
    check_laws(level)
    assert titles(level)[:6] == ["semi-finals", *(f"semi-finals, replay {number}" for number in range(1, 6))]
    assert level.games == 6 * 3 * 2
    assert places(level) == {0: 1, 1: 2, 2: 3, 3: 3}

    def performances(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
        return [0, 0] if 0 in entrants else by_number(rng, entrants)

    # 1 has beaten 2 and is level with 0, who was level with 3: the rest of the event does not count.
    assert places(play(Knockout(deals=1), 4, performances=performances)) == {0: 1, 1: 2, 2: 3, 3: 3}
    assert places(play(Knockout(deals=1, planning=1), 4, performances=performances)) == {1: 1, 0: 2, 2: 3, 3: 3}


@pytest.mark.parametrize(("entrants", "players"), [(3, 2), (5, 2), (5, 4)])
def test_a_bye_is_no_handicap_in_a_level_final(entrants: int, players: int) -> None:
    def performances(rng: random.Random, met: Sequence[int]) -> Sequence[float]:
        return [0] * len(met) if 0 in met else by_number(rng, met)

    played = play(Knockout(deals=1), entrants, players, performances=performances)
    assert 0 in played.rounds[0].byes
    assert [entrant for entrant, place in places(played).items() if place == 1] == [0]


@pytest.mark.parametrize(("entrants", "players"), [(8, 2), (8, 4)])
def test_the_games_of_the_tie_come_before_the_seed(entrants: int, players: int) -> None:
    """A tie that ends at 400 deals without a verdict is not level all the same."""
    tie = _Tie(range(players), players // 2)
    tie.shares = {entrant: 1.0 + 0.1 * entrant for entrant in tie.entrants}
    ranked = _Bracket(Knockout(until_shown=True), entrants, players)._ranked(tie)
    assert ranked == [*reversed(range(players))]


@pytest.mark.parametrize(("entrants", "players"), [(4, 2), (4, 4), (9, 3)])
def test_until_shown_ties_end_with_evidence_for_who_goes_on(entrants: int, players: int) -> None:
    skills = [40.0 - 4 * entrant for entrant in range(entrants)]
    played = play(Knockout(until_shown=True), entrants, players, by_skill(skills))
    check_laws(played)
    ties = Counter(meeting.entrants for meeting in played.meetings)
    for table in ties:
        results = [meeting for result in played.results for meeting in result.meetings]
        own = [meeting for meeting in results if meeting.meeting.entrants == table]
        going_on = 1 if len(table) < 4 or len(ties) == 1 else 2
        shares = Counter[int]()
        for pair in (pair for result in own for pair in result.pairs):
            shares.update({pair.one: pair.share, pair.other: 1 - pair.share})
        above, below = sorted(table, key=lambda entrant: -shares[entrant])[going_on - 1 : going_on + 1]
        evidence = Evidence.of(share for result in own for share in result.deal_shares(above, below))
        assert evidence.deals == MOST_SHOWN or evidence.verdict(0.05, 0, math.comb(players, 2)) == "better"


def test_until_shown_equal_bots_stop_at_the_most_deals() -> None:
    played = play(Knockout(until_shown=True), 2, performances=all_level)
    assert sum(round.deals for round in played.rounds) == MOST_SHOWN
    assert len(played.rounds) < 50
    assert places(played) == {0: 1, 1: 2}


@pytest.mark.parametrize("players", [3, 4, 5])
@pytest.mark.parametrize("entrants", [5, 6, 7, 8, 9, 11, 12, 16, 20, 27, 31])
def test_tables_lead_to_a_full_final(entrants: int, players: int) -> None:
    played = play(Knockout(deals=1), entrants, players)
    check_laws(played)
    *before, final = played.rounds
    assert final.title == "final"
    (finalists,) = [meeting.entrants for meeting in final.meetings]
    assert finalists[0] == 0
    left = entrants
    for round in before:
        seated = len(round.meetings) * players
        assert seated + len(round.byes) == left
        following = played.rounds[played.rounds.index(round) + 1]
        left = len(following.meetings) * players + len(following.byes)
        assert left - len(round.byes) >= len(round.meetings) * (players // 2)
    assert [places(played)[entrant] for entrant in finalists] == list(range(1, players + 1))
    assert Counter(places(played).values())[1] == 1


def test_the_first_seeds_sit_at_different_tables() -> None:
    played = play(Knockout(deals=1), 16, 4)
    assert [round.title for round in played.rounds] == ["round of 16", "semi-finals", "final"]
    assert [meeting.entrants for meeting in played.rounds[0].meetings] == [
        (0, 7, 8, 15),
        (1, 6, 9, 14),
        (2, 5, 10, 13),
        (3, 4, 11, 12),
    ]


def test_a_table_is_played_again_if_the_last_to_go_on_is_level_with_the_next() -> None:
    def performances(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
        return [-min(entrant, 2) for entrant in entrants]

    # 0 is before 1, who is before all others.
    assert titles(play(Knockout(deals=1), 4, 4, performances)) == ["final"]
    assert len(titles(play(Knockout(deals=1), 4, 4, all_level))) == 6


def test_who_is_still_in_shares_the_first_place() -> None:
    assert places(play(Knockout(deals=1), 4, rounds=1)) == {0: 1, 1: 1, 2: 3, 3: 3}


@pytest.mark.parametrize(("entrants", "players"), [(10_000, 2), (10_000, 4)])
def test_many_entrants_play_at_once(entrants: int, players: int) -> None:
    rng = random.Random(3)
    skills = [rng.gauss(25, 6) for _ in range(entrants)]
    played = play(Knockout(deals=1), entrants, players, by_skill(skills), rounds=4)
    assert len(played.results) == 4


def test_seeds_one_and_two_are_in_opposite_halves() -> None:
    for entrants in (5, 8, 100):
        places = seeding(entrants)
        assert sorted(places) == list(range(len(places)))
        assert places.index(0) < len(places) // 2 <= places.index(1)


def test_the_sizes_from_which_full_tables_lead_to_the_final() -> None:
    assert [size_below(10**4, players) for players in (3, 4, 5)] == [6561, 8192, 6251]


@pytest.mark.parametrize(
    ("entrants", "players", "message"),
    [(8, 3, "expected --third-place with games of 2 players, got: 3"), (3, 2, "expected at least 4 bots for")],
)
def test_a_third_place_that_cannot_be_is_refused(entrants: int, players: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Knockout(third_place=True).check(entrants, players)
