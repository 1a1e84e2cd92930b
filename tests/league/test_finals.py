"""The rule of a final: everybody meets everybody equally often, until evidence settles who has won, or a bound."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from itertools import combinations, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.ratings.pairs import PairResult
from arena.league.matches.finals import MOST_AGAIN, Design, FinalStage, Table, stage, standings
from arena.league.settings import Game, Season, Settings, contradictions
from arena.league.store.records import FinalMatch


def design(finalists: int = 4, sizes: tuple[int, ...] = (2,), deals: int = 300, **more: object) -> Design:
    return Design(entrants=tuple(range(10, 10 + finalists)), begun_with=finalists, sizes=sizes, deals=deals)


def stronger(one: int, other: int, deal: int) -> float:
    """The share of the first: the lower number wins both games of a deal."""
    return 1.0 if one < other else 0.0


def level(one: int, other: int, deal: int) -> float:
    return 0.5


def by_chance(one: int, other: int, deal: int) -> float:
    return hashlib.sha256(f"{one} {other} {deal}".encode()).digest()[0] % 3 / 2


class Played:
    """A final that is played: matches end in the order that `pick` says, so many at a time."""

    def __init__(self, share: Callable[[int, int, int], float], workers: int = 1, pick: int = 0) -> None:
        self.share = share
        self.workers = workers
        self.pick = pick
        self.matches: list[FinalMatch] = []
        self.pairs: list[PairResult] = []
        self.turns: list[tuple[Table, int]] = []
        self.running: list[int] = []

    def step(self, design: Design) -> FinalStage:
        found = stage(design, self.matches, self.pairs)
        for table in found.tables[: self.workers - len(self.running)]:
            self.running.append(len(self.matches))
            self.matches.append(FinalMatch(len(self.matches), table, over=False, whole=False))
            self.turns.append((table, found.turn))
        if self.running:
            self.end(self.running.pop(self.pick % len(self.running)))
        return found

    def end(self, number: int, *, whole: bool = True) -> None:
        table = self.matches[number].table
        self.matches[number] = FinalMatch(number, table, over=True, whole=whole)
        if whole:
            nth = sum(match.table == table for match in self.matches[:number])
            for one, other in combinations(table, 2):
                won = round(4 * self.share(one, other, nth))
                self.pairs.append(PairResult(number, one, other, won, 0, 4 - won))

    def to_the_end(self, design: Design) -> FinalStage:
        while (found := self.step(design)).outcome is None:
            pass
        assert not self.running
        return found


@given(st.integers(2, 9), st.sets(st.integers(2, 4), min_size=1))
def test_after_each_round_everybody_has_met_everybody_equally_often(finalists: int, sizes: set[int]) -> None:
    met: Counter[Table] = Counter()
    matches: Counter[tuple[int, int]] = Counter()
    rounds = list(islice(design(finalists, tuple(sizes)).rounds(), 12))
    assert bool(rounds) == (min(sizes) <= finalists)
    for round in rounds:
        for table in round.tables:
            met.update(combinations(table, 2))
            matches.update((entrant, len(table)) for entrant in table)
        assert len(set(met.values())) == 1
        assert len(met) == finalists * (finalists - 1) // 2
        for size in sizes:
            assert len({matches[entrant, size] for entrant in range(10, 10 + finalists)}) == 1


def test_sizes_are_played_about_equally_often() -> None:
    matches = Counter[int]()
    for round in islice(design(8, (2, 4)).rounds(), 30):
        matches[round.players] += len(round.tables) * round.players
    assert abs(matches[2] - matches[4]) <= 8 * 35


def test_the_circle_of_seats_changes_from_round_to_round() -> None:
    turns = [round.turn for round in islice(design(5, (3,)).rounds(), 4)]
    assert turns == [0, 1, 2, 3]


@pytest.mark.parametrize("sizes", [(2,), (4,), (2, 4)])
def test_it_ends_when_the_winner_is_settled(sizes: tuple[int, ...]) -> None:
    final = Played(stronger)
    found = final.to_the_end(design(5, sizes))
    assert found.outcome == "settled"
    assert len(final.matches) < 150
    met = Counter(pair for match in final.matches for pair in combinations(match.table, 2))
    assert len(set(met.values())) == 1, "whole rounds"
    ranking = standings(design(5, sizes), final.matches, final.pairs)
    assert [one.entrant for one in ranking] == [10, 11, 12, 13, 14]
    assert (ranking[0].rank, ranking[0].points, ranking[-1].points) == (1, 1.0, 0.0)


def test_equal_finalists_share_the_first_place() -> None:
    final = Played(level)
    found = final.to_the_end(design(3, deals=3_000))
    assert found.outcome == "settled", "they are shown to be level"
    assert {one.rank for one in standings(design(3), final.matches, final.pairs)} == {1}


def test_it_ends_with_whole_rounds_at_its_bound_and_says_so() -> None:
    final = Played(by_chance)
    found = final.to_the_end(design(4, deals=50))
    assert (found.outcome, len(final.matches)) == ("not settled", 48)
    assert found.reason == "another round would need more than 50 deals"


@pytest.mark.parametrize("share", [stronger, by_chance])
@pytest.mark.parametrize("sizes", [(2,), (2, 3)])
def test_it_is_the_same_at_any_number_of_workers_and_in_whatever_order_matches_end(
    share: Callable[[int, int, int], float], sizes: tuple[int, ...]
) -> None:
    alone, many, other = Played(share), Played(share, 4, 2), Played(share, 9, -1)
    ends = [final.to_the_end(design(4, sizes, 90)) for final in (alone, many, other)]
    assert ends[0] == ends[1] == ends[2]
    assert sorted(alone.turns) == sorted(many.turns) == sorted(other.turns)


def test_no_worker_waits_for_the_last_match_of_a_round() -> None:
    final = Played(by_chance, workers=2)
    for _ in range(5):
        final.step(design(4))
    assert final.running == [5], "the last of the first round"
    assert final.step(design(4)).round == 2
    for _ in range(7):
        final.step(design(4))
    assert 5 not in final.running


def test_the_round_after_the_next_waits_for_the_results() -> None:
    final = Played(by_chance, workers=2)
    final.step(design(4))
    slow = final.running.pop()
    for _ in range(11):
        final.step(design(4))
    assert len(final.matches) == 12, "two rounds"
    assert final.step(design(4)).tables == (), "the first is not over"
    final.end(slow)
    assert final.step(design(4)).tables


def test_who_leaves_is_out_and_the_others_go_on() -> None:
    final = Played(stronger, workers=2)
    for _ in range(9):
        final.step(design(4))
    left = Design(entrants=(11, 12, 13), begun_with=4, sizes=(2,), deals=300)
    found = final.to_the_end(left)
    assert found.outcome == "settled"
    assert [one.entrant for one in standings(left, final.matches, final.pairs)] == [11, 12, 13]
    met = Counter(match.table for match in final.matches if 10 not in match.table)
    assert len(set(met.values())) == 1


def test_too_few_for_a_table_end_it() -> None:
    one = Design(entrants=(10,), begun_with=4, sizes=(2,), deals=300)
    assert stage(one, [], []).outcome == "not settled"
    assert stage(one, [], []).reason == "too few finalists are left for a game: 1"
    [standing] = standings(one, [], [])
    assert (standing.rank, standing.points) == (1, None)


def test_a_match_that_could_not_be_played_is_played_again_a_few_times_and_counts_for_nobody() -> None:
    final = Played(stronger)
    for broken in range(MOST_AGAIN):
        assert stage(design(2), final.matches, final.pairs).tables == ((10, 11),)
        final.matches.append(FinalMatch(broken, (10, 11), over=True, whole=False))
        final.pairs.append(PairResult(broken, 10, 11, 0, 0, 1))
    assert stage(design(2), final.matches, final.pairs).round == 1
    final.matches.append(FinalMatch(MOST_AGAIN, (10, 11), over=True, whole=False))
    assert stage(design(2), final.matches, final.pairs).round == 2, "it is not tried for ever"
    [first, _] = standings(design(2), final.matches, final.pairs)
    assert first.points is None


@pytest.mark.parametrize(
    ("finalists", "deals", "sizes"), [(1, 100, (2,)), (8, 27, (2,)), (16, 1_000, (2, 4)), (64, 2_000, (2,))]
)
def test_a_final_that_could_not_begin_is_refused(finalists: int, deals: int, sizes: tuple[int, ...]) -> None:
    def said(final: int, deals: int, sizes: tuple[int, ...]) -> list[str]:
        season = Season(final=final, final_deals=deals)
        return [told for _, _, told in contradictions(Settings(name="cup", game=Game(players=sizes), season=season))]

    [told] = said(finalists, deals, sizes)
    assert told.startswith(("at least 2 finalists", "final_deals to be at least"))
    assert said(0, deals, sizes) == said(8, 2_000, (2, 3, 4, 5)) == []
