"""Runs a league: obeys orders, takes submissions through their steps, plays matches, rates, publishes.

Laws:
1. One process, one thread, one loop; it is the only writer of the database. What takes long is done by workers.
2. Everything that it must know after a kill is in the database or in files before it goes on. The loop keeps only what
   can be found out again.
3. Nothing that a bot, an author or the machine does ends it. A fault of the machine makes it wait and say so.
4. Asked to stop, it begins nothing, gives the running games a time, gives back what it holds, publishes, and ends.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import msgspec

from arena.core.face import Payload, counted, errors, game_rows, lane_kit, stores
from arena.league.disk import DiskRoom
from arena.league.matches.planning import Planner
from arena.league.matches.supply import MatchGames
from arena.league.public.publishing import Publishing
from arena.league.season.ending import Ending
from arena.league.service.inbox import OrderDuty
from arena.league.service.stopping import Stopping
from arena.league.submissions.requested import Requested
from arena.league.submissions.step_runner import StepRunner, StepWorker

POLL_S: Final = 0.2
"""Seconds that the loop waits for a game to end before it looks at everything else."""
PATIENCE_S: Final = 60.0
REPORT_S: Final = 60.0
"""Seconds between two sums of the games that were played."""
_LOOKS: Final = 12
"""Over how many looks at its state the rate of games is taken."""
STEPS_SHARE: Final = 0.5
"""The part of the time that steps have while games wait; games have the rest while submissions wait."""


class Duty(Protocol):
    """Something that the loop does again and again."""

    def look(self) -> object:
        """Does what is due. It returns soon."""


class Ended(msgspec.Struct, frozen=True):
    """How a run of the service ended."""

    games: int
    """Rated games that it played."""
    dropped: int
    """Games that ran and were not waited for. They are played again."""
    idle: str = ""
    """Why no more could be played, if that is why it ended; else empty."""
    closing: bool = False
    """Whether it ended because the season can be closed."""


class Service(msgspec.Struct, eq=False):
    """The loop.

    Args:
        duties: What else there is to do, beside what the arguments before it do.
        patience_s: How long running games may take once it is asked to stop.
        watch: Called with its state in each turn, if anybody wants to see it.
        requested: What plays what authors ask for, and whether it does so beside rated games. Else it begins when a
            worker has none.
    """

    supply: MatchGames
    lanes: lane_kit.Lanes
    step_worker: StepWorker
    planner: Planner
    ending: Ending
    step_runner: StepRunner
    orders: OrderDuty
    room: DiskRoom
    publisher: Publishing
    duties: tuple[Duty, ...]
    tell: Callable[[str], object]
    patience_s: float = PATIENCE_S
    watch: Callable[[Payload], object] | None = None
    requested: tuple[tuple[Requested, bool], ...] = ()
    _turns: Turns = msgspec.field(default_factory=lambda: Turns())
    _started: str = msgspec.field(default_factory=stores.now)
    _reported: float = msgspec.field(default_factory=time.monotonic)
    _told: int = 0
    _counts: deque[tuple[float, int]] = msgspec.field(default_factory=lambda: deque([(time.monotonic(), 0)], _LOOKS))
    """How many games were rated when `state` was asked lately."""

    def run(self, stopping: Stopping, games: int | None = None) -> Ended:
        """Runs until it is asked to stop.

        Args:
            games: After how many more rated games it ends, once what was submitted before is tried; None means never.
                It also ends if it can play none.
        """
        before = counted_from = self.supply.rated
        submitted = self.step_runner.untried()
        idle = ""
        closing = False
        while not (stopping.asked or idle):
            submitted = submitted and submitted & self.step_runner.untried()
            waits = submitted and not self.orders.closing  # then what was submitted is tried in the next season
            if waits:
                counted_from = self.supply.rated
            elif games is not None and self.supply.rated - counted_from >= games:
                break
            self._safely(self.orders.look)
            if self.orders.closing and self._can_be_closed():
                closing = True
                for requested, _ in self.requested[:1]:
                    self._safely(partial(requested.resume, "the season has ended"))
                break
            self._safely(self.room.look)
            alone = self.orders.workers == 1
            of_steps = alone and self._is_turn_of_steps()
            may_start = not self.room.is_short and (not alone or (of_steps and not self.lanes.running))
            self._safely(partial(self.step_runner.look, may_start=may_start, only_lost=self.orders.closing))
            self.supply.pay()
            play = self._begin_games(hold=of_steps or (alone and self.step_runner.busy))
            self._settle()
            for requested, beside in self.requested:
                self._safely(partial(requested.look, may_start=self._may_play_unrated(beside=beside)))
            self._turns.spend(steps=self.step_runner.busy, games=play)
            self.lanes.attend()
            self._safely(self.publisher.look)
            for duty in self.duties:
                self._safely(duty.look)
            if self.watch is not None:
                self._safely(partial(self.watch, self.state()))
            self._report()
            if games is not None:
                idle = self._idle()
        if stopping.asked:
            running = f"{counted(self.lanes.running, 'game')} may run on for {self.patience_s:g} s"
            self.tell(f"Stopping: {running}. A second signal drops what runs.")
        dropped = self._wind_up(stopping)
        self._safely(self.publisher.publish)
        return Ended(self.supply.rated - before, dropped, idle, closing)

    def _safely(self, look: Callable[[], object]) -> None:
        """Does something that is tried again later if the machine cannot do it now, for instance on a full disk."""
        try:
            look()
        except (OSError, errors.MachineFault, sqlite3.OperationalError) as error:
            if time.monotonic() >= self.supply.rests_until:  # else it was just said of something
                self.tell(f"The machine fails: {error}")
            self.supply.rest()

    def _can_be_closed(self) -> bool:
        """Takes a season that is to end a step further. Submissions wait meanwhile, and nobody new plays."""
        if not self.ending.plays:
            self.lanes.give_back()
        ready = False

        def look() -> None:
            nonlocal ready
            works = self.step_runner.busy or self.step_runner.lost.untried or self.lanes.running
            ready = self.ending.look(quiet=not works)

        self._safely(look)
        return ready

    def add(self, duty: Duty) -> None:
        """Adds something that the loop does again and again."""
        self.duties += (duty,)

    def _report(self) -> None:
        """Says now and then how it goes."""
        now = time.monotonic()
        if now >= self._reported + REPORT_S and self.supply.rated > self._told:
            state = self.state()
            self._reported, self._told = now, self.supply.rated
            games = counted(state["rated_games"], "rated game")
            self.tell(f"{games} since the start, {state['games_per_s']:g} a second")

    def state(self) -> Payload:
        """Returns what it does at this moment, for monitoring."""
        now = time.monotonic()
        if now > self._counts[-1][0] + 1:
            self._counts.append((now, self.supply.rated))
        (before, games), (at, more) = self._counts[0], self._counts[-1]
        return {
            "state": self._doing(),
            "pid": os.getpid(),
            "started": self._started,
            "at": stores.now(),
            "workers": self.orders.workers,
            "running": self.lanes.running,
            "planned": self.supply.left,
            "rated_games": self.supply.rated,
            "games_per_s": round((more - games) / (at - before), 2) if at > before else 0.0,
            "step": self.step_runner.doing,
            "machine_faults": self.supply.machine_faults + self.step_runner.machine_faults,
        }

    def _doing(self) -> str:
        if self.orders.paused:
            return "paused"
        if self.room.is_short:
            return "no room"
        if self.step_runner.lost.untried_at_first:
            return "building again"
        if time.monotonic() < self.supply.rests_until:
            return "resting"
        if self.orders.closing:
            return "playing the final" if self.ending.plays else "ending the season"
        return "playing" if self.lanes.running or self.supply.left else "waiting"

    def _is_turn_of_steps(self) -> bool:
        """Says whether a step comes next, or goes on, where it has no worker beside those for games."""
        steps = self.step_runner.busy or self.step_runner.wants(only_lost=self.orders.closing)
        games = not self._may_not_play and bool(self.supply.left or self.lanes.running)
        return self._turns.is_of_steps(steps=steps, games=games)

    @property
    def _may_not_play(self) -> bool:
        return (
            (self.orders.closing and not self.ending.plays)
            or self.orders.paused
            or self.room.is_short
            or self.step_runner.lost.untried_at_first
            or time.monotonic() < self.supply.rests_until
        )

    def _may_play_unrated(self, *, beside: bool) -> bool:
        idle = self.lanes.running < self.orders.workers and not self.supply.left and not self.step_runner.busy
        return not self._may_not_play and (beside or idle)

    def _begin_games(self, *, hold: bool) -> bool:
        """Plans games, and begins them unless a step is to have the worker. Returns whether the time is theirs."""
        if self._may_not_play:
            self.lanes.give_back()
            return self.lanes.running > 0
        try:
            (self.ending if self.orders.closing else self.planner).plan(self.orders.workers)
            self.publisher.write_lines()
            self.supply.count()
            if hold:
                self.lanes.give_back()
                return self.lanes.running > 0
            self.lanes.man(self.orders.workers)
            self.lanes.feed()
        except (errors.MachineFault, OSError, sqlite3.OperationalError) as error:
            self.supply.rest()
            self.tell(f"No game can begin: {error}")
        return bool(self.supply.left or self.lanes.running)

    def _settle(self) -> list[game_rows.Played]:
        try:
            return list(self.lanes.settle(POLL_S))
        except errors.MachineFault as error:  # of a worker that could not be started again
            self.supply.rest()
            self.tell(f"No game can begin: {error}")
            return []

    def _idle(self) -> str:
        """Returns why nothing can be played any more unless somebody submits a bot; empty if something can."""
        waits = None if self.orders.closing else self.planner.waits
        if waits is None or waits.until != "arrival" or self.supply.left or self.lanes.running:
            return ""
        more = self.step_runner.waits() or any(requested.waits for requested, _ in self.requested)
        return "" if more else waits.why

    def _wind_up(self, stopping: Stopping) -> int:
        """Ends the workers. Returns how many games were dropped."""
        end = time.monotonic() + self.patience_s
        self.lanes.give_back()
        while self.lanes.running and not stopping.at_once and time.monotonic() < end:
            self._settle()
        self.supply.pay()
        dropped = self.lanes.running
        if dropped:
            self.lanes.drop()
            self.supply.give_back_all()
        else:
            self.lanes.end()
        self.step_worker.drop()
        return dropped


class Turns:
    """Shares the only worker of a league between games and the steps of submissions: fair queueing by seconds of work.

    While both wait, whoever has taken less of the worker, by its share, comes next. What has begun is finished. Who did
    not wait saves nothing up by that. What somebody took beyond their share is not forgotten.

    Args:
        clock: The time in seconds; it never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._steps = self._games = 0.0
        """Worker-seconds that each has taken, divided by its share."""

    def spend(self, *, steps: bool, games: bool) -> None:
        """Counts the time since the last call for what has run in it."""
        before, self._at = self._at, self._clock()
        self._steps += steps * (self._at - before) / STEPS_SHARE
        self._games += games * (self._at - before) / (1 - STEPS_SHARE)

    def is_of_steps(self, *, steps: bool, games: bool) -> bool:
        """Says whether the next turn is that of a step. Each argument says whether such work runs or waits."""
        if not games:
            self._games = max(self._games, self._steps)
        if not steps:
            self._steps = max(self._steps, self._games)
        return steps and self._steps <= self._games
