"""A Dask cluster as a source of lanes: connects, watches the workers, and gives each lane one that is free."""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.cluster.lane import ClusterLane
from arena.errors import ConfigError, MachineFault
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
_QUIET: Final = logging.CRITICAL + 1
"""What matters of what Dask logs becomes an error of ours."""
_LOOPBACK: Final = re.compile(r"\Atcp://(127\.[0-9.]+|localhost|\[::1\]):[0-9]+\Z")


class Cluster:
    """A connection to a cluster. Make one with `connected`."""

    def __init__(self, client: Client, *, is_here: bool) -> None:
        """Takes a client that is connected, and whether all workers are on this machine."""
        self._client = client
        self.is_here = is_here
        self._topic = f"arena-{secrets.token_hex(8)}"
        self._lanes: dict[str, ClusterLane] = {}
        """By the worker's address."""
        self._stalled: dict[str, float] = {}
        """When workers that were not heard of were last seen by the scheduler: until that changes they get no lane."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        client.subscribe_topic("all", self._told)
        client.subscribe_topic(self._topic, self._beaten)
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def workers(self) -> dict[str, str]:
        """Returns the names of the workers by their addresses."""
        return {address: str(worker["name"]) for address, worker in self._info().items()}

    def _info(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    @contextmanager
    def lane(self) -> Iterator[Executor]:
        """Yields an executor on a worker that no other lane has.

        Raises:
            ConfigError: The worker has another version of arena.
            NoFreeWorker: All workers have a lane.
            MachineFault: The scheduler is gone, or a worker cannot start a player.
        """
        lane = self._open()
        try:
            yield lane
        finally:
            lane.shutdown()
            with self._lock:
                if self._lanes.get(lane.address) is lane:
                    del self._lanes[lane.address]

    def _open(self) -> ClusterLane:
        if self._client.status != "running":
            raise MachineFault("the cluster's scheduler is gone; start it, and give the same command again")
        for address, worker in self._info().items():
            with self._lock:
                if address in self._lanes or self._stalled.get(address) == worker["last_seen"]:
                    continue
            with suppress(_Gone):
                return self._open_on(address, str(worker["name"]))
        raise NoFreeWorker(
            "expected a free worker on the cluster, got: none; start more, and give the same command again. All "
            "results so far are kept"
        )

    def _open_on(self, address: str, name: str) -> ClusterLane:
        try:
            lane = ClusterLane(self._client, address, name, self._topic, is_here=self.is_here)
        except MachineFault:
            if address in self.workers():
                raise
            raise _Gone from None
        with self._lock:
            self._lanes[address] = lane
        return lane

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


class _Gone(Exception):
    """A worker went away while a lane was opened on it."""


@contextmanager
def connected(address: str, *, insecure: bool = False) -> Iterator[Cluster]:
    """Yields a cluster.

    Args:
        address: Its scheduler's, `tcp://HOST:PORT` or `tls://HOST:PORT`; or `local:N`, which starts N workers here.
        insecure: Whether an address beyond this machine may be without TLS.

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
        cluster = Cluster(client, is_here=address.startswith(LOCAL))
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
