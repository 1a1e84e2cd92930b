"""Makes sure that one process writes a database, and that the database stays where it is.

Laws:
1. The lock is on the file that is opened, whatever name it was opened by. It is a lock of an open file description, on
   a byte that SQLite never locks. The locks that SQLite takes itself belong to the process, and the system drops all of
   them as soon as the process closes any descriptor of the file. So ours is opened before SQLite's and closed after
   them, and a writing process opens the file in no other way.
2. A second lock is on `FILE-lock` beside the file. It names the holder, and protects a writer where the system has no
   locks of the first kind (macOS). It also protects the name: SQLite finds the write-ahead log by it, so another file
   that is put in the place of a database in use would be read with a log that is not its own.
3. A file with several names (hard links) is refused. Each name has a write-ahead log of its own, so what a run that was
   killed has stored under one name is missing under the other.
4. After each commit the database and its log must still be the files of their names. What is written to a file that
   was deleted is lost, and nobody would notice until the end.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.core import remedies
from arena.core.errors import StoreError

_BYTE: Final = 2**62  # the byte that is locked: SQLite locks some at 2**30, and no database is as long as this
_LOCK: Final = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0)
"""The system's `struct flock` for a writer's lock of it."""
_PLAIN: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""For opening a file that may be something else: never follow a link, never wait for the other end of a pipe."""

_LOOK_S: Final = 0.5  # much longer than a look at a lock takes, on a busy machine too
_IN_USE: Final = "wait for it to end, or give another file with --db"
_AGAIN: Final = "give the same command again"


class Held:
    """A database that this process alone may write. `locked` makes it."""

    def __init__(self, path: Path, file: Path, descriptor: int) -> None:
        """Takes the path as the operator gave it, the file that it leads to, and the open and locked file."""
        self._path = path
        self._file = file
        self._wal = file.with_name(file.name + "-wal")
        self._descriptor = descriptor
        self._opened = os.fstat(descriptor)
        self._opened_wal: os.stat_result | None = None

    def check(self) -> None:
        """Checks that the database and its write-ahead log are still the files of their names. Call it after a commit.

        Raises:
            StoreError: One is gone. What was just committed may be lost: do not announce it.
        """
        if (found := _stat(self._file)) is None or not os.path.samestat(found, self._opened):
            raise self._lost()
        wal = _stat(self._wal)
        if self._opened_wal is None:
            self._opened_wal = wal
        if wal is None or self._opened_wal is None or not os.path.samestat(wal, self._opened_wal):
            raise StoreError(
                f"expected the database's write-ahead log to stay beside it, got: it was deleted or replaced while it "
                f"was in use - at {self._wal}; {_AGAIN}. All results so far are kept: they are in the database"
            )

    def _lost(self) -> StoreError:
        """Returns the error for a database that is not where it was: what happened, what is kept, what to do."""
        replaced = " and another file put in its place" if _stat(self._file) else ""
        if os.fstat(self._descriptor).st_nlink == 0:
            return StoreError(
                f"expected the database to stay where it is, got: it was deleted while it was in use{replaced} "
                f"- at {self._path}; go back to a copy of it, or {_AGAIN}, which begins anew. The results in it are "
                "lost; the logs of its games are kept"
            )
        return StoreError(
            f"expected the database to stay where it is, got: it was renamed{_name(self._descriptor)} while it was in "
            f"use{replaced} - at {self._path}; give it back its name, and {_AGAIN}. All results so far are kept in it"
        )


@contextmanager
def locked(path: Path) -> Iterator[Held]:
    """Holds the locks of the database's only writer. The system releases them when the process ends, however it ends.

    The database is made, empty, if there is none.

    The lock file is removed before its lock is released. A process that had opened it before then locks a file that no
    other process can find: so after locking, a process checks that the file still has its name.

    Raises:
        StoreError: Another process holds one; the message names it if it is known. Or the file cannot be used.
    """
    file = path.resolve()
    lock = file.with_name(file.name + "-lock")
    named = _lock_name(lock, path)
    try:
        os.ftruncate(named, 0)
        with suppress(OSError):  # the holder's name only helps people; a full disk may have no room for it
            os.write(named, f"process {os.getpid()} ({Path(sys.argv[0]).name})\n".encode(errors="replace"))
        descriptor = _lock_file(file, path)
        try:
            yield Held(path, file, descriptor)
        finally:
            os.close(descriptor)
    finally:
        with suppress(OSError):
            if _is_at(named, lock):
                lock.unlink()
        os.close(named)


def is_written_to(path: Path) -> bool:
    """Says whether a process holds the lock of the database's only writer."""
    file = path.resolve()
    return is_locked(file.with_name(file.name + "-lock"))


def lock_soon(descriptor: int) -> bool:
    """Locks a file for this process alone. Returns False if another holds it, and not only for the moment of a look.

    `is_locked` has to take a lock itself to find out: whoever starts at that instant must not be turned away by it.
    """
    end = time.monotonic() + _LOOK_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
        time.sleep(_LOOK_S / 20)


def is_locked(file: Path) -> bool:
    """Says whether a process holds a lock on a file. A file that is not there is not locked."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def holder(path: Path, but: int | None = None) -> str:
    """Returns which process holds a lock of SQLite on a database, or "another program" if that is not known.

    Args:
        but: A process that is not meant.
    """
    file = path.resolve()
    locks = (_locks(file.with_name(file.name + suffix)) for suffix in ("-shm", ""))
    for pid in (pid for found in locks for pid in found if pid != but):
        with suppress(OSError):
            return f"process {pid} ({Path(f'/proc/{pid}/comm').read_text(errors='replace').strip()})"
    return "another program"


def _locks(file: Path) -> Iterator[int]:
    """Yields the processes that hold a POSIX lock on a file, those that write first. None where the system is silent.

    A line of the system's table: `3: POSIX  ADVISORY  WRITE 4711 fe:01:131090 120 120`.
    """
    found = _stat(file)
    if found is None:
        return
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        table = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return
    for kind in ("WRITE", "READ"):
        yield from (int(row[4]) for row in table if row[1:4:2] == ["POSIX", kind] and row[5] == place)


def _lock_name(lock: Path, path: Path) -> int:
    """Opens and locks the lock file, making it if needed. Returns its descriptor."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _PLAIN, 0o644)
        except OSError as error:
            if error.errno in remedies.DESCRIPTORS:
                raise
            raise StoreError(
                f"expected a folder that can be written to, got: {error.strerror} - at {lock}; give another --db"
            ) from error
        try:
            if not lock_soon(descriptor):
                raise _in_use(os.read(descriptor, 200).decode(errors="replace").strip() or "another process", path)
            if _is_at(descriptor, lock):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock_file(file: Path, path: Path) -> int:
    """Opens and locks the database itself, making it if needed. Returns its descriptor."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | _PLAIN, 0o644)
    except OSError as error:
        if error.errno in remedies.DESCRIPTORS:
            raise
        raise StoreError(
            f"expected a database that can be opened and written, got: {error.strerror} - at {path}; change the "
            "permissions of the file and its folder, or give another file with --db"
        ) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"expected a database, got no regular file - at {path}; give another file with --db")
        if hasattr(fcntl, "F_OFD_SETLK"):
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _LOCK)
        if status.st_nlink > 1:
            raise StoreError(
                f"expected a database with one name, got: a file with {status.st_nlink} (hard links) - at {path}; "
                "remove the other names, or copy the file and give the copy with --db: results that were stored under "
                "another name may be missing under this one"
            )
    except BaseException as error:
        trouble = _in_use(f"{holder(path)} under another name", path) if isinstance(error, BlockingIOError) else error
        os.close(descriptor)
        raise trouble from None
    return descriptor


def _in_use(holder: str, path: Path) -> StoreError:
    return StoreError(
        f"expected a database that nobody else writes to, got one in use by {holder} - at {path}; {_IN_USE}"
    )


def _is_at(descriptor: int, path: Path) -> bool:
    found = _stat(path)
    return found is not None and os.path.samestat(os.fstat(descriptor), found)


def _stat(path: Path) -> os.stat_result | None:
    """Returns what is at a path, or None if it cannot be reached."""
    try:
        return path.stat()
    except OSError:
        return None


def _name(descriptor: int) -> str:
    """Returns the present name of an open file as ` to NAME`, or "" where the system does not tell."""
    try:
        return f" to {os.readlink(f'/proc/self/fd/{descriptor}')}"
    except OSError:
        return ""
