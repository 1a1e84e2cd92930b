"""Moves the ratings of a tournament by its results, in schedule order."""

from __future__ import annotations

import sqlite3

from arena.core.ratings.running import Rating, rate


def rate_prefix(connection: sqlite3.Connection, tournament: str) -> None:
    """Rates the finished games that follow the last rated one without a gap, in the caller's transaction."""
    query = "SELECT pool, rated FROM tournaments WHERE id = ?"
    pool, rated = connection.execute(query, (tournament,)).fetchone()
    number = rated
    while game := connection.execute(
        "SELECT id, status = 'done' AND counts FROM games"
        " WHERE tournament = ? AND number = ? AND status IN ('done', 'void')",
        (tournament, number),
    ).fetchone():
        if game[1]:
            _rate(connection, pool, tournament, number, game[0])
        number += 1
    if number > rated:
        connection.execute("UPDATE tournaments SET rated = ? WHERE id = ?", (number, tournament))


def rate_again(connection: sqlite3.Connection, tournament: str, first: int, end: int) -> None:
    """Replaces the ratings after games `first` up to but not including `end`, in the caller's transaction.

    They must have been rated before, and the ratings before them must be right.
    """
    (pool,) = connection.execute("SELECT pool FROM tournaments WHERE id = ?", (tournament,)).fetchone()
    found = connection.execute(
        "SELECT number, id FROM games WHERE tournament = ? AND number >= ? AND number < ?"
        " AND status = 'done' AND counts ORDER BY number",
        (tournament, first, end),
    ).fetchall()
    for number, game in found:
        _rate(connection, pool, tournament, number, game, _REPLACING)


_REPLACING = " ON CONFLICT (tournament, entrant, number) DO UPDATE SET mu = excluded.mu, sigma = excluded.sigma"


def _rate(
    connection: sqlite3.Connection, pool: int, tournament: str, number: int, game: str, replacing: str = ""
) -> None:
    query = "SELECT entrant, rank, team FROM seats WHERE game = ? ORDER BY seat"
    entrants, ranks, teams = zip(*connection.execute(query, (game,)), strict=True)
    before = [rating_after(connection, tournament, entrant, number) for entrant in entrants]
    after = rate(before, ranks, None if None in teams else teams)
    connection.executemany(
        f"INSERT INTO ratings (pool, tournament, entrant, number, mu, sigma) VALUES (?, ?, ?, ?, ?, ?){replacing}",
        [
            (pool, tournament, entrant, number, rating.mu, rating.sigma)
            for entrant, rating in zip(entrants, after, strict=True)
        ],
    )


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
