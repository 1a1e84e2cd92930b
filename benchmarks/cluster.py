"""What one coordinator bears: a million games of no length, on a thousand pretended workers of a cluster.

Store, schedule, claims, lanes and ratings are the real ones. A worker is an object that gives the results of a block
after a while, and now and then is lost. So the rate is that of the coordinator alone, and what real games leave beside
their results (logs, 2.4 KB compressed, and output) is not in it.

A line tells after each tenth: games; since the line before, games a second and the CPU time of one; the most memory so
far; the size of the database with its journal. On a machine with other work the CPU time says more than the rate.

    python benchmarks/cluster.py --games 100000 --workers 1000
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import itertools
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from pathlib import Path
from random import Random

from arena.core.link.bots import BotSpec
from arena.core.referee.job import Job
from arena.core.store.records import PlannedGame, game_id
from arena.core.store.store import open_store
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.plan import begin
from arena.core.tournament.planner import schedule_of
from arena.core.tournament.runner import Runner
from arena.core.tournament.settings import Settings, enter
from arena.core.tournament.steering import Directions
from arena.core.tournament.workers import Remote
from arena.core.types import BoardFile, GameResult, GameSettings, SeatResult, Termination, TimeControl

BOTS = 20
LOST = 10_000
"""A worker is lost in one of so many games."""
MEAN_S = 0.1
"""How long a worker takes for a game, in the mean."""


def result(job: Job) -> GameResult:
    """The result of a game, from a hash of what it is."""
    dice = hashlib.sha256(f"{job.deal}/{'/'.join(bot.name for bot in job.bots)}".encode())
    worst = dice.digest()[0] % len(job.bots)
    return GameResult(
        game=job.game,
        termination=Termination.FINISHED,
        seats=tuple(
            SeatResult(rank=2 if seat == worst else 1, decisions=40, total_ms=400.0, max_ms=20.0)
            for seat in range(len(job.bots))
        ),
        turns=20,
        actions=40,
        seconds=0.5,
        play_digest=dice.hexdigest(),
        log=f"{job.game}.jsonl",
        log_sha256=dice.hexdigest(),
    )


class Crowd:
    """All workers: one thread gives their results when they are due."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._due: list[tuple[float, int, Worker, Sequence[tuple[Future[GameResult], Job]]]] = []
        self._count = itertools.count()
        self._changed = threading.Condition()
        self.lost = 0
        threading.Thread(target=self._give, daemon=True).start()

    @contextmanager
    def worker(self) -> Iterator[Executor]:
        """A worker that no other lane has."""
        yield Worker(self, f"w{next(self._count)}")

    def begin(self, worker: Worker, games: Sequence[tuple[Future[GameResult], Job]]) -> None:
        with self._changed:
            at = time.monotonic() + sum(self._rng.expovariate(1 / MEAN_S) for _ in games)
            heapq.heappush(self._due, (at, next(self._count), worker, games))
            self._changed.notify()

    def _give(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                _, _, worker, games = heapq.heappop(self._due)
            worker.played_by = worker.at
            for future, job in games:
                if worker.was_killed or self._rng.randrange(LOST) == 0:
                    self.lost += not worker.was_killed
                    worker.was_killed = True
                    future.set_exception(BrokenExecutor(f"worker {worker.at} is gone"))
                else:
                    future.set_result(result(job))


class Worker(Remote):
    """A worker of a cluster, as lanes see one."""

    def __init__(self, crowd: Crowd, at: str) -> None:
        self.at = at
        self._crowd = crowd

    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        if self.was_killed:
            raise BrokenExecutor(f"worker {self.at} is gone")
        games: list[Future[GameResult]] = [Future() for _ in jobs]
        self._crowd.begin(self, list(zip(games, jobs, strict=True)))
        return games


def main() -> None:
    """Plays, and prints a line after each tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--folder", help="where the database is made; its disk decides the rate [default: a new one]")
    chosen = parser.parse_args()
    bots = [
        BotSpec(
            name=f"bot{n}", version="1", command=("true",), folder="/", digest=hashlib.sha256(b"%d" % n).hexdigest()
        )
        for n in range(BOTS)
    ]
    game = GameSettings(
        rules="samurai", rules_version=1, ruleset="standard", options={"setup": "draft"}, players=2,
        board=BoardFile(name="Japan", hash="00"), time=TimeControl.parse("10+0.1"),
    )  # fmt: skip
    deals = max(1, chosen.games // (BOTS * (BOTS - 1)))
    settings = Settings(game=game, format=RoundRobin(deals=deals), seed=None, bots=enter(bots))
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name, open_store(Path(name) / "arena.db") as store:
        folder = Path(name)
        begun = begin(store, settings, bots, folder / "logs")
        schedule = schedule_of(store, begun.tournament, settings)

        def make_job(planned: PlannedGame) -> Job:
            return Job(
                game=game_id(begun.tournament.id, planned.number), tournament=begun.tournament.id, settings=game,
                bots=tuple(bots[entrant] for entrant in planned.entrants), deal=planned.deal,
                rotation=planned.rotation, secret=begun.tournament.secret, logs=begun.tournament.logs,
            )  # fmt: skip

        crowd = Crowd(7)
        runner = Runner(
            store, begun.tournament, schedule, make_job, result, crowd.worker, Directions(chosen.workers), ahead=False
        )
        total, step = schedule.total, max(1, schedule.total // 10)
        print(f"{'games':>10} {'a second':>9} {'CPU':>8} {'memory':>9} {'database':>9}", flush=True)
        began = since = time.monotonic()
        used = time.process_time()
        for done, _ in enumerate(runner.run(), start=1):
            if done % step == 0 or done == total:
                now = time.monotonic()
                size = sum(path.stat().st_size for path in folder.glob("arena.db*"))
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                games, cpu = step if done % step == 0 else total % step, time.process_time()
                print(
                    f"{done:>10,} {games / (now - since):>9.0f} {(cpu - used) / games * 1_000:>5.2f} ms"
                    f" {memory:>5.0f} MiB {size / 2**20:>5.0f} MiB",
                    flush=True,
                )
                since, used = now, cpu
        sys.stdout.write(f"{total:,} games in {since - began:.0f} s; {crowd.lost} workers were lost\n")


if __name__ == "__main__":
    main()
