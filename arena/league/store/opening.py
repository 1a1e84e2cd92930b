"""Opens a league's database: its tables, and beside them the games of its seasons.

Laws:
1. One process writes. Each method is one transaction; `LeagueStore.transaction` makes one of several.
2. Nothing is announced before the transaction has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from arena.core.face import Finder, Reader, databases, errors, stores
from arena.league.store.authors import Authors
from arena.league.store.controls import Commands, Controls, controls, set_control
from arena.league.store.converting import convert
from arena.league.store.facts import Facts
from arena.league.store.matches import Matches
from arena.league.store.notices import Notices, Reports
from arena.league.store.played import PlayedGames
from arena.league.store.schema import OF_LEAGUES
from arena.league.store.seasons import Seasons
from arena.league.store.striking import finish_rating
from arena.league.store.versions import Versions


class LeagueReader:
    """A league's database, opened to read. Make one with `read_league`. Methods that write fail."""

    def __init__(self, connection: databases.Connection, path: Path) -> None:
        self._db = connection
        self.path = path
        store = stores.Store(connection, path)
        self.authors = Authors(connection)
        self.versions = Versions(connection, store)
        self.reports = Reports(connection)
        self.matches = Matches(connection, store)
        self.seasons = Seasons(connection, store)
        self.notices = Notices(connection)
        self.commands = Commands(connection)
        self.facts = Facts(connection)
        self.played = PlayedGames(connection)
        self.finder = Finder(connection, path)

    @property
    def controls(self) -> Controls:
        """What orders have set."""
        return controls(self._db)

    def snapshot(self) -> AbstractContextManager[None]:
        """Makes all reads in the block see the same moment."""
        return self.finder.snapshot()


class LeagueStore(LeagueReader):
    """A league's database with this process as its only writer. Make one with `open_league`."""

    def __init__(self, store: stores.Store) -> None:
        super().__init__(store._db, store.path)
        self.games = store
        """The games of the seasons, in the same database: a transaction can span both."""

    @property
    def changes(self) -> int:
        """How many rows this process has changed since it opened the database."""
        return self._db.total_changes

    def set_control(self, name: str, value: Any) -> None:
        """Sets a field of `controls`."""
        set_control(self._db, name, value)

    def transaction(self) -> AbstractContextManager[None]:
        """Makes one transaction of all that the block does."""
        return self.games.transaction()


@contextmanager
def open_league(path: Path, tell: Callable[[str], object] | None = None) -> Iterator[LeagueStore]:
    """Opens a league's database as its only writer. Makes it, or brings it up to date, if needed.

    Args:
        tell: Called with a sentence when a transaction has to wait for another program.

    Raises:
        StoreError: It is in use, cannot be written, or is not a database of this version.
    """
    with stores.open_store(path, tell) as store:
        databases.extend(store._db, "league", OF_LEAGUES)
        finish_rating(store._db)
        convert(store)
        yield LeagueStore(store)


@contextmanager
def read_league(path: Path) -> Iterator[LeagueReader]:
    """Opens a league's database to read, even while its service runs.

    Raises:
        StoreError: It is missing, or it is not a database of ours.
    """
    with stores.open_reader(path) as reader:
        yield league_of(reader)


def league_of(reader: Reader) -> LeagueReader:
    """Returns what reads a league in a database that is open. Raises StoreError: no league has opened the database."""
    if databases.missing(reader._db, "league", OF_LEAGUES):
        raise errors.StoreError(
            f"expected a league's database, got one without its tables - at {reader.path}; name another"
        )
    return LeagueReader(reader._db, reader.path)
