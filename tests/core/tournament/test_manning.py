"""When lanes look for a worker, and when they give up. Time does not pass by itself here."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, cast

import pytest

from arena.core.referee.worker import play
from arena.core.tournament import lanes
from arena.core.tournament.lanes import ASK_S, PATIENCE_S, Lanes
from arena.core.tournament.workers import NoFreeWorker


class Idle(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise NotImplementedError


class Clock:
    """The monotonic clock, and the rest of `time` that lanes need: nothing."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


class Cluster:
    """So many workers."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.asked = 0

    @contextmanager
    def lane(self) -> Iterator[Executor]:
        self.asked += 1
        if not self.free:
            raise NoFreeWorker("none is free")
        self.free -= 1
        yield Idle()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(lanes, "time", clock)
    return clock


def manned(cluster: Cluster) -> Lanes:
    return Lanes(cast("Any", None), play, cluster.lane)


def test_a_worker_is_not_asked_for_again_and_again_while_none_is_free(clock: Clock) -> None:
    cluster = Cluster(free=2)
    found = manned(cluster)
    for _ in range(1_000):
        found.man(3)
    assert cluster.asked == 3
    cluster.free = 1
    clock.now += ASK_S
    found.man(3)
    assert (cluster.asked, cluster.free) == (4, 0)


def test_it_is_given_up_with_the_reason_when_there_was_no_worker_for_long(clock: Clock) -> None:
    cluster = Cluster(free=0)
    found = manned(cluster)
    for _ in range(int(PATIENCE_S)):
        found.man(1)
        clock.now += ASK_S
    clock.now += ASK_S
    with pytest.raises(NoFreeWorker, match="none is free"):
        found.man(1)
