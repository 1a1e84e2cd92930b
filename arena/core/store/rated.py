"""Moves the ratings of a tournament by its results, in schedule order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Final

from arena.core.ratings.running import Rating, rate

_AT_ONCE: Final = 1_000
"""Games that are read and rated at once."""


def rate_prefix(connection: sqlite3.Connection, tournament: str) -> None:
    """Rates the finished games that follow the last rated one without a gap, in the caller's transaction."""
    (rated,) = connection.execute("SELECT rated FROM tournaments WHERE id = ?", (tournament,)).fetchone()
    number, query = rated, "SELECT 1 FROM games WHERE tournament = ? AND number = ? AND status IN ('done', 'void')"
    while connection.execute(query, (tournament, number)).fetchone():
        number += 1
    if number > rated:
        rate_again(connection, tournament, rated, number)
        connection.execute("UPDATE tournaments SET rated = ? WHERE id = ?", (number, tournament))


def rate_again(
    connection: sqlite3.Connection, tournament: str, first: int, end: int, alive: Callable[[], object] = int
) -> None:
    """Makes the ratings after games `first` up to but not including `end`, in the caller's transaction.

    The ratings before them must be right. `alive` is called after some games each.
    """
    (pool,) = connection.execute("SELECT pool FROM tournaments WHERE id = ?", (tournament,)).fetchone()
    latest: dict[int, Rating] = {}
    for start in range(first, end, _AT_ONCE):
        found = connection.execute(
            "SELECT number, entrant, rank, team FROM games JOIN seats ON game = id WHERE tournament = ?"
            " AND number >= ? AND number < ? AND status = 'done' AND counts ORDER BY number, seat",
            (tournament, start, min(start + _AT_ONCE, end)),
        )
        rows = []
        for number, seats in groupby(found, itemgetter(0)):
            _, entrants, ranks, teams = zip(*seats, strict=True)
            before = [latest.get(one) or rating_after(connection, tournament, one, number) for one in entrants]
            latest.update(zip(entrants, after := rate(before, ranks, None if None in teams else teams), strict=True))
            rows += [
                (pool, tournament, one, number, new.mu, new.sigma) for one, new in zip(entrants, after, strict=True)
            ]
        connection.executemany(
            "INSERT INTO ratings (pool, tournament, entrant, number, mu, sigma) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (tournament, entrant, number) DO UPDATE SET mu = excluded.mu, sigma = excluded.sigma",
            rows,
        )
        alive()


def rating_after(connection: sqlite3.Connection, tournament: str, entrant: int, games: int) -> Rating:
    """Returns the rating of an entrant after the first `games` games of the schedule, which must be rated."""
    row = connection.execute(
        "SELECT mu, sigma FROM ratings WHERE tournament = ? AND entrant = ? AND number < ?"
        " ORDER BY number DESC LIMIT 1",
        (tournament, entrant, games),
    ).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT mu0, sigma0 FROM entrants WHERE tournament = ? AND number = ?", (tournament, entrant)
        ).fetchone()
    return Rating(*row)


def is_counted(connection: sqlite3.Connection, game: str) -> bool:
    """Says whether a game moves ratings and adds to sums: all do but some of leagues."""
    (counts,) = connection.execute("SELECT counts FROM games WHERE id = ?", (game,)).fetchone()
    return bool(counts)
