"""Writes the figures for monitoring beside what is published."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from arena.disk import Room
from arena.door.health import health
from arena.league import metrics
from arena.league.folder import Folder
from arena.league.housekeeping import LogSize
from arena.league.waits import longest_wait
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
        players: The numbers of players that matches may have.
        doing: Returns what the service is doing, as `Service.state`.
        room: Returns the room on the disk.
        orders: Returns by verb how many orders were obeyed.
    """

    def __init__(
        self,
        store: LeagueStore,
        folder: Folder,
        players: Sequence[int],
        doing: Callable[[], Payload],
        room: Callable[[], Room],
        orders: Callable[[], Mapping[str, int]],
    ) -> None:
        self._store = store
        self._folder = folder
        self._players = players
        self._doing = doing
        self._room = room
        self._orders = orders
        self._logs = LogSize(store, folder)
        self._since = time.time()
        self._outcomes: Counter[str] = Counter()
        self._forfeits: Counter[str] = Counter()
        self._due = 0.0

    def count(self, played: Played) -> None:
        """Counts a game that is over."""
        self._outcomes["void" if played.void else "done"] += 1
        self._forfeits.update(seat.forfeit.code.value for seat in played.result.seats if seat.forfeit is not None)

    def state(self) -> Payload:
        """Returns what the service says about itself in `service.json`."""
        return {**self._doing(), "logs_bytes": self._logs.bytes()}

    def look(self) -> None:
        """Writes the figures, if it is time for that."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EACH_S
        metrics.write(self._folder.published / FILE, self.values())

    def values(self) -> metrics.Values:
        """Returns all figures as they are now."""
        store = self._store
        state, room = self.state(), self._room()
        versions = store.versions.all()
        states = Counter(version.state for version in versions)
        wait = longest_wait(store.facts.standing(), store.matches.count(), self._players)
        remade = store.remaking.state()
        return {
            "arena_league_up_since_seconds": self._since,
            "arena_league_published_seconds": time.time(),
            "arena_league_playing": float(state["state"] == "playing"),
            "arena_league_versions": {str(one): float(states[one]) for one in State},
            "arena_league_games": dict(self._outcomes),
            "arena_league_forfeits": dict(self._forfeits),
            "arena_league_games_running": state["running"],
            "arena_league_matches_planned": len(store.matches.running()),
            "arena_league_longest_wait_rounds": wait.rounds,
            "arena_league_steps_waiting": sum(version.is_pending for version in versions),
            "arena_league_orders": dict(self._orders()),
            "arena_league_orders_waiting": len(self._folder.orders()),
            "arena_league_notices_unread": len(store.notices.of(None, unread=True)),
            "arena_league_games_to_rate_again": remade.left if remade else 0,
            "arena_league_machine_faults": state["machine_faults"],
            "arena_league_disk_free_bytes": room.free,
            **({} if room.free_files is None else {"arena_league_disk_free_files": room.free_files}),
            "arena_league_disk_enough": float(room.enough),
            "arena_league_logs_bytes": state["logs_bytes"],
            "arena_league_database_bytes": self._folder.database.stat().st_size,
            "arena_league_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            **self._door(),
        }

    def _door(self) -> metrics.Values:
        door = health(self._folder.path)
        if door is None:
            return {"arena_door_open": 0}
        return {
            "arena_door_open": 1,
            "arena_door_connections": door.connections,
            "arena_door_messages": door.messages,
            "arena_door_refused": door.refused,
            "arena_door_turned_away": door.turned_away,
            "arena_door_closed": door.closed,
            "arena_door_falls": door.falls,
            "arena_door_remote_bots": door.remote,
            "arena_door_memory_bytes": door.memory_bytes,
        }
