"""Removes what was built of versions that play no more, and the archives of those that can never play again.

The rule: the built files stay of a version that plays, waits or is being tried, of the last good one of each bot, and
of whoever is in a match that is not over. All others go; should such a version come back, it is built again from its
archive. That goes `KEPT_DAYS` after it is over for the version.

Laws:
1. A folder gets another name before anything in it is removed. So a folder that is there is whole, whatever is killed
   when; what has the other name is removed when a service starts.
2. A few files are removed at a time, so that games go on meanwhile.
3. An archive goes days after the change that ends its version, and after it came: never on the word of a commit that
   the disk may lose with the power, nor between an order and its version.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from arena import files
from arena.league.folder import ARCHIVE, Folder
from arena.league.retention import DAY_S
from arena.link.warden import removing
from arena.parcels import is_digest
from arena.parcels.building import part_of
from arena.store.league import LeagueStore
from arena.store.league.named import archives
from arena.store.store import days_ago
from arena.text import counted

CLEAR_S: Final = 60.0
"""How often it is looked for what is not needed any more."""
KEPT_DAYS: Final = 7
"""How long an archive stays that no version needs: so the operator can look into what was rejected."""
AT_ONCE: Final = 500
"""How many files are removed before the service looks at everything else."""


class Clearing:
    """Removes built files and archives that nobody needs.

    Args:
        store: The league.
        folder: Its folder.
        tell: Called with a sentence when some are removed.
    """

    def __init__(self, store: LeagueStore, folder: Folder, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._tell = tell
        self._due = 0.0
        self._removing: Iterator[None] = iter(())

    def look(self) -> None:
        """Removes some files, if there are such.

        Raises:
            OSError: The system refuses. It is tried again.
        """
        if sum(1 for _ in islice(self._removing, AT_ONCE)):
            return
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + CLEAR_S
        for path in islice(self._unneeded_archives(), AT_ONCE):
            path.unlink(missing_ok=True)
        aside = [_aside(path) for path in self._unneeded()]
        if aside:
            self._removing = chain.from_iterable(removing(str(path)) for path in aside)
            self._tell(f"What was built of {counted(len(aside), 'version')} is removed: no game needs it")

    def _unneeded(self) -> list[Path]:
        needed = {version.digest for version in self._store.versions.in_use()}
        with os.scandir(self._folder.bots) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if is_digest(entry.name) and entry.name not in needed and entry.is_dir(follow_symlinks=False)
            ]

    def _unneeded_archives(self) -> Iterator[Path]:
        needed = {self._folder.archive(digest).name for digest in archives(self._store, days_ago(KEPT_DAYS))}
        before = time.time() - KEPT_DAYS * DAY_S
        with os.scandir(self._folder.submissions) as entries:
            for entry in entries:
                is_archive = is_digest(entry.name.removesuffix(ARCHIVE)) and entry.is_file(follow_symlinks=False)
                if is_archive and entry.name not in needed and entry.stat().st_mtime < before:
                    yield Path(entry.path)


def _aside(path: Path) -> Path:
    """Gives a folder the name of one that is not there, durably, and returns its new path."""
    target = part_of(path)
    files.move(path, target)
    return target
