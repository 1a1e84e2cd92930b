"""Plays a tournament from its commitment to its standings. The commands print what happens here.

Laws:
1. The order is that of `protocol/CHANCE.md`, and each step is durable before the next begins: whoever stops between two
   events, or is killed, goes on with the same call.
2. An event is yielded once it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec

from arena.core.ratings.running import Rating
from arena.core.referee.feed import feed_folder
from arena.core.referee.worker import attend, play
from arena.core.standings.closing import close
from arena.core.standings.report import Report
from arena.core.store.records import Played
from arena.core.store.store import Store
from arena.core.tournament.lanes import Worker
from arena.core.tournament.plan import Begun, begin, fix_chance
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Runner
from arena.core.tournament.scarce import ScarceUse
from arena.core.tournament.schedule import PlacedRound
from arena.core.tournament.settings import Setup
from arena.core.tournament.steering import steered
from arena.core.tournament.workers import available_cores, games_at_a_time, local_worker


class Planned(msgspec.Struct, frozen=True):
    """A round was planned, because the results that it depends on were there."""

    placed: PlacedRound
    """The round. Its `end` is the number of games that are planned so far."""
    in_rounds: bool
    """Whether a round ends before the next is planned, as people know it of Swiss and knockout."""


class Stopped(msgspec.Struct, frozen=True):
    """`arena tournament stop` stopped it. All results are kept."""

    tournament: str


class Finished(msgspec.Struct, frozen=True):
    """All games are played, the secret is revealed and the ratings are stored."""

    report: Report


Event: TypeAlias = Begun | Planned | Played | Stopped | Finished
"""Something that happened. The first is `Begun`, the last `Finished` or `Stopped`."""


def play_tournament(
    store: Store,
    setup: Setup,
    logs: Path,
    *,
    concurrency: int | None = None,
    worker: Worker | None = None,
    same_worker: bool = False,
    beacon_value: str | None = None,
    new: bool = False,
    starts: Sequence[Rating] = (),
    tell: Callable[[str], None] = lambda sentence: None,
) -> Generator[Event, None, None]:
    """Begins or continues a tournament, plays it, and closes it.

    Whoever leaves the loop early drops the games that run, and keeps all others. Close the iterator then
    (`contextlib.closing`). After `Begun` the commitment is published, and no bot has been started.

    Args:
        store: The database; it keeps everything.
        setup: The settings and the bots.
        logs: The folder in which the tournament's own folder of logs is made.
        concurrency: Games at a time; None means as many as there are cores for.
        worker: Starts a worker; None means a process on this machine.
        same_worker: Whether a cluster plays the games of a match on one worker.
        beacon_value: The value of the public beacon that the settings name, once it is out.
        new: Whether to begin anew although a tournament with these settings is unfinished.
        starts: By entrant the running rating that it begins with; empty if nobody was rated before.
        tell: Called with a sentence about each order from another terminal.

    Raises:
        ArenaError: It cannot be played, or not to its end. The message says why, and what to do.
    """
    at_a_time = games_at_a_time(concurrency, setup.cores)
    begun = begin(store, setup.settings, setup.specs, logs, new=new, starts=starts)
    yield begun
    tournament = fix_chance(store, begun.tournament, setup.specs, beacon_value)
    schedule = schedule_of(store, tournament, setup.settings)
    with steered(store.path, tournament.id, at_a_time, tell) as directions:
        runner = Runner(
            store,
            tournament,
            schedule,
            partial(setup.job, tournament, feed=str(feed_folder(store.path))),
            play,
            worker or local_worker,
            directions,
            processes=setup.settings.processes,
            on_overload=setup.settings.on_overload,
            ahead=worker is None and at_a_time < available_cores(),
            attend=attend,
            same_worker=same_worker,
            room=ScarceUse([spec.uses for spec in setup.specs], setup.most, schedule.game),
        )
        for event in runner.events():
            yield event if isinstance(event, Played) else Planned(event, schedule.in_rounds)
    if directions.stopping:
        yield Stopped(tournament.id)
    else:
        yield Finished(close(store, tournament))
