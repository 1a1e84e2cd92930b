"""Writes the figures for monitoring beside what is published."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from arena.league import metrics
from arena.league.disk import Room
from arena.league.folder import Folder
from arena.store.league import LeagueStore
from arena.store.league.states import State
from arena.tournament.lanes import Played
from arena.types import Payload

EACH_S: Final = 10.0
"""How often they are written."""
FILE: Final = "metrics.prom"


class Figures:
    """Counts what happens, and writes all figures into a file.

    Args:
        store: The league.
        folder: Its folder.
        state: Returns what the service is doing, as `Service.state`.
        room: Returns the room on the disk.
    """

    def __init__(
        self, store: LeagueStore, folder: Folder, state: Callable[[], Payload], room: Callable[[], Room]
    ) -> None:
        self._store = store
        self._folder = folder
        self._state = state
        self._room = room
        self._since = time.time()
        self._outcomes: Counter[str] = Counter()
        self._forfeits: Counter[str] = Counter()
        self._due = 0.0

    def count(self, played: Played) -> None:
        """Counts a game that is over."""
        self._outcomes["void" if played.void else "done"] += 1
        self._forfeits.update(seat.forfeit.code.value for seat in played.result.seats if seat.forfeit is not None)

    def look(self) -> None:
        """Writes the figures, if it is time for that."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EACH_S
        state, room = self._state(), self._room()
        versions = self._store.versions.all()
        states = Counter(version.state for version in versions)
        metrics.write(
            self._folder.published / FILE,
            {
                "arena_league_up_since_seconds": self._since,
                "arena_league_published_seconds": time.time(),
                "arena_league_playing": float(state["state"] == "playing"),
                "arena_league_versions": {str(one): float(states[one]) for one in State},
                "arena_league_games": dict(self._outcomes),
                "arena_league_forfeits": dict(self._forfeits),
                "arena_league_games_running": state["running"],
                "arena_league_matches_planned": len(self._store.matches.running()),
                "arena_league_steps_waiting": sum(version.is_pending for version in versions),
                "arena_league_notices_unread": len(self._store.notices.of(None, unread=True)),
                "arena_league_disk_free_bytes": room.free,
                "arena_league_disk_enough": float(room.enough),
                "arena_league_database_bytes": self._folder.database.stat().st_size,
                "arena_league_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            },
        )
