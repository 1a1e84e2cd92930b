"""Standings and cross-table, by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import refit
from arena.core.ratings.running import Rating
from arena.core.standings.table import Order, Standings, tabulate
from arena.core.store.records import Entrant, Tally

NAMES = ("ann", "bob", "cid")
RATINGS = [Rating(20, 2), Rating(30, 1), Rating(28, 5)]


def entrants(names: Sequence[str] = NAMES) -> list[Entrant]:
    return [Entrant(number=n, name=name, version="1", digest="", spec={}) for n, name in enumerate(names)]


PAIRS = [
    PairResult(0, 0, 1, 1, 1, 0),
    PairResult(0, 0, 2, 2, 0, 0),
    PairResult(0, 1, 2, 2, 0, 0),
    PairResult(1, 0, 1, 0, 1, 1),
    PairResult(1, 0, 2, 0, 0, 2),
    PairResult(1, 1, 2, 1, 0, 1),
]
"""The pairs of four games between all three: 1 2 3 and 1 1 3 on the first deal, 2 2 1 and 3 1 2 on the second."""
TALLIES = [
    Tally(0, games=4, wins=1, draws=1, forfeits=1, decisions=40, total_ms=400.0, max_ms=32.0),
    Tally(1, games=4, wins=1, draws=1, decisions=40, total_ms=420.0, max_ms=31.0),
    Tally(2, games=4, wins=1, decisions=40, total_ms=100.0, max_ms=9.0),
]


def by_trueskill(pairs: Sequence[PairResult] = PAIRS, tallies: Sequence[Tally] = TALLIES) -> Standings:
    return tabulate(entrants(), RATINGS, tallies, pairs, None)


def league(strengths: dict[str, int], deals: int = 40) -> Standings:
    """A league in which, on most deals, a bot of a higher number wins both games against one of a lower number."""
    chance = random.Random(1)
    names = list(strengths)
    pairs = []
    for deal in range(deals):
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                apart = strengths[names[one]] - strengths[names[other]]
                wins = sum(chance.random() < 0.5 + 0.2 * apart for _ in range(2))
                pairs.append(PairResult(deal, one, other, wins, 0, 2 - wins))
    tallies = [Tally(number, games=2 * deals * (len(names) - 1)) for number in range(len(names))]
    fit = refit(pairs, len(names), players=2)
    return tabulate(entrants(names), [Rating()] * len(names), tallies, pairs, fit)


def test_they_are_sorted_by_the_refit_and_ranks_are_shared_where_nothing_is_settled() -> None:
    table = league({"weak": 0, "even": 1, "even#2": 1, "best": 3})
    rows = {row.bot: row for row in table.standings}
    assert [(row.rank, row.worst_rank) for row in table.standings] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert (table.standings[0].bot, table.standings[3].bot) == ("best", "weak")
    ratings = [row.rating for row in table.standings]
    assert ratings == sorted(ratings, reverse=True), "by rating, not by TrueSkill, which has them all equal"
    assert table.order == Order(enough=True, open=(tuple(row.bot for row in table.standings[1:3]),))
    assert 0.5 < (table.standings[1].ahead_of_next or 0) < 0.97
    assert (rows["best"].ahead_of_next or 0) > 0.99
    assert rows["weak"].ahead_of_next is None, "nobody is below the last"
    assert all(row.half_width is not None and 0.5 < row.half_width < 10 for row in table.standings)


def test_a_league_that_is_settled_has_no_open_groups() -> None:
    table = league({"weak": 0, "best": 2})
    assert table.order == Order(enough=True, open=())
    assert [(row.rank, row.bot) for row in table.standings] == [(1, "best"), (2, "weak")]


def test_points_are_the_mean_share_against_opponents() -> None:
    rows = {row.bot: row for row in by_trueskill().standings}
    assert {name: row.points for name, row in rows.items()} == {"ann": 4 / 8, "bob": 5 / 8, "cid": 3 / 8}


def test_bots_without_games_come_last_and_are_neither_rated_nor_open() -> None:
    pairs = [PairResult(deal, 1, 2, 2, 0, 0) for deal in range(30)]
    tallies = [Tally(0), Tally(1, games=60), Tally(2, games=60), Tally(3)]
    table = tabulate(entrants((*NAMES, "dan")), [Rating()] * 4, tallies, pairs, refit(pairs, 4, players=2))
    assert [(row.rank, row.bot) for row in table.standings] == [(1, "bob"), (2, "cid"), (3, "ann"), (3, "dan")]
    assert table.order == Order(enough=True, open=())
    unknown = table.standings[2]
    assert (unknown.worst_rank, unknown.rating, unknown.half_width, unknown.ahead_of_next, unknown.points) == (
        None,
    ) * 5
    assert table.standings[1].ahead_of_next is None, "the next one is unknown"


def test_without_a_refit_they_are_sorted_by_trueskill() -> None:
    rows = by_trueskill().standings
    assert [(row.rank, row.bot, row.conservative) for row in rows] == [(1, "bob", 27), (2, "ann", 14), (3, "cid", 13)]
    assert [(row.mu, row.sigma, row.version) for row in rows] == [(30, 1, "1"), (20, 2, "1"), (28, 5, "1")]
    assert by_trueskill().order is None


def test_places_come_before_ratings_and_ratings_decide_between_equal_places() -> None:
    table = tabulate(entrants(), RATINGS, TALLIES, PAIRS, None, places={0: 1, 1: 2, 2: 2})
    assert [(row.rank, row.bot) for row in table.standings] == [(1, "ann"), (2, "bob"), (2, "cid")]
    table = tabulate(entrants(), RATINGS, TALLIES, PAIRS, None, places={0: 2, 1: 2, 2: 1})
    assert [(row.rank, row.bot) for row in table.standings] == [(1, "cid"), (2, "bob"), (2, "ann")]


def test_without_trueskill_there_are_no_mu_and_sigma() -> None:
    rows = tabulate(entrants(), None, TALLIES, PAIRS, refit(PAIRS, 3, players=3)).standings
    assert {(row.mu, row.sigma, row.conservative) for row in rows} == {(None, None, None)}


def test_losses_are_the_games_that_were_neither_won_nor_drawn() -> None:
    rows = {row.bot: row for row in by_trueskill().standings}
    counts = {name: (row.games, row.wins, row.draws, row.losses, row.forfeits) for name, row in rows.items()}
    assert counts == {"ann": (4, 1, 1, 2, 1), "bob": (4, 1, 1, 2, 0), "cid": (4, 1, 0, 3, 0)}


def test_times_are_per_decision() -> None:
    rows = {row.bot: (row.mean_ms, row.max_ms) for row in by_trueskill().standings}
    assert rows == {"ann": (10.0, 32.0), "bob": (10.5, 31.0), "cid": (2.5, 9.0)}


def test_the_mean_score_is_over_the_games_that_had_scores() -> None:
    tallies = [Tally(0, games=3, score=26, scored=2), Tally(1, games=3, score=-4, scored=1), Tally(2, games=3)]
    rows = by_trueskill(tallies=tallies).standings
    assert {row.bot: row.mean_score for row in rows} == {"ann": 13.0, "bob": -4.0, "cid": None}


def test_cpu_time_off_turn_is_over_the_games_in_which_it_was_measured() -> None:
    tallies = [
        Tally(0, games=3, measured=2, off_turn_cpu_ms=900, others_ms=1000.0),
        Tally(1, games=3, measured=3, off_turn_cpu_ms=0, others_ms=0.0),
        Tally(2, games=3),
    ]
    rows = by_trueskill(tallies=tallies).standings
    assert {row.bot: (row.mean_off_turn_ms, row.off_turn_share) for row in rows} == {
        "ann": (450.0, 0.9),
        "bob": (0.0, None),
        "cid": (None, None),
    }


def test_the_cross_table_adds_up_the_deals() -> None:
    table = by_trueskill().crosstable
    assert table is not None
    assert [row.bot for row in table] == ["bob", "ann", "cid"]
    assert [score.bot for score in table[2].against] == ["bob", "ann"]
    cells = {
        (row.bot, score.bot): (score.games, score.better, score.equal, score.worse, score.score)
        for row in table
        for score in row.against
    }
    assert cells == {
        ("ann", "bob"): (4, 1, 2, 1, 0.5),
        ("bob", "ann"): (4, 1, 2, 1, 0.5),
        ("ann", "cid"): (4, 2, 0, 2, 0.5),
        ("cid", "ann"): (4, 2, 0, 2, 0.5),
        ("bob", "cid"): (4, 3, 0, 1, 0.75),
        ("cid", "bob"): (4, 1, 0, 3, 0.25),
    }


def test_the_cross_table_has_only_pairs_that_met_and_can_be_left_out() -> None:
    table = by_trueskill(pairs=PAIRS[:1])
    assert table.crosstable is not None
    assert {row.bot: [score.bot for score in row.against] for row in table.crosstable} == {
        "ann": ["bob"],
        "bob": ["ann"],
        "cid": [],
    }
    assert tabulate(entrants(), RATINGS, TALLIES, PAIRS, None, crosstable=False).crosstable is None


def test_before_any_game_all_share_the_first_rank() -> None:
    table = tabulate(entrants(), [Rating()] * 3, [Tally(number) for number in range(3)], [], None)
    assert [(row.rank, row.bot, row.games, row.mean_ms) for row in table.standings] == [
        (1, name, 0, 0.0) for name in NAMES
    ]


@pytest.mark.parametrize("pairs", [PAIRS[::-1], PAIRS[3:] + PAIRS[:3]])
def test_the_order_of_results_does_not_matter(pairs: list[PairResult]) -> None:
    assert by_trueskill(pairs) == by_trueskill()
