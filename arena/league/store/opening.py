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

import msgspec

from arena.core.face import Finder, Reader, chance, databases, errors, game_rows, record_files, stores
from arena.league.record import old, rounds
from arena.league.store import lines, rows
from arena.league.store.authors import Authors
from arena.league.store.changes import entered
from arena.league.store.controls import Commands, Controls, controls, set_control
from arena.league.store.facts import Facts
from arena.league.store.matches import Matches, over
from arena.league.store.notices import Notices, Reports
from arena.league.store.played import PlayedGames
from arena.league.store.records import MatchGame, SeasonFinal
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
        _convert_open(store)
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


def _convert_open(store: stores.Store) -> None:
    """Gives the open season of an arena of 0.2 its lines, from its rows: they are dated when that is done."""
    db = store._db
    row = db.execute(
        "SELECT tournament, name, opened, final FROM seasons WHERE closed IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM season_lines WHERE season_lines.tournament = seasons.tournament)"
    ).fetchone()
    if row is not None:
        with databases.immediate(db):
            _convert(store, *row)


def _convert(store: stores.Store, tournament: str, season: str, opened: str, final: str | None) -> None:
    db, found = store._db, store.tournament(tournament)
    told = record_files.sha256_of(lines.commitment_of(found, opened))
    lines.note(db, tournament, rounds.Opened(tournament=tournament, season=season, commitment_sha256=told))
    entrants = store.entrants(tournament)
    names = {entrant.number: entrant.name for entrant in entrants}
    versions = {version.entrant: version for version in rows.versions(db, "WHERE entrant IS NOT NULL")}
    before = dict(
        db.execute(
            "SELECT versions.entrant, other.entrant FROM versions JOIN versions AS other"
            " ON other.id = versions.predecessor WHERE versions.entrant > other.entrant"
        ).fetchall()
    )
    came = [entered(one, versions[one.number], found, names.get(before.get(one.number, -1))) for one in entrants]
    begun = None if final is None else msgspec.json.decode(final, type=SeasonFinal)
    matches = [*_matches(store, found, names)]
    if begun is not None:
        finalists = [names[entrant] for entrant in begun.entrants]
        begins = rounds.FinalBegun(entrants=finalists, deals=begun.deals, reason="" if finalists else begun.reason)
        planned = ((at, one.match) for at, one in enumerate(matches) if isinstance(one, rounds.Planned))
        matches.insert(next((at for at, match in planned if match >= begun.first_match), len(matches)), begins)
        if begun.outcome in ("settled", "not settled"):
            matches.append(rounds.Decided(outcome=begun.outcome, reason=begun.reason))
    left = () if begun is None else [names[entrant] for entrant in begun.left]
    states = {one.name: str(versions[one.number].state) for one in entrants if versions[one.number].state != "active"}
    for line in old.in_turn(came, matches, left, states):
        lines.note(db, tournament, line)


def _matches(store: stores.Store, tournament: game_rows.Tournament, names: dict[int, str]) -> Iterator[rounds.Line]:
    """Yields what is known of the matches of a season."""
    db = store._db
    found = db.execute(
        "SELECT number, rated, published, coalesce(reason, '') FROM matches WHERE tournament = ? ORDER BY number",
        (tournament.id,),
    ).fetchall()
    for number, rated, published, reason in found:
        games = [
            MatchGame(game=game, number=at, rotation=rotation, entrants=msgspec.json.decode(seating), status=status)
            for game, at, rotation, seating, status in db.execute(
                "SELECT id, number, rotation, seating, status FROM games WHERE tournament = ? AND match = ?"
                " ORDER BY number",
                (tournament.id, number),
            ).fetchall()
        ]
        seats = [[names[entrant] for entrant in game.entrants] for game in games]
        yield rounds.Planned(match=number, games=[game.number for game in games], seats=seats, rated=bool(rated))
        if published is not None:
            secret = chance.deal_secret(tournament.secret, number).hex()
            yield rounds.Over(match=number, secret=secret, games=over(db, games), reason=reason)
