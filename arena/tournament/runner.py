"""Plays a tournament's games on lanes: workers that play one game at a time, in order.

Laws:
1. A lane plays games of one block after another, so that they share bot processes. It holds few games at a time,
   whatever the length of the schedule: memory does not grow with it. Near the end the lanes share what is left.
2. A result is yielded after it is stored, never before.
3. A worker that dies loses no result: only its lane starts anew. The first game of the lane that has no result was
   running, and is claimed again; the lane plays its other games.
4. A game that ends its worker each time must not be tried forever. How the worker ended says how much that proves:
   if it crashed (any other end than by SIGKILL or SIGTERM), the game did it, and `MAX_TRIES` of them stop the
   tournament. Nothing in a game sends those two signals. They come from outside, from a person or from a system without
   memory, and hit whatever is running: so the same game must be hit `MAX_KILLS` times. That other games were finished
   in between proves nothing, and resets nothing.
5. A fault of the machine (no disk, memory, descriptors, processes) stops the tournament and is nobody's result.
6. A signal may raise anywhere. Raised while this thread holds the lock of an unfinished future, it would leave that
   lock held, and the executor would wait for it forever. So futures are started undisturbed, they report to a queue
   when they are finished, and nobody looks at them before, unless undisturbed.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from arena.errors import ArenaError, InternalError, MachineFault
from arena.referee.job import Job
from arena.store.records import Claim, PlannedGame, Tournament
from arena.store.store import Store
from arena.tournament.blocks import AHEAD_GAMES, Processes, block_of, started_ahead
from arena.tournament.overload import overload
from arena.tournament.planner import plan_further
from arena.tournament.schedule import PlacedRound, Schedule
from arena.tournament.settings import OnOverload
from arena.tournament.steering import POLL_S, Helm
from arena.tournament.workers import NoFreeWorker, Remote, undisturbed, was_killed
from arena.types import GameResult, Termination

MAX_TRIES: Final = 3
"""How often a game may crash its worker, or be interrupted, before the tournament stops."""
MAX_KILLS: Final = 10
"""How often the worker may be killed from outside during the same game before the tournament stops."""
SUBMITTED: Final = 2
"""Games of a lane that its worker knows: one runs and one waits, so that it is not idle while a result is stored."""
PATIENCE_S: Final = 60.0
"""How long the tournament waits for a worker when it has none: on a cluster they come and go."""
MAX_CHUNK: Final = 100
"""Most games that a lane claims at a time."""

Play: TypeAlias = Callable[[Job], GameResult]
Worker: TypeAlias = Callable[[], AbstractContextManager[Executor]]


class Played(msgspec.Struct, frozen=True):
    """A result that is in the database."""

    game: PlannedGame
    result: GameResult
    void: str = ""
    """Why it does not count, if it is void."""


class _Work(msgspec.Struct, frozen=True):
    """A claimed game and its job."""

    claim: Claim
    job: Job


class _Lane(AbstractContextManager["_Lane"]):
    """A worker, and the games that it is to play."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._stack = ExitStack()
        self.executor = self._stack.enter_context(worker())
        self.waiting: deque[_Work] = deque()
        """Claimed and not submitted, in order."""
        self.submitted: dict[Future[GameResult], _Work] = {}
        """In order."""
        self.finished: set[Future[GameResult]] = set()
        """Those futures that can be looked at."""
        self.is_broken = False
        """The worker has died, and what was submitted is coming back."""
        self.is_over = False
        """The worker has died, and there is no other for it."""
        self.has_bots = False
        """The worker has played, so that bots may wait in it."""
        self.attending: Future[object] | None = None
        """What sees to them while the worker is idle."""

    def __exit__(self, *raised: object) -> bool | None:
        return self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def close(self) -> None:
        """Ends the worker, which has nothing to do."""
        self._stack.close()

    def restart(self) -> None:
        """Starts a new worker. Nothing may be submitted to the old one any more."""
        self._stack.close()
        self.executor = self._stack.enter_context(self._worker())
        self.is_broken = False
        self.has_bots = False
        self.attending = None


class Runner:
    """Plays what is left of a tournament.

    Args:
        store: The database that holds the tournament.
        tournament: The tournament.
        schedule: Its schedule.
        make_job: Returns the work for a game.
        play: Plays one game. It must be a function that can be sent to a worker.
        worker: Starts an executor that plays one game at a time, in order, and stops it when its block ends; at once if
            the block ends by an exception.
        helm: Says how many workers there are, and whether games may begin. Asked all the time.
        processes: How long a bot process is kept.
        on_overload: Whether a game is void that was lost because the machine was overloaded.
        ahead: Whether bots are started before they are needed.
        planned: Called with each round that is planned by results.
        attend: Sees to the bots that wait in a worker, whose heartbeats must be answered. Called there when the worker
            is idle, several times a second. It must be a function that can be sent to a worker.
    """

    def __init__(
        self,
        store: Store,
        tournament: Tournament,
        schedule: Schedule,
        make_job: Callable[[PlannedGame], Job],
        play: Play,
        worker: Worker,
        helm: Helm,
        *,
        processes: Processes = "block",
        on_overload: OnOverload = "rate",
        ahead: bool = True,
        planned: Callable[[PlacedRound], None] | None = None,
        attend: Callable[[], object] | None = None,
    ) -> None:
        self._store = store
        self._tournament = tournament.id
        self._schedule = schedule
        self._make_job = make_job
        self._play = play
        self._worker = worker
        self._helm = helm
        self._processes = processes
        self._on_overload = on_overload
        self._ahead = ahead
        self._planned = planned
        self._attend = attend
        self._tries: Counter[str] = Counter()
        """By game: how often it crashed its worker, or was interrupted."""
        self._kills: Counter[str] = Counter()
        """By game: how often its worker was killed from outside."""
        self._finished: SimpleQueue[tuple[_Lane, Future[GameResult]]] = SimpleQueue()
        self._left = 0
        """How many games are neither done nor held by a lane."""
        self._since = time.monotonic()
        self._manned = time.monotonic()
        """When there last was a worker."""
        self._renewed = time.monotonic()
        """When leases were last prolonged."""

    def run(self) -> Iterator[Played]:
        """Plays every planned game and yields each result once it is stored.

        Stopping early, by an exception or by closing the iterator, drops the running games and keeps everything else.

        Raises:
            ArenaError: A game could not be played.
        """
        self._since = time.monotonic()
        self._left = self._schedule.total - self._store.done(self._tournament)
        with ExitStack() as stack:
            lanes: list[_Lane] = []
            while True:
                self._man(lanes, stack)
                if not (self._helm.paused or self._helm.stopping):
                    self._feed_all(lanes)
                running = sum(len(lane.submitted) for lane in lanes)
                if not running and not self._waits(lanes) and not self._lacks_workers(lanes):
                    break
                with suppress(Empty):
                    lane, future = self._finished.get(timeout=POLL_S)
                    lane.finished.add(future)
                    yield from self._settle(lane)
                self._helm.look(running)
                self._renew(lanes)
                for lane in lanes:
                    self._attend_to_bots(lane)
            for lane in lanes:
                self._give_back(lane)
            _end(lanes)

    def _waits(self, lanes: Sequence[_Lane]) -> bool:
        """Says whether games are left that may not begin now, but may later."""
        left = self._left or self._schedule.open or any(lane.waiting for lane in lanes)
        return bool(self._helm.paused and not self._helm.stopping and left)

    def _lacks_workers(self, lanes: Sequence[_Lane]) -> bool:
        """Says whether games are left that only wait for a worker to come."""
        return bool(not lanes and not self._helm.stopping and (self._left or self._schedule.open))

    def _man(self, lanes: list[_Lane], stack: ExitStack) -> None:
        """Makes the number of workers that of the helm, if there are so many. One too many ends after its games."""
        for lane in [lane for lane in lanes if lane.is_over]:
            self._give_back(lane)
            lanes.remove(lane)
        while len(lanes) < self._helm.lanes:
            try:
                with _starting():
                    lanes.append(stack.enter_context(_Lane(self._worker)))
            except NoFreeWorker:
                if not lanes and time.monotonic() > self._manned + PATIENCE_S:
                    raise
                break
        if lanes:
            self._manned = time.monotonic()
        for lane in lanes[self._helm.lanes :]:
            self._give_back(lane)
            if not lane.submitted:
                lanes.remove(lane)
                lane.close()

    def _give_back(self, lane: _Lane) -> None:
        """Releases the games that a lane has claimed and that its worker does not know."""
        while lane.waiting:
            self._release(lane.waiting.pop().claim)

    def _feed_all(self, lanes: Sequence[_Lane]) -> None:
        for depth in range(1, SUBMITTED + 1):
            for lane in lanes[: self._helm.lanes]:
                if len(lane.submitted) < depth and not lane.is_broken and not lane.is_over:
                    self._feed(lane)

    def _feed(self, lane: _Lane) -> None:
        """Submits the lane's next game, if there is one for it."""
        self._claim(lane)
        if not lane.waiting:
            return
        work = lane.waiting.popleft()
        job = started_ahead(work.job, (other.job for other in lane.waiting)) if self._ahead else work.job
        try:
            with undisturbed(), _starting():
                future = lane.executor.submit(self._play, job)
                future.add_done_callback(partial(self._report, lane))
            lane.submitted[future] = work
            lane.has_bots = True
        except BrokenExecutor as error:
            lane.waiting.appendleft(work)
            lane.is_broken = True
            if not lane.submitted:
                self._count_death(lane, work.claim, error)
                self._restart(lane)
                if not lane.is_over:
                    self._feed(lane)

    def _attend_to_bots(self, lane: _Lane) -> None:
        """Has the lane's worker see to its bots, if it is idle: in a pause, or while others end a round."""
        if self._attend is None or lane.submitted or lane.is_broken or lane.is_over or not lane.has_bots:
            return
        with suppress(BrokenExecutor), undisturbed():  # that it has died is noticed with its next game
            if lane.attending is None or lane.attending.done():
                lane.attending = lane.executor.submit(self._attend)

    def _claim(self, lane: _Lane) -> None:
        """Claims more games for the lane when it has few, and fewer the fewer are left.

        It claims before it is idle, so that the next block is known. The last games go to idle lanes one by one.
        """
        if not self._left and self._schedule.open and not lane.waiting:
            placed = plan_further(self._store, self._tournament, self._schedule)
            if placed is not None:
                self._left += placed.games
                if self._planned is not None:
                    self._planned(placed)
        share = min(self._left // self._helm.lanes, MAX_CHUNK)
        if not self._left or len(lane.waiting) > min(share, AHEAD_GAMES) or (lane.submitted and not share):
            return
        claims = self._store.claim(self._tournament, self._schedule.game, max(1, share))
        if not claims:  # the others are void
            self._left = 0
            self._claim(lane)
        for claim in claims:
            game = self._schedule.game(claim.number)
            block = block_of(self._processes, game, claim.attempt)
            lane.waiting.append(_Work(claim, replace(self._make_job(game), block=block)))
            self._left -= 1
        self._lease(lane)

    def _lease(self, lane: _Lane) -> None:
        """Notes who has the games that a lane holds, before a worker elsewhere gets them."""
        if isinstance(lane.executor, Remote):
            claims = [work.claim for work in (*lane.submitted.values(), *lane.waiting)]
            self._store.lease(claims, lane.executor.name, lane.executor.lease_s)

    def _renew(self, lanes: Sequence[_Lane]) -> None:
        """Prolongs the leases of all lanes that are not lost, three times in a lease."""
        remote = [(lane, lane.executor) for lane in lanes if isinstance(lane.executor, Remote)]
        if not remote:
            return
        lease_s = min(executor.lease_s for _, executor in remote)
        if time.monotonic() < self._renewed + lease_s / 3:
            return
        self._renewed = time.monotonic()
        held = [(*lane.submitted.values(), *lane.waiting) for lane, _ in remote if not lane.is_broken]
        self._store.renew([work.claim for works in held for work in works], lease_s)

    def _release(self, claim: Claim) -> None:
        self._store.release(claim)
        self._left += 1

    def _report(self, lane: _Lane, future: Future[GameResult]) -> None:
        self._finished.put((lane, future))

    def _settle(self, lane: _Lane) -> Iterator[Played]:
        """Stores the results that a lane has. If its worker has died, waits for all that was submitted to come back."""
        errors = [future.exception() for future in lane.finished]
        lane.is_broken = lane.is_broken or any(isinstance(error, BrokenExecutor) for error in errors)
        if lane.is_broken and len(lane.finished) < len(lane.submitted):
            return
        lost: list[_Work] = []
        for future in [future for future in lane.submitted if future in lane.finished]:
            work = lane.submitted.pop(future)
            lane.finished.remove(future)
            error = future.exception()
            if not isinstance(error, BrokenExecutor):
                yield from self._store_result(work.claim, future)
                continue
            if not lost:
                self._count_death(lane, work.claim, error)
                self._release(work.claim)
            lost.append(work)
        if lane.is_broken:
            lane.waiting.extendleft(reversed(lost[1:]))
            self._restart(lane)

    def _restart(self, lane: _Lane) -> None:
        """Starts a new worker for a lane. If there is none, the lane is over."""
        try:
            with _starting():
                lane.restart()
        except NoFreeWorker:
            lane.is_over = True
        else:
            self._lease(lane)

    def _store_result(self, claim: Claim, future: Future[GameResult]) -> Iterator[Played]:
        try:
            result = future.result()
        except (OSError, MemoryError, MachineFault) as error:
            raise could_not_play(claim.game, error, kept="All other results are kept") from error
        except ArenaError:
            raise
        except Exception as error:
            raise InternalError(f"game {claim.game} could not be played: {type(error).__name__}: {error}") from error
        if result.termination is Termination.INTERRUPTED:
            self._release(claim)
            self._tries[claim.game] += 1
            if self._tries[claim.game] >= MAX_TRIES:
                raise ArenaError(f"game {claim.game} was interrupted {MAX_TRIES} times")
            return
        game = self._schedule.game(claim.number)
        now = time.monotonic()
        void = overload(result) if self._on_overload == "void" else ""
        if void:
            self._store.void(claim, void, result, now - self._since)
        else:
            self._store.record(claim, result, game.entrants, now - self._since)
        self._since = now
        yield Played(game, result, void)

    def _count_death(self, lane: _Lane, claim: Claim, error: BrokenExecutor) -> None:
        """Counts that a worker died in a game.

        Raises:
            ArenaError: It was once too often.
        """
        outside = was_killed(lane.executor)
        counter, most = (self._kills, MAX_KILLS) if outside else (self._tries, MAX_TRIES)
        counter[claim.game] += 1
        if counter[claim.game] >= most:
            what = f"was killed in its worker process {most}" if outside else f"ended its worker process {most}"
            raise ArenaError(
                f"game {claim.game} {what} times: {error}. All other results are kept. "
                "Is the machine out of memory? If not, this is a bug: please report it"
            ) from error


def could_not_play(game: str, error: OSError | MemoryError | MachineFault, *, kept: str) -> MachineFault:
    """Returns the error for a game that the system did not let us play, for example because the disk is full.

    Args:
        game: Its identifier.
        error: What the system said.
        kept: What is not lost, as the beginning of a sentence.
    """
    what = str(error) or "out of memory"
    return MachineFault(f"game {game} could not be played: {what}. {kept}: fix that and give the same command again")


@contextmanager
def _starting() -> Iterator[None]:
    """Runs the block, which starts a worker.

    Raises:
        MachineFault: The machine has not what it needs.
    """
    try:
        yield
    except (OSError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "start new thread" not in str(error):
            raise
        raise MachineFault(
            f"expected to start a worker process, got: {str(error) or 'out of memory'}; is the machine out of "
            "processes, memory or descriptors? Give the same command again then. All results so far are kept"
        ) from error


def _end(lanes: Sequence[_Lane]) -> None:
    """Ends all workers at the same time: each gives its bots up to a second to end."""
    threads = [Thread(target=lane.executor.shutdown, daemon=True) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
