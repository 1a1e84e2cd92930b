"""Stores what orders have set, so that a service that starts again goes on as it was told.

One thing comes from `league.toml` instead: what readers of the database alone must know of it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from arena.core.face import databases, game_rows

FINAL_MATCHES: Final = 20
"""By default the number of matches before which a version's rating is provisional: as many as make it no newcomer."""


class Closing(msgspec.Struct, frozen=True):
    """That a season is to end."""

    season: str
    """Its name."""
    next: str
    """The name of the season after it."""
    final: bool = True
    """Whether its final is played, if the settings have one."""


class ToldUpTo(msgspec.Struct, frozen=True):
    """How far the operator was told of events."""

    change: int = 0
    """The number of the last change of a version."""
    season: int = 0
    """The number of the first season of whose end they were not told."""


class TakenBack(msgspec.Struct, frozen=True):
    """That all results of somebody were taken back."""

    season: str
    """Of which season."""
    what: str
    """Whose: a bot, a version, or `all bots of AUTHOR`."""
    matches: int
    """How many."""
    reason: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """An unrated match that an author has asked for, and that is not over."""

    order: str
    """The order that asked for it: the names of its games begin with it."""
    author: str
    version: int
    """The author's version ..."""
    against: int
    """... and the one that it meets."""
    secret: str
    """Of its deal (hex)."""


class Alive(msgspec.Struct, frozen=True):
    """That the league was alive."""

    clock: float
    """When, in seconds since 1970, as the machine's clock said."""
    boot: str = ""
    """Which start of a machine it ran since; empty if that is not known."""
    uptime: float = 0.0
    """How long the machine had run then, in seconds."""
    back: bool = False
    """Whether it was alive since then with a clock that was more than a day behind."""


class Controls(msgspec.Struct, frozen=True, kw_only=True):
    """What orders have set."""

    paused: bool = False
    """Whether no game may begin."""
    workers: int | None = None
    """How many games at a time were asked for; None if the settings decide."""
    closing: Closing | None = None
    """The season that is to end; None if none is."""
    told: ToldUpTo | None = None
    """How far the operator was told of events; None if that was never noted."""
    taken_back: list[TakenBack] = []
    """All results that were taken back by name, the last last."""
    requests: list[Request] = []
    """The matches that authors have asked for, the first first."""
    offers: dict[str, str] = {}
    """By bot to whom its author offers it."""
    moved: list[str] = []
    """Authors whose lists of games are to be made again, since a bot was handed over."""
    final_matches: int = FINAL_MATCHES
    """Before how many matches a rating is provisional."""
    alive: Alive | None = None
    """When the league was alive last. If that was never noted, its last game says so; None if there is none."""


def controls(connection: databases.Connection) -> Controls:
    """Returns what is set now."""
    (text,) = connection.execute("SELECT json_group_object(name, json(value)) FROM controls").fetchone()
    found = msgspec.json.decode(text, type=Controls)
    if found.alive is None:
        row = connection.execute(
            "SELECT strftime('%s', finished) FROM games WHERE finished IS NOT NULL ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        return found if row is None else msgspec.structs.replace(found, alive=Alive(float(row[0])))
    return found


def set_control(connection: databases.Connection, name: str, value: Any) -> None:
    """Sets a field of `Controls`."""
    with databases.immediate(connection):
        connection.execute(
            "INSERT OR REPLACE INTO controls (name, value) VALUES (?, ?)", (name, game_rows.canonical(value))
        )
