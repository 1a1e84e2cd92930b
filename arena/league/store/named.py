"""Lists the files that a league's database refers to: what a backup has to hold beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from arena.core.face import Level
from arena.league.store import rows
from arena.league.store.ledger import LeagueReader
from arena.league.store.records import HOUSE

NEVER: Final = "9999"
"""Later than any time of a version."""


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


def archives(league: LeagueReader, ended: str = NEVER) -> list[str]:
    """Returns the digests of the archives that are needed: of versions that play, or may come to it.

    Args:
        league: The league. Its house's bots are part of `arena`, and have no archives.
        ended: Also those of versions for which it is over since then; UTC (ISO 8601).
    """
    query = (
        "SELECT DISTINCT digest FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = author"
        f" WHERE level <> ? AND authors.name <> ? AND (state IN ('active', {rows.PENDING_STATES})"
        f" OR {rows.GOOD} OR state = 'suspended' AND {rows.LATE} OR {rows.IN_MATCH} OR since >= ?) ORDER BY digest"
    )
    return [digest for (digest,) in league._db.execute(query, (Level.REMOTE, HOUSE, ended))]


def logs(league: LeagueReader) -> Iterator[NamedLog]:
    """Yields the logs of all games that were played, in order. Some may be gone: they are not kept for ever."""
    query = (
        "SELECT tournament, tournaments.logs, games.id, log_sha256, json_array_length(seating) FROM games"
        " JOIN tournaments ON tournaments.id = tournament WHERE games.status = 'done' ORDER BY tournament, number"
    )
    for row in league._db.execute(query):
        yield NamedLog(*row)
