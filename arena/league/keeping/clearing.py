"""Removes what was built of versions that play no more, and the archives of those that can never play again.

It knows as well which versions are to be built again: those that play, or are being tried, and whose built files are
not there. After a restore that is all of them. Later it is one that comes back after its files were removed.

The rule: the built files stay of a version that plays, waits or is being tried, of the last good one of each bot, and
of whoever is in a match that is not over. All others go; should such a version come back, it is built again from its
archive. That goes `KEPT_DAYS` after it is over for the version.

Laws:
1. A folder gets another name before anything in it is removed. So a folder that is there is whole, whatever is killed
   when; what has the other name is removed when a service starts.
2. A few files are removed at a time, so that games go on meanwhile.
3. An archive goes days after the change that ends its version, and after it came: never on the word of a commit that
   the disk may lose with the power, nor between an order and its version.
4. What is to be built again is found whenever a version's state has changed, so that no match is planned before its
   bots are there. One that the machine cannot build rests, longer each time, and holds up nobody else.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from arena.author.archives import is_digest
from arena.author.archives.building import PART, part_of
from arena.core.face import counted, files, warden
from arena.league.folder import ARCHIVE, Folder
from arena.league.keeping import calendar
from arena.league.keeping.retention import DAY_S, GameFiles
from arena.league.settings import Settings
from arena.league.store import LeagueStore
from arena.league.store.records import Season, Version
from arena.league.store.states import State

CLEAR_S: Final = 60.0
"""Seconds between two searches for unneeded files."""
LONGEST_REST_S: Final = 600.0
"""The longest rest, in seconds, before a step is tried again after faults of the machine."""
_LOOK_S: Final = 10.0
"""Seconds between two looks without a change: somebody may have removed files by hand."""
KEPT_DAYS: Final = 7
"""Days that an archive stays which no version needs, so that the operator can look into what was rejected."""
AT_ONCE: Final = 500
"""The most files that are removed before the service looks at everything else."""


class Clearing:
    """Removes built files and archives that nobody needs."""

    def __init__(self, store: LeagueStore, folder: Folder, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._tell = tell
        self._due = 0.0
        self._removing: Iterator[None] = iter(())

    def look(self) -> None:
        """Removes some files, if there are such. Raises OSError: the system refuses. It is tried again."""
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
            self._removing = chain.from_iterable(warden.removing(str(path)) for path in aside)
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
        before = calendar.now(self._store) - KEPT_DAYS * DAY_S
        needed = {self._folder.archive(digest).name for digest in self._store.versions.archives(calendar.text(before))}
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


class Lost:
    """The versions that are to be built again.

    Args:
        is_built: Says whether what a version is started from is there.
    """

    def __init__(self, store: LeagueStore, is_built: Callable[[Version], bool]) -> None:
        self._store = store
        self._is_built = is_built
        self._found: dict[int, Version] = {}
        self._tries: Counter[int] = Counter()
        """Number of tries to build each version again."""
        self._rests: dict[int, float] = {}
        """Backoff of each version: until when that is not retried."""
        self._mark = -1
        self._due = 0.0
        self._at_first = set(self._now)

    @property
    def names(self) -> frozenset[str]:
        """The names of those that play but for their files: no game of theirs should be planned."""
        return frozenset(version.name for version in self._now.values() if version.state is State.ACTIVE)

    @property
    def untried(self) -> bool:
        """Whether one was not tried yet to build again: who plays a final is not known before that."""
        return any(not self._tries[id] for id in self._now)

    @property
    def untried_at_first(self) -> bool:
        """Whether one of those that were lost at the start was not tried yet: no game should begin."""
        return any(not self._tries[id] for id in self._at_first & self._now.keys())

    def __contains__(self, id: int) -> bool:
        return id in self._now

    def next(self, now: float) -> Version | None:
        """Returns the one to build now, those first that were tried least."""
        ready = [version for id, version in self._now.items() if self._rests.get(id, now) <= now]
        return min(ready, key=lambda version: self._tries[version.id], default=None)

    def tried(self, version: Version, *, again: bool) -> None:
        """Notes that it was tried to build one. It is tried `again` after a while if the machine could not do it."""
        self._tries[version.id] += 1
        if again:
            self._rests[version.id] = time.monotonic() + min(2.0 ** self._tries[version.id], LONGEST_REST_S)
        self._mark = -1  # something may be built now: it is looked anew

    @property
    def _now(self) -> dict[int, Version]:
        """Which there are: found out anew, if that may have changed."""
        mark, now = self._store.versions.mark(), time.monotonic()
        if mark == self._mark and now < self._due:
            return self._found
        self._mark, self._due = mark, now + _LOOK_S
        needed = [
            *self._store.versions.active(),
            *(one for one in self._store.versions.pending() if one.state in (State.CHECKING, State.QUALIFYING)),
        ]
        self._found = {version.id: version for version in needed if not self._is_built(version)}
        self._tries = Counter({id: self._tries[id] for id in self._found})
        self._rests = {id: until for id, until in self._rests.items() if id in self._found}
        return self._found


def clean_up(store: LeagueStore, folder: Folder, settings: Settings, season: Season) -> None:
    """Gives back what a service that was killed held, and removes what it left half done."""
    logs = folder.logs / season.tournament
    logs.mkdir(parents=True, exist_ok=True)
    game_files = GameFiles([logs])
    most_seats = max(settings.game.players)
    for game in store.games.resume(season.tournament, str(logs)):  # a copy writes none into another league
        game_files.remove(game, most_seats)
    for part in folder.bots.glob(f"*{PART}"):
        warden.remove_tree(str(part))
    for each in (logs, folder.submissions, *(Path(top) for top, _, _ in os.walk(folder.published))):
        files.remove_unfinished(each)
