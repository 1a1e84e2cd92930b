"""Plays blocks of games on the workers of a Dask cluster: one task is one block.

Where a block is played, whether a worker lives, and that a block whose worker is gone is played again is Dask's
business; that each result counts once is the store's. What is left to do here:
1. A block is sent to workers that can play it (`workers.py`): not to those of another arena, nor to those whose machine
   could not start a bot of it, or lacks something for a while.
2. If all workers that a block was sent to are gone, or the scheduler is, the block is given back.
3. A worker says which game it begins, so that one that a lost worker had begun is noted. A block that Dask gives to
   another worker after that is given back: its logs would not say that they are of games that are begun again.
4. With `same_worker` each lane has a worker of its own, so that a match can stay there.
5. Whoever asks for a lane waits for nobody: which workers there are is asked in a loop of its own, where all that is
   known here is kept.

Dask's faults that demand it, each with a test in `tests/cluster`:
- It tries a task that failed again wherever it likes, on the same machine too, and does not say where it failed. So
  what a machine lacks is no error of the task but its outcome, and the block is sent to the others.
- A task that no worker can play waits for ever.
- A client that lost its scheduler is closed for good if it cannot connect again for some seconds, and waits for ever
  for one that takes the connection and says nothing. So another is made.
- Data that is scattered is lost with the worker that holds it, and what is uploaded goes to every worker. So archives
  of bots go beside a block, to a worker that said that it lacks them.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from arena.cluster import connection, far
from arena.cluster.archives import BotArchives
from arena.cluster.check import Machine
from arena.cluster.lane import LOOK_S, Lane
from arena.cluster.survey import MachineFacts
from arena.cluster.workers import Workers, said
from arena.core.face import bot_manifests, errors, processor_cores, resources, scratch

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

ANSWER_S: Final = 20.0
"""Most seconds until a scheduler lists its workers, and until a worker describes its machine."""
_CLOCK_TRIES: Final = 3
"""Number of times that a worker is asked for its time: the quickest answer says it best."""
_GONE: Final = "the cluster's scheduler is gone"
_KEPT: Final = "A league goes on by itself, a tournament when the same command is given again. All results are kept"

_T = TypeVar("_T")
LOCAL: Final = "local:"
"""The prefix of an address that stands for so many workers on this machine."""
MOST_LOCAL: Final = 256
KEYS: Final = tuple(f"DASK_DISTRIBUTED__COMM__TLS__{key}" for key in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"))
"""The variables that name the files with the certificate of the authority, our certificate, and our key."""
_ADDRESS: Final = re.compile(
    r"\A(?P<scheme>tcp|tls)://(?P<host>[^\s/:@\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})\Z", re.ASCII
)
_LOOPBACK: Final = re.compile(r"127\.[0-9.]+|localhost|\[::1\]")
_LAST_PORT: Final = 65535


class Cluster:
    """A connection to a cluster. Make one with `connected`. Methods with `_` run in its loop."""

    def __init__(
        self,
        target: str | LocalCluster,
        loop: asyncio.AbstractEventLoop,
        archives: BotArchives | None,
        tell: Callable[[str], object],
        *,
        same_worker: bool,
    ) -> None:
        """Connects.

        Args:
            target: The scheduler's address, or a cluster of this process.
            archives: What brings bots to workers; None if all are on this machine.
            tell: Called with a sentence about each worker that was lost, by the thread that has blocks played.

        Raises:
            MachineFault: The scheduler does not answer, or has no worker.
        """
        self.archives = archives
        self._target = target
        self._loop = loop
        self._same_worker = same_worker
        self._lanes: set[Lane] = set()
        self._workers = Workers(tell)
        self._asked: dict[str, asyncio.Task[None]] = {}
        """Question to a worker which arena it has, by address."""
        self._silent = ""
        """Failure of the scheduler to answer, if it last did."""
        self._client: Client
        self._watching: asyncio.Task[None]
        self._call(self._connect())

    def _call(self, work: Coroutine[Any, Any, _T], seconds: float | None = None) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    async def _connect(self) -> None:
        self._client = await connection.connect(self._target, connection.CONNECT_S)
        end = time.monotonic() + connection.CONNECT_S
        while not self._workers.names:
            await self._look()
            if self._silent or time.monotonic() > end:
                await connection.leave(self._client)
                raise errors.MachineFault(self._silent or f"it had no worker for {connection.CONNECT_S:g} s")
            await asyncio.sleep(0.1)
        await asyncio.wait(self._asked.values(), timeout=ANSWER_S)
        self._watching = asyncio.create_task(self._watch())

    def _begun(self, event: tuple[float, tuple[str, str]]) -> None:
        key, folder = event[1]
        if (note := self._workers.blocks.get(key)) is not None:
            note(folder)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            await self._look()

    async def _look(self) -> None:
        """Asks which workers there are."""
        if self._client.status != "running":
            self._note({}, _GONE)
            await connection.leave(self._client)
            with suppress(errors.MachineFault):
                self._client = await connection.connect(self._target, connection.RECONNECT_S)
        if self._client.status != "running" or self._client.scheduler is None:
            return
        self._client.subscribe_topic(far.BEGUN, self._begun)  # Dask forgets it when it connects again by itself
        try:
            async with asyncio.timeout(ANSWER_S):
                told = (await self._client.scheduler.identity(n_workers=-1))["workers"]
        except Exception as error:  # whatever Dask raises
            self._note({}, f"the cluster's scheduler does not answer: {str(error) or repr(error)}")
        else:
            self._note({address: str(worker["name"]) for address, worker in told.items()})

    def _note(self, names: Mapping[str, str], silent: str = "") -> None:
        """Notes which workers there are, or how the scheduler failed to say it: then it is as if there were none."""
        if (self._silent == _GONE) != (silent == _GONE):
            self._workers.untold.append(_GONE if silent == _GONE else "the cluster's scheduler is back")
        if not silent:
            gone = [name for address, name in self._workers.names.items() if address not in names]
            self._workers.untold += [f"worker {name} is gone" for name in gone]
        self._silent = silent
        self._workers.note(names)
        for address in [address for address in self._asked if address not in names]:
            self._asked.pop(address).cancel()
        for address in names.keys() - self._asked.keys():
            self._asked[address] = asyncio.create_task(self._ask_version(address))

    async def _ask_version(self, address: str) -> None:
        """Asks a worker which arena it has. Until it answers it gets no block."""
        here = resources.code_version()
        while True:
            try:
                there = await self._ask(address, resources.code_version)
            except OSError:  # it may just be starting, or ending
                await asyncio.sleep(LOOK_S)
                continue
            except Exception as error:  # whatever Dask or the worker raises
                there = f"{error!r:.300}"
            self._workers.known.add(address)
            if there != here:
                self._workers.refuse(address, f"expected arena {here}, got: {there}; install arena {here} there")
            return

    async def _ask(self, address: str, function: Callable[[], Any]) -> Any:
        """Returns what a function says in a worker, beside its tasks."""
        return (await self._client.run(function, workers=[address]))[address]

    @contextmanager
    def lane(self) -> Iterator[Lane]:
        """Yields what plays one block at a time. There are at most as many as workers.

        Raises:
            NoFreeWorker: There are as many as workers, or the scheduler is gone.
            MachineFault: No worker can play, and waiting does not help.
        """
        self._workers.say()
        lane = self._call(self._opened())
        try:
            yield lane
        finally:
            lane.shutdown()
            self._lanes.discard(lane)

    async def _opened(self) -> Lane:
        if self._client.status != "running":
            raise processor_cores.NoFreeWorker(f"expected the cluster's scheduler, got: it is gone; start it. {_KEPT}")
        if self._silent:
            raise processor_cores.NoFreeWorker(f"{self._silent}; start it again if it is stopped. {_KEPT}")
        names, refusals = self._workers.names, self._workers.refusals()
        if names and len(refusals) == len(names) and all(refusal.until == math.inf for refusal in refusals):
            raise errors.MachineFault(
                f"expected a worker that can play, got none: {said(refusals)}. Correct that, and give the same command "
                "again. All results so far are kept"
            )
        kept = {lane.address for lane in self._lanes}
        free = [each for each in names if self._workers.why_not(each) is None and each not in kept]
        if not free or len(self._lanes) >= len(names) - len(refusals):
            text = f" ({said(refusals)})" if refusals else ""
            raise processor_cores.NoFreeWorker(
                f"expected a free worker on the cluster, got: none{text}; start more, and give the same command again. "
                "All results so far are kept"
            )
        address = free[0] if self._same_worker else ""
        lane = Lane(self._workers, lambda: self._client, self._loop, self.archives, address)
        self._lanes.add(lane)
        return lane

    # What `arena cluster check` asks

    def workers(self) -> Mapping[str, str]:
        """Returns the names of the workers by their addresses, as they last were."""
        return self._workers.names

    def survey(self) -> list[Machine]:
        """Returns the workers with what they say of their machines. They are asked at the same time."""
        return self._call(self._survey())

    async def _survey(self) -> list[Machine]:
        clocks = {address: await self._clock_of(address) for address in self._workers.names}
        return await asyncio.gather(*(self._machine(address, clock) for address, clock in clocks.items()))

    async def _machine(self, address: str, clock: tuple[float | None, float | None]) -> Machine:
        name = self._workers.names[address]
        try:
            async with asyncio.timeout(far.SURVEY_S + ANSWER_S):
                facts = msgspec.msgpack.decode(await self._ask(address, far.survey), type=MachineFacts)
        except Exception as error:  # whatever Dask, the worker or another version of arena raises
            return Machine(worker=name, problem=f"{error!r:.300}")
        return Machine(worker=name, facts=facts, offset_ms=clock[0], uncertain_ms=clock[1])

    async def _clock_of(self, address: str) -> tuple[float | None, float | None]:
        """Returns how far a worker's clock is ahead, and by how much that may be wrong (ms); None if it is silent."""
        best: tuple[float | None, float | None] = (None, None)
        for _ in range(_CLOCK_TRIES):
            began = time.time()
            try:
                async with asyncio.timeout(ANSWER_S):
                    theirs = await self._ask(address, far.clock)
            except Exception:  # it says why when it is asked for more
                break
            way_s = (time.time() - began) / 2
            if best[1] is None or way_s * 1_000 < best[1]:
                best = (round((theirs - began - way_s) * 1_000, 1), round(way_s * 1_000, 1))
        return best

    def close(self) -> None:
        """Watches no more, and leaves the scheduler."""
        with suppress(TimeoutError):
            self._call(self._close(), 2 * connection.CLOSE_S)
        self._workers.say()

    async def _close(self) -> None:
        for task in (self._watching, *self._asked.values()):
            task.cancel()
        await connection.leave(self._client)


@contextmanager
def connected(
    address: str,
    *,
    insecure: bool = False,
    same_worker: bool = False,
    tell: Callable[[str], object] = lambda sentence: None,
    archive_of: Callable[[bot_manifests.BotSpec], Path | None] | None = None,
) -> Iterator[Cluster]:
    """Yields a cluster.

    Args:
        address: Its scheduler's, `tcp://HOST:PORT` or `tls://HOST:PORT`; or `local:N`, which starts N workers here.
        insecure: Whether an address beyond this machine may be without TLS.
        same_worker: Whether each lane keeps to a worker of its own.
        tell: Called with a sentence about each worker that was lost, by the thread that has blocks played.
        archive_of: Returns the archive that a bot came in, if it came in one: then it travels in it.

    Raises:
        ConfigError: The address cannot be used, or Dask is not installed.
        MachineFault: No scheduler answers there, or it has no workers.
    """
    check_address(address, insecure=insecure)
    connection.silence()
    if address.startswith("tls://"):
        check_keys()
    with ExitStack() as stack:
        make = partial(Cluster, tell=tell, same_worker=same_worker)
        try:
            if address.startswith(LOCAL):
                here = stack.enter_context(connection.local_cluster(local_workers(address)))
                cluster = make(here, here.loop.asyncio_loop, None)
            else:
                loop = stack.enter_context(connection.looping())
                folder = stack.enter_context(scratch.folder("arena-archives-"))
                cluster = make(address, loop, BotArchives(folder, archive_of or (lambda bot: None), tell))
        except errors.MachineFault as error:
            raise errors.MachineFault(f"expected a Dask cluster with workers at {address}, got: {error}") from error
        stack.callback(cluster.close)
        yield cluster


def local_workers(address: str) -> int:
    """Returns how many workers `local:N` stands for.

    Raises:
        ConfigError: It is no such number.
    """
    number = address.removeprefix(LOCAL)
    if not number.isascii() or not number.isdecimal() or len(number) > 3 or not 1 <= int(number) <= MOST_LOCAL:
        raise errors.ConfigError(f"expected {LOCAL}N with N in 1..{MOST_LOCAL}, got: {address!r:.80} - at --cluster")
    return int(number)


def check_address(address: str, *, insecure: bool = False) -> None:
    """Checks that an address may be connected to.

    Raises:
        ConfigError: It may not.
    """
    if address.startswith(LOCAL):
        local_workers(address)
        return
    parts = _ADDRESS.search(address)
    if parts is None or not 1 <= int(parts["port"]) <= _LAST_PORT:
        raise errors.ConfigError(
            f"expected tls://HOST:PORT, tcp://HOST:PORT or {LOCAL}N, got: {address!r:.80}; a port is 1..{_LAST_PORT}, "
            "and IPv6 is [in brackets] - at --cluster"
        )
    if parts["scheme"] == "tcp" and not insecure and _LOOPBACK.fullmatch(parts["host"]) is None:
        raise errors.ConfigError(
            f"expected a tls:// address, got: {address!r:.80}: whoever reaches a scheduler without TLS runs code "
            "on all its machines; give it keys, or say --insecure if nobody else is on the network - at --cluster"
        )


def check_keys() -> None:
    """Checks that Dask knows the keys for TLS. It reads them from its own configuration, as its commands do.

    Raises:
        ConfigError: It does not.
    """
    import dask.config

    given = [dask.config.get(f"distributed.comm.tls.{key}", None) for key in ("ca-file", "client.cert", "client.key")]
    for value, name in zip(given, KEYS, strict=True):
        if value is None:
            raise errors.ConfigError(
                f"expected the keys for tls:// in Dask's configuration, got none; set {', '.join(KEYS)}"
            )
        if "\n" not in value and not Path(value).is_file():
            raise errors.ConfigError(f"expected a file of keys, got: {value!r:.200}, which is none - at {name}")
