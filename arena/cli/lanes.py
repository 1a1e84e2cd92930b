"""Where games are played: on worker processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from arena.cli.output import say
from arena.cli.playing import nothing, workers_of
from arena.errors import ConfigError
from arena.text import plain

if TYPE_CHECKING:
    from arena.tournament.lanes import Worker


class Lanes(NamedTuple):
    """How many games are played at a time, and what starts a worker."""

    number: int
    worker: Worker | None = None
    """None means a process on this machine."""


@contextmanager
def lanes_on(
    address: str | None, concurrency: int | None, *, insecure: bool = False, quiet: bool = False
) -> Iterator[Lanes]:
    """Yields where to play.

    Args:
        address: The cluster's; None means this machine.
        concurrency: Games at a time; None means half of the cores here, or all workers of a cluster.
        insecure: Whether a cluster beyond this machine may be without TLS.
        quiet: Whether nothing is said of workers that are lost.

    Raises:
        ConfigError: The address or the number cannot be used.
        MachineFault: There is no such cluster.
    """
    if address is None:
        if insecure:
            raise ConfigError("expected --cluster beside --insecure, got: --insecure alone; leave it out")
        yield Lanes(workers_of(concurrency))
        return
    from arena.cluster.engine import connected

    tell = nothing if quiet else (lambda sentence: say(plain(sentence)))
    with connected(address, insecure=insecure, tell=tell) as cluster:
        there = len(cluster.workers())
        number = there if concurrency is None else workers_of(concurrency)
        if number > there:
            raise ConfigError(
                f"expected at most {there} games at a time, one for each worker of the cluster, got: {number} "
                "- at --concurrency; start more workers"
            )
        yield Lanes(number, cluster.lane)
