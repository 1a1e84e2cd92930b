"""Writes the figures for monitoring, in the text format of Prometheus: one table says which there are.

The service writes them into a file with all else that it publishes. There is no server: whoever wants them reads the
file, such as Prometheus' node exporter. `docs/league-running.md` has the table.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from arena.core.face import Payload, errors, files, game_rows
from arena.league.disk import DiskRoom
from arena.league.door.health import health
from arena.league.folder import Folder
from arena.league.keeping.housekeeping import Tidy
from arena.league.matches.planning import longest_wait
from arena.league.store import LeagueStore
from arena.league.store.states import State

EACH_S: Final = 10.0
"""The time from one writing of them to the next."""
FILE: Final = "metrics.prom"


class Figures(msgspec.Struct, eq=False):
    """Counts what happens, and writes all figures into a file.

    Args:
        players: The numbers of players that matches may have.
        doing: Returns what the service is doing, as `Service.state`.
        orders: By verb how many orders were obeyed.
        logs: What knows the size of all logs.
    """

    store: LeagueStore
    folder: Folder
    players: Sequence[int]
    doing: Callable[[], Payload]
    room: DiskRoom
    orders: Mapping[str, int]
    logs: Tidy
    _since: float = msgspec.field(default_factory=lambda: time.time())
    _outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    _forfeits: Counter[str] = msgspec.field(default_factory=Counter)
    _due: float = 0.0

    def count(self, played: game_rows.Played) -> None:
        """Counts a game that is over."""
        self._outcomes["void" if played.void else "done"] += 1
        self._forfeits.update(seat.forfeit.code.value for seat in played.result.seats if seat.forfeit is not None)

    def state(self) -> Payload:
        """Returns what the service says about itself in `service.json`."""
        return {**self.doing(), "logs_bytes": self.logs.bytes}

    def look(self) -> None:
        """Writes the figures, if it is time for that."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EACH_S
        files.write(self.folder.published / FILE, text(self.values()))

    def values(self) -> Values:
        """Returns all figures as they are now."""
        store = self.store
        state, room = self.state(), self.room.room
        versions = store.versions.all()
        states = Counter(version.state for version in versions)
        wait = longest_wait(store.facts.standing(), store.matches.count(), self.players)
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
            "arena_league_orders": dict(self.orders),
            "arena_league_orders_waiting": len(self.folder.orders()),
            "arena_league_notices_unread": len(store.notices.of(None, unread=True)),
            "arena_league_machine_faults": state["machine_faults"],
            "arena_league_disk_free_bytes": room.free,
            **({} if room.free_files is None else {"arena_league_disk_free_files": room.free_files}),
            "arena_league_disk_enough": float(room.enough),
            "arena_league_logs_bytes": state["logs_bytes"],
            "arena_league_database_bytes": self.folder.database.stat().st_size,
            "arena_league_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            **self._door(),
        }

    def _door(self) -> Values:
        door = health(self.folder.path)
        if door is None:
            return {"arena_door_open": 0}
        same = ("connections", "messages", "refused", "turned_away", "closed", "falls", "memory_bytes")
        figures: Values = {f"arena_door_{name}": getattr(door, name) for name in same}
        return {"arena_door_open": 1, **figures, "arena_door_remote_bots": door.remote}


class Metric(msgspec.Struct, frozen=True):
    """A figure."""

    name: str
    """Without the ending `_total` that counters get in the file."""
    kind: Literal["gauge", "counter"]
    """A counter only grows, but for a restart of the service."""
    help: str
    label: str = ""
    """The name of its label; empty if it has none."""


METRICS: Final = (
    Metric("arena_league_up_since_seconds", "gauge", "When the service began, in seconds since 1970"),
    Metric("arena_league_published_seconds", "gauge", "When this file was written, in seconds since 1970"),
    Metric("arena_league_playing", "gauge", "1 if games begin; 0 if paused, stopping, or out of disk"),
    Metric("arena_league_versions", "gauge", "Versions in each state", "state"),
    Metric("arena_league_games", "counter", "Games that are over, since the service began", "outcome"),
    Metric("arena_league_forfeits", "counter", "Seats that forfeited, since the service began", "code"),
    Metric("arena_league_games_running", "gauge", "Games that are being played"),
    Metric("arena_league_matches_planned", "gauge", "Matches that are chosen and not over"),
    Metric("arena_league_longest_wait_rounds", "gauge", "The longest wait of a version for a match, in rounds"),
    Metric("arena_league_steps_waiting", "gauge", "Submissions that wait to be built, checked or tried"),
    Metric("arena_league_orders", "counter", "Orders that were obeyed or refused, since the service began", "verb"),
    Metric("arena_league_orders_waiting", "gauge", "Orders that wait to be obeyed"),
    Metric("arena_league_notices_unread", "gauge", "Notices for the operator that nobody has read"),
    Metric("arena_league_machine_faults", "counter", "Faults of the machine, since the service began"),
    Metric("arena_league_disk_free_bytes", "gauge", "Room on the league's disk"),
    Metric("arena_league_disk_free_files", "gauge", "Files that the league's disk can still take, if it has a limit"),
    Metric("arena_league_disk_enough", "gauge", "1 if there is room enough for games and submissions"),
    Metric("arena_league_logs_bytes", "gauge", "What all logs take of the disk"),
    Metric("arena_league_database_bytes", "gauge", "Size of the database"),
    Metric("arena_league_memory_bytes", "gauge", "The most memory that the service's own process has had"),
    Metric("arena_door_open", "gauge", "1 if the door is open; 0 if not, and then nothing else is said of it"),
    Metric("arena_door_connections", "gauge", "Connections that are open"),
    Metric("arena_door_messages", "counter", "Requests, and messages of remote bots, since the door was opened"),
    Metric("arena_door_refused", "counter", "Requests that were refused, since the door was opened", "code"),
    Metric("arena_door_turned_away", "counter", "Requests without a token that is known"),
    Metric("arena_door_closed", "counter", "Connections that were closed, since the door was opened", "why"),
    Metric("arena_door_falls", "counter", "How often the door fell over and was opened again"),
    Metric("arena_door_remote_bots", "gauge", "Remote bots that are served"),
    Metric("arena_door_memory_bytes", "gauge", "The most memory that the door's process has had"),
)

Values: TypeAlias = Mapping[str, float | Mapping[str, float]]
"""By name of a metric its value; of one with a label a map from the label's values. Any may be left out."""


def text(values: Values) -> bytes:
    """Returns the figures in the text format.

    Raises:
        InternalError: One is not in the table, or has a label that it should not have, or lacks it.
    """
    if unknown := values.keys() - {metric.name for metric in METRICS}:
        raise errors.InternalError(f"expected a metric of the table, got: {', '.join(sorted(unknown))}")
    lines: list[str] = []
    for metric in METRICS:
        if (value := values.get(metric.name)) is None:
            continue
        if isinstance(value, Mapping) != bool(metric.label):
            raise errors.InternalError(
                f"expected {metric.name} with the label {metric.label or 'none'}, got: {value!r}"
            )
        name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
        lines += [f"# HELP {name} {metric.help}", f"# TYPE {name} {metric.kind}"]
        if isinstance(value, Mapping):
            lines += [f'{name}{{{metric.label}="{_escaped(label)}"}} {one}' for label, one in sorted(value.items())]
        else:
            lines.append(f"{name} {value}")
    return ("\n".join(lines) + "\n").encode()


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
