"""The round-robin is fair: every pairing, every deal, every seat, equally often."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, groupby

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ConfigError
from arena.tournament.schedule import RoundRobin, combination


@st.composite
def schedules(draw: st.DrawFn) -> RoundRobin:
    players = draw(st.integers(2, 4))
    entrants = draw(st.integers(players, 6))
    return RoundRobin(entrants, players, draw(st.sampled_from([1, 2, 3, 31])), draw(st.sampled_from(["cyclic", "all"])))


@given(schedules())
def test_it_has_as_many_games_as_the_formula_says(schedule: RoundRobin) -> None:
    seatings = math.factorial(schedule.players) if schedule.seatings == "all" else schedule.players
    games = list(schedule)
    assert len(games) == schedule.total() == schedule.deals * math.comb(schedule.entrants, schedule.players) * seatings
    assert [game.number for game in games] == list(range(schedule.total()))
    assert len({(game.deal, game.entrants) for game in games}) == schedule.total(), "a game twice"


@given(schedules())
def test_every_pairing_plays_every_deal_equally_often(schedule: RoundRobin) -> None:
    counts = Counter((game.deal, frozenset(game.entrants)) for game in schedule)
    groups = list(combinations(range(schedule.entrants), schedule.players))
    assert set(counts) == {(deal, frozenset(group)) for deal in range(schedule.deals) for group in groups}
    assert len(set(counts.values())) == 1
    assert {game.pairing: frozenset(game.entrants) for game in schedule} == dict(enumerate(map(frozenset, groups)))


@given(schedules())
def test_every_entrant_has_every_seat_equally_often_in_each_match(schedule: RoundRobin) -> None:
    counts = Counter(
        (game.deal, game.pairing, entrant, seat) for game in schedule for seat, entrant in enumerate(game.entrants)
    )
    matches = schedule.deals * math.comb(schedule.entrants, schedule.players)
    assert len(counts) == matches * schedule.players**2
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize(("players", "deals"), [(2, 1), (3, 2), (4, 6)])
def test_over_all_circles_every_entrant_follows_every_other_equally_often(players: int, deals: int) -> None:
    followers: Counter[tuple[int, int]] = Counter()
    for game in RoundRobin(players + 1, players, deals):
        followers.update(zip(game.entrants, game.entrants[1:] + game.entrants[:1], strict=True))
    assert len(followers) == (players + 1) * players
    assert len(set(followers.values())) == 1


@given(schedules())
def test_no_deal_comes_twice_in_a_block(schedule: RoundRobin) -> None:
    for _, games in groupby(schedule, key=lambda game: game.block):
        played = list(games)
        deals = [game.deal for game in played]
        assert deals == list(range(deals[0], deals[0] + len(deals)))
        assert len(deals) <= schedule.stage
        assert len({(game.pairing, game.rotation) for game in played}) == 1


@given(schedules())
def test_blocks_follow_each_other_and_stages_too(schedule: RoundRobin) -> None:
    blocks = [block for block, _ in groupby(game.block for game in schedule)]
    assert blocks == list(range(len(blocks)))
    stages = [game.deal // schedule.stage for game in schedule]
    assert stages == sorted(stages)
    for _, games in groupby(schedule, key=lambda game: (game.deal // schedule.stage, game.pairing)):
        assert [rotation for rotation, _ in groupby(game.rotation for game in games)] == list(
            range(schedule.seatings_of_a_deal)
        )


@pytest.mark.parametrize(("deals", "stage"), [(1, 30), (30, 30), (31, 30), (240, 30), (241, 31), (1000, 125)])
def test_a_tournament_has_few_stages_of_many_deals(deals: int, stage: int) -> None:
    assert RoundRobin(3, 2, deals).stage == stage


def unevenness(schedule: RoundRobin) -> int:
    """By how many pairings, at most, one entrant is ahead of another at any place of a stage."""
    played = [0] * schedule.entrants
    worst = 0
    for place in range(schedule.pairings):
        for entrant in combination(schedule.entrants, schedule.players, schedule.pairing(place)):
            played[entrant] += 1
        worst = max(worst, max(played) - min(played))
    return worst


@pytest.mark.parametrize("entrants", range(2, 31))
def test_entrants_in_games_of_two_are_ahead_by_a_pairing_or_two(entrants: int) -> None:
    assert unevenness(RoundRobin(entrants, 2, 1)) <= 1 + entrants % 2


@pytest.mark.parametrize(
    ("players", "entrants"), [(3, 6), (3, 10), (3, 20), (3, 30), (4, 6), (4, 10), (4, 16), (4, 20), (5, 12)]
)
def test_entrants_in_larger_games_are_nearly_even(players: int, entrants: int) -> None:
    schedule = RoundRobin(entrants, players, 1)
    each = math.comb(entrants - 1, players - 1)
    assert unevenness(schedule) <= max(4, each * 0.2), "in lexicographic order it is 0.4 of them and more"


@given(schedules())
def test_the_document_describes_the_schedule(schedule: RoundRobin) -> None:
    document = schedule.document()
    assert json.loads(json.dumps(document)) == document
    again = RoundRobin(*(document[name] for name in ("entrants", "players", "deals", "seatings")))
    assert list(again) == list(schedule)
    for name, value in (("entrants", schedule.entrants + 1), ("deals", schedule.deals + 1)):
        assert msgspec.structs.replace(schedule, **{name: value}).document() != document
    for game in schedule:
        circles = document["circles"]
        circle = circles[game.deal % len(circles)]
        if game.rotation == 0:
            chosen = combination(schedule.entrants, schedule.players, game.pairing)
            assert game.entrants == tuple(chosen[place] for place in circle)


@given(st.integers(0, 8), st.integers(0, 4))
def test_combinations_are_in_lexicographic_order(n: int, k: int) -> None:
    assert [combination(n, k, i) for i in range(math.comb(n, k))] == list(combinations(range(n), k))


@pytest.mark.parametrize("number", [-1, 12])
def test_there_is_no_game_beyond_the_schedule(number: int) -> None:
    with pytest.raises(IndexError):
        RoundRobin(3, 2, 2).game(number)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 3, 1), "expected at least 3 bots for games of 3 players, got: 2"),
        ((2, 1, 1), "expected at least 2 players, got: 1"),
        ((2, 2, 0), "expected at least 1 deal, got: 0"),
        ((3, 2, 10**12), r"at most 1,000,000,000 games, got: 6,000,000,000,000 \(3 pairings, .* use a smaller --deals"),
        ((2, 2, 10**20), "expected at most 1,000,000,000 games"),
        ((10**4, 4, 1), "expected at most 1,000,000,000 games"),
    ],
)
def test_impossible_tournaments_are_refused(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RoundRobin(*arguments)
