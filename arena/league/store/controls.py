"""Stores which orders were obeyed, and what they have set: a service that starts again goes on as it was told.

One thing comes from `league.toml` instead: what readers of the database alone must know of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from arena.core.face import Payload, databases, errors, game_rows, stores
from arena.league.store import rows

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

    @property
    def seats(self) -> dict[str, str]:
        """By author the game in which they have a seat, or wait for it."""
        return {one.author: one.game for one in self.requests if one.seat is not None}


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


class Commands(rows.Part):
    """The orders that were obeyed: each once, however often it is delivered."""

    def once(
        self, id: str, verb: str, arguments: Payload, act: Callable[[], Payload], author: str | None = None
    ) -> Payload:
        """Does what an order says, and returns the answer. If it was done before, only returns the answer.

        What the order does and its answer are one transaction. A refusal is an answer, too: then nothing is done.

        Args:
            id: The order's identifier, chosen by who gave it.
            author: Who gave it; None is the operator.

        Returns:
            What `act` returned, which has no `code`; or of a refusal `code`, `message`, `remedy` and limits.
        """
        with databases.immediate(self._db):
            known = self.answer(id)
            if known is not None:
                return known
            state = "done"
            try:
                with databases.immediate(self._db):
                    answer = act()
            except errors.Refused as error:
                state, answer = "refused", refusal(error)
            self._db.execute(
                "INSERT INTO commands (id, verb, author, arguments, at, state, answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (id, verb, author, game_rows.canonical(arguments), stores.now(), state, game_rows.canonical(answer)),
            )
            return answer

    def answer(self, id: str) -> Payload | None:
        """Returns the answer to an order; None if it was not obeyed yet."""
        row = self._db.execute("SELECT answer FROM commands WHERE id = ?", (id,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Payload)

    def times(self, verb: str, author: str) -> list[str]:
        """Returns when orders of a kind of an author were obeyed, as far as they are remembered (UTC, ISO 8601).

        What the author had asked for before, so that its answer says `same`, is not counted again, what was `cut` not
        at all.
        """
        query = """SELECT at FROM commands WHERE verb = ? AND author = ? AND state = 'done'
            AND json_extract(answer, '$.same') IS NULL AND json_extract(answer, '$.cut') IS NULL"""
        return [at for (at,) in self._db.execute(query, (verb, author))]

    def cut(self, id: str) -> None:
        """Notes that the league did not do what an order asked for, or cut it short: it counts to no quota."""
        self._db.execute("UPDATE commands SET answer = json_set(answer, '$.cut', 1) WHERE id = ?", (id,))

    def forget(self, before: str, waiting: Iterable[str]) -> None:
        """Forgets orders that were answered before a moment, and their answers.

        Args:
            before: UTC (ISO 8601).
            waiting: The identifiers of orders that may still be delivered: they are not forgotten, so that none is
                obeyed twice.
        """
        with databases.immediate(self._db):
            self._db.execute(
                "DELETE FROM commands WHERE at < ? AND id NOT IN (SELECT value FROM json_each(?))",
                (before, game_rows.canonical(list(waiting))),
            )


def refusal(error: errors.Refused) -> Payload:
    """Returns a refusal as an answer holds it."""
    return {
        "code": error.reason,
        "message": error.message,
        "remedy": error.remedy,
        "limit": error.limit,
        "retry_after_s": error.retry_after_s,
    }
