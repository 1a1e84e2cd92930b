"""Plays what is left of a tournament on lanes.

Laws:
1. A game that ends its worker each time must not be tried forever. How the worker ended says how much that proves:
   if it crashed (any other end than by SIGKILL or SIGTERM), the game did it, and `MAX_TRIES` of them stop the
   tournament. If it was killed from outside, the same game must be hit `MAX_KILLS` times. That other games were
   finished in between proves nothing, and resets nothing.
2. A fault of the machine (no disk, memory, descriptors, processes) stops the tournament and is nobody's result.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from arena.core.errors import ArenaError, InternalError, MachineFault
from arena.core.referee.job import Job
from arena.core.referee.worker import could_not_play
from arena.core.store.records import Claim, PlannedGame, Played, Tournament
from arena.core.store.store import Store
from arena.core.text import counted
from arena.core.tournament.blocks import Processes, placed
from arena.core.tournament.lanes import Lanes, Play, Work, Worker
from arena.core.tournament.planner import plan_further
from arena.core.tournament.scarce import ScarceUse
from arena.core.tournament.schedule import PlacedRound, Schedule
from arena.core.tournament.settings import OnOverload
from arena.core.tournament.steering import POLL_S, Directions
from arena.core.tournament.together import MatchWorkers, claim_at_home, of_schedule
from arena.core.types import GameResult, Termination

MAX_TRIES: Final = 3  # how often a game may crash its worker, or be interrupted, before the tournament stops
MAX_KILLS: Final = 10
"""Number of times that the worker may be killed from outside during the same game before the tournament stops."""
MAX_CHUNK: Final = 100  # most games that a lane claims at a time


class Scheduled:
    """The games of a tournament that are left, as a `Supply`. For the arguments see `Runner`."""

    def __init__(
        self,
        store: Store,
        tournament: str,
        schedule: Schedule,
        make_job: Callable[[PlannedGame], Job],
        processes: Processes,
        on_overload: OnOverload,
        planned: deque[PlacedRound],
        same_worker: bool,
        room: ScarceUse | None,
    ) -> None:
        self._room = room or ScarceUse((), {}, schedule.game)
        self._homes = MatchWorkers(of_schedule(schedule), store.begun(tournament)) if same_worker else None
        self._store = store
        self._tournament = tournament
        self._schedule = schedule
        self._make_job = make_job
        self._processes = processes
        self._on_overload = on_overload
        self._planned = planned
        self._tries: Counter[str] = Counter()  # by game: how often it crashed its worker, or was interrupted
        self._kills: Counter[str] = Counter()  # by game: how often its worker was killed from outside
        self._since = time.monotonic()
        self.left = schedule.total - store.done(tournament)

    def plan(self) -> None:
        """Plans the next round if no game is left and the results that it depends on are there."""
        if self.left or not self._schedule.open:
            return
        placed = plan_further(self._store, self._tournament, self._schedule)
        if placed is not None:
            self.left += placed.games
            self._planned.append(placed)

    def share(self, lanes: int) -> int:
        """Returns how many games a lane may claim at a time: few when few are left."""
        return min(self.left // lanes, MAX_CHUNK)

    def claim(self, limit: int, worker: str = "", others: Collection[str] = ()) -> Sequence[Work]:
        """Claims games of one block."""
        room = self._room

        def claimer(*, fits: Callable[[int], bool] = lambda number: True) -> Sequence[Claim]:
            may = (lambda number: fits(number) and room.fits(number)) if room.is_scarce else fits
            return self._store.claim(self._tournament, self._schedule.game, limit, may)

        claims = claim_at_home(self._homes, claimer, worker, others)
        room.claim(claims)
        left_to_others = (self._homes is not None and others) or room.is_scarce
        self.left = self.left - len(claims) if claims or left_to_others else 0
        return [Work(claim, self._job(claim)) for claim in claims]

    def _job(self, claim: Claim) -> Job:
        game = self._schedule.game(claim.number)
        serve_on = not self._schedule.computed
        return placed(self._make_job(game), self._processes, game, claim.attempt, serve_on=serve_on)

    def release(self, claim: Claim) -> None:
        """Gives a game back."""
        self._store.release(claim)
        self._room.end(claim)
        self.left += 1

    def take(self, claim: Claim, result: GameResult) -> Played | None:
        """Stores a result, or gives the game back if it was interrupted.

        Raises:
            ArenaError: It was interrupted once too often.
        """
        if result.termination is Termination.INTERRUPTED:
            self.release(claim)
            self._tries[claim.game] += 1
            if self._tries[claim.game] >= MAX_TRIES:
                raise ArenaError(f"game {claim.game} was interrupted {MAX_TRIES} times")
            return None
        self._room.end(claim)
        game = self._schedule.game(claim.number)
        now = time.monotonic()
        void = store_result(self._store, claim, result, game.entrants, self._on_overload, now - self._since)
        if self._homes is not None:
            self._homes.end(claim.number)
        self._since = now
        return Played(game, result, void)

    def storing(self) -> AbstractContextManager[None]:
        """Makes one transaction of the results of the block: most of what a result costs is its transaction."""
        return self._store.transaction()

    def fault(self, claim: Claim, error: BaseException) -> None:
        """Stops the tournament.

        Raises:
            ArenaError: Always: the machine's fault, or an error of ours.
        """
        if isinstance(error, (OSError, MemoryError, MachineFault)):
            raise could_not_play(claim.game, error, kept="All other results are kept") from error
        if isinstance(error, ArenaError):
            raise error
        raise InternalError(f"game {claim.game} could not be played: {type(error).__name__}: {error}") from error

    def died(self, claim: Claim, error: BrokenExecutor, *, outside: bool) -> bool:
        """Counts that a worker ended in a game.

        Raises:
            ArenaError: It was once too often.
        """
        counter, most = (self._kills, MAX_KILLS) if outside else (self._tries, MAX_TRIES)
        counter[claim.game] += 1
        if counter[claim.game] < most:
            return True
        what = f"was killed in its worker process {most}" if outside else f"ended its worker process {most}"
        raise ArenaError(
            f"game {claim.game} {what} times: {error}. All other results are kept. "
            "Is a machine out of memory, or of room on its disk? If not, this is a bug: please report it"
        ) from error


def store_result(
    store: Store, claim: Claim, result: GameResult, entrants: Sequence[int], on_overload: OnOverload, seconds: float
) -> str:
    """Stores what came of a game: its result, or that it is void. Returns why it is void; empty if it is not.

    Args:
        entrants: The numbers of the entrants, by seat.
        on_overload: Whether the game is void if it was lost because the machine was overloaded.
        seconds: What to add to the tournament's time.
    """
    void = overload(result) if on_overload == "void" else ""
    if void:
        store.void(claim, void, result, seconds)
    else:
        store.record(claim, result, entrants, seconds)
    return void


class Runner:
    """Plays what is left of a tournament.

    Args:
        store: The database that holds the tournament.
        make_job: Returns the work for a game.
        directions: Says how many workers there are, and whether games may begin. Asked all the time.
        processes: How long a bot process is kept.
        on_overload: Whether a game is void that was lost because the machine was overloaded.
        ahead: Whether bots are started before they are needed.
        attend: Sees to the bots that wait in a worker; see `Lanes`.
        same_worker: Whether the games of a match are all played on one worker of a cluster, as long as it lives.
        room: Says how many bots may use at once what there is little of.
    """

    def __init__(
        self,
        store: Store,
        tournament: Tournament,
        schedule: Schedule,
        make_job: Callable[[PlannedGame], Job],
        play: Play,
        worker: Worker,
        directions: Directions,
        *,
        processes: Processes = "block",
        on_overload: OnOverload = "rate",
        ahead: bool = True,
        attend: Callable[[], object] | None = None,
        same_worker: bool = False,
        room: ScarceUse | None = None,
    ) -> None:
        self._schedule = schedule
        self._directions = directions
        self._planned: deque[PlacedRound] = deque()
        self._supply = partial(
            Scheduled,
            store,
            tournament.id,
            schedule,
            make_job,
            processes,
            on_overload,
            self._planned,
            same_worker,
            room,
        )
        self._lanes = partial(Lanes, play=play, worker=worker, ahead=ahead, attend=attend)

    def run(self) -> Iterator[Played]:
        """Yields the results of `events`."""
        for event in self.events():
            if isinstance(event, Played):
                yield event

    def events(self) -> Iterator[Played | PlacedRound]:
        """Plays every planned game. Yields each result, and each round that is planned by results, once it is stored.

        Stopping early, by an exception or by closing the iterator, drops the running games and keeps everything else.

        Raises:
            ArenaError: A game could not be played.
        """
        supply = self._supply()
        with self._lanes(supply) as lanes:
            while True:
                lanes.man(self._directions.lanes)
                if not (self._directions.paused or self._directions.stopping):
                    lanes.feed()
                while self._planned:
                    yield self._planned.popleft()
                running = lanes.running
                if not running and not self._waits(supply, lanes):
                    break
                yield from lanes.settle(POLL_S)
                self._directions.look(running)
                lanes.attend()
            lanes.give_back()
            lanes.end()

    def _waits(self, supply: Scheduled, lanes: Lanes) -> bool:
        """Says whether games are left that may begin later, but not now: in a pause, or while there is no worker."""
        left = supply.left or self._schedule.open or lanes.waiting
        return bool((self._directions.paused or lanes.unmanned) and not self._directions.stopping and left)


def overload(result: GameResult) -> str:
    """Returns why a game was lost because the machine was overloaded, as sentences; empty if it was not.

    A bot cannot make itself overloaded: the referee measures how long it was kept from running. So a game that is void
    for that reason is not played again: no bot ever gets another attempt at a deal.
    """
    forfeits = (seat.forfeit for seat in result.seats)
    return "; ".join(forfeit.sentence for forfeit in forfeits if forfeit is not None and forfeit.overloaded)


def crowded(games: int, each: int, cores: int) -> str:
    """Returns a warning if bots would wait for a core while their clocks run; empty if they would not.

    Args:
        games: How many are played at a time.
        each: The cores that one keeps busy.
        cores: The cores that there are.
    """
    if games * each <= cores:
        return ""
    at_once = f"{counted(games, 'game')} at a time"
    if each > 1:
        at_once += f", each of which keeps {each} cores busy,"
    most = cores // each
    remedy = f"use --concurrency {most}" if most else f"no --concurrency helps, a game needs {each} cores"
    return (
        f"Warning: {at_once} on {counted(cores, 'core')}: bots will wait for a core while their clocks "
        f"run, and may lose on time; {remedy}, or --on-overload void."
    )
