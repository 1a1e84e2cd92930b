"""Runs a worker process on this machine as an executor."""

from __future__ import annotations

import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import traceback
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

from arena.core.errors import ConfigError, MachineFault
from arena.core.referee.job import Job
from arena.core.types import GameResult


class Remote(Executor):
    """An executor that plays blocks of games on a cluster, one at a time."""

    name: str = ""
    played_by: str = ""
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


_OF_TERMINALS: Final = {signal.SIGINT, signal.SIGQUIT, signal.SIGHUP}
"""Signals that a terminal sends to every process. Only the first process heeds such a signal; it ends the rest."""
_STOPPING: Final = {*_OF_TERMINALS, signal.SIGTERM}
_PROGRAM: Final = (
    "import gc, sys; gc.set_threshold(20_000); sys.path[:] = sys.argv[2:]; "  # a game makes few cycles, and to look
    "from arena.core.tournament.workers import serve; serve(int(sys.argv[1]))"  # for them is a thirtieth of a decision
)
_CPUS: Final = Path("/sys/devices/system/cpu")


def available_cores() -> int:
    """Returns how many cores this process may use: of those that it may run on, as many as its control group grants."""
    return max(1, int(min(len(_processors()), quota())))


def _processors() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def cores() -> dict[str, Any]:
    """Returns the cores that this process may use, why it is so many, and what follows, as `arena doctor` tells it."""
    granted = quota()
    return {
        "available": available_cores(),
        "affinity": len(_processors()),
        "quota": None if math.isinf(granted) else granted,
        "games_at_a_time": games_at_a_time(),
    }


def quota(groups: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> float:
    """Returns how many cores the control group and those above it grant: `docker --cpus`, `CPUQuota` of systemd."""
    least = math.inf
    for line in _words(groups, "\n"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = mount / controllers  # in a container the group's own files are at the top
        for folder in (top / path.lstrip("/"), *(top / path.lstrip("/")).parents):
            if not folder.is_relative_to(top):
                break
            runs = (
                _words(folder / "cpu.max")
                if not controllers
                else (_words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us"))
            )
            if len(runs) == 2 and all(word.isdigit() for word in runs) and int(runs[1]):  # else "max", or -1
                least = min(least, int(runs[0]) / int(runs[1]))
    return least


def _words(file: Path, separator: str | None = None) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").split(separator)
    except OSError:  # there is no such group, or no such file in it
        return []


def games_at_a_time(concurrency: int | None = None, each: int = 1) -> int:
    """Returns how many games are played at a time, by default one on each whole core: bots share no core's threads.

    Args:
        concurrency: The number that is asked for; None: as many as there are cores for.
        each: The cores that a game keeps busy.

    Raises:
        ConfigError: Fewer than one is asked for.
    """
    if concurrency is None:
        whole = {"".join(_words(_CPUS / f"cpu{n}/topology/thread_siblings_list")) or n for n in _processors()}
        return max(1, int(min(len(whole), quota())) // each)
    if concurrency < 1:
        raise ConfigError(f"expected at least 1 game at a time, got: {concurrency}; use --concurrency")
    return concurrency


def check_cores(games: int, option: str) -> None:
    """Checks that so many games do not wait for a core while their clocks run.

    Raises:
        ConfigError: There are fewer cores.
    """
    if games > (cores := available_cores()):
        raise ConfigError(
            f"expected at most {cores} games at a time, for as many cores as this process may use, got: {games} - "
            f"at {option}; bots would wait while their clocks run: use --force-concurrency to play them all the same"
        )


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


class _Reader(SpawnProcess):
    def start(self) -> None:
        resource_tracker.ensure_running()  # where it starts the tracker, it lets the signals through afterwards
        with undisturbed():
            super().start()


class _Spawning(SpawnContext):
    Process = _Reader


class Readers(ProcessPoolExecutor):
    """Processes for pure work on files, which never hear Ctrl-C, also while they start."""

    def __init__(self, processes: int, niceness: int = 0) -> None:
        super().__init__(processes, _Spawning(), _leave_signals, (niceness,))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)  # who was interrupted waits for what runs, not for the rest


def _leave_signals(niceness: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process hears it, and ends the rest
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    os.nice(niceness)


class _Process(Executor):
    """A process of this machine that does what is submitted, in order. It starts when there is something to do.

    Pickles cross a pair of sockets, each in the bytes of another, so that one that cannot be read ends nothing. Unlike
    the processes of `multiprocessing` it needs no second process to watch over semaphores, and runs nobody's script.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._submitted: deque[Future[Any]] = deque()
        self._ended = ""  # why nothing can be submitted any more

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, or minus the number of the signal that ended it; None while it lives."""
        return None if self._process is None else self._process.returncode

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has something done after all that was submitted before.

        Raises:
            BrokenExecutor: The process has ended.
            OSError: It cannot be started.
        """
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            task = pickle.dumps((fn, args, kwargs))
        except Exception as error:
            future.set_exception(error)
            return future
        with undisturbed():
            if self._process is None and not self._ended:
                self._start()
            with self._lock:
                if self._ended:
                    raise BrokenExecutor(self._ended)
                self._submitted.append(future)
            self._send(task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the process when all that was submitted is done. Nothing is cancelled: the process has it already."""
        with undisturbed():
            if self._process is None:
                self._ended = self._ended or "the worker process was ended"
                return
            if not self._ended:
                self._send(pickle.dumps(None))
        if wait:
            self._thread.join()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _start(self) -> None:
        here, there = socket.socketpair()
        words = [sys.executable, "-c", _PROGRAM, str(there.fileno()), *sys.path]
        with there, ExitStack() as failed:
            failed.callback(here.close)
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])
            failed.callback(self.kill)
            self._socket = here
            self._tasks = here.makefile("wb")
            self._thread = threading.Thread(target=self._receive, daemon=True)
            self._thread.start()
            failed.pop_all()

    def _send(self, task: bytes) -> None:
        with suppress(OSError, ValueError):  # the process has ended: the thread says so
            pickle.dump(task, self._tasks)
            self._tasks.flush()

    def _receive(self) -> None:
        assert self._process is not None
        with self._socket, self._socket.makefile("rb") as answers:
            with suppress(EOFError, OSError, pickle.UnpicklingError):
                while True:
                    answer = pickle.load(answers)
                    future = self._submitted.popleft()
                    try:
                        is_done, value = pickle.loads(answer)
                    except Exception as error:
                        is_done, value = False, error
                    future.set_result(value) if is_done else future.set_exception(value)
            self.kill()
            code = self._process.wait()
            with suppress(OSError):
                self._tasks.close()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        with self._lock:
            self._ended = f"the worker process ended {how}"
            lost = list(self._submitted)
        for future in lost:
            future.set_exception(BrokenExecutor(self._ended))


def was_killed(executor: Executor) -> bool:
    """Says of an executor whose process has died whether SIGKILL or SIGTERM ended it: nothing in a game sends these.

    A remote executor says that itself.
    """
    executor.shutdown()  # until then it is not known how the process ended
    if isinstance(executor, _Process):
        return executor.exit_code in (-signal.SIGKILL, -signal.SIGTERM)
    return isinstance(executor, Remote) and executor.was_killed


def has_refused(executor: Executor) -> bool:
    """Says of an executor that is lost whether it could not begin the first game without a result."""
    return isinstance(executor, Remote) and executor.refused


@contextmanager
def local_worker() -> Iterator[Executor]:
    """Yields an executor over one new process, which does what is submitted in order.

    It is not forked, because what this process has open must not be used by two. If an exception leaves the block, the
    worker is killed and the running game is dropped. It also ends when this process ends, however that happens.
    """
    worker = _Process()
    try:
        yield worker
    except BaseException:
        worker.kill()
        raise
    finally:
        worker.shutdown()


def serve(descriptor: int) -> None:
    """Is a worker: does what comes over a socket, in order, and ends when it is told to, or when the other end goes."""
    os.set_inheritable(descriptor, False)
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    channel = socket.socket(fileno=descriptor)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(channel.makefile("rb"), tasks), daemon=True).start()
    answers = channel.makefile("wb")
    while (answer := _answer(tasks.get())) is not None:
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except OSError:
            os._exit(1)


def _receive(channel: BinaryIO, tasks: SimpleQueue[bytes]) -> None:
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            tasks.put(pickle.load(channel))
    os._exit(1)


def _answer(task: bytes) -> bytes | None:
    """Does what a task says, and returns what came of it; None if it says to end."""
    try:
        told = pickle.loads(task)
        if told is None:
            return None
        fn, args, kwargs = told
        return pickle.dumps((True, fn(*args, **kwargs)))
    except Exception as error:
        error.add_note(f"in the worker process:\n{traceback.format_exc()}")
        failed = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        with suppress(Exception):  # not every error can be pickled, or read again
            whole = pickle.dumps((False, error))
            pickle.loads(whole)
            failed = whole
        return failed
