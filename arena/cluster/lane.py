"""A lane on a cluster: an executor that plays games in a player on one Dask worker, in order.

Laws:
1. All tasks of a lane are pinned to its worker and carry its token. Dask runs them there once or never.
2. It is decided once what comes of a game: what was delivered, or that the lane is lost. What comes later is dropped,
   and none of its files is written.
3. A lane that is lost stays so. Its games go to a new lane by the hand of whoever submitted them.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.cluster import far
from arena.cluster.delivery import take
from arena.cluster.orders import Attend, Done, Ended, Failed, Order, Play, decode_answer, encode
from arena.errors import ArenaError, ConfigError, MachineFault
from arena.referee.job import Job
from arena.referee.worker import attend, play

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Task

OPEN_S: Final = 20.0
"""How long a worker may take to start a player."""
LEASE_S: Final = 30.0
"""A lane with a game is lost when its worker was not heard of for so long."""


class WorkerLost(BrokenExecutor):
    """A lane's worker or player is gone."""


class ClusterLane(Executor):
    """Plays games on one worker. `submit` takes `play` and `attend` of the referee's worker, and nothing else."""

    def __init__(self, client: Client, address: str, name: str, topic: str, *, is_here: bool) -> None:
        """Starts a player.

        Args:
            client: Connected to the scheduler.
            address: The worker's address.
            name: What people call the worker.
            topic: Where the worker says that it lives.
            is_here: Whether the worker is on this machine, and finds the bots where they are.

        Raises:
            ConfigError: The worker has another version of arena.
            MachineFault: The worker cannot start a player.
        """
        self.address = address
        self.name = name
        self.lease_s: float = LEASE_S
        self.token: Final = secrets.token_hex(16)
        self.was_killed = False
        """Whether the player, or its worker, was ended from outside. It is known when the lane is lost."""
        self._client = client
        self._topic = topic
        self._is_here = is_here
        self._lock = Lock()
        self._games: dict[Future[Any], Task[Any]] = {}
        """What was submitted and has not come, in order."""
        self._lost: WorkerLost | None = None
        self._heard = self._kept = time.monotonic()
        self._keeping: Task[Any] | None = None
        self._ended: SimpleQueue[tuple[Future[Any], Job | None, Task[Any]] | None] = SimpleQueue()
        """Tasks whose answers can be fetched."""
        self._open()
        Thread(target=self._fetch, daemon=True).start()

    def _open(self) -> None:
        from arena import __version__

        try:
            answer = self._call(OPEN_S, far.open_lane, self.token, self.lease_s / 2)
        except Exception as error:  # whatever Dask or the worker raises
            raise MachineFault(f"expected worker {self.name} to start a player, got: {error!r:.500}") from error
        there = msgspec.msgpack.decode(answer, type=far.Opened)
        if there.version != __version__:
            raise ConfigError(
                f"expected arena {__version__} on worker {self.name}, got: {there.version}; install the same on both"
            )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a game played, or bots seen to.

        Raises:
            WorkerLost: The lane is lost.
        """
        order: Order
        if fn is play:
            (job,) = args
            order = Play(job, self._is_here)
        elif fn is attend:
            job, order = None, Attend()
        else:
            raise TypeError(f"expected play or attend, got: {fn!r}")
        future: Future[Any] = Future()
        with self._lock:
            if self._lost is not None:
                raise self._lost
            if not self._games:
                self._heard = time.monotonic()
            task = self._task(far.order, self.token, self._topic, encode(order))
            self._games[future] = task
        future.set_running_or_notify_cancel()
        task.add_done_callback(lambda task: self._ended.put((future, job, task)))
        return future

    def _task(self, function: Callable[..., Any], *args: object) -> Task[Any]:
        return self._client.submit(
            function, *args, pure=False, retries=0, workers=[self.address], allow_other_workers=False
        )

    def _fetch(self) -> None:
        """Takes what the worker answered, until the lane is lost.

        It is a thread of the lane's own: an answer is fetched from the worker. Who fetches from one that has just
        stopped waits for it, and Dask has one thread for the callbacks of all lanes.
        """
        while (ended := self._ended.get()) is not None:
            self._came(*ended)

    def _came(self, future: Future[Any], job: Job | None, task: Task[Any]) -> None:
        try:
            answer = decode_answer(task.result())
        except Exception as error:
            self.lose(f"the cluster dropped what worker {self.name} did: {error!r:.300}")
            return
        if isinstance(answer, Ended):
            self.lose(f"the player on worker {self.name} ended: {answer.how}", killed=answer.killed)
            return
        with self._lock:
            self._heard = time.monotonic()
            if self._games.pop(future, None) is None:
                return  # the lane was lost before
            try:
                result = _result(answer, job, self.name)
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)

    def hear(self) -> None:
        """Notes that the worker lives."""
        self._heard = time.monotonic()

    def look(self, now: float) -> bool:
        """Gives the lane up if it has a game and was not heard of for a lease: then returns True. Keeps an idle one."""
        if not self._games and self._lost is None and now > self._kept + self.lease_s / 6:
            self._kept = now
            self._keeping = self._task(far.keep_lane, self.token)  # Dask forgets a task that nobody holds
        if self._games and now - self._heard > self.lease_s:
            self.lose(f"worker {self.name} was not heard of for {self.lease_s:.0f} s")
            return True
        return False

    def bury(self) -> None:
        """Gives the lane up because the worker is gone."""
        self.lose(f"worker {self.name} is gone")

    def lose(self, why: str, *, killed: bool = True) -> None:
        """Gives the lane up: all that was submitted and has not come fails.

        Args:
            why: The reason, for people.
            killed: Whether somebody from outside is to blame, and no game.
        """
        with self._lock:
            if self._lost is None:
                self._lost = WorkerLost(why)
                self.was_killed = killed
            games, self._games = self._games, {}
        self._ended.put(None)
        for future, task in games.items():
            task.release()
            future.set_exception(self._lost)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the player. A game that is played is dropped."""
        if self._lost is not None:  # the worker is gone, or will end the player when it sees that nobody waits
            return
        self.lose("it was shut down")
        with suppress(Exception):
            self._call(far.END_S + 1 if wait else 0, far.close_lane, self.token)

    def _call(self, seconds: float, function: Callable[..., Any], *args: object) -> Any:
        """Calls a function in the worker at once, beside its tasks.

        Raises:
            TimeoutError: It did not answer in time. The call may still reach it.
            Exception: Whatever the function or Dask raises.
        """
        came: Future[Any] = Future()

        def call() -> None:  # with a worker that is stopped it does not return
            try:
                came.set_result(self._client.run(function, *args, workers=[self.address])[self.address])
            except Exception as error:
                came.set_exception(error)

        Thread(target=call, daemon=True).start()
        return came.result(timeout=seconds)


def _result(answer: Done | Failed, job: Job | None, worker: str) -> object:
    """Returns what a future is to give.

    Raises:
        MachineFault: The worker's machine lacks something.
        ArenaError: The game could not be played.
        OSError: What came cannot be written.
    """
    if isinstance(answer, Failed):
        kind = MachineFault if answer.of_machine else ArenaError
        raise kind(f"{answer.reason} (on worker {worker})")
    return take(job, answer.delivery) if job is not None and answer.delivery is not None else None
