"""Lists the files that a league's database refers to: what a backup has to hold beside it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from arena.store.league.ledger import LeagueReader
from arena.store.league.records import HOUSE
from arena.types import Level


class NamedLog(msgspec.Struct, frozen=True):
    """The log of a game that was played."""

    tournament: str
    """The season's tournament."""
    folder: str
    """The folder that it was written to."""
    game: str
    """The game's identifier: the log's name without its ending."""
    sha256: str
    """SHA-256 (hex) of the log, before it was compressed."""
    seats: int


def archives(league: LeagueReader) -> Iterator[str]:
    """Yields the digests of all contents that were received as an archive. The house's bots are part of `arena`."""
    query = (
        "SELECT DISTINCT digest FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = author"
        " WHERE level <> ? AND authors.name <> ? ORDER BY digest"
    )
    for (digest,) in league._db.execute(query, (Level.REMOTE, HOUSE)):
        yield digest


def logs(league: LeagueReader) -> Iterator[NamedLog]:
    """Yields the logs of all games that were played, in order. Some may be gone: they are not kept for ever."""
    query = (
        "SELECT tournament, tournaments.logs, games.id, log_sha256, json_array_length(seating) FROM games"
        " JOIN tournaments ON tournaments.id = tournament WHERE games.status = 'done' ORDER BY tournament, number"
    )
    for row in league._db.execute(query):
        yield NamedLog(*row)
