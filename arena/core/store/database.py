"""Opens one SQLite file safely, with transactions.

Laws:
1. One writer: the process that writes holds the locks of `arena.core.store.lock` for as long as the database is open.
   Readers open the file read-only, so that they cannot reset its write-ahead log.
2. A file of another program is never changed: the file is identified before any setting is changed.
3. Every setting that durability depends on is read back, because SQLite silently ignores what it cannot do.
4. A transaction that writes begins IMMEDIATE. One that reads first and then writes would fail at once if another
   connection has written in between, whatever the timeout.
5. A lock that another program holds ends nothing: a transaction waits for it, and says so after a while.
6. A commit counts once the file that was written is found under its name (`Held.check`).
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from arena import __version__
from arena.core import files, plugs, remedies
from arena.core.errors import StoreError
from arena.core.plugs import Tables
from arena.core.store import views
from arena.core.store.lock import Held, holder

BUSY_MS = 10_000  # how long opening and reading wait for another connection's lock
WRITER_BUSY_MS = 500
"""Milliseconds that a statement of the writer waits before it is tried again. Signals are heeded between two tries."""
NOTICE_S = 10.0  # how long the writer waits before it says so

APPLICATION_ID: Final = int.from_bytes(b"aren")
"""Marks the header of every database of ours, where `file` and other tools look for the owner of a file."""

MIGRATIONS = (
    "0001_tournaments",
    "0002_pools",
    "0003_claimed_games",
    "0004_game_settings",
    "0005_contributions",
    "0006_formats",
    "0007_views",
    "0008_levels",
    "0009_off_turn",
    "0010_leagues",
    "0011_leases",
    "0012_finals",
    "0013_rating_marks",
    "0014_public_logs",
    "0015_remaking",
    "0016_together",
    "0017_margins",
    "0018_parameters",
    "0019_teams",
    "0020_wings",
    "0021_figures",
    "0022_struck",
    "0023_costs",
)
"""The names of all migrations, repeated here so that `arena.core.store.migrations` is imported only if one must run."""
_FIRST_RELEASE: Final = 19  # so many migrations has a database of 0.2.0
_WRITERS: Final = "arena-versions"
"""Under this name the table of migrations keeps the versions of arena that have written to a database."""
_IS_SIGNED: Final = "SELECT 1 FROM _sqlite_migrations WHERE migration_set = ? AND name = ?"
SCHEMA: Final = Path(__file__).with_name("schema.sql")
"""The tables of a new database, but the views."""

_Settings = tuple[tuple[str, str, Any], ...]
_WAIT: _Settings = (("busy_timeout", str(BUSY_MS), BUSY_MS),)
_WRITER_SETTINGS: _Settings = (
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
    ("busy_timeout", str(WRITER_BUSY_MS), WRITER_BUSY_MS),
)
_READER_SETTINGS: _Settings = (("query_only", "ON", 1),)

_KEPT = "All results so far are kept"
_TROUBLES: Final = {
    sqlite3.SQLITE_FULL: ("room on the disk", f"make room and give the same command again. {_KEPT}"),
    sqlite3.SQLITE_IOERR: (
        "a disk that can be read and written",
        f"is it full, or failing? Give the same command again then. {_KEPT}",
    ),
    sqlite3.SQLITE_READONLY: (
        "a database that can be written",
        "change the permissions of the file and its folder, or give another file with --db",
    ),
    sqlite3.SQLITE_CANTOPEN: ("a database that can be opened", "give another file with --db"),
    sqlite3.SQLITE_NOTADB: ("an SQLite database", "give another file with --db"),
    sqlite3.SQLITE_CORRUPT: (
        "an SQLite database that is whole",
        "go back to a copy of it, or give another file with --db",
    ),
    sqlite3.SQLITE_BUSY: ("a database that no other program has locked", "close that program. " + _KEPT),
}
"""Expectation, and what the operator can do, by SQLite's primary result code."""
_DESCRIPTORS: Final = 3  # how many files SQLite opens for a database with a write-ahead log


class Connection(sqlite3.Connection):
    """A connection, and what its transactions have to know."""

    path: Path
    held: Held | None = None
    tell: Callable[[str], object] = staticmethod(lambda sentence: None)
    """Called with a sentence when a transaction has to wait for another program."""
    is_writing: bool = False


def trouble(error: sqlite3.Error, path: Path) -> StoreError:
    """Returns our error for one of SQLite: what was expected, and what the operator can do about it."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) and (reason := _lack_of_descriptors()):
        return StoreError(
            f"expected a database that can be opened, got: {reason} - at {path}; raise the limit of open files "
            "(`ulimit -n`), and give the same command again"
        )
    expected, remedy = _TROUBLES.get(code, ("the database to work", ""))
    return StoreError(f"expected {expected}, got: {error} - at {path}{remedy and '; '}{remedy}")


def _lack_of_descriptors() -> str:
    """Returns what the system says if it has too few descriptors for a database, else nothing. SQLite does not tell."""
    with ExitStack() as held:
        try:
            for _ in range(_DESCRIPTORS):
                held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            return os.strerror(error.errno) if error.errno in remedies.DESCRIPTORS else ""
    return ""


def connect(path: Path, *, write: bool) -> Connection:
    """Opens the database with every setting in force.

    The caller begins transactions; the driver begins none.

    Raises:
        StoreError: It cannot be opened, belongs to another program, or a setting has no effect. Show the message to
            the operator.
    """
    mode = "rwc" if write else "ro"
    if not write and not os.access(path.resolve().parent, os.W_OK) and not Path(f"{path.resolve()}-wal").exists():
        mode += "&immutable=1"  # else SQLite would make files beside it, even to read one that nobody writes
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, factory=Connection
        )
    except sqlite3.Error as error:
        raise trouble(error, path) from error
    connection.path = path
    try:
        _configure(connection, path, _WAIT)
        _check_ours(connection, path)
        _configure(connection, path, _WRITER_SETTINGS if write else _READER_SETTINGS)
    except sqlite3.Error as error:
        connection.close()
        raise trouble(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: sqlite3.Connection, path: Path, settings: _Settings) -> None:
    for name, value, expected in settings:
        connection.execute(f"PRAGMA {name} = {value}")
        got = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if got != expected:
            raise StoreError(
                f"expected SQLite to set {name} to {value}, got: {got!r} - at {path}; "
                "put the database on a local disk (network and memory file systems cannot hold one)"
            )


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Checks that the file is a database of ours, or empty. Those of early versions have no application id.

    Raises:
        StoreError: It belongs to another program. Nothing has changed.
    """
    (id,) = connection.execute("PRAGMA application_id").fetchone()
    if id == APPLICATION_ID or (id == 0 and _applied(connection)):
        return
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 4")]
    if id or tables:
        what = f"application id {id:#x}" if id else f"tables {', '.join(tables)}"
        raise StoreError(
            f"expected a database of arena, got one of another program ({what}) - at {path}; "
            "give another file with --db"
        )


def migrate(connection: Connection, path: Path) -> None:
    """Brings the tables up to date, all or nothing, and marks the file as ours: idempotent.

    Foreign keys are off meanwhile, so that a table that others refer to can be replaced. They are checked at the end.

    Raises:
        StoreError: They are broken, which only a change by another program can cause, or older than the first release.
            Nothing has changed.
    """
    applied = _applied(connection)
    if set(MIGRATIONS) <= applied:
        if set(MIGRATIONS) == applied and not connection.execute(_IS_SIGNED, (_WRITERS, __version__)).fetchone():
            with immediate(connection):
                _sign(connection)
        return
    if not applied:
        _make_tables(connection)
        return
    if lacking := [name for name in MIGRATIONS[:_FIRST_RELEASE] if name not in applied]:
        raise StoreError(
            f"expected a database of arena 0.2.0 or later, got one without {lacking[0]} - at {path}; give another file "
            "with --db"
        )
    from sqlite_utils import Database

    from arena.core.store.migrations import apply

    _configure(connection, path, (("foreign_keys", "OFF", 0),))
    with immediate(connection):
        apply(Database(connection, execute_plugins=False))
        for wing, tables in plugs.tables().items():
            if len(missing(connection, wing, tables)) < len(tables.steps):  # the wing is in it
                extend(connection, wing, tables)
        _sign(connection)
        if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
            raise StoreError(
                f"expected a database whose rows belong together, got: a row of {broken[0]} without its row of "
                f"{broken[2]} - at {path}; go back to a copy of it, or give another file with --db"
            )
    _configure(connection, path, (("foreign_keys", "ON", 1),))


def missing(connection: Connection, wing: str, tables: Tables) -> list[str]:
    """Returns the steps by which tables of a wing are still to be made. Earlier versions did not note what they made.

    Raises:
        StoreError: The tables are those of a later version.
    """
    applied = _applied(connection, wing)
    if unknown := sorted(applied - tables.steps.keys()):
        raise _of_a_later_version(connection, connection.path, unknown)
    has = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?"
    return [
        name
        for name, (sign, _) in tables.steps.items()
        if name not in applied and not connection.execute(has, sign.split(".")).fetchone()
    ]


def extend(connection: Connection, wing: str, tables: Tables) -> None:
    """Makes the tables of a wing in a database that is up to date, or brings them up to date, all or nothing.

    Raises:
        StoreError: The tables are those of a later version.
    """
    steps = missing(connection, wing, tables)
    if not steps and _applied(connection, wing):
        return
    with immediate(connection):
        for statement in (statement for name in steps for statement in tables.steps[name][1]):
            connection.execute(statement)
        _note(connection, wing, sorted(tables.steps.keys() - _applied(connection, wing)))


def _note(connection: Connection, migration_set: str, names: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
        [(migration_set, name, str(datetime.now(UTC))) for name in names],
    )


def _make_tables(connection: Connection) -> None:
    """Makes the tables of a new database, as all migrations would, and marks the file as ours."""
    schema = files.read_text(SCHEMA, "the tables of a database", files.MOST_TEXT, StoreError)
    with immediate(connection):
        for statement in schema.split(";\n\n"):
            connection.execute(statement)
        views.make(connection)
        _note(connection, "arena", MIGRATIONS)
        _sign(connection)


def _sign(connection: Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    _note(connection, _WRITERS, [__version__])


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Says whether the tables are those of an earlier version, which `migrate` brings up to date."""
    return set() < _applied(connection) < set(MIGRATIONS)


def check_current(connection: sqlite3.Connection, path: Path) -> None:
    """Checks that the tables are those of this version.

    Raises:
        StoreError: They are not; the message says what to do.
    """
    applied = _applied(connection)
    if unknown := sorted(applied - set(MIGRATIONS)):
        raise _of_a_later_version(connection, path, unknown)
    if set(MIGRATIONS) - applied:
        raise StoreError(
            f"expected a database of arena, got one without its present tables - at {path}; "
            "`arena tournament` makes or updates it"
        )


def _of_a_later_version(connection: sqlite3.Connection, path: Path, steps: Sequence[str]) -> StoreError:
    """Returns the error for a database with tables of a later version: the last other version that came to it."""
    found = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ? AND name != ? ORDER BY applied_at DESC LIMIT 1",
        (_WRITERS, __version__),
    ).fetchone()
    writer = "a later version of arena" if found is None else f"arena {found[0]:.40}"
    return StoreError(
        f"expected a database of arena {__version__} or earlier, got one that {writer} wrote (it has "
        f"{', '.join(steps)}) - at {path}; install that version, or give another file with --db"
    )


def _applied(connection: sqlite3.Connection, migration_set: str = "arena") -> set[str]:
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone()
    names = "SELECT name FROM _sqlite_migrations WHERE migration_set = ?"
    return {name for (name,) in (connection.execute(names, (migration_set,)) if table else ())}


@contextmanager
def immediate(connection: Connection) -> Iterator[None]:
    """Runs the block in a transaction that writes: at its end all of it is on the disk, or none of it.

    Within another such block it is a part of that one: if it fails, nothing of it remains, and if the outer one fails,
    nothing of either. It is on the disk when the outer one has ended.

    Raises:
        StoreError: It is on the disk, in a file that is not the database any more. Do not announce it.
    """
    if connection.is_writing:
        with _part(connection):
            yield
        return
    patiently(connection, "BEGIN IMMEDIATE")
    connection.is_writing = True
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.is_writing = False
    if connection.held is not None:
        try:
            connection.held.check()
        except StoreError:
            # On closing, SQLite leaves out of a file that has another name what is in the log.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            raise


@contextmanager
def _part(connection: Connection) -> Iterator[None]:
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite ends the whole transaction after some errors, such as a full disk
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def patiently(connection: Connection, statement: str) -> None:
    """Executes a statement, however long another program holds the lock that it needs."""
    began = time.monotonic()
    told = False
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        if not told and time.monotonic() - began >= NOTICE_S:
            told = True
            other = holder(connection.path, but=os.getpid())
            connection.tell(f"Waiting for {other}, which has locked {connection.path}. Nothing is lost by that.")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Runs the block in a transaction that only reads: every query in it sees the same moment.

    Within another such block it is a part of that one.
    """
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def copy_database(database: Path, copy: Path) -> None:
    """Writes the database as it is at this moment into a new file.

    The copy is made in one step. In several steps SQLite begins again at each commit of the writer, and with a busy
    writer it never ends. One step reads one moment of the database, and the writer goes on beside it. Never copy from
    the process that writes the database: as soon as it closes a second descriptor of the file, the system drops its
    locks (`arena.core.store.lock`).

    Args:
        database: The database, which another process may be writing.
        copy: Where the copy goes; nothing may be there.

    Raises:
        StoreError: It cannot be read, or the copy cannot be written. Remove the copy.
    """
    with closing(connect(database, write=False)) as source:
        try:
            with closing(sqlite3.connect(copy)) as target:
                source.backup(target, pages=-1)
        except sqlite3.Error as error:
            raise trouble(error, copy) from error


def check_database(database: Path) -> None:
    """Checks that every page and row of a database that nobody writes is whole, and that its rows belong together.

    Raises:
        StoreError: They are not, or do not, or it is no database of ours. The message has what SQLite found first.
    """
    with closing(connect(database, write=False)) as connection:
        try:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.Error as error:
            raise trouble(error, database) from error
    if found != "ok":
        raise StoreError(f"expected a database that is whole, got: {found} - at {database}; go back to another copy")
    if broken is not None:
        raise StoreError(
            f"expected a database whose rows belong together, got: a row of {broken[0]} without its row of "
            f"{broken[2]} - at {database}; go back to another copy"
        )
