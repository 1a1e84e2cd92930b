"""Worker processes on this machine, as an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any


class _Pool(ProcessPoolExecutor):
    """Starts its workers deaf to Ctrl-C from their first moment: a terminal sends it to them too."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by the process that starts
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def local_workers(count: int) -> Iterator[Executor]:
    """An executor over `count` new processes.

    They are spawned, not forked, since a ZeroMQ context must not cross a fork. A block that is left by an exception
    drops its running games: the workers are killed. They hold the reading end of a pipe that nobody ever writes to, so
    that they end too when this process ends, in whatever way.
    """
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    listen, stop = context.Pipe(duplex=False)
    resource_tracker.ensure_running()  # else the first worker's start would, and unblock the signal that _Pool blocks
    pool = _Pool(count, mp_context=context, initializer=_start, initargs=(listen,))
    try:
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        stop.close()
        listen.close()


def _start(listen: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_coordinator, args=(listen,), daemon=True).start()


def _end_with_coordinator(listen: Connection) -> None:
    try:
        listen.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
