"""What the service's loop does beside playing: obeys orders, watches the disk, gives signs of life."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from arena.core.face import processor_cores
from arena.league.disk import DiskLimits, DiskWatch, Reserve
from arena.league.folder import Folder
from arena.league.service.inbox import Inbox
from arena.league.service.stopping import Manager
from arena.league.settings import Settings
from arena.league.store import LeagueStore

DISK_S: Final = 5.0
"""How often the room on the disk is measured."""
TIDY_S: Final = 3600.0
"""How often what is old is looked for."""


class OrderDuty:
    """Obeys orders, and knows how many games may be played at a time."""

    def __init__(
        self,
        store: LeagueStore,
        folder: Folder,
        settings: Settings,
        workers: int | None,
        tell: Callable[[str], object],
        then: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._then = then
        self._inbox = Inbox(store, folder, settings, tell)
        self._workers = workers or settings.service.workers or max(1, processor_cores.available_cores() // 2)
        self._tidied = 0.0
        self.paused = store.controls.paused
        self.closing = store.controls.closing is not None

    @property
    def workers(self) -> int:
        """Games at a time."""
        return self._store.controls.workers or self._workers

    @property
    def obeyed(self) -> Mapping[str, int]:
        """By verb how many orders were obeyed or refused."""
        return self._inbox.obeyed

    def look(self) -> None:
        """Obeys orders that wait."""
        if self._inbox.look():
            self.paused = self._store.controls.paused
            self.closing = self._store.controls.closing is not None
            self._then()
        now = time.monotonic()
        if now >= self._tidied + TIDY_S:
            self._tidied = now
            self._inbox.tidy()


class DiskRoom:
    """Watches the disk, and holds the reserve."""

    def __init__(self, folder: Folder, tell: Callable[[str], object]) -> None:
        self._watch = DiskWatch(folder.path, DiskLimits())
        self._reserve = Reserve(folder.path / "reserve")
        self._tell = tell
        self._looked = 0.0
        self.is_short = False
        self.room = self._watch.look()
        """As it was measured last."""

    def look(self) -> None:
        """Measures what is free, now and then."""
        now = time.monotonic()
        if now < self._looked + DISK_S:
            return
        self._looked = now
        room = self.room = self._watch.look()
        if room.enough == self.is_short:
            self.is_short = not room.enough
            self._tell(f"Disk: {room.sentence()}")
        if room.enough:
            self._reserve.hold()

    def give_up_reserve(self) -> None:
        """Frees the reserve, so that what is known can be committed."""
        self._reserve.give_up()


class Health:
    """Tells systemd that the loop goes round."""

    def __init__(self, manager: Manager, line: Callable[[], str]) -> None:
        self._manager = manager
        self._line = line
        self._told = 0.0
        manager.ready()

    def look(self) -> None:
        """Gives a sign of life, if one is due."""
        now = time.monotonic()
        every = self._manager.alive_every_s
        if every is not None and now >= self._told + every:
            self._told = now
            self._manager.alive(self._line())
