"""What people wait for: games by the hour of bots that think, a clock on each core, boxed games, verdicts."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

from costs import INSTANT, Place
from rows import Row, arena, turn_about
from verdicts import SEEDS, measured

from arena.core.record.log import ActionRecord, existing_log, find_logs, read_log
from arena.core.resources import bots_folder
from arena.core.types import Level
from arena.sandbox.levels import level_in_force

ROUNDS = 3
DAY_S = 86_400
BURN = """
from time import thread_time


def thinks(legal, decide=decide):
    until = thread_time() + {ms} / 1e3
    while thread_time() < until:
        pass
    return decide(legal)


decide = thinks
main()
"""


def thinking(folder: Path, ms: float) -> str:
    """Makes the bot that answers at once, but for so many milliseconds of its own processor time before."""
    name = f"thinks-{ms:g}"
    copy = folder / name
    if not copy.exists():
        shutil.copytree(INSTANT, copy)
        (copy / "bot.py").write_text((copy / "bot.py").read_text().removesuffix("main()\n") + BURN.format(ms=ms))
        (copy / "bot.toml").write_text((copy / "bot.toml").read_text().replace('"instant"', f'"{name}"'))
    return str(copy)


def on_all_cores(place: Place, cores: int) -> Iterator[Row]:
    """Games an hour of bots that think for 10 ms, and what a bot that needs 2 ms is charged: by games at a time."""
    folder = place.new()

    def rate(concurrency: int) -> float:
        words = ("tournament", *[thinking(folder, 10)] * 2, "--quiet", "--concurrency", str(concurrency), "--deals")
        many, few = (arena(place.new(), *words, str(deals)) for deals in (8 * cores, cores))
        return 2 * 7 * cores / (many.wall_s - few.wall_s) * 3600

    def charged(concurrency: int) -> float:
        words = ("--quiet", "--deals", str(8 * cores), "--concurrency", str(concurrency))
        where = place.new()
        arena(where, "tournament", *[thinking(folder, 2)] * 2, *words)
        records = (one for log in find_logs(where / "logs") for one in read_log(existing_log(log)).records)
        return fmean(one.used_ns for one in records if isinstance(one, ActionRecord)) / 1e6

    for what, unit, way in (
        ("games an hour of bots that think for 10 ms", "games", rate),
        ("a decision of 2 ms, as the clock charges it", "ms", charged),
    ):
        ways: list[Callable[[], float]] = [lambda way=way: way(cores), lambda way=way: way(1)]
        all_cores, one = turn_about(ways, ROUNDS)
        yield Row(f"{what}, {cores} games at a time on {cores} cores", unit, all_cores, "1 game at a time", one)


def boxed(place: Place) -> Iterator[Row]:
    """Games a core and day of a league at isolated, of a bot in C and one in Python that answer at once."""
    if level_in_force(Level.ISOLATED):
        return
    bots = (INSTANT, str(bots_folder() / "c" / "random"))

    arena(place.new(), "bot", "build", bots[1])  # what it includes is fetched once

    def league(level: str) -> float:
        folder = place.new()
        arena(folder, "league", "init", "cup", "--level", level)
        for bot in bots:
            arena(folder, "league", "submit", bot, "--to", "cup")
        _, few, many = (arena(folder, "league", "run", "cup", "--games", games) for games in ("2", "10", "110"))
        return DAY_S * 100 / (many.cpu_s - few.cpu_s)

    isolated, trusted = turn_about([lambda: league("isolated"), lambda: league("trusted")], ROUNDS)
    yield Row("games of a league a core and day, C against Python, isolated", "games", isolated, "trusted", trusted)


def verdicts() -> Iterator[Row]:
    """Seconds until `arena compare` knows who is better, where one bot takes a tenth of its decisions at random."""
    seeds = iter(SEEDS * 2)

    def seconds(by: str) -> float:
        return measured("samurai", 0.1, by, next(seeds))[1]

    margin, wins = turn_about([lambda: seconds("margin"), lambda: seconds("wins")], ROUNDS)
    yield Row("arena compare until its verdict, by margins", "s", margin, "by wins", wins)


def rows() -> Iterator[Row]:
    """Yields all of them, each when it is measured."""
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as top:
        place = Place(Path(top))
        yield from on_all_cores(place, cores)
        yield from boxed(place)
    yield from verdicts()
