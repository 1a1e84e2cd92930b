"""A Dask cluster as a source of lanes: connects, watches the workers, and gives each lane one that is free."""

from __future__ import annotations

import logging
import math
import re
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.cluster import far
from arena.cluster.calls import called
from arena.cluster.check import Machine
from arena.cluster.lane import ClusterLane, Refusal
from arena.cluster.parcels import Parcels, packed_anew
from arena.cluster.survey import Facts
from arena.errors import ConfigError, MachineFault
from arena.link.bots import BotSpec
from arena.tournament.workers import NoFreeWorker

if TYPE_CHECKING:
    from distributed import Client

LOCAL: Final = "local:"
"""The prefix of an address that stands for so many workers on this machine."""
MOST_LOCAL: Final = 256
KEYS: Final = tuple(f"DASK_DISTRIBUTED__COMM__TLS__{key}" for key in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"))
"""The variables that name the files with the certificate of the authority, our certificate, and our key."""
CONNECT_S: Final = 20.0
"""How long a scheduler may take to answer, and to have a worker."""
_CLOSE_S: Final = 2.0
"""How long a scheduler that may be gone is said goodbye to."""
_LOOK_S: Final = 1.0
_CLOCK_TRIES: Final = 3
"""How often a worker is asked what time it is: the quickest answer says it best."""
_REST_S: Final = 60.0
"""How long a worker gets no lane whose machine lacked something: it may have it then."""
_QUIET: Final = logging.CRITICAL + 1
"""What matters of what Dask logs becomes an error of ours."""
_LOOPBACK: Final = re.compile(r"\Atcp://(127\.[0-9.]+|localhost|\[::1\]):[0-9]+\Z")


def _nothing(sentence: str) -> None:
    """Tells nobody."""


class Cluster:
    """A connection to a cluster. Make one with `connected`."""

    def __init__(self, client: Client, parcels: Parcels | None, tell: Callable[[str], object] = _nothing) -> None:
        """Takes what it works with.

        Args:
            client: Connected to the scheduler.
            parcels: What brings bots to workers; None if all are on this machine.
            tell: Called with a sentence about each worker that was lost, by the thread that asks for a lane.
        """
        self.is_here = parcels is None
        """Whether all workers are on this machine."""
        self._client = client
        self._parcels = parcels
        self._tell = tell
        self._topic = f"arena-{secrets.token_hex(8)}"
        self._lanes: dict[str, ClusterLane] = {}
        """By the worker's address."""
        self._stalled: dict[str, float] = {}
        """When workers that were not heard of were last seen by the scheduler: until that changes they get no lane."""
        self._refused: dict[str, tuple[float, Refusal]] = {}
        """Workers that cannot play: until when they get no lane, and why."""
        self._untold: list[str] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        client.subscribe_topic("all", self._told)
        client.subscribe_topic(self._topic, self._beaten)
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def workers(self) -> dict[str, str]:
        """Returns the names of the workers by their addresses."""
        return {address: str(worker["name"]) for address, worker in self._info().items()}

    def survey(self) -> list[Machine]:
        """Returns the workers with what they say of their machines. They are asked at the same time."""
        workers = self.workers()
        clocks = {address: self._clock_of(address) for address in workers}
        asked = {address: called(self._client, address, far.survey) for address in workers}
        found = []
        for address, answer in asked.items():
            try:
                facts = msgspec.msgpack.decode(answer.result(timeout=far.SURVEY_S + CONNECT_S), type=Facts)
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
                theirs = called(self._client, address, far.clock).result(timeout=CONNECT_S)
            except Exception:  # it says why when it is asked for more
                break
            way_s = (time.time() - began) / 2
            if best[1] is None or way_s * 1_000 < best[1]:
                best = (round((theirs - began - way_s) * 1_000, 1), round(way_s * 1_000, 1))
        return best

    def _info(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    @contextmanager
    def lane(self) -> Iterator[Executor]:
        """Yields an executor on a worker that no other lane has.

        Raises:
            NoFreeWorker: All workers have a lane, or may be able to play later.
            MachineFault: The scheduler is gone, or no worker can play.
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
                if lane.why_lost:
                    self._untold.append(lane.why_lost)

    def _open(self) -> ClusterLane:
        while self._untold:
            self._tell(self._untold.pop(0))
        if self._client.status != "running":
            raise MachineFault("the cluster's scheduler is gone; start it, and give the same command again")
        lane = self._on_a_free_worker()
        if lane is None and self._gave_up_bots():
            lane = self._on_a_free_worker()
        if lane is None:
            raise NoFreeWorker(
                "expected a free worker on the cluster, got: none; start more, and give the same command again. All "
                "results so far are kept"
            )
        return lane

    def _on_a_free_worker(self) -> ClusterLane | None:
        workers, now = self._info(), time.monotonic()
        with self._lock:
            for address, worker in workers.items():
                rests = address in self._refused and now < self._refused[address][0]
                if address in self._lanes or rests or self._stalled.get(address) == worker["last_seen"]:
                    continue
                name = str(worker["name"])
                lane = ClusterLane(self._client, address, name, self._topic, self._parcels)
                self._lanes[address] = lane
                return lane
        return None

    def _gave_up_bots(self) -> bool:
        """Gives up the bots that no worker can start, and returns whether there are any: then workers are free again.

        Raises:
            MachineFault: No worker can play, whatever the bots are.
        """
        workers = self._info()
        refused = {address: refusal for address, (_, refusal) in self._refused.items() if address in workers}
        if not workers or len(refused) < len(workers):
            return False
        told = {address: f"worker {workers[address]['name']}: {refusal.why}" for address, refusal in refused.items()}
        bots = {refusal.bot for refusal in refused.values() if refusal.bot}
        for bot in bots:
            at = [address for address, refusal in refused.items() if refusal.bot == bot]
            if self._parcels is not None:
                self._parcels.give_up(bot, "; ".join(told[address] for address in at))
            for address in at:
                del self._refused[address]
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
            with self._lock:
                lane = self._lanes.get(str(message.get("worker")))
            if lane is not None:
                lane.bury()

    def _beaten(self, event: tuple[float, Any]) -> None:
        """Hears the token of a lane that lives."""
        for lane in self._all():
            if lane.token == event[1]:
                lane.hear()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            if self._client.status != "running":
                for lane in self._all():
                    lane.lose("the cluster's scheduler is gone")
                continue
            for lane in self._all():
                if lane.look(time.monotonic()):
                    self._stalled[lane.address] = self._info().get(lane.address, {}).get("last_seen", 0.0)

    def _all(self) -> list[ClusterLane]:
        with self._lock:
            return list(self._lanes.values())

    def close(self) -> None:
        """Watches no more."""
        self._ended.set()
        for topic in ("all", self._topic):
            self._client.unsubscribe_topic(topic)
        self._watch.join()


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
        from distributed import Client
    except ImportError:
        raise ConfigError(
            "expected Dask, got: it is not installed; run pip install 'samurai-arena[cluster]' - at --cluster"
        ) from None
    logging.getLogger("distributed").setLevel(_QUIET)
    if address.startswith("tls://"):
        _check_keys()
    with ExitStack() as stack:
        target = stack.enter_context(_local(local_workers(address))) if address.startswith(LOCAL) else address
        try:
            client = Client(target, timeout=CONNECT_S, set_as_default=False)
            stack.callback(client.close, timeout=_CLOSE_S)
            client.wait_for_workers(1, timeout=CONNECT_S)
        except (OSError, TimeoutError) as error:
            raise MachineFault(f"expected a Dask cluster with workers at {address}, got: {error}") from error
        parcels = None
        if not address.startswith(LOCAL):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-parcels-"))
            parcels = Parcels(Path(folder), archive_of)
        cluster = Cluster(client, parcels, tell)
        stack.callback(cluster.close)
        yield cluster


def _check_keys() -> None:
    """Checks that Dask knows the keys for TLS. It reads them from its own configuration, as its commands do.

    Raises:
        ConfigError: It does not.
    """
    import dask.config

    given = [dask.config.get(f"distributed.comm.tls.{key}", None) for key in ("ca-file", "client.cert", "client.key")]
    for value, name in zip(given, KEYS, strict=True):
        if value is None:
            raise ConfigError(f"expected the keys for tls:// in Dask's configuration, got none; set {', '.join(KEYS)}")
        if "\n" not in value and not Path(value).is_file():
            raise ConfigError(f"expected a file of keys, got: {value!r:.200}, which is none - at {name}")


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


def local_workers(address: str) -> int:
    """Returns how many workers `local:N` stands for.

    Raises:
        ConfigError: It is no such number.
    """
    number = address.removeprefix(LOCAL)
    if not number.isascii() or not number.isdecimal() or len(number) > 3 or not 1 <= int(number) <= MOST_LOCAL:
        raise ConfigError(f"expected {LOCAL}N with N in 1..{MOST_LOCAL}, got: {address!r:.80} - at --cluster")
    return int(number)


def check_address(address: str, *, insecure: bool = False) -> None:
    """Checks that an address may be connected to.

    Raises:
        ConfigError: It may not.
    """
    if address.startswith(LOCAL):
        local_workers(address)
    elif address.startswith("tcp://") and not insecure and _LOOPBACK.search(address) is None:
        raise ConfigError(
            f"expected a tls:// address, got: {address!r:.80}: whoever reaches a scheduler without TLS runs code "
            "on all its machines; give it keys, or say --insecure if nobody else is on the network - at --cluster"
        )
    elif not address.startswith(("tcp://", "tls://")):
        raise ConfigError(f"expected tls://HOST:PORT, tcp://HOST:PORT or {LOCAL}N, got: {address!r:.80} - at --cluster")
