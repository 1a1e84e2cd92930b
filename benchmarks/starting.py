"""What a sandbox adds to the start of a bot, by language and level.

A start runs from the order to start the process until its `hello` is accepted. The levels are measured in turn, on one
machine, so read the ratios to `trusted`. In a tournament at `isolated` and `strict` the next game's bots start while a
game is played, so that this time is hidden where a core is free; the CPU time is not.
"""

from __future__ import annotations

import argparse
import statistics
from time import perf_counter
from typing import Final

import msgspec

from arena.errors import BotError
from arena.link.base import Fault
from arena.link.bots import BotSpec, bundled_folders, load_bot
from arena.link.local import LocalLink
from arena.link.pool import Pool
from arena.link.sandbox.doctor import LEVELS, level_in_force
from arena.types import NS_PER_MS, Level

NAMES: Final = tuple(name for name in bundled_folders() if name.partition("-")[0] == "random")
"""The same bot in every language."""


class Start(msgspec.Struct, frozen=True):
    """One start."""

    wall_ms: float
    cpu_ms: float
    """Of all its processes, until its `hello` was accepted."""


def start(pool: Pool, spec: BotSpec, level: Level, number: int) -> Start:
    """Starts a bot once.

    Raises:
        RuntimeError: It did not start.
    """
    pool.enter(f"{level} {number}", level)
    link = LocalLink(pool, (spec,))
    began = perf_counter()
    try:
        opened = link.open()[0]
        wall_ms = (perf_counter() - began) * 1_000
        if isinstance(opened, Fault):
            raise RuntimeError(f"{spec.name} at {level} {opened.detail}")
        return Start(wall_ms, link.cpu_ns(0) / NS_PER_MS)
    finally:
        link.close(keep=frozenset())


def measure(spec: BotSpec, levels: tuple[Level, ...], rounds: int) -> dict[Level, Start]:
    """Returns the medians of many starts. The first of each level is left out: it reads the files from the disk."""
    found: dict[Level, list[Start]] = {level: [] for level in levels}
    pool = Pool()
    try:
        for number in range(rounds + 1):
            for level in levels:
                found[level].append(start(pool, spec, level, number))
    finally:
        pool.shutdown()
    return {
        level: Start(
            statistics.median(one.wall_ms for one in starts[1:]), statistics.median(one.cpu_ms for one in starts[1:])
        )
        for level, starts in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What a sandbox adds to the start of a bot.")
    parser.add_argument("--rounds", type=int, default=9, help="starts of each bot at each level (9)")
    rounds = parser.parse_args().rounds
    levels = tuple(level for level in LEVELS if not level_in_force(level))
    for level in LEVELS:
        if level not in levels:
            print(f"a start        level {level} cannot be had here: see `arena doctor`")
    for name in NAMES:
        try:
            spec = load_bot(name)
        except BotError:
            print(f"a start        {name:13} is not built: make bots")
            continue
        medians = measure(spec, levels, rounds)
        trusted = medians[Level.TRUSTED]
        told = [f"trusted {trusted.wall_ms:4.0f} ms, CPU {trusted.cpu_ms:3.0f} ms"]
        for level, found in medians.items():
            if level is not Level.TRUSTED:
                ratio, more_ms = found.wall_ms / trusted.wall_ms, found.cpu_ms - trusted.cpu_ms
                told.append(f"{level} {found.wall_ms:4.0f} ms, ratio {ratio:5.2f}, CPU {more_ms:+3.0f} ms")
        print(f"a start        {spec.language:11} {'   '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
