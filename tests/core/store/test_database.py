"""Opening: one writer, settings that took, tables of this version, errors that help."""

from __future__ import annotations

import os
import resource
import shlex
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.core.store import database
from arena.core.store.lock import locked
from arena.core.store.store import open_reader, open_store
from tests import instant


def test_every_setting_is_in_force(tmp_path: Path) -> None:
    connection = database.connect(tmp_path / "arena.db", write=True)
    names = ("busy_timeout", "journal_mode", "synchronous", "foreign_keys")
    got = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert got == {"busy_timeout": database.WRITER_BUSY_MS, "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
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


@pytest.mark.parametrize("writable", [True, False])
def test_a_reader_cannot_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    path = tmp_path / "arena.db"
    with open_store(path):
        pass
    monkeypatch.setattr(os, "access", lambda *_: writable)  # of its folder, which SQLite would write into
    with open_reader(path):
        assert (tmp_path / "arena.db-shm").exists() == writable
    with pytest.raises(StoreError, match="readonly"), open_reader(path) as reader:
        reader._db.execute("DELETE FROM games")


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


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", ["tournaments", "games", "tournament random greedy"])
def test_too_few_descriptors_are_named_with_the_remedy(tmp_path: Path, command: str) -> None:
    """Whichever file was the first that could not be opened: it is not the reason."""
    with open_store(tmp_path / "arena.db"):
        pass
    told = []
    for most in range(5, 8):
        words = f"ulimit -n {most} && exec {shlex.quote(sys.executable)} -m arena {command}"
        done = subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)
        told += done.stderr.splitlines()[-1:] if done.returncode == 1 else []
    assert told
    for line in told:
        assert "got: Too many open files" in line
        assert "raise the limit of open files (`ulimit -n`)" in line
        assert ".py" not in line


def test_another_file_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, but long enough to be looked at" * 50)
    for opening in (open_reader, open_store):
        with pytest.raises(StoreError, match=r"expected an SQLite database, got: .* - at .*notes\.txt"):
            opening(path).__enter__()


@pytest.mark.parametrize(
    ("statements", "what"),
    [
        (["CREATE TABLE one (x)", "CREATE TABLE two (x)"], r"tables one, two"),
        (["PRAGMA application_id = 0x0f055112"], r"application id 0xf055112"),
        (
            [
                "CREATE TABLE _sqlite_migrations (migration_set, name)",
                "INSERT INTO _sqlite_migrations VALUES ('a', 'b')",
            ],
            r"tables _sqlite_migrations",
        ),
    ],
)
def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    tmp_path: Path, statements: list[str], what: str
) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    for opening in (open_reader, open_store):
        with pytest.raises(StoreError, match=rf"of another program \({what}\) - at .*other\.db; give another file"):
            opening(path).__enter__()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_becomes_a_database_with_our_application_id(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    path.touch()
    with open_store(path):
        pass
    assert path.read_bytes()[68:72] == b"aren"


def test_a_full_disk_is_told_as_one_and_keeps_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        instant.start(store, instant.settings(), tmp_path)
    full = r"expected room on the disk, got: database or disk is full - at .*arena\.db; make room .* results so far"
    big = instant.settings(tuple(f"bot{number}" for number in range(1_000)))

    def begin_where_little_room_is_left() -> None:
        with open_store(path) as store:
            store._db.execute(f"PRAGMA max_page_count = {path.stat().st_size // 4096 + 3}")
            instant.start(store, big, tmp_path)

    with pytest.raises(StoreError, match=full):
        begin_where_little_room_is_left()
    with open_reader(path) as reader:
        assert reader.unfinished(instant.settings().digest) is not None
        assert reader.unfinished(big.digest) is None


def test_a_disk_that_fails_is_told_as_one(tmp_path: Path) -> None:
    """A file that may not grow: SQLite takes it for a failing disk."""
    path = tmp_path / "arena.db"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        with pytest.raises(
            StoreError, match=r"expected a disk that can be .*, got: disk I/O error - at .*arena\.db; is "
        ):
            open_store(path).__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with open_store(path):
        pass


def test_a_database_that_may_not_be_written_is_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"

    def begin_where_nothing_can_be_written() -> None:
        with open_store(path) as store:
            store._db.execute("PRAGMA query_only = ON")
            instant.start(store, instant.settings(), tmp_path)

    with pytest.raises(StoreError, match=r"a database that can be written, .*readonly.*; change the permissions"):
        begin_where_nothing_can_be_written()


def test_no_lock_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path):
        assert (tmp_path / "arena.db-lock").is_file()
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_file_that_a_killed_process_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "arena.db-lock").write_text("process 1 (killed)\n")
    with open_store(tmp_path / "arena.db"):
        pass
    assert not (tmp_path / "arena.db-lock").exists()


def test_a_link_to_a_database_has_its_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("arena.db")
    with open_store(tmp_path / "arena.db"), pytest.raises(StoreError, match="in use by process"):
        open_store(tmp_path / "link.db").__enter__()


def test_of_many_that_open_it_at_once_one_has_the_lock(tmp_path: Path) -> None:
    """Each opener's descriptor is its own, so threads compete as processes do."""
    path, inside = tmp_path / "arena.db", tmp_path / "inside"

    def compete(_: int) -> int:
        entered = 0
        for _ in range(200):
            with suppress(StoreError), locked(path):
                inside.touch(exist_ok=False)
                entered += 1
                inside.unlink()
        return entered

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(compete, range(8))) > 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with open_store(path) as store:
        store._db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('arena', '0999_later', '')"
        )
    for opening in (open_reader, open_store):
        with pytest.raises(StoreError, match=r"got one that a later version of arena wrote .*0999_later"):
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
