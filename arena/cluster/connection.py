"""Connections to Dask's scheduler, and an event loop that runs them. No attempt to connect lasts without a limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from arena.core.face import errors, need

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_S: Final = 20.0
"""Most seconds until a scheduler answers for the first time, and until it has a worker."""
RECONNECT_S: Final = 5.0
"""Most seconds until a scheduler that was lost answers an attempt to connect again."""
CLOSE_S: Final = 2.0
"""Most seconds for leaving a scheduler that may be gone."""
_QUIET: Final = logging.CRITICAL + 1
"""A level that nothing which Dask logs reaches: arena makes errors of its own of whatever matters."""


def silence() -> None:
    """Keeps Dask from logging.

    Raises:
        ConfigError: It is not installed.
    """
    need("cluster", "--cluster")
    import distributed  # sets the levels of its loggers when it is imported

    distributed.dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})  # archives may be large
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":  # Dask gives some of its loggers levels and handlers of their own
            logging.getLogger(name).setLevel(_QUIET)


async def connect(target: str | LocalCluster, seconds: float) -> Client:
    """Returns a client that is connected.

    Its own limit does not hold if somebody takes the connection and says nothing, and it leaves a thread behind if it
    starts its loop itself and cannot connect. So it is started in a loop that is there.

    Args:
        target: The scheduler's address, or a cluster of this process, whose loop has to run this.
        seconds: How long it may take, now and whenever Dask connects again.

    Raises:
        MachineFault: The scheduler does not answer.
    """
    from distributed import Client

    client = Client(target, timeout=seconds, set_as_default=False, asynchronous=True)
    try:
        async with asyncio.timeout(seconds):
            await client
    except BaseException as error:
        await leave(client)
        if isinstance(error, TimeoutError):
            raise errors.MachineFault(f"no answer for {seconds:g} s") from error
        if isinstance(error, Exception):  # whatever Dask raises
            raise errors.MachineFault(str(error) or repr(error)) from error
        raise
    return client


async def leave(client: Client) -> None:
    """Ends a connection, whether the scheduler is there or not."""
    with suppress(Exception):
        await client.close(timeout=CLOSE_S)
    client.status = "closed"  # else Dask would try again whenever it forgets a client that did not answer


@contextmanager
def looping() -> Iterator[asyncio.AbstractEventLoop]:
    """Yields an event loop that runs in a thread of its own."""
    came: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = SimpleQueue()

    async def run() -> None:
        stop = asyncio.Event()
        came.put((asyncio.get_running_loop(), stop))
        await stop.wait()

    thread = Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    loop, stop = came.get()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(CLOSE_S)


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Yields a cluster of workers on this machine, which only this process can reach: connections need its key."""
    from distributed import LocalCluster
    from distributed.security import Security

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=None,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # else it wants a certain port, and warns if it is taken
        host="tls://127.0.0.1",
        security=Security.temporary(),
        silence_logs=_QUIET,
    ) as cluster:
        yield cluster
