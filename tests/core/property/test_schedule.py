"""The round-robin is fair: every pairing, every deal, every seat, equally often."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, combinations, groupby
from typing import Any, Literal, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.core.tournament.formats.base import Planning
from arena.core.tournament.formats.round_robin import Pairings, RoundRobin, combination, stage_of, stages_of
from arena.core.tournament.schedule import Schedule


class Table(msgspec.Struct, frozen=True):
    """A round-robin with those who play it."""

    entrants: int
    players: int
    deals: int
    seatings: Literal["cyclic", "all"] = "cyclic"

    @property
    def format(self) -> RoundRobin:
        return RoundRobin(deals=self.deals, seatings=self.seatings)

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.format, self.entrants, self.players)

    @property
    def stages(self) -> list[int]:
        return stages_of(self.deals, math.comb(self.entrants, self.players), 3)

    def stage(self, deal: int) -> int:
        """In which stage a deal is."""
        return bisect_right(list(accumulate(self.stages)), deal)

    def document(self) -> dict[str, Any]:
        return self.format.document(self.entrants, self.players)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    players = draw(st.integers(2, 4))
    entrants = draw(st.integers(players, 6))
    return Table(entrants, players, draw(st.sampled_from([1, 2, 3, 6, 31])), draw(st.sampled_from(["cyclic", "all"])))


@given(tables())
def test_it_has_as_many_games_as_the_formula_says(table: Table) -> None:
    seatings = math.factorial(table.players) if table.seatings == "all" else table.players
    games = list(table.schedule)
    total = table.deals * math.comb(table.entrants, table.players) * seatings
    assert len(games) == table.schedule.total == table.format.total(table.entrants, table.players) == total
    assert not table.schedule.open
    assert [game.number for game in games] == list(range(total))
    assert len({(game.deal, game.entrants) for game in games}) == total, "a game twice"


@given(tables())
def test_every_pairing_plays_every_deal_equally_often(table: Table) -> None:
    counts = Counter((game.deal, frozenset(game.entrants)) for game in table.schedule)
    groups = list(combinations(range(table.entrants), table.players))
    assert set(counts) == {(deal, frozenset(group)) for deal in range(table.deals) for group in groups}
    assert len(set(counts.values())) == 1


@given(tables())
def test_every_entrant_has_every_seat_equally_often_in_each_match(table: Table) -> None:
    counts = Counter(
        (game.deal, frozenset(game.entrants), entrant, seat)
        for game in table.schedule
        for seat, entrant in enumerate(game.entrants)
    )
    matches = table.deals * math.comb(table.entrants, table.players)
    assert len(counts) == matches * table.players**2
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize(("players", "deals"), [(2, 1), (3, 2), (4, 6)])
def test_over_all_circles_every_entrant_follows_every_other_equally_often(players: int, deals: int) -> None:
    followers: Counter[tuple[int, int]] = Counter()
    for game in Table(players + 1, players, deals).schedule:
        followers.update(zip(game.entrants, game.entrants[1:] + game.entrants[:1], strict=True))
    assert len(followers) == (players + 1) * players
    assert len(set(followers.values())) == 1


@given(tables())
def test_no_deal_comes_twice_in_a_block(table: Table) -> None:
    for _, games in groupby(table.schedule, key=lambda game: game.block):
        played = list(games)
        deals = [game.deal for game in played]
        assert deals == list(range(deals[0], deals[0] + len(deals)))
        assert len(deals) == table.stages[table.stage(deals[0])]
        assert len({(frozenset(game.entrants), game.rotation) for game in played}) == 1


@given(tables())
def test_blocks_follow_each_other_and_stages_too(table: Table) -> None:
    blocks = [block for block, _ in groupby(game.block for game in table.schedule)]
    assert blocks == list(range(len(blocks)))
    stages = [table.stage(game.deal) for game in table.schedule]
    assert stages == sorted(stages)
    for _, games in groupby(table.schedule, key=lambda game: (table.stage(game.deal), frozenset(game.entrants))):
        assert [rotation for rotation, _ in groupby(game.rotation for game in games)] == list(
            range(table.schedule.seatings)
        )


@pytest.mark.parametrize(("deals", "stage"), [(1, 30), (30, 30), (31, 30), (240, 30), (241, 31), (1000, 125)])
def test_a_tournament_has_few_stages_of_many_deals(deals: int, stage: int) -> None:
    assert stage_of(deals, 3) == stage
    assert set(stages_of(deals, 3, 2)[:-1]) <= {stage}
    assert max(stages_of(deals, 3, 3)[:-1], default=0) <= stage


@pytest.mark.parametrize(
    ("deals", "pairings", "stages"),
    [
        (5, 3, [5]),
        (7, 3, [7]),
        (8, 3, [5, 3]),
        (30, 1, [30]),
        (30, 3, [5, 10, 15]),
        (100, 3, [5, 10, 20, 30, 35]),
        (1000, 3, [5, 10, 20, 40, 80, *[125] * 6, 95]),
    ],
)
def test_stages_begin_small_and_grow(deals: int, pairings: int, stages: list[int]) -> None:
    assert stages_of(deals, pairings, 3) == stages
    assert [sum(stages_of(deals, pairings, planning)) for planning in get_args(Planning)] == [deals] * 3


def test_a_tournament_of_before_has_its_stages_in_its_document() -> None:
    before = RoundRobin(deals=40, planning=1)
    assert before.document(3, 2)["stage"] == 30
    assert [placed.round.deals for placed in Schedule(before, 3, 2).rounds] == [30, 10]
    assert RoundRobin(deals=40).document(3, 2)["stages"] == [5, 10, 25]


def unevenness(entrants: int, players: int, planning: Planning = 3) -> int:
    """By how many pairings, at most, one entrant is ahead of another at any place of a stage."""
    played = [0] * entrants
    worst = 0
    for meeting in Pairings(entrants, players, 0, planning):
        for entrant in meeting.entrants:
            played[entrant] += 1
        worst = max(worst, max(played) - min(played))
    return worst


@pytest.mark.parametrize("entrants", range(2, 31))
def test_entrants_in_games_of_two_are_ahead_by_a_pairing_or_two(entrants: int) -> None:
    assert unevenness(entrants, 2) <= 1 + entrants % 2


@pytest.mark.parametrize(
    ("players", "entrants"), [(3, 6), (3, 10), (3, 20), (3, 30), (4, 6), (4, 10), (4, 16), (4, 20), (5, 12)]
)
def test_entrants_in_larger_games_are_ahead_by_as_many_pairings_as_players(players: int, entrants: int) -> None:
    assert unevenness(entrants, players) <= players


def test_twelve_bots_at_four_seats_that_are_stopped_after_110_meetings_are_even() -> None:
    """The old order, which tournaments of before are still played and checked by, had 25 games against 54."""
    spans = []
    for planning in get_args(Planning):
        met = Counter(entrant for meeting in Pairings(12, 4, 0, planning)[:110] for entrant in meeting.entrants)
        spans.append((min(met.values()), max(met.values())))
    assert spans == [(25, 54), (36, 38), (36, 38)]


@pytest.mark.parametrize(("entrants", "players"), [(4, 3), (6, 3), (9, 3), (7, 4), (8, 4), (12, 4), (10, 5), (11, 5)])
def test_every_choice_comes_once_in_both_orders(entrants: int, players: int) -> None:
    for planning in get_args(Planning):
        met = [meeting.entrants for meeting in Pairings(entrants, players, 0, planning)]
        assert sorted(met) == list(combinations(range(entrants), players))


@given(tables())
def test_the_document_describes_the_schedule(table: Table) -> None:
    document = table.document()
    assert json.loads(json.dumps(document)) == document
    for name, value in (("entrants", table.entrants + 1), ("deals", table.deals + 1)):
        assert msgspec.structs.replace(table, **{name: value}).document() != document
    for game in table.schedule:
        circles = document["circles"]
        if game.rotation == 0:
            assert game.entrants == tuple(sorted(game.entrants)[place] for place in circles[game.deal % len(circles)])


@given(st.integers(0, 8), st.integers(0, 4))
def test_combinations_are_in_lexicographic_order(n: int, k: int) -> None:
    assert [combination(n, k, i) for i in range(math.comb(n, k))] == list(combinations(range(n), k))


@pytest.mark.parametrize("number", [-1, 12])
def test_there_is_no_game_beyond_the_schedule(number: int) -> None:
    with pytest.raises(IndexError):
        Table(3, 2, 2).schedule.game(number)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 3, 1), "expected at least 3 bots for games of 3 players, got: 2"),
        ((2, 1, 1), "expected at least 2 players, got: 1"),
        ((2, 2, 0), "expected at least 1 deal, got: 0"),
        ((3, 2, 10**12), r"at most 1,000,000,000 games, got: 6,000,000,000,000; use a smaller --deals"),
        ((2, 2, 10**20), "expected at most 1,000,000,000 games"),
        ((10**4, 4, 1), "expected at most 1,000,000,000 games"),
    ],
)
def test_impossible_tournaments_are_refused(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Table(*arguments).schedule  # noqa: B018  (making it is what is refused)
