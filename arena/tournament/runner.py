"""Plays a tournament's games on an executor.

Laws:
1. Few games are in flight at a time, whatever the length of the schedule: memory does not grow with it.
2. A result is yielded after it is stored, never before.
3. A worker that dies loses no result: the workers are started anew and its games are played again. While a game is
   under suspicion, games run one at a time, so that the one that kills its worker is known for certain.
4. A signal may raise anywhere. Raised while this thread holds the lock of an unfinished future, it would leave that
   lock held, and the executor would wait for it forever. So futures are started undisturbed, they report to a queue
   when they are finished, and nobody looks at them before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import TypeAlias

import msgspec

from arena.errors import ArenaError, InternalError
from arena.referee.job import Job
from arena.store.records import Claim, Tournament
from arena.store.store import Store
from arena.tournament.schedule import RoundRobin, ScheduledGame
from arena.tournament.workers import undisturbed
from arena.types import GameResult, Termination

MAX_TRIES = 3
"""How often a game may kill its worker, or be interrupted, before the tournament stops."""

Play: TypeAlias = Callable[[Job], GameResult]
Workers: TypeAlias = Callable[[], AbstractContextManager[Executor]]


class Played(msgspec.Struct, frozen=True):
    """A result that is in the database."""

    game: ScheduledGame
    result: GameResult


class Runner:
    """Plays what is left of a tournament.

    Args:
        store: The database that holds the tournament.
        tournament: The tournament.
        schedule: Its schedule.
        make_job: Returns the work for a game.
        play: Plays one game. It must be a function that can be sent to a worker.
        workers: Starts an executor, and stops it when its block ends; at once if the block ends by an exception.
        in_flight: How many games may be claimed at a time.
    """

    def __init__(
        self,
        store: Store,
        tournament: Tournament,
        schedule: RoundRobin,
        make_job: Callable[[ScheduledGame], Job],
        play: Play,
        workers: Workers,
        in_flight: int,
    ) -> None:
        self._store = store
        self._tournament = tournament.id
        self._schedule = schedule
        self._make_job = make_job
        self._play = play
        self._workers = workers
        self._in_flight = in_flight
        self._tries: Counter[str] = Counter()
        self._suspects: set[str] = set()
        self._since = time.monotonic()

    def run(self) -> Iterator[Played]:
        """Plays every planned game and yields each result once it is stored.

        Stopping early, by an exception or by closing the iterator, drops the running games and keeps everything else.

        Raises:
            ArenaError: A game could not be played.
        """
        self._since = time.monotonic()
        while True:
            try:
                with self._workers() as executor:
                    yield from self._run_on(executor)
                return
            except BrokenExecutor as error:
                self._check_tries(error)

    def _run_on(self, executor: Executor) -> Iterator[Played]:
        flying: dict[Future[GameResult], Claim] = {}
        finished: SimpleQueue[Future[GameResult]] = SimpleQueue()
        while True:
            limit = 1 if self._suspects else self._in_flight
            while len(flying) < limit and (claim := self._store.claim(self._tournament, self._schedule.game)):
                job = self._make_job(self._schedule.game(claim.number))
                try:
                    with undisturbed():
                        future = executor.submit(self._play, job)
                        future.add_done_callback(finished.put)
                except BrokenExecutor:
                    self._store.release(claim)
                    _wait_for(flying, finished)
                    yield from self._salvage(flying)
                    raise
                flying[future] = claim
            if not flying:
                return
            done = {finished.get()}
            while not finished.empty():
                done.add(finished.get())
            if any(isinstance(future.exception(), BrokenExecutor) for future in done):
                _wait_for(set(flying) - done, finished)
                yield from self._salvage(flying)
                raise BrokenExecutor("a worker process ended")
            for future in sorted(done, key=lambda future: flying[future].number):
                yield from self._settle(future, flying.pop(future))

    def _salvage(self, flying: dict[Future[GameResult], Claim]) -> Iterator[Played]:
        """Stores the results from before a worker died, and gives the other games back. All futures are done."""
        for future, claim in flying.items():
            if isinstance(future.exception(), BrokenExecutor):
                self._store.release(claim)
                self._suspects.add(claim.game)
                self._tries[claim.game] += len(flying) == 1 or self._tries[claim.game] == 0
            else:
                yield from self._settle(future, claim)
        flying.clear()

    def _settle(self, future: Future[GameResult], claim: Claim) -> Iterator[Played]:
        try:
            result = future.result()
        except ArenaError:
            raise
        except OSError as error:
            raise could_not_play(claim.game, error, kept="All other results are kept") from error
        except Exception as error:
            raise InternalError(f"game {claim.game} could not be played: {type(error).__name__}: {error}") from error
        if result.termination is Termination.INTERRUPTED:
            self._store.release(claim)
            self._tries[claim.game] += 1
            if self._tries[claim.game] >= MAX_TRIES:
                raise ArenaError(f"game {claim.game} was interrupted {MAX_TRIES} times")
            return
        game = self._schedule.game(claim.number)
        now = time.monotonic()
        self._store.record(claim, result, game.entrants, now - self._since)
        self._since = now
        self._suspects.discard(claim.game)
        yield Played(game, result)

    def _check_tries(self, error: BrokenExecutor) -> None:
        for game in self._suspects:
            if self._tries[game] >= MAX_TRIES:
                raise ArenaError(
                    f"game {game} ended its worker process {MAX_TRIES} times: {error}. All other results are kept. "
                    "Is the machine out of memory? If not, this is a bug: please report it"
                ) from error


def could_not_play(game: str, error: OSError, *, kept: str) -> ArenaError:
    """Returns the error for a game that the system did not let us play, for example because the disk is full.

    Args:
        game: Its identifier.
        error: What the system said.
        kept: What is not lost, as the beginning of a sentence.
    """
    return ArenaError(f"game {game} could not be played: {error}. {kept}: fix that and give the same command again")


def _wait_for(futures: Iterable[Future[GameResult]], finished: SimpleQueue[Future[GameResult]]) -> None:
    """Waits until all these futures, none of which was taken from the queue yet, are finished."""
    left = set(futures)
    while left:
        left.discard(finished.get())
