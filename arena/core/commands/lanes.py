"""Where games are played: on worker processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.cli.output import say
from arena.core import plugs
from arena.core.errors import ConfigError
from arena.core.text import plain

if TYPE_CHECKING:
    from arena.core.link.bots import BotSpec
    from arena.core.tournament.lanes import Worker


class Lanes(NamedTuple):
    """How many games are played at a time, and what starts a worker."""

    number: int
    worker: Worker | None = None
    """None means a process on this machine."""
    elsewhere: bool = False
    """Whether workers may be on other machines."""


@contextmanager
def lanes_on(
    address: str | None,
    concurrency: int | None,
    *,
    insecure: bool = False,
    same_worker: bool = False,
    tell: Callable[[str], object] = say,
    archive_of: Callable[[BotSpec], Path | None] | None = None,
) -> Iterator[Lanes]:
    """Yields where to play.

    Args:
        address: The cluster's; None means this machine.
        concurrency: Games at a time; None means half of the cores here, or the workers that a cluster has now. It may
            be more than those: who comes later is used.
        insecure: Whether a cluster beyond this machine may be without TLS.
        same_worker: Whether matches are to stay on a worker: then there has to be a cluster.
        tell: Called with a sentence about each worker that was lost.
        archive_of: Returns the archive that a bot came in; None means that bots came in none.

    Raises:
        ConfigError: The address or the number cannot be used.
        MachineFault: There is no such cluster.
    """
    from arena.core.tournament.workers import games_at_a_time

    if address is None:
        for option, given in (("--insecure", insecure), ("--same-worker", same_worker)):
            if given:
                raise ConfigError(f"expected --cluster beside {option}, got: {option} alone; leave it out")
        yield Lanes(games_at_a_time(concurrency))
        return

    def told(sentence: str) -> None:
        tell(plain(sentence))

    with plugs.cluster(address, insecure, same_worker, told, archive_of) as cluster:
        there = len(cluster.workers())
        number = there if concurrency is None else games_at_a_time(concurrency)
        if cluster.archives is None and number > there:
            raise ConfigError(
                f"expected at most {there} games at a time, one for each worker of {address}, got: {number} "
                f"- at --concurrency; say local:{number}"
            )
        yield Lanes(number, cluster.lane, elsewhere=cluster.archives is not None)
