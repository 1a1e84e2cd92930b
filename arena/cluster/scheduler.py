"""A connection to a Dask scheduler. No call of it waits without a limit.

Laws:
1. A connection that was lost stays lost. Dask's client connects again by itself, but then it hears of nothing that was
   subscribed to: a new connection is made instead.
2. What Dask raises while it is connected to, asked or left becomes a `MachineFault`, or nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from arena.errors import MachineFault

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_S: Final = 20.0
"""How long a scheduler may take to answer for the first time, and to have a worker."""
RECONNECT_S: Final = 5.0
"""How long it may take to answer when it is tried again after it was lost."""
ANSWER_S: Final = 20.0
"""How long it may take to say which workers it has."""
_CLOSE_S: Final = 2.0
"""How long a scheduler that may be gone is said goodbye to."""
_POLL_S: Final = 0.1


class Scheduler:
    """A connection, with Dask's client on it."""

    def __init__(self, target: str | LocalCluster, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Connects.

        Args:
            target: The scheduler's address, or a cluster of this process.
            loop: What runs the connection: `looping` gives one, and a cluster of this process has one.
            seconds: How long it may take.

        Raises:
            MachineFault: It does not answer.
        """
        connecting = asyncio.run_coroutine_threadsafe(_connected(target, seconds), loop)
        try:
            self.client = connecting.result()
        except TimeoutError as error:
            raise MachineFault(f"no answer for {seconds:g} s") from error
        except Exception as error:  # whatever Dask raises
            raise MachineFault(str(error) or repr(error)) from error
        self._stream = self.client.scheduler_comm

    @property
    def is_lost(self) -> bool:
        """Whether the connection was interrupted, though Dask may have another by now."""
        return self.client.status != "running" or self.client.scheduler_comm is not self._stream

    def listen(self, topic: str, hear: Callable[[tuple[float, Any]], object]) -> None:
        """Has a function called with each event of a topic."""
        self.client.subscribe_topic(topic, hear)

    def workers(self) -> dict[str, dict[str, Any]]:
        """Returns what the scheduler knows of its workers, by their addresses.

        Raises:
            MachineFault: It does not answer.
        """
        try:
            if self.client.scheduler is None:
                raise ConnectionError("the connection is closed")
            ask = self.client.scheduler.identity
            found: dict[str, dict[str, Any]] = self.client.sync(ask, n_workers=-1, callback_timeout=ANSWER_S)["workers"]
        except Exception as error:  # whatever Dask raises
            raise MachineFault(f"the cluster's scheduler does not answer: {str(error) or repr(error)}") from error
        return found

    def await_worker(self, seconds: float) -> None:
        """Waits until there is a worker.

        Raises:
            MachineFault: There is none for so long.
        """
        end = time.monotonic() + seconds
        while not self.workers():
            if time.monotonic() > end:
                raise MachineFault(f"it had no worker for {seconds:g} s")
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Ends the connection, whether the scheduler is there or not."""
        with suppress(Exception):
            self.client.close(timeout=_CLOSE_S)
        self.client.status = "closed"  # else Dask would try again whenever it forgets a client that did not answer


async def _connected(target: str | LocalCluster, seconds: float) -> Client:
    """Returns a client that is connected.

    Its own limit does not hold if somebody takes the connection and says nothing, and it leaves a thread behind if it
    starts its loop itself and cannot connect. So it is started in a loop that is there.

    Raises:
        TimeoutError: It is not, after so many seconds.
        Exception: Whatever Dask raises.
    """
    from distributed import Client

    client = Client(target, timeout=seconds, set_as_default=False, asynchronous=True)
    try:
        async with asyncio.timeout(seconds):
            await client
    except BaseException:
        with suppress(Exception):
            await client.close(timeout=_CLOSE_S)
        raise
    return client


@contextmanager
def looping() -> Iterator[asyncio.AbstractEventLoop]:
    """Yields an event loop that runs in a thread of its own.

    All connections share it, those too that could not be made.
    """
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
        thread.join(_CLOSE_S)
