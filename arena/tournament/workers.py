"""Runs a worker process on this machine as an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, Final

from arena.errors import ConfigError, MachineFault
from arena.referee.job import Job
from arena.types import GameResult


class Remote(Executor):
    """An executor that plays blocks of games on a cluster, one at a time."""

    name: str = ""
    """The worker that it keeps to; empty if it keeps to none."""
    played_by: str = ""
    """The worker that played the last block."""
    was_killed: bool = False
    """Whether a worker was ended from outside in a game of the last block, once the executor is lost."""
    refused: bool = False
    """Whether it is lost because no worker could begin the block: that proves nothing about its first game."""

    @abstractmethod
    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        """Has a block played. Games that have no result fail with `BrokenExecutor`, and the executor is lost.

        Raises:
            BrokenExecutor: It was lost before.
        """


class NoFreeWorker(MachineFault):
    """There is no worker for another lane now. There may be one later."""


_OF_TERMINALS: Final = {signal.SIGINT, signal.SIGHUP}
"""What a terminal sends to every process: Ctrl-C and hang-up. Only the first process heeds them; it ends the rest."""
_STOPPING: Final = {*_OF_TERMINALS, signal.SIGTERM}


def available_cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def games_at_a_time(concurrency: int | None = None) -> int:
    """Returns how many games are played at a time.

    By default it is half of the cores: a game's bots and referee share one core; the other half keeps clocks honest.

    Raises:
        ConfigError: Fewer than one is asked for.
    """
    if concurrency is None:
        return max(1, available_cores() // 2)
    if concurrency < 1:
        raise ConfigError(f"expected at least 1 game at a time, got: {concurrency}; use --concurrency")
    return concurrency


@contextmanager
def undisturbed() -> Iterator[None]:
    """Holds signals back until the block ends. Processes started in the block begin with these signals blocked.

    A start cut short by a signal would leave a process that nothing tracks.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hides the main module until the block ends, so that a process started in it does not run it again.

    A worker needs nothing of it, and a script that plays a tournament would play another one in each worker.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Pool(ProcessPoolExecutor):
    """Starts its worker so that it ignores a terminal's signals from its first moment."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(1, **kwargs)
        self.processes: set[BaseProcess] = set()
        """What the first `submit` started."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with undisturbed():
            if self.processes:
                return super().submit(fn, *args, **kwargs)
            others = set(multiprocessing.active_children())
            with _without_main():
                future = super().submit(fn, *args, **kwargs)
            self.processes = set(multiprocessing.active_children()) - others
            return future


def was_killed(executor: Executor) -> bool:
    """Says of an executor whose process has died whether SIGKILL or SIGTERM ended it: nothing in a game sends these.

    A remote executor says that itself.
    """
    executor.shutdown()  # until then it is not known how the process ended
    if not isinstance(executor, _Pool):
        return isinstance(executor, Remote) and executor.was_killed
    ends = {process.exitcode for process in executor.processes}
    return bool(ends) and ends <= {-signal.SIGKILL, -signal.SIGTERM}


def has_refused(executor: Executor) -> bool:
    """Says of an executor that is lost whether it could not begin the first game without a result."""
    return isinstance(executor, Remote) and executor.refused


@contextmanager
def local_worker() -> Iterator[Executor]:
    """Yields an executor over one new process, which does what is submitted in order.

    It is spawned, not forked, because a ZeroMQ context must not cross a fork. If an exception leaves the block, the
    worker is killed and the running game is dropped. The worker holds the reading end of a pipe to which nothing is
    ever written, so that it also ends when this process ends, however that happens.
    """
    context = multiprocessing.get_context("spawn")
    listen, stop = context.Pipe(duplex=False)
    with undisturbed():
        resource_tracker.ensure_running()  # else a worker's start does, and unblocks signals that must stay blocked
    pool = _Pool(mp_context=context, initializer=_start, initargs=(listen,))
    try:
        yield pool
    except BaseException:
        for process in pool.processes:
            process.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        stop.close()
        listen.close()


def _start(listen: Connection) -> None:
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    threading.Thread(target=_end_with_coordinator, args=(listen,), daemon=True).start()


def _end_with_coordinator(listen: Connection) -> None:
    try:
        listen.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
