"""Opening: one writer, settings that took, tables of this version, errors that help."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from arena.errors import StoreError
from arena.store import database
from arena.store.migrations import migrations
from arena.store.store import open_reader, open_store


def test_every_setting_is_in_force(tmp_path: Path) -> None:
    connection = database.connect(tmp_path / "arena.db", write=True)
    got = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name, _, _ in database._WRITER_SETTINGS}
    assert got == {"busy_timeout": 10_000, "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    connection.close()


def test_a_setting_that_does_not_take_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_WRITER_SETTINGS", (("synchronous", "FULL", 3),))
    with pytest.raises(StoreError, match="expected SQLite to set synchronous to FULL, got: 2"):
        database.connect(tmp_path / "arena.db", write=True)


def test_there_is_one_writer_and_the_error_names_it(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    named = rf"in use by process {os.getpid()} .* give another file with --db"
    with open_store(path), pytest.raises(StoreError, match=named):
        open_store(path).__enter__()
    with open_store(path):
        pass


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path):
        pass
    with pytest.raises(StoreError, match="readonly"), open_reader(path) as reader:
        reader._db.execute("DELETE FROM games")


def test_the_migrations_are_those_that_are_named() -> None:
    assert tuple(migration.name for migration in migrations._migrations) == database.MIGRATIONS


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        first = store._db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    with open_store(path) as store:
        assert store._db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == first


def test_a_missing_database_is_an_error_for_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no such file - at .*nope\.db; `arena tournament` makes one"):
        open_reader(tmp_path / "nope.db").__enter__()
    assert not list(tmp_path.iterdir())


def test_another_file_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, but long enough to be looked at" * 50)
    for opening in (open_reader, open_store):
        with pytest.raises(StoreError, match=r"expected an SQLite database, got: .* - at .*notes\.txt"):
            opening(path).__enter__()


def test_a_foreign_database_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(StoreError, match="without its present tables"):
        open_reader(path).__enter__()


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        store._db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('arena', '0999_later', '')"
        )
    for opening in (open_reader, open_store):
        with pytest.raises(StoreError, match=r"got one of a later version .*0999_later"):
            opening(path).__enter__()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected a folder that can be written to, got: No such file"):
        open_store(tmp_path / "nowhere" / "arena.db").__enter__()


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    connection = database.connect(tmp_path / "arena.db", write=True)
    connection.execute("CREATE TABLE t (x)")

    def stopped() -> None:
        with database.immediate(connection):
            connection.execute("INSERT INTO t VALUES (1)")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert not connection.in_transaction
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
    connection.close()
