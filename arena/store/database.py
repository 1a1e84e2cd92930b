"""One SQLite file: opening it safely, transactions, and the lock of its only writer.

Laws:
1. One writer: whoever writes holds an exclusive lock on `FILE-lock` for as long as the database is open. Readers open
   the file read-only, so that they cannot reset its write-ahead log.
2. Every setting that durability rests on is read back: SQLite ignores what it cannot do, without a word.
3. A transaction that writes begins IMMEDIATE. One that reads first and then writes fails at once when another
   connection has written meanwhile, whatever the timeout.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.errors import StoreError

BUSY_MS = 10_000
"""How long a statement waits for another connection's lock."""

MIGRATIONS = ("0001_tournaments", "0002_pools")
"""The names of all in `arena.store.migrations`: here too, so that nothing is imported for them when all have run."""

_WRITER_SETTINGS: tuple[tuple[str, str, Any], ...] = (
    ("busy_timeout", str(BUSY_MS), BUSY_MS),
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
)
_READER_SETTINGS: tuple[tuple[str, str, Any], ...] = (("busy_timeout", str(BUSY_MS), BUSY_MS), ("query_only", "ON", 1))


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open the database with every setting in force.

    Transactions are ours: the driver begins none.

    Raises:
        StoreError: It cannot be opened, or a setting does not take. Show the message to the operator.
    """
    mode = "rwc" if write else "ro"
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise StoreError(f"expected a database that can be opened, got: {error} - at {path}") from error
    try:
        _configure(connection, path, _WRITER_SETTINGS if write else _READER_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: sqlite3.Connection, path: Path, settings: tuple[tuple[str, str, Any], ...]) -> None:
    try:
        for name, value, expected in settings:
            connection.execute(f"PRAGMA {name} = {value}")
            got = connection.execute(f"PRAGMA {name}").fetchone()[0]
            if got != expected:
                raise StoreError(
                    f"expected SQLite to set {name} to {value}, got: {got!r} - at {path}; "
                    "put the database on a local disk (network and memory file systems cannot hold one)"
                )
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise StoreError(
            f"expected an SQLite database, got: {error} - at {path}; give another file with --db"
        ) from error


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables up to date, all or nothing.

    Foreign keys are off meanwhile, else a table that others refer to could not be replaced, and are checked at the end.

    Raises:
        StoreError: They are broken, which only a hand from outside can have done. Nothing has changed.
    """
    if set(MIGRATIONS) <= _applied(connection):
        return
    from sqlite_utils import Database

    from arena.store.migrations import migrations

    _configure(connection, path, (("foreign_keys", "OFF", 0),))
    with immediate(connection):
        migrations.apply(Database(connection, execute_plugins=False))
        if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
            raise StoreError(
                f"expected a database whose rows belong together, got: a row of {broken[0]} without its row of "
                f"{broken[2]} - at {path}; go back to a copy of it, or give another file with --db"
            )
    _configure(connection, path, (("foreign_keys", "ON", 1),))


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether the tables are those of an earlier version, so that `migrate` brings them up to date."""
    return set() < _applied(connection) < set(MIGRATIONS)


def check_current(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the tables are those of this version.

    Raises:
        StoreError: They are not; the message says what to do.
    """
    applied = _applied(connection)
    if unknown := sorted(applied - set(MIGRATIONS)):
        raise StoreError(
            f"expected a database of this version of arena, got one of a later version (it has {', '.join(unknown)}) "
            f"- at {path}; update arena, or give another file with --db"
        )
    if set(MIGRATIONS) - applied:
        raise StoreError(
            f"expected a database of arena, got one without its present tables - at {path}; "
            "`arena tournament` makes or updates it"
        )


def _applied(connection: sqlite3.Connection) -> set[str]:
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone()
    rows = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'arena'") if table else ()
    return {name for (name,) in rows}


@contextmanager
def immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes: all of it is on the disk when the block ends, or none of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that only reads: every query in it sees the same moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the database's only writer; the system takes it back when the process ends, however it ends.

    Raises:
        StoreError: Another process holds it; the message names it.
    """
    lock = path.with_name(path.name + "-lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(
            f"expected a folder that can be written to, got: {error.strerror} - at {lock}; give another --db"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
            raise StoreError(
                f"expected a database that nobody else writes to, got one in use by {holder} - at {path}; "
                "wait for it to end, or give another file with --db"
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} ({Path(sys.argv[0]).name})\n".encode(errors="replace"))
        yield
    finally:
        os.close(descriptor)
