"""Standings and cross-table, by hand."""

from __future__ import annotations

import pytest

from arena.ratings.running import Rating
from arena.store.records import Entrant, SeatRow
from arena.tournament.standings import tabulate

NAMES = ("ann", "bob", "cid")
ENTRANTS = [Entrant(number=n, name=name, version="1", digest="", spec={}) for n, name in enumerate(NAMES)]
RATINGS = [Rating(20, 2), Rating(30, 1), Rating(28, 5)]


def game(
    *ranks: int,
    order: tuple[int, ...] = (0, 1, 2),
    forfeit: int | None = None,
    scores: tuple[int | None, ...] = (None, None, None),
) -> tuple[SeatRow, ...]:
    """A game of three; `ranks`, scores, and who forfeited, are by seat."""
    return tuple(
        SeatRow(entrant, rank, 10, 100.0, 30.0 + seat, "timeout" if seat == forfeit else None, scores[seat])
        for seat, (entrant, rank) in enumerate(zip(order, ranks, strict=True))
    )


GAMES = [
    game(1, 2, 3),
    game(1, 1, 3),
    game(2, 1, 2, order=(1, 2, 0)),
    game(3, 1, 2, forfeit=0),
]


def test_they_are_sorted_by_the_conservative_rating() -> None:
    rows = tabulate(ENTRANTS, RATINGS, GAMES).standings
    assert [(row.rank, row.bot, row.conservative) for row in rows] == [(1, "bob", 27), (2, "ann", 14), (3, "cid", 13)]
    assert [(row.mu, row.sigma, row.version) for row in rows] == [(30, 1, "1"), (20, 2, "1"), (28, 5, "1")]


def test_a_win_is_rank_one_alone_and_a_draw_rank_one_shared() -> None:
    rows = {row.bot: row for row in tabulate(ENTRANTS, RATINGS, GAMES).standings}
    counts = {name: (row.games, row.wins, row.draws, row.losses, row.forfeits) for name, row in rows.items()}
    assert counts == {"ann": (4, 1, 1, 2, 1), "bob": (4, 1, 1, 2, 0), "cid": (4, 1, 0, 3, 0)}


def test_times_are_per_decision() -> None:
    rows = {row.bot: row for row in tabulate(ENTRANTS, RATINGS, GAMES).standings}
    assert {row.mean_ms for row in rows.values()} == {10.0}
    assert {name: row.max_ms for name, row in rows.items()} == {"ann": 32.0, "bob": 31.0, "cid": 32.0}


def test_the_mean_score_is_over_the_games_that_had_scores() -> None:
    scored = [game(1, 2, 3, scores=(26, 0, -4)), game(1, 2, 3, order=(1, 2, 0), scores=(9, None, 0))]
    rows = tabulate(ENTRANTS, RATINGS, [*scored, game(1, 2, 3)]).standings
    assert {row.bot: row.mean_score for row in rows} == {"ann": 13.0, "bob": 4.5, "cid": -4.0}


def test_without_scores_there_is_no_mean_score() -> None:
    assert {row.mean_score for row in tabulate(ENTRANTS, RATINGS, GAMES).standings} == {None}


def test_the_cross_table_compares_ranks() -> None:
    table = tabulate(ENTRANTS, RATINGS, GAMES).crosstable
    assert [row.bot for row in table] == ["bob", "ann", "cid"]
    cells = {
        (row.bot, score.bot): (score.better, score.equal, score.worse, score.score)
        for row in table
        for score in row.against
    }
    assert cells == {
        ("ann", "bob"): (1, 2, 1, 0.5),
        ("bob", "ann"): (1, 2, 1, 0.5),
        ("ann", "cid"): (2, 0, 2, 0.5),
        ("cid", "ann"): (2, 0, 2, 0.5),
        ("bob", "cid"): (3, 0, 1, 0.75),
        ("cid", "bob"): (1, 0, 3, 0.25),
    }


def test_before_any_game_all_share_the_first_rank() -> None:
    table = tabulate(ENTRANTS, [Rating()] * 3, [])
    assert [(row.rank, row.bot, row.games, row.mean_ms) for row in table.standings] == [
        (1, name, 0, 0.0) for name in NAMES
    ]
    assert {score.score for row in table.crosstable for score in row.against} == {0.5}


@pytest.mark.parametrize("games", [GAMES, GAMES[::-1]])
def test_the_order_of_results_does_not_matter(games: list[tuple[SeatRow, ...]]) -> None:
    assert tabulate(ENTRANTS, RATINGS, games) == tabulate(ENTRANTS, RATINGS, GAMES)
