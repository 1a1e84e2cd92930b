"""Opens one SQLite file safely, with transactions and the lock of its only writer.

Laws:
1. One writer: the process that writes holds an exclusive lock on `FILE-lock` for as long as the database is open.
   Readers open the file read-only, so that they cannot reset its write-ahead log.
2. A file of another program is never changed: the file is identified before any setting is changed.
3. Every setting that durability depends on is read back, because SQLite silently ignores what it cannot do.
4. A transaction that writes begins IMMEDIATE. One that reads first and then writes would fail at once if another
   connection has written in between, whatever the timeout.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from arena.errors import StoreError

BUSY_MS = 10_000
"""How long a statement waits for another connection's lock."""

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
)
"""The names of all migrations, repeated here so that `arena.store.migrations` is imported only if one has to run."""

_Settings = tuple[tuple[str, str, Any], ...]
_WAIT: _Settings = (("busy_timeout", str(BUSY_MS), BUSY_MS),)
_WRITER_SETTINGS: _Settings = (("journal_mode", "WAL", "wal"), ("synchronous", "FULL", 2), ("foreign_keys", "ON", 1))
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
"""By SQLite's primary result code: what was expected, and what the operator can do."""


def trouble(error: sqlite3.Error, path: Path) -> StoreError:
    """Returns our error for one of SQLite: what was expected, and what the operator can do about it."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    expected, remedy = _TROUBLES.get(code, ("the database to work", ""))
    return StoreError(f"expected {expected}, got: {error} - at {path}{remedy and '; '}{remedy}")


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Opens the database with every setting in force.

    The caller begins transactions; the driver begins none.

    Raises:
        StoreError: It cannot be opened, belongs to another program, or a setting has no effect. Show the message to
            the operator.
    """
    mode = "rwc" if write else "ro"
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise trouble(error, path) from error
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


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Brings the tables up to date, all or nothing, and marks the file as ours.

    Foreign keys are off meanwhile, so that a table that others refer to can be replaced. They are checked at the end.

    Raises:
        StoreError: They are broken, which only a change by another program can cause. Nothing has changed.
    """
    if set(MIGRATIONS) <= _applied(connection):
        return
    from sqlite_utils import Database

    from arena.store.migrations import migrations

    _configure(connection, path, (("foreign_keys", "OFF", 0),))
    with immediate(connection):
        migrations.apply(Database(connection, execute_plugins=False))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if broken := connection.execute("PRAGMA foreign_key_check").fetchone():
            raise StoreError(
                f"expected a database whose rows belong together, got: a row of {broken[0]} without its row of "
                f"{broken[2]} - at {path}; go back to a copy of it, or give another file with --db"
            )
    _configure(connection, path, (("foreign_keys", "ON", 1),))


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
    """Runs the block in a transaction that writes: at its end all of it is on the disk, or none of it."""
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
    """Runs the block in a transaction that only reads: every query in it sees the same moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of the database's only writer. The system releases it when the process ends, however it ends.

    The lock file is removed before the lock is released. A process that had opened it before then locks a file that no
    other process can find: so after locking, a process checks that the file still has its name.

    Raises:
        StoreError: Another process holds it; the message names it.
    """
    file = path.resolve()
    lock = file.with_name(file.name + "-lock")
    descriptor = _lock(lock, path)
    try:
        os.ftruncate(descriptor, 0)
        with suppress(OSError):  # the holder's name only helps people; a full disk may have no room for it
            os.write(descriptor, f"process {os.getpid()} ({Path(sys.argv[0]).name})\n".encode(errors="replace"))
        yield
    finally:
        with suppress(OSError):
            if _is_at(descriptor, lock):
                lock.unlink()
        os.close(descriptor)


def is_written_to(path: Path) -> bool:
    """Says whether a process holds the lock of the database's only writer."""
    file = path.resolve()
    try:
        descriptor = os.open(file.with_name(file.name + "-lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(lock: Path, path: Path) -> int:
    """Opens and locks the lock file, making it if needed. Returns its descriptor."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"expected a folder that can be written to, got: {error.strerror} - at {lock}; give another --db"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, lock):
                return descriptor
        except BlockingIOError as error:
            holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            raise StoreError(
                f"expected a database that nobody else writes to, got one in use by {holder} - at {path}; "
                "wait for it to end, or give another file with --db"
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Says whether an open file is still the one at that path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
