"""The rate of a whole tournament with bots that answer at once, at concurrency 1 and 2, and what starting one costs.

Two bots whose processes end with each block of games stand beside the same two whose processes are kept, and beside
twenty, of whom a different pair plays each block. The games are the first of a schedule too long to be played here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import msgspec

from arena.games import make_settings
from arena.referee.worker import play
from arena.store.store import open_store
from arena.tournament.blocks import Processes
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.plan import begin
from arena.tournament.runner import Runner
from arena.tournament.schedule import Schedule
from arena.tournament.settings import set_up
from arena.tournament.steering import Helm
from arena.tournament.workers import local_worker

INSTANT = str(Path(__file__).parent / "instant")
DEALS = 150
GAMES = 240
ROUNDS = 3


class Measured(msgspec.Struct, frozen=True):
    """What a tournament took."""

    rate: float
    """Games a second from the first result on."""
    cpu: float
    """Seconds of processor time a game, of all processes."""


class Beginning(Schedule):
    """The first games of a schedule."""

    @property
    def total(self) -> int:
        return min(GAMES, super().total)


def tournament(folder: Path, entrants: int, processes: Processes, concurrency: int) -> Measured:
    format = RoundRobin(deals=DEALS)
    setup = set_up([INSTANT] * entrants, make_settings("samurai", 2), format, processes=processes, seed="bench")
    schedule = Beginning(format, entrants, 2)
    before = processor_time()
    with open_store(folder / "arena.db") as store:
        begun = begin(store, setup.settings, setup.specs, folder / "logs", new=True)
        runner = Runner(
            store,
            begun.tournament,
            schedule,
            partial(setup.job, begun.tournament),
            play,
            local_worker,
            Helm(concurrency),
            processes=processes,
            ahead=concurrency < len(os.sched_getaffinity(0)),
        )
        came = []
        for played in runner.run():
            assert all(seat.forfeit is None for seat in played.result.seats)
            came.append(perf_counter())
    return Measured(rate=(GAMES - 1) / (came[-1] - came[0]), cpu=(processor_time() - before) / GAMES)


def processor_time() -> float:
    """Seconds of this process and of all below it that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def start(folder: Path) -> float:
    """Seconds of the whole command for two games."""
    begun = perf_counter()
    command = [sys.executable, "-m", "arena", "tournament", INSTANT, INSTANT, "--new", "--deals", "1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return perf_counter() - begun


def bare() -> float:
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return perf_counter() - begun


CASES: tuple[tuple[str, int, Processes], ...] = (
    ("two bots, kept for all games", 2, "tournament"),
    ("two bots, new in each block", 2, "block"),
    ("twenty bots, new in each block", 20, "block"),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starts = [(start(folder), bare()) for _ in range(ROUNDS)]
        measured: dict[tuple[str, int], list[Measured]] = {}
        for _ in range(ROUNDS):
            for concurrency in (1, 2):
                for case, entrants, processes in CASES:
                    done = tournament(folder, entrants, processes, concurrency)
                    measured.setdefault((case, concurrency), []).append(done)
    seconds, times = min(starts)[0], statistics.median(start / bare for start, bare in starts)
    print(f"a tournament   of two games takes {seconds:.2f} s in all, {times:.0f} times python -c pass")
    names = [case for case, _, _ in CASES]
    for concurrency in (1, 2):
        print(f"               {concurrency} at a time")
        for before, case in pairwise([names[0], *names]):
            own, other = measured[case, concurrency], measured[before, concurrency]
            ratio = statistics.median(mine.rate / theirs.rate for mine, theirs in zip(own, other, strict=True))
            rate, cpu = (statistics.median(getattr(one, field) for one in own) for field in ("rate", "cpu"))
            beside = "" if case == before else f", {ratio:.2f} of the rate of the line before"
            print(f"               {case:<31} {rate:5.1f} games/s, {cpu * 1000:3.0f} ms of CPU a game{beside}")


if __name__ == "__main__":
    main()
