"""The folder that is a league: where everything of it lies. Whoever copies the folder has the league.

Laws:
1. Names in the folder come from here. What an author chose becomes a part of a path only after its form was checked.
2. One service at a time runs a league. Whether one does is a lock, which the system releases when the service ends,
   however it ends; never a file that a kill leaves behind.
3. What running games send goes to a folder that no database's name leads to. So whoever watches them knows that they
   are a league's, and that their deals are still played.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.core.face import errors, files, locks, places
from arena.league.record.rounds import PUBLISHED

SETTINGS: Final = "league.toml"
"""The file that makes a folder a league."""
ORDER: Final = ".json"
"""Suffix of the name of an order's file."""
ARCHIVE: Final = ".tar.zst"
"""Suffix of the name of an archive."""
ASIDE: Final = ".bad"
"""Suffix of the name of an order's file, or its archive's, that was put aside."""
_LOCK: Final = "run.lock"


class Folder:
    """A league's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = path / SETTINGS
        """Settings that the operator decides."""
        self.database = path / "league.db"
        self.journal = path / "league.log"
        """Log of what the service did."""
        self.inbox = path / "inbox"
        """Orders from this machine: `ID.json`, and `ID.tar.zst` beside it if there is an archive."""
        self.incoming = path / "incoming"
        """The same from the door, on behalf of an author."""
        self.submissions = path / "submissions"
        """The archives of versions that play or may come to it, once for each digest."""
        self.bots = path / "bots"
        """Bots as they were built from the archives. They can always be made again."""
        self.logs = path / "logs"
        """The games' logs as they were written, a folder for each season."""
        self.published = path / PUBLISHED
        """All that the door may read."""
        self.answers = self.published / "answers"
        """The answers to orders: `ID.json`."""
        self.service = self.published / "service.json"
        """Document in which the service tells how it is, from time to time."""
        self.site = path / "site"
        self.door = path / "door"
        """Files of the door: its key, its addresses, the socket to remote bots."""
        self.feed = path / "live"
        """Folder in which watchers wait for the records of running games; it is there while somebody does."""

    @property
    def places(self) -> places.Places:
        """Where it lies, and what runs it: no author is told."""
        found = (self.path.absolute(), self.path.resolve(), sys.prefix, sys.base_prefix)
        return places.Places((str(path), places.ELSEWHERE) for path in found)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder in it."""
        return (
            *(self.inbox, self.incoming, self.submissions, self.bots, self.logs),
            *(self.published, self.answers, self.site, self.door),
        )

    def archive(self, digest: str) -> Path:
        """Returns where the archive of a content is kept."""
        return self.submissions / f"{digest}{ARCHIVE}"

    def built(self, digest: str) -> Path:
        """Returns the folder into which a content is unpacked and built."""
        return self.bots / digest

    def answer(self, order: str) -> Path:
        """Returns where the answer to an order is published."""
        return self.answers / f"{order}.json"

    def orders(self) -> list[Path]:
        """Returns the orders that wait, those from this machine first, each lot with the oldest first."""
        found = []
        for folder in (self.inbox, self.incoming):
            with suppress(OSError):
                found += sorted((path for path in folder.iterdir() if path.suffix == ORDER), key=_age)
        return found

    def make(self) -> None:
        """Makes the folder with all folders in it. Those that are there stay as they are."""
        self.path.mkdir(parents=True, exist_ok=True)
        for folder in self.folders:
            # Archives, logs and orders are the league's business. Bots may run as another user, who must reach theirs.
            is_open = folder in (self.published, self.answers, self.site, self.bots)
            folder.mkdir(mode=0o755 if is_open else 0o700, exist_ok=True)

    def check(self) -> None:
        """Checks that it is the folder of a league.

        Raises:
            ConfigError: It is not. Show the message to the operator.
            StoreError: Its database is missing: whoever opened it to write would make an empty one.
        """
        if not self.settings.is_file():
            raise errors.ConfigError(
                f"expected the folder of a league, with a {SETTINGS}, got: {str(self.path)!r}, which has none; "
                "`arena league init FOLDER` makes one"
            )
        if not self.database.exists():
            raise errors.StoreError(
                f"expected a league's database, got no such file - at {self.database}; `arena league restore` makes a "
                "league anew from a backup"
            )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Holds the lock of the one service that runs this league.

        Raises:
            StoreError: Another one holds it; the message names its process.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self.path / _LOCK, flags, 0o644)
        try:
            if not locks.lock_soon(descriptor):
                holder = os.pread(descriptor, 80, 0).decode(errors="replace").strip() or "another process"
                raise errors.StoreError(
                    f"expected a league that no service runs, got one that {holder} runs - at {self.path}; "
                    "end that one first: a service ends at SIGTERM"
                )
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)

    @property
    def is_running(self) -> bool:
        """Whether a service runs this league now."""
        return locks.is_locked(self.path / _LOCK)

    def settings_text(self) -> str:
        """Returns the text of `league.toml`.

        Raises:
            ConfigError: It cannot be read. Show the message to the operator.
        """
        self.check()
        return files.read_text(self.settings, "the settings of a league", files.MOST_TEXT, errors.ConfigError)


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, path.name
    except OSError:
        return 0.0, path.name
