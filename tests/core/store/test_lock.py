"""One writer of one file, whatever it is called; and a database that is deleted, renamed, replaced or locked in use."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.core.errors import StoreError
from arena.core.store import database
from arena.core.store.lock import is_written_to, locked
from arena.core.store.store import Store, open_store
from tests import instant

SETTINGS = instant.settings()
ROOT = Path(__file__).parents[3]

needs_locks_of_files = pytest.mark.skipif(
    sys.platform != "linux", reason="needs locks of open files, as Linux has them"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


def hard_link(path: Path) -> Path:
    other = path.with_name("other.db")
    other.hardlink_to(path)
    return other


def link(path: Path) -> Path:
    other = path.with_name("other.db")
    other.symlink_to(path.name)
    return other


def link_in_another_folder(path: Path) -> Path:
    folder = path.with_name("folder")
    folder.mkdir()
    (folder / "other.db").symlink_to(path)
    return folder / "other.db"


def link_to_its_folder(path: Path) -> Path:
    (path.parent / "here").symlink_to(path.parent)
    return path.parent / "here" / path.name


def test_who_only_looks_turns_no_writer_away(path: Path) -> None:
    """A look takes a lock for a moment, too."""
    lock = path.with_name(path.name + "-lock")
    lock.touch()
    with lock.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        soon = threading.Timer(0.05, lambda: fcntl.flock(looking, fcntl.LOCK_UN))
        soon.start()
        with locked(path):
            assert is_written_to(path)
        soon.join()
    assert not is_written_to(path)


@needs_locks_of_files
@pytest.mark.parametrize("name", [hard_link, link, link_in_another_folder, link_to_its_folder])
def test_a_second_name_has_the_same_lock(path: Path, name: Callable[[Path], Path]) -> None:
    with open_store(path), pytest.raises(StoreError, match="in use by process"):
        open_store(name(path)).__enter__()


@needs_locks_of_files
def test_a_renamed_database_has_the_same_lock(path: Path) -> None:
    with open_store(path):
        moved = path.rename(path.with_name("moved.db"))
        with pytest.raises(StoreError, match=rf"in use by process {os.getpid()} .*under another name"):
            open_store(moved).__enter__()
        moved.rename(path)


@needs_locks_of_files
def test_the_holder_is_named_though_the_name_is_another(path: Path) -> None:
    """It is another process: the locks of SQLite say which."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom arena.core.store.store import open_store\n"
        "with open_store(Path(sys.argv[1])):\n    print('open', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        moved = path.rename(path.with_name("moved.db"))
        with pytest.raises(StoreError, match=rf"in use by process {other.pid} \(.+\) under another name"):
            open_store(moved).__enter__()
        moved.rename(path)
        other.communicate()


def test_a_file_with_several_names_is_refused(path: Path) -> None:
    with open_store(path):
        pass
    other = hard_link(path)
    for name in (path, other):
        with pytest.raises(StoreError, match=r"a database with one name, got: a file with 2 \(hard links\)"):
            open_store(name).__enter__()
    other.unlink()
    with open_store(path):
        pass


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_refused_at_once(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    with pytest.raises(StoreError, match="expected a database"):
        open_store(path).__enter__()


def test_closing_another_descriptor_of_the_file_loses_no_lock(path: Path) -> None:
    with open_store(path):
        path.read_bytes()
        with pytest.raises(StoreError, match="in use by process"):
            open_store(path).__enter__()


# What happens to the file while it is written.


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as store:
        instant.start(store, SETTINGS, path.parent / "logs")
        yield store


def commit(store: Store) -> None:
    instant.start(store, SETTINGS, store.path.parent / "logs", new=True)


def count(path: Path) -> int:
    connection = sqlite3.connect(path)
    (rows,) = connection.execute("SELECT count(*) FROM tournaments").fetchone()
    connection.close()
    return int(rows)


def test_a_database_that_was_deleted_is_an_error_at_the_next_commit(store: Store, path: Path) -> None:
    path.unlink()
    with pytest.raises(StoreError, match=r"was deleted while it was in use - at .*arena\.db; .* are lost"):
        commit(store)


def test_so_is_one_whose_folder_was_deleted(store: Store, path: Path) -> None:
    for file in [*path.parent.glob("arena.db*")]:
        file.unlink()
    with pytest.raises(StoreError, match="was deleted while it was in use"):
        commit(store)


def test_a_database_that_was_renamed_keeps_all(path: Path) -> None:
    moved = path.with_name("moved.db")
    name = f" to {moved}" if sys.platform == "linux" else ""
    told = rf"was renamed{name} while it was in use - at .*arena\.db; give it back its name.* results so far are kept"

    def write() -> None:
        with open_store(path) as store:
            commit(store)
            path.rename(moved)
            commit(store)

    with pytest.raises(StoreError, match=told):
        write()
    assert count(moved) == 2
    assert path.with_name("arena.db-wal").stat().st_size == 0, (
        "a database that comes to that name would be read with it"
    )


def test_a_database_in_whose_place_is_another_is_an_error(store: Store, path: Path) -> None:
    other = path.with_name("other.db")
    with open_store(other):
        pass
    other.replace(path)
    with pytest.raises(StoreError, match="was deleted while it was in use and another file put in its place"):
        commit(store)


def test_a_deleted_write_ahead_log_is_an_error_and_nothing_is_lost(path: Path) -> None:
    def write() -> None:
        with open_store(path) as store:
            commit(store)
            path.with_name("arena.db-wal").unlink()
            commit(store)

    with pytest.raises(StoreError, match=r"write-ahead log to stay .* deleted or replaced .* results so far are kept"):
        write()
    assert count(path) == 2


# A lock of another program.


@pytest.fixture
def locker(path: Path, store: Store) -> Iterator[subprocess.Popen[str]]:
    """Another program that has locked the database for writing until its input ends."""
    script = (
        "import sqlite3, sys\nconnection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\nprint('locked', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_a_commit_waits_for_another_program_and_names_it(
    locker: subprocess.Popen[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "NOTICE_S", 0.0)
    told: list[str] = []

    def tell(sentence: str) -> None:
        told.append(sentence)
        locker.communicate()  # it ends, and the lock with it

    store._db.tell = tell
    commit(store)
    assert len(told) == 1
    if sys.platform == "linux":
        assert told[0].startswith(f"Waiting for process {locker.pid} (")
    assert store._db.execute("SELECT count(*) FROM tournaments").fetchone() == (2,)


def test_a_commit_that_waits_can_be_interrupted(
    locker: subprocess.Popen[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "NOTICE_S", 0.0)
    store._db.tell = lambda sentence: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        commit(store)
    locker.communicate()
    commit(store)


def test_a_database_that_is_locked_when_it_is_opened_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No work is lost then. Only a file that is no database of ours yet can be locked so that it cannot be opened."""
    path = tmp_path / "new.db"
    monkeypatch.setattr(database, "_WAIT", (("busy_timeout", "1", 1),))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="expected a database that no other program has locked"):
        open_store(path).__enter__()
    other.close()
