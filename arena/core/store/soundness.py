"""Finds what in a database was altered by something else than arena, when reading it has led to nonsense.

It reads the whole file. So it is asked only after an error that a sound database does not lead to.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from arena.core import plugs
from arena.core.errors import StoreError
from arena.core.store.records import Pool, canonical
from arena.core.text import plain
from arena.core.types import Payload, SeatResult

_NONSENSE: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors that values lead to which nobody expects."""
_LONGEST: Final = 60
_STORED: Final = {
    "INTEGER": ("integer", "null"),
    "REAL": ("real", "integer", "null"),
    "TEXT": ("text", "null"),
    "BLOB": ("blob", "null"),
}
"""Values of a column, by its type."""
_Numbers: TypeAlias = tuple[int, ...]
_JSON: Final[dict[str, Any]] = {
    "entrants.spec": Payload,
    "games.seating": _Numbers,
    "games.struck": dict[str, str],
    "games.transcripts": Any,
    "pools.options": dict[str, str],
    "rounds.byes": _Numbers,
    "rounds.meetings": tuple[tuple[int, _Numbers], ...],
    "rounds.parameters": list[dict[str, str]],
    "seats.figures": SeatResult,
    "tournaments.entropy": list[str | None],
    "tournaments.settings": Payload,
}
"""Columns of the core's tables that hold JSON, and of what type it is."""
_MOMENTS: Final = frozenset((
    *("activated", "applied_at", "at", "closed", "created", "finished", "made", "opened", "planned", "published"),
    *("received", "revoked", "settled", "since", "suspended"),
))  # fmt: skip
"""Columns that hold a time."""
_NAMES: Final = frozenset(("digest", "id", "log", "logs", "name", "status"))  # columns that are never empty
_COUNTS: Final = {
    "games": ("number", "deal", "rotation", "attempt", "turns", "actions", "seconds"),
    "pairs": ("deal", "one", "better", "equal", "worse"),
    "rounds": ("number", "deals", "first_game", "games"),
    "seats": ("seat", "entrant", "decisions", "total_ms", "max_ms"),
    "tallies": ("entrant", "games", "wins", "draws", "forfeits", "decisions", "total_ms", "max_ms", "others_ms"),
    "tournaments": ("games", "rated", "seconds"),
}
"""Columns of numbers that are never below zero."""
# Each query reads a whole table, with an index for what it is joined to.
_RELATIONS: Final = {
    "a tournament whose entrants are not numbered from 0": (
        "SELECT id FROM tournaments LEFT JOIN entrants ON tournament = id GROUP BY id"
        " HAVING count(number) <> max(number) + 1 OR count(number) = 0 OR min(number) <> 0"
    ),
    "a game that is over without a result": (
        "SELECT id FROM games WHERE status = 'done' AND (termination IS NULL OR play_digest IS NULL"
        " OR log_sha256 IS NULL OR log IS NULL)"
    ),
    "a game with a result that is not over": (
        "SELECT id FROM games WHERE status <> 'done' AND termination IS NOT NULL AND play_digest IS NOT NULL"
        " AND log_sha256 IS NOT NULL"
    ),
    "a game whose seats are not those that it was played in": (
        "SELECT id FROM games WHERE status = 'done' AND (SELECT count(*) FROM seats WHERE game = id AND seat <"
        " json_array_length(seating)) <> json_array_length(seating)"
    ),
    "a forfeit without its turn or last words": (
        "SELECT game FROM seats WHERE forfeit IS NOT NULL AND (stderr IS NULL OR turn IS NULL OR sentence IS NULL)"
    ),
    "a seat of somebody who is no entrant": (
        "SELECT game FROM seats JOIN games ON games.id = game LEFT JOIN entrants"
        " ON entrants.tournament = games.tournament AND entrants.number = entrant WHERE entrants.number IS NULL"
    ),
    "a result between bots of which one is no entrant": (
        "SELECT pairs.tournament FROM pairs WHERE (SELECT count(*) FROM entrants WHERE"
        " entrants.tournament = pairs.tournament AND number IN (one, other)) <> 2"
    ),
    "sums that are not those of the games": (
        "SELECT tournament FROM (SELECT games.tournament, entrant, count(*) AS played FROM games JOIN seats"
        " ON game = games.id WHERE counts GROUP BY games.tournament, entrant) LEFT JOIN tallies"
        " USING (tournament, entrant) WHERE games IS NOT played"
    ),
    "a rating that is no number above 0": "SELECT tournament FROM ratings WHERE sigma <= 0",
    "a first rating that is no number above 0": "SELECT tournament FROM entrants WHERE sigma0 <= 0",
    "a tournament of which games are missing": (
        "SELECT id FROM tournaments WHERE games < (SELECT count(*) FROM games WHERE tournament = tournaments.id)"
        " OR rated > (SELECT count(*) FROM games WHERE tournament = tournaments.id)"
    ),
}
"""Contradictions: queries for the names of it."""


@contextmanager
def explaining(database: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Makes an error in the block one about the database if that was altered.

    Raises:
        StoreError: It was. Show the message to the operator.
    """
    try:
        yield
    except _NONSENSE as error:
        if (told := altered(database, path)) is None:
            raise
        raise told from error


def altered(database: sqlite3.Connection, path: Path) -> StoreError | None:
    """Returns the error for a database that something else has altered; None if nothing shows that."""
    try:
        found = next(_flaws(database), None)
    except sqlite3.Error as error:
        found = str(error)
    if found is None:
        return None
    return StoreError(
        f"expected a database that only arena has written to, got: {found} - at {path}; go back to a copy of it"
    )


def _flaws(database: sqlite3.Connection) -> Iterator[str]:
    for (said,) in database.execute("PRAGMA integrity_check(1)"):
        if said != "ok":
            yield plain(said)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    documents = _JSON | {name: kind for found in plugs.tables().values() for name, kind in found.documents.items()}
    for table in tables:
        for _, column, kind, *_ in database.execute(f'PRAGMA table_xinfo("{table}")').fetchall():
            yield from _of_column(database, table, column, kind, documents)
    for table, _, parent, _ in database.execute("PRAGMA foreign_key_check"):
        yield f"a row of {table} that refers to none of {parent}"
    yield from _of_digests(database)
    for what, query in _RELATIONS.items():
        for (name,) in database.execute(query):
            yield f"{what}: {plain(str(name))}"


def _of_column(
    database: sqlite3.Connection, table: str, column: str, kind: str, documents: Mapping[str, Any]
) -> Iterator[str]:
    name = f"{table}.{column}"
    stored = _STORED.get(kind)
    if stored is None:
        return
    wrong = f'typeof("{column}") NOT IN ({", ".join("?" * len(stored))})'
    if column in _NAMES:
        wrong += f" OR \"{column}\" = ''"
    if column in _COUNTS.get(table, ()):
        wrong += f' OR "{column}" < 0'
    for (value,) in database.execute(f'SELECT "{column}" FROM "{table}" WHERE {wrong}', stored):
        yield f"{_shown(value)} as {name}"
    check: Callable[[Any], object] | None = None
    if name in documents:
        check = msgspec.json.Decoder(documents[name]).decode
    elif column in _MOMENTS and kind == "TEXT":
        check = datetime.fromisoformat
    elif kind == "REAL":
        check = _finite
    if check is None:
        return
    for (value,) in database.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL'):
        try:
            check(value)
        except (ValueError, RecursionError):
            yield f"{_shown(value)} as {name}"


def _of_digests(database: sqlite3.Connection) -> Iterator[str]:
    for id, settings, digest, secret, commitment, pool in database.execute(
        "SELECT tournaments.id, settings, tournaments.digest, secret, commitment, pools.digest"
        " FROM tournaments JOIN pools ON pools.id = pool"
    ):
        try:
            committed = _sha256(bytes.fromhex(secret))
        except (ValueError, TypeError):
            committed = "nothing, as it is no secret of ours"
        if committed != commitment:
            yield f"a tournament whose secret is not the one that it was committed to: {plain(id)}"
        try:
            told = msgspec.json.decode(settings, type=Payload)
            pool_of = Pool.of(told).digest
        except (ValueError, LookupError, TypeError):
            yield f"a tournament whose settings cannot be read: {plain(id)}"
            continue
        if _sha256(canonical(told).encode()) != digest:
            yield f"a tournament whose settings are not those that it began with: {plain(id)}"
        elif pool_of != pool:
            yield f"a tournament in a pool of another game: {plain(id)}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _finite(value: float) -> None:
    if not math.isfinite(value):
        raise ValueError


def _shown(value: object) -> str:
    return plain(repr(value))[:_LONGEST]
