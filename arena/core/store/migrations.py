"""Brings the tables of an earlier version to their present form, step by step.

`schema.sql` has the present form, of which a new database is made. A step changes what stands there and leads from what
stood there before. Never change a step that was released: add another. The first release, 0.2.0, made the tables that
these steps begin with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from arena.core.store import views
from arena.core.store.records import canonical
from arena.core.types import Payload

# A column is computed for what is asked for in SQL. A number that is only shown needs none.
_FIGURES: Final = {
    "rank": ("INTEGER NOT NULL", "rank"),
    "decisions": ("INTEGER NOT NULL", "decisions"),
    "total_ms": ("REAL NOT NULL", "total_ms"),
    "max_ms": ("REAL NOT NULL", "max_ms"),
    **{name: ("INTEGER", name) for name in ("score", "margin", "team", "off_turn_cpu_ms")},
    "forfeit": ("TEXT", "forfeit.code"),
    "sentence": ("TEXT", "forfeit.sentence"),
    "turn": ("INTEGER", "forfeit.turn"),
    "stderr": ("TEXT", "forfeit.stderr"),
    "overloaded": ("INTEGER", "forfeit.overloaded"),
    "denied_ms": ("INTEGER", "forfeit.denied_ms"),
}
_COMPUTED: Final = "\n".join(
    f"        {name} {kind} AS (json_extract(figures, '$.{path}'))," for name, (kind, path) in _FIGURES.items()
)
_SEATS: Final = f"""CREATE TABLE new_seats (
        game TEXT NOT NULL REFERENCES games (id),
        seat INTEGER NOT NULL,
        entrant INTEGER NOT NULL,
        figures TEXT NOT NULL,
{_COMPUTED}
        PRIMARY KEY (game, seat),
        UNIQUE (game, entrant),
        CHECK (rank >= 1)
    )"""


def _keep_figures(connection: sqlite3.Connection) -> None:
    """Keeps what a seat did in a game as one document, as the log tells it. Columns are computed from it."""
    connection.execute(_SEATS)
    rows = connection.execute(f"SELECT game, seat, entrant, {', '.join(_FIGURES)} FROM seats")
    connection.executemany(
        "INSERT INTO new_seats VALUES (?, ?, ?, ?)",
        (
            (game, seat, entrant, _figures(seat, dict(zip(_FIGURES, told, strict=True))))
            for game, seat, entrant, *told in rows
        ),
    )
    connection.execute("DROP TABLE seats")
    connection.execute("ALTER TABLE new_seats RENAME TO seats")


def _figures(seat: int, told: Payload) -> str:
    """Returns the document of a seat, from the columns that it had."""
    own = {name: told[name] for name, (_, path) in _FIGURES.items() if path == name and told[name] is not None}
    forfeit = {path.rpartition(".")[2]: told[name] for name, (_, path) in _FIGURES.items() if path != name}
    forfeit |= {"seat": seat, "overloaded": bool(told["overloaded"]), "denied_ms": told["denied_ms"] or 0}
    forfeit["stderr"] = msgspec.json.decode(told["stderr"] or "[]")
    return canonical(own if told["forfeit"] is None else own | {"forfeit": forfeit})


def _note_who_strikes(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE games ADD COLUMN struck TEXT")


STEPS: Final[Mapping[str, Callable[[sqlite3.Connection], None]]] = {
    # Tables of wings are there only where a wing has opened the database: the first release read them.
    "0020_wings": lambda connection: None,
    "0021_figures": _keep_figures,
    "0022_struck": _note_who_strikes,
}
"""The steps by name, in their order. Each may replace a table: there are no views meanwhile."""


def apply(connection: sqlite3.Connection, applied: set[str]) -> None:
    """Takes the steps that a database has not taken yet, in the caller's transaction, and makes the views of today."""
    views.drop(connection)
    for name, step in STEPS.items():
        if name not in applied:
            step(connection)
    views.make(connection)
