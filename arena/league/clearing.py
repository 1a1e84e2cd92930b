"""Removes what was built of versions that play no more.

The rule: the files stay of a version that plays, waits or is being tried, of the last good one of each bot, and of
whoever is in a match that is not over. All others go; should such a version come back, it is built again.

Laws:
1. A folder gets another name before anything in it is removed. So a folder that is there is whole, whatever is killed
   when; what has the other name is removed when a service starts.
2. A few files are removed at a time, so that games go on meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from arena import files
from arena.league.folder import Folder
from arena.link.warden import removing
from arena.parcels import is_digest
from arena.parcels.building import part_of
from arena.store.league import LeagueStore
from arena.text import counted

CLEAR_S: Final = 60.0
"""How often it is looked for what is not needed any more."""
AT_ONCE: Final = 500
"""How many files are removed before the service looks at everything else."""


class Clearing:
    """Removes built files that nobody needs.

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


def _aside(path: Path) -> Path:
    """Gives a folder the name of one that is not there, durably, and returns its new path."""
    target = part_of(path)
    files.move(path, target)
    return target
