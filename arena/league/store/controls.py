"""Stores what orders have set, so that a service that starts again goes on as it was told.

One thing comes from `league.toml` instead: what readers of the database alone must know of it.
"""

from __future__ import annotations

import secrets
from typing import Any, Final, TypeVar

import msgspec

from arena.core.face import databases, game_rows

T = TypeVar("T")

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
    version: int | None
    """The author's version, None if the author's own connection takes its seat, ..."""
    against: int
    """... and the one that it meets."""
    secret: str = msgspec.field(default_factory=lambda: secrets.token_hex(32))
    """Of its deal (hex)."""
    seat: int | None = None
    """Number of the only seat that the author's connection has; None: all rotations are played."""
    began: bool = False
    """Whether that game has begun: it is not played again, since its deal was seen."""

    @property
    def game(self) -> str:
        """The name of that game."""
        return f"match-{self.order}-{self.seat}"


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


class Controls:
    """What orders have set."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    @property
    def paused(self) -> bool:
        """Whether no game may begin."""
        return self._get("paused", bool, False)

    @property
    def workers(self) -> int | None:
        """How many games at a time were asked for; None if the settings decide."""
        return self._get("workers", int | None, None)

    @property
    def closing(self) -> Closing | None:
        """The season that is to end; None if none is."""
        return self._get("closing", Closing | None, None)

    @property
    def told(self) -> ToldUpTo | None:
        """How far the operator was told of events; None if that was never noted."""
        return self._get("told", ToldUpTo | None, None)

    @property
    def taken_back(self) -> list[TakenBack]:
        """All results that were taken back by name, the last last."""
        return self._get("taken_back", list[TakenBack], [])

    @property
    def requests(self) -> list[Request]:
        """The matches that authors have asked for, the first first."""
        return self._get("requests", list[Request], [])

    @property
    def seats(self) -> dict[str, str]:
        """By author the game in which they have a seat, or wait for it."""
        return {one.author: one.game for one in self.requests if one.seat is not None}

    @property
    def offers(self) -> dict[str, str]:
        """By bot to whom its author offers it."""
        return self._get("offers", dict[str, str], {})

    @property
    def moved(self) -> list[str]:
        """Authors whose lists of games are to be made again, since a bot was handed over."""
        return self._get("moved", list[str], [])

    @property
    def final_matches(self) -> int:
        """Before how many matches a rating is provisional."""
        return self._get("final_matches", int, FINAL_MATCHES)

    @property
    def alive(self) -> Alive | None:
        """When the league was alive last. If that was never noted, its last game says so; None if there is none."""
        noted: Alive | None = self._get("alive", Alive | None, None)
        if noted is not None:
            return noted
        row = self._db.execute(
            "SELECT strftime('%s', finished) FROM games WHERE finished IS NOT NULL ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        return None if row is None else Alive(float(row[0]))

    def set(self, name: str, value: Any) -> None:
        """Sets one of the properties above."""
        with databases.immediate(self._db):
            self._db.execute(
                "INSERT OR REPLACE INTO controls (name, value) VALUES (?, ?)", (name, game_rows.canonical(value))
            )

    def _get(self, name: str, type: Any, default: T) -> T:
        row = self._db.execute("SELECT value FROM controls WHERE name = ?", (name,)).fetchone()
        return default if row is None else msgspec.json.decode(row[0], type=type)
