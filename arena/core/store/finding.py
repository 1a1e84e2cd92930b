"""Finds tournaments and games in the database, by what people know of them: a bot, a day, the beginning of an id.

Laws:
1. Rows are those of the views (`arena.core.store.views`), with their columns as keys. So what a command prints as JSON
   or CSV is what a query of the same view gives, but that the path of a log is the one at which it is now.
2. An expression of the operator's reads the views and nothing else, and has a few seconds.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from arena.core.errors import ConfigError, StoreError, did_you_mean
from arena.core.record.log import existing_log
from arena.core.store.reader import Reader, moved_with
from arena.core.store.records import game_id
from arena.core.store.removal import content_bytes, count_rows
from arena.core.store.store import open_reader
from arena.core.store.views import VIEWS
from arena.core.types import Payload

LATEST: Final = "latest"
SECONDS: Final = 5.0  # how long a query with an expression of the operator's may take

_JSON: Final = frozenset({"bots", "ranks", "opponents", "last_words", "struck"})  # columns that hold JSON
_NUMBERED: Final = re.compile(r"(.+)(?::([0-9]{1,9})|-([0-9]{6,9}))")
_MOST_NAMED: Final = 5  # how many identifiers a message names
_LATEST_FIRST: Final = " ORDER BY (SELECT rowid FROM games WHERE id = game) DESC"
_TABLE_FUNCTIONS: Final = frozenset({"json_each", "json_tree"})
_MOST_BYTES: Final = 10_000_000  # the longest text that a query with an expression of the operator's may make
_STEPS: Final = 10_000  # steps of SQLite's machine between two looks at the clock


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which games to find: those in which one seat is all of this."""

    bot: str | None = None
    against: str | None = None
    """The name of a bot in another seat."""
    outcome: Literal["won", "drawn", "lost"] | None = None
    forfeited: bool = False
    code: str | None = None
    slow_ms: float | None = None
    """Its slowest decision took at least this."""
    tournament: str | None = None
    since: str | None = None
    where: str | None = None
    """An SQL expression over the columns of `v_seats`."""


class LogPlace(msgspec.Struct, frozen=True):
    """Where the log of a game, or the logs of a tournament, were written."""

    tournament: str
    folder: str
    """The tournament's folder of logs, absolute."""
    log: str | None
    """The name of the game's log in it; None stands for all."""
    number: int | None = None
    """The game's number in the schedule, if it is one game's."""


class Finder(Reader):
    """A reader that finds. Make one with `open_finder`."""

    def tournaments(self) -> list[Payload]:
        """Returns the rows of `v_tournaments`, the latest first."""
        order = "ORDER BY (SELECT rowid FROM tournaments WHERE id = tournament) DESC"
        return [self._there(row) for row in self._rows(f"SELECT * FROM v_tournaments {order}")]

    def overview(self, tournament: str) -> Payload:
        """Returns the row of `v_tournaments` of an existing tournament."""
        [row] = self._rows("SELECT * FROM v_tournaments WHERE tournament = ?", tournament)
        return self._there(row)

    def _there(self, row: Payload) -> Payload:
        return {**row, "logs": moved_with(self.path, row["logs"])}

    def stored(self, tournament: str) -> tuple[dict[str, int], int]:
        """Returns how many rows a tournament has in each table, and about how many bytes they hold."""
        return count_rows(self._db, tournament), content_bytes(self._db, tournament)

    def find(self, wanted: Wanted) -> Iterator[str]:
        """Returns the identifiers of the games that are wanted, one at a time, those first that were begun last.

        Clocks have no say in that: one that was wrong once would order games for ever.

        Raises:
            ConfigError: No game has such a bot, or the expression cannot be used. Show the message to the operator.
        """
        conditions, parameters = _conditions(wanted)
        query = "SELECT game FROM v_games"
        if conditions:
            query += f" WHERE game IN (SELECT game FROM v_seats WHERE {' AND '.join(conditions)})"
        query += _LATEST_FIRST
        if wanted.where is None:
            found: Iterator[str] = (game for (game,) in self._db.execute(query, parameters))
        else:
            found = iter(self._find_confined(wanted.where, query, parameters))
        first = list(islice(found, 1))
        if not first:
            self._check_names(wanted)
        return chain(first, found)

    def _find_confined(self, where: str, query: str, parameters: dict[str, Any]) -> list[str]:
        columns = ", ".join(column[0] for column in self._db.execute("SELECT * FROM v_seats LIMIT 0").description)
        with _confined(self._db):
            try:
                return [game for (game,) in self._db.execute(query, parameters)]
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                raise ConfigError(
                    f"expected an SQL expression over the columns of v_seats, got: {where!r}: {_reason(error)} "
                    f"- at --where; the columns are {columns}"
                ) from error

    def describe(self, games: Iterable[str]) -> Iterator[Payload]:
        """Yields the rows of `v_games` of these games.

        Each has `seats`: its rows of `v_seats`, without what is said of the game.
        """
        for game in games:
            [row] = self._rows("SELECT * FROM v_games WHERE game = ?", game)
            seats = self._rows("SELECT * FROM v_seats WHERE game = ? ORDER BY seat", game)
            yield {**row, "seats": [{key: seat[key] for key in seat if key not in row} for seat in seats]}

    def void(self, wanted: Wanted, limit: int | None = None) -> list[Payload]:
        """Returns the rows of `v_void` that were played, the latest first.

        They have no result. So what is said of a result (outcome, forfeit, time, an expression) finds none of them.
        """
        if wanted.outcome or wanted.forfeited or wanted.slow_ms is not None or wanted.where is not None:
            return []
        given = [
            ("? IN (SELECT value FROM json_each(bots))", wanted.bot),
            ("? IN (SELECT value FROM json_each(bots))", wanted.against),
            ("tournament = ?", wanted.tournament),
            ("finished >= ?", wanted.since),
        ]
        used = [(condition, _encodable(value)) for condition, value in given if value is not None]
        where = " AND ".join(["log IS NOT NULL", *(condition for condition, _ in used)])
        query = f"SELECT * FROM v_void WHERE {where}{_LATEST_FIRST} LIMIT ?"
        return self._rows(query, *(value for _, value in used), -1 if limit is None else limit)

    def identify(self, text: str) -> str:
        """Returns the identifier of the tournament that a text stands for.

        That is the identifier itself, its beginning, the beginning of the part after the date, or `latest`.

        Raises:
            StoreError: There is none, or more than one. The message names those that exist.
        """
        text = _encodable(text)
        if text == LATEST:
            return self.tournament().id
        found = self._matching(text)
        if not found:
            raise StoreError(f"expected the id of a tournament, got: {text!r} - at {self.path}{self._known()}")
        if len(found) > 1:
            raise StoreError(f"expected the id of one tournament, got: {text!r}, which may be {_listed(found)}")
        return found[0]

    def place(self, text: str) -> LogPlace:
        """Returns where to look for the log of a game, or for the logs of a tournament.

        Args:
            text: What `identify` takes, for a tournament; the same with `:NUMBER`, or the identifier of a game or its
                beginning, for a game.

        Raises:
            StoreError: There is no such tournament, or no such game with a log.
        """
        text = _encodable(text)
        if (numbered := _NUMBERED.fullmatch(text)) is not None:
            tournament = self.identify(numbered[1])
            games = [game_id(tournament, int(numbered[2] or numbered[3]))]
        elif text == LATEST or self._matching(text):
            tournament = self.identify(text)
            return LogPlace(tournament, self.tournament(tournament).logs, None)
        else:
            games = self._games_matching(text)
        if len(games) > 1:
            raise StoreError(f"expected the id of one game, got: {text!r}, which may be {_listed(games)}")
        row = self._db.execute(
            "SELECT tournament, log, number FROM games WHERE id = ? AND log IS NOT NULL", games or ("",)
        ).fetchone()
        if row is None:
            raise StoreError(
                f"expected the id of a finished game or of a tournament, got: {text!r} - at {self.path}{self._known()}"
                " (`arena games` lists games)"
            )
        return LogPlace(row[0], self.tournament(row[0]).logs, *row[1:])

    def _matching(self, text: str) -> list[str]:
        """Returns the tournaments whose identifier a text is, or the beginning of, with the date or without."""
        if self.has(text):
            return [text]
        rows = self._db.execute(
            "SELECT id FROM tournaments WHERE :text <> '' AND (substr(id, 1, length(:text)) = :text"
            " OR substr(id, instr(id, '-') + 1, length(:text)) = :text) ORDER BY rowid DESC",
            {"text": text},
        )
        return [id for (id,) in rows]

    def _games_matching(self, text: str) -> list[str]:
        rows = self._db.execute(
            "SELECT id FROM games WHERE id >= :text AND id < :text || char(0x10ffff) AND status = 'done'"
            " ORDER BY id LIMIT :most",
            {"text": text, "most": _MOST_NAMED + 1},
        )
        return [id for (id,) in rows]

    def _rows(self, query: str, *parameters: str | int) -> list[Payload]:
        cursor = self._db.execute(query, parameters)
        names = [column[0] for column in cursor.description]
        return [
            {name: value and self._read(name, value) for name, value in zip(names, row, strict=True)} for row in cursor
        ]

    def _read(self, name: str, value: Any) -> Any:
        if name == "log":
            folder, _, file = value.rpartition("/")
            return str(existing_log(Path(moved_with(self.path, folder), file)))
        return msgspec.json.decode(value) if name in _JSON else value

    def _check_names(self, wanted: Wanted) -> None:
        names = {name for (name,) in self._db.execute("SELECT DISTINCT name FROM entrants")}
        for option, name in (("--bot", wanted.bot), ("--against", wanted.against)):
            if name is not None and name not in names:
                raise ConfigError(
                    f"expected the name of a bot in a tournament, got: {name!r} - at {self.path}"
                    f"{did_you_mean(name, names)}; use {option}"
                )


@contextmanager
def open_finder(path: Path) -> Iterator[Finder]:
    """Opens the database at `path` to find what is in it.

    Raises:
        StoreError: It is missing, or it is not a database of ours.
    """
    with open_reader(path) as reader:
        yield Finder(reader._db, path)


def identified(reader: Reader, text: str) -> str:
    """Returns the identifier of the tournament that a text stands for, as `Finder.identify` does."""
    return Finder(reader._db, reader.path).identify(text)


def _conditions(wanted: Wanted) -> tuple[list[str], dict[str, Any]]:
    given: dict[str, tuple[str, Any]] = {
        "bot": ("bot = :bot", wanted.bot),
        "against": ("bot <> :against AND game IN (SELECT game FROM v_seats WHERE bot = :against)", wanted.against),
        "outcome": ("outcome = :outcome", wanted.outcome),
        "forfeited": ("forfeit IS NOT NULL", wanted.forfeited or None),
        "code": ("forfeit = :code", wanted.code),
        "slow_ms": ("max_ms >= :slow_ms", wanted.slow_ms),
        "tournament": ("tournament = :tournament", wanted.tournament),
        "since": ("finished >= :since", wanted.since),
    }
    used = {name: both for name, both in given.items() if both[1] is not None}
    conditions = [condition for condition, _ in used.values()]
    if wanted.where is not None:
        conditions.append(f"({_encodable(wanted.where)}\n)")  # a comment at its end does not reach the bracket
    values = {name: _encodable(value) if isinstance(value, str) else value for name, (_, value) in used.items()}
    return conditions, values


@contextmanager
def _confined(connection: sqlite3.Connection) -> Iterator[None]:
    """Lets statements in the block read the views, for a few seconds, and nothing else."""
    ends = time.monotonic() + SECONDS
    for function in _TABLE_FUNCTIONS:  # their first use makes something, which would be refused below
        connection.execute(f"SELECT 1 FROM {function}('[]')")
    length = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)


def _authorize(action: int, name: str | None, detail: str | None, _database: str | None, within: str | None) -> int:
    """Tells SQLite whether a statement may do something.

    Args:
        detail: The column that it reads; empty if it reads none, but counts rows. Or the function that it calls.
    """
    match action:
        case sqlite3.SQLITE_SELECT:
            allowed = True
        case sqlite3.SQLITE_FUNCTION:
            allowed = detail != "load_extension"
        case sqlite3.SQLITE_READ:
            allowed = not detail or within in VIEWS or name in VIEWS or name in _TABLE_FUNCTIONS
            allowed = allowed or (name == "games" and detail in ("id", "ROWID"))  # for _LATEST_FIRST
        case _:
            allowed = False
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _reason(error: Exception) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return f"it took longer than {SECONDS:g} s"
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH:
        return f"{error}; it may read the views only"
    return str(error)


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_MOST_NAMED]) + (" and more" if len(ids) > _MOST_NAMED else "")


def _encodable(text: str) -> str:
    """Returns a text that SQLite takes: bytes of a command line that are no text become question marks."""
    return text.encode(errors="replace").decode()
