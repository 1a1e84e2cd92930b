"""Brings the tables of a database that an earlier release wrote up to date, step by step.

Never change a step that was released: add another, and change `schema.sql`, of which new databases are made. A test
holds both to each other. A database of before the first release, 0.2.0, is refused.
"""

from __future__ import annotations

import msgspec
from sqlite_utils import Database, Migrations

from arena.core.store import views
from arena.core.store.records import canonical
from arena.core.types import Payload

migrations = Migrations("arena")
"""Steps since the first release. Views are made anew around all of them."""


@migrations(name="0020_wings")
def wings(db: Database) -> None:
    """Changes nothing: a wing makes its tables since then. Earlier versions read those that are there."""


@migrations(name="0021_figures")
def figures(db: Database) -> None:
    """Keeps what a seat did in a game as one document, as the log tells it. Columns are computed from it."""
    db.execute(_SEATS)
    rows = db.execute(f"SELECT game, seat, entrant, {', '.join(_FIGURES)} FROM seats")
    db.conn.executemany(
        "INSERT INTO new_seats VALUES (?, ?, ?, ?)",
        (
            (game, seat, entrant, _figures(seat, dict(zip(_FIGURES, told, strict=True))))
            for game, seat, entrant, *told in rows
        ),
    )
    db.execute("DROP TABLE seats")
    db.execute("ALTER TABLE new_seats RENAME TO seats")


@migrations(name="0022_struck")
def struck(db: Database) -> None:
    """Says by whom, when and why the result of a game was taken back, as JSON; NULL where it was not."""
    db.execute("ALTER TABLE games ADD COLUMN struck TEXT")


@migrations(name="0023_costs")
def costs(db: Database) -> None:
    """Changes no table: the views have what a seat cost since then."""


def _figures(seat: int, told: Payload) -> str:
    """Returns the document of a seat, from the columns that it had."""
    own = {name: told[name] for name, (_, path) in _FIGURES.items() if path == name and told[name] is not None}
    forfeit = {path.rpartition(".")[2]: told[name] for name, (_, path) in _FIGURES.items() if path != name}
    forfeit |= {"seat": seat, "overloaded": bool(told["overloaded"]), "denied_ms": told["denied_ms"] or 0}
    forfeit["stderr"] = msgspec.json.decode(told["stderr"] or "[]")
    return canonical(own if told["forfeit"] is None else own | {"forfeit": forfeit})


# A column is computed for what is asked for in SQL. A number that is only shown needs none.
_FIGURES = {
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
_COMPUTED = "\n".join(
    f"        {name} {kind} AS (json_extract(figures, '$.{path}'))," for name, (kind, path) in _FIGURES.items()
)
_SEATS = f"""CREATE TABLE new_seats (
        game TEXT NOT NULL REFERENCES games (id),
        seat INTEGER NOT NULL,
        entrant INTEGER NOT NULL,
        figures TEXT NOT NULL,
{_COMPUTED}
        PRIMARY KEY (game, seat),
        UNIQUE (game, entrant),
        CHECK (rank >= 1)
    )"""


def apply(db: Database) -> None:
    """Takes the steps that a database lacks."""
    views.drop(db.conn)
    migrations.apply(db)
    views.make(db.conn)
