"""The bots that were built on a machine of a cluster, in a folder that its workers share.

Laws:
1. A bot is in its place whole or not there: it is built beside it, and renamed.
2. Each digest has a lock. Who builds or removes the bot holds it alone, who plays it holds it with others. The system
   releases a lock when its holder ends, however that happens. So a bot is built once, nobody plays what is removed, and
   what a builder that was killed has left is removed by the next one.
3. The folder is bounded: what nobody plays goes, the longest unused first. A bot that is needed again comes again.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.author.archives import bot_folder, check, is_digest
from arena.author.archives.building import PART, build_archive
from arena.core.face import Level, errors, files, warden
from arena.sandbox.usage import entries_below

MOST_BYTES: Final = 4096 * files.MIB
"""Bytes of all bots that a machine keeps, but for those that are played."""
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class BotCache:
    """The folder, as one player sees it. What it was given stays until its process ends."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        """Makes the folder if it is not there. In it may lie so many bytes that nobody plays.

        Raises:
            MachineFault: Others can write to it, and could change bots.
            OSError: It cannot be made.
        """
        folder.mkdir(mode=0o755, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE:
            raise errors.MachineFault(
                f"expected a folder that only this user writes to, got: {folder}; remove it, or start the worker with "
                "another --local-directory"
            )
        self._folder = folder
        self._most_bytes = most_bytes
        self._held: dict[str, int] = {}
        """Descriptor that has the lock, by the digest of the archive."""

    def take(self, digest: str) -> Path | None:
        """Returns the folder of a bot that was built from the archive with this digest; None if it is not there.

        It waits while another process builds it.

        Raises:
            OSError: The folder cannot be used.
        """
        place = self._folder / digest
        if digest not in self._held:
            lock = self._lock(digest, fcntl.LOCK_SH)
            if not place.is_dir():
                os.close(lock)
                return None
            self._held[digest] = lock
        os.utime(place)
        return bot_folder(place)

    def build(self, digest: str, archive: Path, level: Level) -> Path:
        """Builds a bot from its archive, confined to a level, if it is not there, and returns its folder.

        Raises:
            BotError: It cannot be built here. Show the message to the operator.
            ArchiveError: The archive breaks a rule.
            LevelError: This machine cannot confine the build so.
            MachineFault: The machine is the reason that it could not be built.
            OSError: So too.
        """
        contents = check(archive)
        if contents.digest != digest:
            raise errors.InternalError(f"expected the archive {digest[:12]}…, got: {contents.digest[:12]}…")
        while (folder := self.take(digest)) is None:
            lock = self._lock(digest, fcntl.LOCK_EX)
            try:
                for part in self._folder.glob(f"{digest}.*{PART}"):  # of a process that was killed
                    warden.remove_tree(str(part))
                built = build_archive(archive, contents, self._folder, level)
            finally:
                os.close(lock)
            if built.finding:
                raise errors.BotError(built.finding)
        self._make_room()
        return folder

    def _lock(self, digest: str, kind: int) -> int:
        """Returns a descriptor that has the lock of a digest (BlockingIOError: held, and `kind` forbids waiting)."""
        if not is_digest(digest):
            raise errors.InternalError(f"expected a digest, got: {digest!r:.80}")
        path = self._folder / f"{digest}.lock"
        while True:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            try:
                fcntl.flock(lock, kind)
                if os.fstat(lock).st_ino == path.stat().st_ino:
                    return lock
            except FileNotFoundError:
                pass  # the bot was removed while this waited, and its lock with it
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)

    def _make_room(self) -> None:
        """Removes bots that nobody plays while they are too large together."""
        sizes = {place: _size(place) for place in self._places()}
        total = sum(sizes.values())
        for place in sorted(sizes, key=_last_used):
            if total <= self._most_bytes:
                return
            with suppress(BlockingIOError, FileNotFoundError):
                lock = self._lock(place.name, fcntl.LOCK_EX | fcntl.LOCK_NB)
                try:
                    doomed = place.with_name(f"{place.name}.gone{PART}")
                    place.rename(doomed)
                    warden.remove_tree(str(doomed))
                    total -= sizes[place]
                    (self._folder / f"{place.name}.lock").unlink()
                finally:
                    os.close(lock)

    def _places(self) -> Iterator[Path]:
        return (path for path in self._folder.iterdir() if is_digest(path.name))


def _last_used(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(place: Path) -> int:
    size = 0
    for entry in entries_below(place):
        with suppress(OSError):
            size += entry.stat(follow_symlinks=False).st_size
    return size
