"""What the coordinator of a tournament costs: games of no length, through the real schedule, runner, store, ratings.

Beside it stands what nobody who keeps results can go without: a transaction of SQLite that adds one row.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from cluster import result
from rows import Row, pin, turn_about

from arena.core.catalogue import make_settings
from arena.core.referee.job import Job
from arena.core.store.store import open_store
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.plan import begin
from arena.core.tournament.runner import Runner
from arena.core.tournament.settings import set_up
from arena.core.tournament.steering import Directions
from arena.core.tournament.workers import Remote
from arena.core.types import GameResult

ROUNDS = 5
GAMES = 1_000
LANES, GAME_S = 64, 0.01
INSTANT = str(Path(__file__).parent / "instant")


class AtOnce(Executor):
    """Has done everything when it is asked."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


class BlocksAtOnce(Remote):
    """A worker of a cluster that has played a block when it is asked."""

    name = played_by = "here"

    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        return [AtOnce().submit(result, job) for job in jobs]


class OneThread(ThreadPoolExecutor):
    """A worker that takes as long for a game as bots that answer at once do, and no processor."""

    def __init__(self) -> None:
        super().__init__(1)


def slowly(job: Job) -> GameResult:
    sleep(GAME_S)
    return result(job)


def coordinate(
    executor: Callable[[], Executor], lanes: int = 1, play: Callable[[Job], GameResult] = result
) -> tuple[float, float]:
    """Returns the milliseconds of processor time of a game, and how many games there were a second."""
    format = RoundRobin(deals=GAMES // 2)
    setup = set_up([INSTANT] * 2, make_settings("samurai", 2), format, seed="bench")
    with tempfile.TemporaryDirectory() as name, open_store(Path(name) / "arena.db") as store:
        begun = begin(store, setup.settings, setup.specs, Path(name) / "logs", new=True)
        make_job = partial(setup.job, begun.tournament)
        schedule, workers = setup.settings.schedule(), lambda: nullcontext(executor())
        runner = Runner(store, begun.tournament, schedule, make_job, play, workers, Directions(lanes), ahead=False)
        before, began = process_time(), perf_counter()
        assert sum(1 for _ in runner.run()) == GAMES
        return (process_time() - before) / GAMES * 1e3, GAMES / (perf_counter() - began)


def commit() -> float:
    """Returns the milliseconds of processor time of a transaction with one row."""
    with tempfile.TemporaryDirectory() as name:
        connection = sqlite3.connect(Path(name) / "bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
        before = process_time()
        for number in range(GAMES):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows VALUES (?, 'the result of a game')", (number,))
            connection.execute("COMMIT")
        return (process_time() - before) / GAMES * 1e3


def rows() -> Iterator[Row]:
    """Yields a row for games that come one by one, and one for those of a cluster, which come in blocks."""
    pin()
    ways = [commit, lambda: coordinate(AtOnce)[0], lambda: coordinate(BlocksAtOnce)[0]]
    bare, ours, blocks = turn_about(ways, ROUNDS)
    yield Row("the coordinator, a game of no length", "ms of CPU", ours, "one row in SQLite", bare)
    yield Row("the coordinator, a game of a block of a cluster", "ms of CPU", blocks, "one row in SQLite", bare)
    many, few = turn_about([lambda n=n: coordinate(OneThread, n, slowly)[1] for n in (LANES, 8)], ROUNDS)
    yield Row(f"games of 10 ms a second, on {LANES} lanes that take no processor", "games/s", many, "on 8 lanes", few)
