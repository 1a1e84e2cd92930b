"""Figures of a league for monitoring, in the text format of Prometheus: one table says which there are.

The service writes them into a file with all else that it publishes. There is no server: whoever wants them reads the
file, such as Prometheus' node exporter. `docs/league-running.md` has the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from arena import files
from arena.errors import InternalError

if TYPE_CHECKING:
    from prometheus_client.core import Metric as Family


class Metric(msgspec.Struct, frozen=True):
    """A figure."""

    name: str
    """Without the ending `_total` that counters get in the file."""
    kind: Literal["gauge", "counter"]
    """A counter only grows, but for a restart of the service."""
    help: str
    label: str = ""
    """What it is told apart by, if anything."""


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
    Metric("arena_league_games_to_rate_again", "gauge", "Games whose ratings are still to be made again"),
    Metric("arena_league_machine_faults", "counter", "Faults of the machine, since the service began"),
    Metric("arena_league_disk_free_bytes", "gauge", "Room on the league's disk"),
    Metric("arena_league_disk_free_files", "gauge", "Files that the league's disk can still take, if it has a limit"),
    Metric("arena_league_disk_enough", "gauge", "1 if there is room enough for games and submissions"),
    Metric("arena_league_logs_bytes", "gauge", "What all logs take of the disk"),
    Metric("arena_league_database_bytes", "gauge", "Size of the database"),
    Metric("arena_league_memory_bytes", "gauge", "The most memory that the service's own process has had"),
    Metric("arena_door_open", "gauge", "1 if the door is open; 0 if not, and then nothing else is said of it"),
    Metric("arena_door_connections", "gauge", "Connections that are open"),
    Metric("arena_door_messages", "counter", "Messages of authors, since the door was opened"),
    Metric("arena_door_refused", "counter", "Requests that were refused, since the door was opened", "code"),
    Metric("arena_door_turned_away", "counter", "Connections with unknown keys, or too many of a known one"),
    Metric("arena_door_closed", "counter", "Connections that were closed, since the door was opened", "why"),
    Metric("arena_door_falls", "counter", "How often the door fell over and was opened again"),
    Metric("arena_door_remote_bots", "gauge", "Remote bots that are served"),
    Metric("arena_door_memory_bytes", "gauge", "The most memory that the door's process has had"),
)
"""All that there are."""

Values: TypeAlias = Mapping[str, float | Mapping[str, float]]
"""By name of a metric its value; of one with a label a map from the label's values. Any may be left out."""


def text(values: Values) -> bytes:
    """Returns the figures in the text format.

    Raises:
        InternalError: One is not in the table, or has a label that it should not have, or lacks it.
    """
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.registry import Collector

    if unknown := values.keys() - {metric.name for metric in METRICS}:
        raise InternalError(f"expected a metric of the table, got: {', '.join(sorted(unknown))}")

    class Collected(Collector):
        def collect(self) -> Iterator[Family]:
            return _families(values)

    registry = CollectorRegistry()
    registry.register(Collected())
    return generate_latest(registry)


def _families(values: Values) -> Iterator[Family]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kinds = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily}
    for metric in METRICS:
        if (value := values.get(metric.name)) is None:
            continue
        if isinstance(value, Mapping) != bool(metric.label):
            raise InternalError(f"expected {metric.name} with the label {metric.label or 'none'}, got: {value!r}")
        family = kinds[metric.kind](metric.name, metric.help, labels=[metric.label] if metric.label else None)
        if isinstance(value, Mapping):
            for label, one in sorted(value.items()):
                family.add_metric([label], one)
        else:
            family.add_metric([], value)
        yield family


def write(path: Path, values: Values) -> None:
    """Writes the figures into a file, in one step, so that nobody reads half of them.

    Raises:
        OSError: It cannot be written.
    """
    files.write(path, text(values))
