"""A Dask cluster as a source of lanes: connects, watches the workers, and gives each lane one that is free.

Laws:
1. Whoever asks for a lane waits for nobody: which workers there are is asked by a thread that watches, when somebody
   found none free. So a scheduler that is stopped holds up no tournament and no league.
2. A scheduler that is gone is like one without a worker: all lanes are lost, and there is none until it is back. Then
   there is a new connection, with workers of which nothing is known.
"""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from arena import scratch
from arena.cluster import far
from arena.cluster import scheduler as schedulers
from arena.cluster.address import LOCAL, check_address, check_keys, local_workers
from arena.cluster.calls import called
from arena.cluster.check import Machine
from arena.cluster.lane import ClusterLane, Refusal
from arena.cluster.parcels import Parcels, packed_anew
from arena.cluster.scheduler import Scheduler, looping
from arena.cluster.survey import Facts
from arena.errors import ConfigError, MachineFault
from arena.link.bots import BotSpec
from arena.tournament.lanes import PATIENCE_S
from arena.tournament.workers import NoFreeWorker

_CLOCK_S: Final = 20.0
"""How long a worker may take to say what time it is."""
_LOOK_S: Final = 1.0
_CLOSE_S: Final = 2.0
"""How long the thread that watches is awaited at the end. It may just be connecting."""
_CLOCK_TRIES: Final = 3
"""How often a worker is asked what time it is: the quickest answer says it best."""
_REST_S: Final = 2 * PATIENCE_S
"""How long a worker gets no lane whose machine lacked something: it may have it then. If all lack something, a
tournament ends before."""
_MOST_REASONS: Final = 3
"""Of so many workers it is said why they rest."""
_GONE: Final = "the cluster's scheduler is gone"
_KEPT: Final = "A league goes on by itself, a tournament when the same command is given again. All results are kept"
_QUIET: Final = logging.CRITICAL + 1
"""What matters of what Dask logs becomes an error of ours."""


def _nothing(sentence: str) -> None:
    """Tells nobody."""


class Cluster:
    """A connection to a cluster. Make one with `connected`."""

    def __init__(
        self,
        scheduler: Scheduler,
        connect: Callable[[], Scheduler],
        parcels: Parcels | None,
        tell: Callable[[str], object] = _nothing,
    ) -> None:
        """Takes what it works with.

        Args:
            scheduler: A connection that has a worker. It is closed with the cluster.
            connect: Returns another, when that was lost; raises `MachineFault`.
            parcels: What brings bots to workers; None if all are on this machine.
            tell: Called with a sentence about each worker that was lost, by the thread that asks for a lane.
        """
        self.is_here = parcels is None
        """Whether all workers are on this machine."""
        self._scheduler = scheduler
        self._connect = connect
        self._parcels = parcels
        self._tell = tell
        self._topic = f"arena-{secrets.token_hex(8)}"
        self._lanes: dict[str, ClusterLane] = {}
        """By the worker's address."""
        self._workers: dict[str, dict[str, Any]] = {}
        """What the scheduler said of them, by their addresses."""
        self._wanted = False
        """Whether somebody found no free worker since the scheduler was asked which there are."""
        self._silent = ""
        """How the scheduler failed to answer, if it last did."""
        self._stalled: dict[str, float | None] = {}
        """When workers that were not heard of were last seen by the scheduler: until that changes they get no lane.
        None means that it was not asked since."""
        self._refused: dict[str, tuple[float, Refusal]] = {}
        """Workers that cannot play: until when they get no lane, and why."""
        self._untold: list[str] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._begin(scheduler)
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def _begin(self, scheduler: Scheduler) -> None:
        """Begins with a connection.

        Raises:
            MachineFault: The scheduler does not answer.
        """
        scheduler.listen("all", self._told)  # first, so that no worker that ends meanwhile is missed
        scheduler.listen(self._topic, self._beaten)
        workers = scheduler.workers()
        with self._lock:
            self._workers, self._silent = workers, ""
            self._stalled.clear()
            self._refused.clear()
        self._scheduler = scheduler

    def workers(self) -> dict[str, str]:
        """Returns the names of the workers by their addresses, as they are now.

        Raises:
            MachineFault: The scheduler does not answer.
        """
        self._ask()
        return {address: str(worker["name"]) for address, worker in self._workers.items()}

    def _ask(self) -> None:
        """Asks the scheduler which workers there are.

        Raises:
            MachineFault: It does not answer.
        """
        self._wanted = False
        try:
            workers = self._scheduler.workers()
        except MachineFault as error:
            self._silent = str(error)
            raise
        with self._lock:
            if self._silent:  # it was the scheduler's fault, not theirs
                self._refused = {each: why for each, why in self._refused.items() if not why[1].may_later}
            self._workers, self._silent = workers, ""
            for address in [address for address, seen in self._stalled.items() if seen is None]:
                self._stalled[address] = workers.get(address, {}).get("last_seen", 0.0)

    def survey(self) -> list[Machine]:
        """Returns the workers with what they say of their machines. They are asked at the same time."""
        workers = self.workers()
        clocks = {address: self._clock_of(address) for address in workers}
        client = self._scheduler.client
        asked = {address: called(client, address, far.survey) for address in workers}
        found = []
        for address, answer in asked.items():
            try:
                facts = msgspec.msgpack.decode(answer.result(timeout=far.SURVEY_S + _CLOCK_S), type=Facts)
            except Exception as error:  # whatever Dask, the worker or another version of arena raises
                found.append(Machine(worker=workers[address], problem=f"{error!r:.300}"))
                continue
            offset_ms, uncertain_ms = clocks[address]
            found.append(Machine(worker=workers[address], facts=facts, offset_ms=offset_ms, uncertain_ms=uncertain_ms))
        return found

    def _clock_of(self, address: str) -> tuple[float | None, float | None]:
        """Returns how far a worker's clock is ahead, and by how much that may be wrong (ms); None if it is silent."""
        best: tuple[float | None, float | None] = (None, None)
        for _ in range(_CLOCK_TRIES):
            began = time.time()
            try:
                theirs = called(self._scheduler.client, address, far.clock).result(timeout=_CLOCK_S)
            except Exception:  # it says why when it is asked for more
                break
            way_s = (time.time() - began) / 2
            if best[1] is None or way_s * 1_000 < best[1]:
                best = (round((theirs - began - way_s) * 1_000, 1), round(way_s * 1_000, 1))
        return best

    @contextmanager
    def lane(self) -> Iterator[Executor]:
        """Yields an executor on a worker that no other lane has.

        Raises:
            NoFreeWorker: All workers have a lane or may be able to play later, or the scheduler is gone.
            MachineFault: No worker can play.
        """
        lane = self._open()
        try:
            yield lane
        finally:
            lane.shutdown()
            with self._lock:
                if self._lanes.get(lane.address) is lane:
                    del self._lanes[lane.address]
                if lane.refusal is not None:
                    rest_s = _REST_S if lane.refusal.may_later else math.inf
                    self._refused[lane.address] = (time.monotonic() + rest_s, lane.refusal)
                if lane.why_lost not in ("", _GONE):
                    self._untold.append(lane.why_lost)

    def _open(self) -> ClusterLane:
        while self._untold:
            self._tell(self._untold.pop(0))
        if self._scheduler.is_lost:
            raise NoFreeWorker(f"expected the cluster's scheduler, got: it is gone; start it. {_KEPT}")
        if self._silent:
            self._wanted = True
            raise NoFreeWorker(f"{self._silent}; start it again if it is stopped. {_KEPT}")
        lane = self._on_a_free_worker()
        if lane is None and self._gave_up_bots():
            lane = self._on_a_free_worker()
        if lane is None:
            self._wanted = True
            raise NoFreeWorker(
                f"expected a free worker on the cluster, got: none{self._why_none()}; start more, and give the same "
                "command again. All results so far are kept"
            )
        return lane

    def _why_none(self) -> str:
        """Returns what to say of the workers that rest because they could not play."""
        with self._lock:
            reasons = [
                f"worker {self._workers[address]['name']} rests: {refusal.why}"
                for address, (_, refusal) in self._refused.items()
                if address in self._workers
            ]
        more = [f"{len(reasons) - _MOST_REASONS} more rest"] if len(reasons) > _MOST_REASONS else []
        return f" ({'; '.join(reasons[:_MOST_REASONS] + more)})" if reasons else ""

    def _on_a_free_worker(self) -> ClusterLane | None:
        now = time.monotonic()
        with self._lock:
            for address, worker in self._workers.items():
                rests = address in self._refused and now < self._refused[address][0]
                stalls = address in self._stalled and self._stalled[address] in (None, worker["last_seen"])
                if address in self._lanes or rests or stalls:
                    continue
                name = str(worker["name"])
                lane = ClusterLane(self._scheduler.client, address, name, self._topic, self._parcels)
                self._lanes[address] = lane
                return lane
        return None

    def _gave_up_bots(self) -> bool:
        """Gives up the bots that no worker can start, and returns whether there are any: then workers are free again.

        Raises:
            MachineFault: No worker can play, whatever the bots are.
        """
        with self._lock:
            workers = dict(self._workers)
            refused = {address: refusal for address, (_, refusal) in self._refused.items() if address in workers}
        if not workers or len(refused) < len(workers):
            return False
        told = {address: f"worker {workers[address]['name']}: {refusal.why}" for address, refusal in refused.items()}
        bots = {refusal.bot for refusal in refused.values() if refusal.bot}
        for bot in bots:
            at = [address for address, refusal in refused.items() if refusal.bot == bot]
            if self._parcels is not None:
                self._parcels.give_up(bot, "; ".join(told[address] for address in at))
            with self._lock:
                for address in at:
                    self._refused.pop(address, None)
        if not bots and not any(refusal.may_later for refusal in refused.values()):
            raise MachineFault(
                f"expected a worker that can play, got none: {'; '.join(told.values())}. Correct that, and give the "
                "same command again. All results so far are kept"
            )
        return bool(bots)

    def _told(self, event: tuple[float, Any]) -> None:
        """Hears what the scheduler says of all workers."""
        message = event[1]
        if isinstance(message, dict) and message.get("action") == "remove-worker":
            address = str(message.get("worker"))
            with self._lock:
                lane = self._lanes.get(address)
                for known in (self._workers, self._stalled, self._refused):  # who comes there later is another
                    known.pop(address, None)
            if lane is not None:
                lane.bury()

    def _beaten(self, event: tuple[float, Any]) -> None:
        """Hears the token of a lane that lives."""
        for lane in self._all():
            if lane.token == event[1]:
                lane.hear()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            if self._scheduler.is_lost:
                self._untold.append(_GONE)
                for lane in self._all():
                    lane.lose(_GONE)
                self._connect_anew()
                continue
            with suppress(Exception):  # whatever Dask raises when it is lost just now
                self._look_at_lanes()

    def _look_at_lanes(self) -> None:
        for lane in self._all():
            if lane.look(time.monotonic()):
                with self._lock:
                    self._stalled[lane.address] = None
                self._wanted = True
        if self._wanted:
            self._ask()

    def _connect_anew(self) -> None:
        """Connects again, and tries until it can, or is not wanted any more."""
        self._scheduler.close()
        while not self._ended.wait(_LOOK_S):
            with suppress(MachineFault):
                scheduler = self._connect()
                try:
                    self._begin(scheduler)
                except MachineFault:
                    scheduler.close()
                    raise
                self._untold.append("the cluster's scheduler is back")
                if self._ended.is_set():  # nobody waited
                    scheduler.close()
                return

    def _all(self) -> list[ClusterLane]:
        with self._lock:
            return list(self._lanes.values())

    def close(self) -> None:
        """Watches no more, and leaves the scheduler."""
        self._ended.set()
        self._watch.join(_CLOSE_S)
        self._scheduler.close()


@contextmanager
def connected(
    address: str,
    *,
    insecure: bool = False,
    tell: Callable[[str], object] = _nothing,
    archive_of: Callable[[BotSpec], Path | None] = packed_anew,
) -> Iterator[Cluster]:
    """Yields a cluster.

    Args:
        address: Its scheduler's, `tcp://HOST:PORT` or `tls://HOST:PORT`; or `local:N`, which starts N workers here.
        insecure: Whether an address beyond this machine may be without TLS.
        tell: Called with a sentence about each worker that was lost, by the thread that asks for a lane.
        archive_of: Returns the archive that a bot came in, if it came in one: then it travels in it.

    Raises:
        ConfigError: The address cannot be used, or Dask is not installed.
        MachineFault: No scheduler answers there, or it has no workers.
    """
    check_address(address, insecure=insecure)
    try:
        import distributed  # noqa: F401 - only to say so if it is not there
    except ImportError:
        raise ConfigError(
            "expected Dask, got: it is not installed; run pip install 'samurai-arena[cluster]' - at --cluster"
        ) from None
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":  # Dask gives some of its loggers levels and handlers of their own
            logging.getLogger(name).setLevel(_QUIET)
    if address.startswith("tls://"):
        check_keys()
    with ExitStack() as stack:
        if address.startswith(LOCAL):
            here = stack.enter_context(_local(local_workers(address)))
            connect = partial(Scheduler, here, here.loop.asyncio_loop)
        else:
            connect = partial(Scheduler, address, stack.enter_context(looping()))
        try:
            scheduler = connect(schedulers.CONNECT_S)
            stack.callback(scheduler.close)
            scheduler.await_worker(schedulers.CONNECT_S)
        except MachineFault as error:
            raise MachineFault(f"expected a Dask cluster with workers at {address}, got: {error}") from error
        parcels = None
        if not address.startswith(LOCAL):
            folder = stack.enter_context(scratch.folder("arena-parcels-"))
            parcels = Parcels(folder, archive_of)
        cluster = Cluster(scheduler, lambda: connect(schedulers.RECONNECT_S), parcels, tell)
        stack.callback(cluster.close)
        yield cluster


@contextmanager
def _local(workers: int) -> Iterator[Any]:
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
