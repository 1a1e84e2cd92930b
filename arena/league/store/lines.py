"""Stores the lines of seasons: each with the decision that it tells of, in one transaction.

The files that are published are copies of this table. So a kill loses no line, and none stands there that was not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from arena.core.face import databases, game_rows, record_files, stores
from arena.league.record import rounds
from arena.league.record.rounds import Line

TABLE: Final = (
    """CREATE TABLE season_lines (
        tournament TEXT NOT NULL REFERENCES tournaments (id),
        number INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (tournament, number)
    ) WITHOUT ROWID""",
    *(
        f"CREATE TRIGGER season_lines_{verb.lower()} BEFORE {verb} ON season_lines"
        " BEGIN SELECT RAISE(ABORT, 'lines of a season are only appended to'); END"
        for verb in ("UPDATE", "DELETE")
    ),
)


def commitment_of(tournament: game_rows.Tournament, opened: str) -> record_files.Commitment:
    """Returns what is published before the first game of a season."""
    settings = msgspec.json.decode(game_rows.canonical(tournament.settings))  # as the database has them
    digest = record_files.sha256_of(settings)
    return rounds.commitment_of(tournament.id, opened, tournament.commitment, settings, digest)


def note(connection: databases.Connection, tournament: str, line: Line) -> None:
    """Appends a line to a season, in the caller's transaction."""
    head = head_of(connection, tournament)
    before = head.sha256 if head.lines else _digest_before(connection, tournament)
    line = msgspec.structs.replace(line, number=head.lines, before=before, at=line.at or stores.now())
    connection.execute(
        "INSERT INTO season_lines (tournament, number, line) VALUES (?, ?, ?)",
        (tournament, line.number, rounds.encoded(line).decode()),
    )


def head_of(connection: databases.Connection, tournament: str) -> rounds.Head:
    """Returns how many lines a season has, and the hash of the last."""
    row = connection.execute(
        "SELECT number, line FROM season_lines WHERE tournament = ? ORDER BY number DESC LIMIT 1", (tournament,)
    ).fetchone()
    return rounds.Head(0, rounds.FIRST) if row is None else rounds.Head(row[0] + 1, rounds.sha256(row[1].encode()))


def of_season(connection: databases.Connection, tournament: str, first: int = 0, end: int = 2**62) -> Iterator[bytes]:
    """Yields the lines of a season from number `first` up to but not including `end`."""
    found = connection.execute(
        "SELECT line FROM season_lines WHERE tournament = ? AND number >= ? AND number < ? ORDER BY number",
        (tournament, first, end),
    )
    for (line,) in found:
        yield line.encode()


def _digest_before(connection: databases.Connection, tournament: str) -> str:
    """Returns the hash of the last line of the season before."""
    (before,) = connection.execute("SELECT digest_before FROM seasons WHERE tournament = ?", (tournament,)).fetchone()
    return before or rounds.FIRST
