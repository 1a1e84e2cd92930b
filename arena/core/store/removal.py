"""Removes tournaments from the database: every row that belongs to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from arena.core import plugs
from arena.core.errors import StoreError

PARTS: Final[Mapping[str, str]] = {
    "fits": "tournament = ?",
    "tallies": "tournament = ?",
    "pairs": "tournament = ?",
    "rounds": "tournament = ?",
    "ratings": "tournament = ?",
    "seats": "game IN (SELECT id FROM games WHERE tournament = ?)",
    "games": "tournament = ?",
    "entrants": "tournament = ?",
    "tournaments": "id = ?",
}
"""Every table with rows of a tournament, and which rows they are. A table comes before those that it refers to."""


def remove_rows(connection: sqlite3.Connection, tournaments: Iterable[str]) -> None:
    """Removes all rows of these tournaments, and the pools that are left without any, in the caller's transaction.

    Raises:
        StoreError: One is a season of a league, whose results stay for ever.
    """
    for tournament in tournaments:
        season = season_of(connection, tournament)
        if season is not None and (reason := season.kept(connection, tournament)):
            raise StoreError(f"expected a tournament that is no part of a league, got: {tournament}, {reason}")
        for table, where in PARTS.items():
            connection.execute(f"DELETE FROM {table} WHERE {where}", (tournament,))
    connection.execute("DELETE FROM pools WHERE id NOT IN (SELECT pool FROM tournaments)")


def season_of(connection: sqlite3.Connection, tournament: str) -> plugs.Season | None:
    """Returns what a wing says of a tournament, if no format plans it."""
    row = connection.execute("SELECT json_extract(settings, '$.format') FROM tournaments WHERE id = ?", (tournament,))
    return next((plugs.season({"format": name}) for (name,) in row.fetchall()), None)


def count_rows(connection: sqlite3.Connection, tournament: str) -> dict[str, int]:
    """Returns how many rows a tournament has in each table."""
    return {
        table: int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", (tournament,)).fetchone()[0])
        for table, where in PARTS.items()
    }


def content_bytes(connection: sqlite3.Connection, tournament: str) -> int:
    """Returns the size of what a tournament's rows hold. Indexes and gaps of the file come on top of it."""
    total = 0
    for table, where in PARTS.items():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        lengths = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in columns)
        query = f"SELECT coalesce(sum({lengths}), 0) FROM {table} WHERE {where}"
        total += int(connection.execute(query, (tournament,)).fetchone()[0])
    return total


def free_bytes(connection: sqlite3.Connection) -> int:
    """Returns how much of the file is free for new rows."""
    (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(size)
