"""Reads rows as values, and versions: the queries that several modules need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from arena.core.face import databases, errors, stores
from arena.league.store.records import Version
from arena.league.store.states import PENDING

S = TypeVar("S", bound=msgspec.Struct)

_COLUMNS = {"id": "versions.id", "author": "authors.name", "bot": "bots.name"}
"""Where a field of `Version` is, if not in the column of its name."""
_QUERY = (
    f"SELECT {', '.join(_COLUMNS.get(field, field) for field in Version.__struct_fields__)}"
    " FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = bots.author "
)
PENDING_STATES = ", ".join(f"'{state}'" for state in PENDING)
"""As SQL has them."""

MOST_PLAYED = 20
"""The number of a bot's newest versions that can play again. Archives of older ones need not be kept."""
LATE = (
    "activated IS NOT NULL AND number >= coalesce((SELECT late.number FROM versions AS late"
    " WHERE late.bot = versions.bot AND late.activated IS NOT NULL"
    f" ORDER BY late.number DESC LIMIT 1 OFFSET {MOST_PLAYED - 1}), 0)"
)
"""What holds for those."""
IN_MATCH = (
    "entrant IN (SELECT entrant FROM matches INDEXED BY matches_playing CROSS JOIN meetings"
    " ON meetings.tournament = matches.tournament AND meetings.match = matches.number WHERE matches.state = 'playing')"
)
"""What holds for versions that are in a match that is not over."""
GOOD = f"state = 'superseded' AND suspended IS NULL AND {LATE}"
"""What holds for versions that may come back by themselves: the newest of a bot does."""


class Part:
    """A part of a league's database: what reads and writes things of one kind."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection


class SeasonPart(Part):
    """The same of things that the games of a season belong to."""

    def __init__(self, connection: databases.Connection, games: stores.Store) -> None:
        super().__init__(connection)
        self._games = games


def read(kind: type[S], found: Iterable[tuple[Any, ...]], *documents: str) -> list[S]:
    """Returns the rows of a query, whose columns are the fields of a Struct in their order; `documents` are JSON."""
    rows = [dict(zip(kind.__struct_fields__, row, strict=True)) for row in found]
    for row in rows:
        row.update({name: msgspec.json.decode(row[name]) for name in documents if row[name] is not None})
    return msgspec.convert(rows, list[kind])  # type: ignore[valid-type]


def versions(connection: databases.Connection, rest: str, *parameters: str | int | None) -> list[Version]:
    """Returns the versions that the rest of a query asks for."""
    return read(Version, connection.execute(_QUERY + rest, parameters), "manifest")


def version(connection: databases.Connection, id: int) -> Version:
    """Returns a version by its id. Raises Refused: there is none."""
    found = versions(connection, "WHERE versions.id = ?", id)
    if not found:
        raise errors.Refused("unknown_version", f"expected a version of the league, got: number {id}")
    return found[0]


def last_good(connection: databases.Connection, bot: str) -> Version | None:
    """Returns the version of a bot that comes back when the active one is suspended; None if there is none.

    It is the newest superseded one that was active and was never suspended, if it is among the bot's last
    `MOST_PLAYED` that were active.
    """
    found = versions(connection, f"WHERE bots.name = ? AND {GOOD} ORDER BY number DESC LIMIT 1", bot)
    return found[0] if found else None


def season(connection: databases.Connection) -> str | None:
    """Returns the tournament of the open season, or None if no season is open."""
    row = connection.execute("SELECT tournament FROM seasons WHERE closed IS NULL").fetchone()
    return None if row is None else str(row[0])


def open_season(connection: databases.Connection) -> str:
    """Returns the tournament of the open season. Raises Refused: no season is open."""
    if (tournament := season(connection)) is None:
        raise errors.Refused("no_season", "expected an open season, got: none", "open one: `arena league season open`")
    return tournament
