"""Plays games on lanes: workers that play one game at a time, in order. What is played comes from a `Supply`.

Laws:
1. A lane plays games of one block after another, so that they share bot processes. It holds few games at a time,
   whatever the number of those planned: memory does not grow with it. When few are left, the lanes share them.
2. A result is yielded after it is stored, never before.
3. A worker that dies loses no result: only its lane starts anew. The first game of the lane that has no result was
   running, and is given back; the lane plays its other games.
4. How a worker ended says how much that proves of the game that was running. Nothing in a game sends SIGKILL or
   SIGTERM: they come from outside, from a person or from a system without memory, and hit whatever is running. The
   supply is told which it was, and counts.
5. A signal may raise anywhere. Raised while this thread holds the lock of an unfinished future, it would leave that
   lock held, and the executor would wait for it forever. So futures are started undisturbed, they report to a queue
   when they are finished, and nobody looks at them before, unless undisturbed.
6. A worker that cannot be started leaves its lane's games where they are. `man` starts it again.
7. On a cluster workers come and go. A lane for which there is none gives its games back. It has one block at a time,
   and all that it claimed is sent at once. A block that no worker can begin proves nothing about its games.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from arena.core.errors import MachineFault
from arena.core.link.faults import machine_fault
from arena.core.referee.job import Job
from arena.core.store.records import Claim, Played
from arena.core.tournament.blocks import AHEAD_GAMES, started_ahead
from arena.core.tournament.workers import NoFreeWorker, Remote, has_refused, undisturbed, was_killed
from arena.core.types import GameResult, Termination

SUBMITTED: Final = 2
"""Games of a lane that its worker knows: one runs and one waits, so that it is not idle while a result is stored."""
BLOCK_S: Final = 60.0
"""About how long a block lasts on a cluster, at most: its results come when all its games are played."""
MOST_GAMES: Final = 20  # games of such a block, at most
_OF_LATE: Final = 4  # the number of games, about, of which the mean is taken
_LEAST_S: Final = 1e-3
LANES_A_RESULT: Final = 16
"""The number of stored results after which all lanes are looked at again: to look at a thousand takes a while."""
PATIENCE_S: Final = 60.0  # how long a worker is awaited while there is none: on a cluster they come and go
ASK_S: Final = 1.0
"""After none was free, no worker is asked for that long: who looks through a thousand each time plays no games."""

Play: TypeAlias = Callable[[Job], GameResult]
Worker: TypeAlias = Callable[[], AbstractContextManager[Executor]]


class Work(msgspec.Struct, frozen=True):
    """A claimed game and its job."""

    claim: Claim
    job: Job


class Supply(Protocol):
    """Where lanes get games, and where they bring results. Errors that it raises leave `Lanes`."""

    @property
    def left(self) -> int:
        """How many games are planned and neither done nor claimed."""

    def plan(self) -> None:
        """Plans more games if none is left and more may follow."""

    def share(self, lanes: int) -> int:
        """Returns how many games a lane may claim at a time, of so many lanes; 0: one, and only if it is idle."""

    def claim(self, limit: int, worker: str = "", others: Collection[str] = ()) -> Sequence[Work]:
        """Claims games that follow each other in one block. If there is none, none is left, or others have to play it.

        Args:
            worker: The name of the cluster's worker that the lane keeps to; empty if it keeps to none.
            others: The names of the workers that other lanes keep to.
        """

    def release(self, claim: Claim) -> None:
        """Gives a game back that was not played."""

    def take(self, claim: Claim, result: GameResult) -> Played | None:
        """Stores a result. Returns None if it is none: the game is given back, or taken out."""

    def storing(self) -> AbstractContextManager[None]:
        """Stores all results that are taken in the block at its end, or none of them if it ends by an exception."""

    def fault(self, claim: Claim, error: BaseException) -> None:
        """Notes that a game could not be played, which is nobody's result. Gives it back, or takes it out."""

    def died(self, claim: Claim, error: BrokenExecutor, *, outside: bool) -> bool:
        """Notes that a worker ended in a game. Returns whether it may still be played; else it is taken out.

        Args:
            outside: Whether SIGKILL or SIGTERM ended the worker.
        """


class _Dropped(Exception):
    """Makes workers end at once."""


class _Lane(AbstractContextManager["_Lane"]):
    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._stack = ExitStack()
        self.executor = self._stack.enter_context(worker())
        self.remote = _remote(self.executor)  # the executor if it plays on a cluster
        self.waiting: deque[Work] = deque()  # claimed and not submitted, in order
        self.submitted: dict[Future[GameResult], Work] = {}  # in order
        self.finished: set[Future[GameResult]] = set()  # those futures that can be looked at
        self.is_broken = False  # the worker has died, and what was submitted is coming back; or it could not be started
        self.has_bots = False  # the worker has played, so that bots may wait in it
        self.attending: Future[object] | None = None  # what sees to them while the worker is idle

    def __exit__(self, *raised: object) -> bool | None:
        return self._stack.__exit__(*raised)  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """That of the cluster's worker that it keeps to; empty if it keeps to none."""
        return "" if self.remote is None else self.remote.name

    def close(self) -> None:
        """Ends the worker, which has nothing to do."""
        self._stack.close()

    def restart(self) -> None:
        """Starts a new worker. Nothing may be submitted to the old one any more."""
        self.is_broken = True
        self._stack.close()
        with _starting():
            self.executor = self._stack.enter_context(self._worker())
        self.remote = _remote(self.executor)
        self.is_broken = False
        self.has_bots = False
        self.attending = None


class Lanes(AbstractContextManager["Lanes"]):
    """Lanes that play what a supply has. If an exception leaves the block, the running games are dropped.

    Args:
        supply: Where games come from, and where results go.
        play: Plays one game. It must be a function that can be sent to a worker.
        worker: Starts an executor that plays one game at a time, in order, and stops it when its block ends; at once if
            the block ends by an exception.
        ahead: Whether bots are started before they are needed.
        attend: Sees to the bots that wait in a worker, whose heartbeats must be answered. Called there when the worker
            is idle, several times a second. It must be a function that can be sent to a worker.
    """

    def __init__(
        self,
        supply: Supply,
        play: Play,
        worker: Worker,
        *,
        ahead: bool = True,
        attend: Callable[[], object] | None = None,
    ) -> None:
        self._supply = supply
        self._play = play
        self._worker = worker
        self._ahead = ahead
        self._attend = attend
        self._stack = ExitStack()
        self._lanes: list[_Lane] = []
        self._count = 0
        self._finished: SimpleQueue[tuple[_Lane, Future[GameResult]]] = SimpleQueue()
        self._came = Lock()  # released when one came: a queue's own wait is without end after a longer Ctrl-Z
        self._manned = time.monotonic()  # when there last was a worker
        self._ask_at = -math.inf  # not before this moment is a worker asked for again
        self._game_s = BLOCK_S
        """Mean duration of a game on a cluster of late, in seconds. Until that is known, a block is short."""

    def __exit__(self, *raised: object) -> bool | None:
        return self._stack.__exit__(*raised)  # type: ignore[arg-type]

    @property
    def running(self) -> int:
        """How many games workers have."""
        return sum(len(lane.submitted) for lane in self._lanes)

    @property
    def waiting(self) -> int:
        """How many games are claimed that no worker has."""
        return sum(len(lane.waiting) for lane in self._lanes)

    @property
    def unmanned(self) -> bool:
        """Whether there is no worker now. `man` looks for one."""
        return not self._lanes

    def man(self, count: int) -> None:
        """Makes the number of workers `count`, or as many as there are. One too many ends when its games are over.

        Raises:
            MachineFault: The machine has not what a worker needs, or for a minute there was none on the cluster.
        """
        self._count = count
        try:
            self._restart_broken()
            while len(self._lanes) < count and time.monotonic() >= self._ask_at:
                with _starting():
                    self._lanes.append(self._stack.enter_context(_Lane(self._worker)))
        except NoFreeWorker:
            self._ask_at = time.monotonic() + ASK_S
            if not self._lanes and time.monotonic() > self._manned + PATIENCE_S:
                raise
        if self._lanes:
            self._manned = time.monotonic()
        for lane in self._lanes[count:]:
            self._give_back(lane)
            if not lane.submitted:
                self._lanes.remove(lane)
                lane.close()

    def feed(self) -> None:
        """Gives games to the workers that have few.

        Raises:
            MachineFault: The machine has not what a worker needs.
        """
        for depth in range(1, SUBMITTED + 1):
            for lane in self._lanes[: self._count]:
                if len(lane.submitted) < depth and not lane.is_broken and (lane.remote is None or not lane.submitted):
                    self._feed(lane)

    def settle(self, timeout: float) -> Iterator[Played]:
        """Waits for a game to end, and yields the results that came once they are stored.

        Args:
            timeout: How long to wait for the first, in seconds.

        Raises:
            MachineFault: The machine has not what a worker needs.
        """
        lanes: list[_Lane] = []
        with suppress(Empty):
            while len(lanes) <= len(self._lanes) // LANES_A_RESULT:
                self._came.acquire(timeout=timeout if self._finished.empty() else 0.0)
                lane, future = self._finished.get_nowait()
                timeout = 0.0
                lane.finished.add(future)
                if self._is_back(lane) and lane not in lanes:
                    lanes.append(lane)
        yield from self._store(lanes)
        for lane in lanes:
            yield from self._settle(lane)

    def attend(self) -> None:
        """Has the workers that are idle see to their bots: in a pause, or while others end a round."""
        for lane in self._lanes:
            self._attend_to_bots(lane)

    def give_back(self) -> None:
        """Releases the games that are claimed and that no worker has."""
        for lane in self._lanes:
            self._give_back(lane)

    def end(self) -> None:
        """Ends all workers, which have nothing to do, at the same time: each gives its bots up to a second to end."""
        threads = [Thread(target=lane.executor.shutdown, daemon=True) for lane in self._lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def drop(self) -> None:
        """Ends all workers at once. The claims of the games that they had stay open."""
        with suppress(_Dropped), self._stack:
            raise _Dropped
        self._lanes.clear()

    def _restart_broken(self) -> None:
        for lane in [lane for lane in self._lanes if lane.is_broken and not lane.submitted]:
            try:
                lane.restart()
            except NoFreeWorker:
                self._give_back(lane)
                self._lanes.remove(lane)
                raise

    def _give_back(self, lane: _Lane) -> None:
        while lane.waiting:
            self._supply.release(lane.waiting.pop().claim)

    def _feed(self, lane: _Lane) -> None:
        self._claim(lane)
        if not lane.waiting:
            return
        works = [lane.waiting.popleft() for _ in range(1 if lane.remote is None else len(lane.waiting))]
        try:
            with undisturbed(), _starting():
                for work, future in zip(works, self._submitted(lane, works), strict=True):
                    lane.submitted[future] = work
                    future.add_done_callback(partial(self._report, lane))
            lane.has_bots = True
        except BrokenExecutor as error:
            lane.is_broken = True
            if lane.submitted:
                lane.waiting.extendleft(reversed(works))
                return
            if not has_refused(lane.executor) and not self._died(lane, works[0], error):
                works = works[1:]
            lane.waiting.extendleft(reversed(works))
            with suppress(NoFreeWorker):  # then `man` looks for one
                lane.restart()
                self._feed(lane)
        except MachineFault:
            lane.waiting.extendleft(reversed(works))
            lane.is_broken = True
            raise

    def _submitted(self, lane: _Lane, works: Sequence[Work]) -> Sequence[Future[GameResult]]:
        """Has games played: a block of them on a cluster, else one."""
        if lane.remote is not None:
            return lane.remote.play([work.job for work in works])
        (job,) = (work.job for work in works)
        ahead = started_ahead(job, (other.job for other in lane.waiting)) if self._ahead else job
        return [lane.executor.submit(self._play, ahead)]

    def _died(self, lane: _Lane, work: Work, error: BrokenExecutor) -> bool:
        """Tells the supply that a worker ended in a game. Returns whether it may still be played."""
        return self._supply.died(work.claim, error, outside=was_killed(lane.executor))

    def _attend_to_bots(self, lane: _Lane) -> None:
        if self._attend is None or lane.remote or lane.submitted or lane.is_broken or not lane.has_bots:
            return
        with suppress(BrokenExecutor), undisturbed():  # that it has died is noticed with its next game
            if lane.attending is None or lane.attending.done():
                lane.attending = lane.executor.submit(self._attend)

    def _claim(self, lane: _Lane) -> None:
        """Claims more games for the lane when it has few, and fewer the fewer are left.

        It claims before it is idle, so that the next block is known. The last games go to idle lanes one by one.
        """
        if not lane.waiting:
            self._supply.plan()
        share = self._supply.share(self._count)
        if lane.remote is not None:
            if lane.waiting:
                return  # of another block, maybe
            share = min(share, MOST_GAMES, int(BLOCK_S / self._game_s))
        if not self._supply.left or len(lane.waiting) > min(share, AHEAD_GAMES) or (lane.submitted and not share):
            return
        others = [other.name for other in self._lanes if other is not lane and not other.is_broken]
        claimed = self._supply.claim(max(1, share), lane.name, list(filter(None, others)))
        lane.waiting.extend(claimed)
        if not claimed and not self._supply.left:  # the others are void
            self._claim(lane)

    def _report(self, lane: _Lane, future: Future[GameResult]) -> None:
        self._finished.put((lane, future))
        with suppress(RuntimeError):  # it is released already
            self._came.release()

    def _is_back(self, lane: _Lane) -> bool:
        """Tells whether results may be read: on a cluster, or after a worker died, once all games have come back."""
        broken = any(isinstance(future.exception(), BrokenExecutor) for future in lane.finished)
        lane.is_broken = lane.is_broken or broken
        return len(lane.finished) == len(lane.submitted) or not (lane.is_broken or lane.remote)

    def _store(self, lanes: Sequence[_Lane]) -> list[Played]:
        """Stores the results that lanes have, all of them in one transaction."""
        came = [(lane, future) for lane in lanes for future in lane.submitted if _is_result(lane, future)]
        with self._supply.storing() if len(came) > 1 else nullcontext():
            taken = [self._take(lane, future) for lane, future in came]
        return [played for played in taken if played is not None]

    def _take(self, lane: _Lane, future: Future[GameResult]) -> Played | None:
        claim, result = lane.submitted.pop(future).claim, future.result()
        lane.finished.remove(future)
        if lane.remote is not None:
            claim = replace(claim, worker=lane.remote.played_by)
            self._game_s += (max(result.seconds, _LEAST_S) - self._game_s) / _OF_LATE
        return self._supply.take(claim, result)

    def _settle(self, lane: _Lane) -> Iterator[Played]:
        """Sees to games of a lane that have no result: interrupted, not to be played, or with a worker that ended."""
        lost: list[tuple[Work, BrokenExecutor]] = []
        for future in [future for future in lane.submitted if future in lane.finished]:
            error = future.exception()
            if error is None:
                if (played := self._take(lane, future)) is not None:
                    yield played
                continue
            work = lane.submitted.pop(future)
            lane.finished.remove(future)
            if isinstance(error, BrokenExecutor):
                lost.append((work, error))
            else:
                self._supply.fault(work.claim, error)
        if lost and not has_refused(lane.executor):
            running, ended = lost.pop(0)
            if self._died(lane, running, ended):
                self._supply.release(running.claim)
        lane.waiting.extendleft(work for work, _ in reversed(lost))
        if lane.is_broken:
            with suppress(NoFreeWorker):  # then `man` looks for one
                lane.restart()


def _is_result(lane: _Lane, future: Future[GameResult]) -> bool:
    """Tells whether a game has come to its end. Whatever else came of it may be more than the supply bears."""
    is_there = future in lane.finished and future.exception() is None
    return is_there and future.result().termination is not Termination.INTERRUPTED


def _remote(executor: Executor) -> Remote | None:
    return executor if isinstance(executor, Remote) else None


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
        fault = machine_fault("start a worker process", error)
        raise MachineFault(f"{fault}. Then give the same command again. All results so far are kept") from error
