"""What it costs to start a bot, by language and level: of all processes, from the order to its end.

In a tournament at `isolated` and `strict` the next game's bots start while a game is played, so that the time by the
clock is hidden where a core is free; the processor time is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rows import Row, pin, processor_s, python, turn_about

from arena.core.errors import BotError
from arena.core.link.base import Fault
from arena.core.link.bots import BotSpec, bundled_folders, load_bot
from arena.core.link.confinement import LEVELS
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.types import Level
from arena.sandbox.levels import level_in_force

ROUNDS = 5
MANY = 6
"""Starts in one measurement."""
NAMES: Final = tuple(name for name in bundled_folders() if name.partition("-")[0] == "random")
"""The same bot in every language."""
BOXED: Final = "random-c"
"""The bot whose start is nearly that of its box."""


def start(spec: BotSpec, level: Level) -> float:
    """Returns the milliseconds of processor time of a start more: of the bot, its box, and whoever serves them."""
    return (starts(spec, level, MANY) - starts(spec, level, 1)) / (MANY - 1) * 1e3


def starts(spec: BotSpec, level: Level, times: int) -> float:
    """Starts a bot and ends it, so many times, and returns the seconds of processor time.

    Raises:
        RuntimeError: It did not start.
    """
    before = processor_s()
    pool = Pool()
    for number in range(times):
        pool.enter(f"{number}", level)
        link = LocalLink(pool, (spec,))
        try:
            opened = link.open()[0]
            if isinstance(opened, Fault):
                raise RuntimeError(f"{spec.name} at {level} {opened.detail}")
        finally:
            link.close(keep=frozenset())
    pool.shutdown()  # it waits for all processes: until then nobody has their times
    return processor_s() - before


def built() -> Iterator[BotSpec]:
    """Yields the bots that are built: make bots."""
    for name in NAMES:
        try:
            yield load_bot(name)
        except BotError:
            continue


def rows() -> Iterator[Row]:
    """Yields a row for each language, and one for each level."""
    pin()
    specs = list(built())
    levels = [level for level in LEVELS if not level_in_force(level)]
    for spec in specs:  # the first start reads the files from the disk
        starts(spec, Level.TRUSTED, 1)
    ways = [lambda: python(Path()).cpu_s * 1e3, *(lambda spec=spec: start(spec, Level.TRUSTED) for spec in specs)]
    floor, *found = turn_about(ways, ROUNDS)
    for spec, figures in zip(specs, found, strict=True):
        yield Row(f"the start of a bot, {spec.language}", "ms of CPU", figures, "python -c pass", floor)
    for spec in (spec for spec in specs if spec.name == BOXED):
        ways = [lambda level=level, spec=spec: start(spec, level) for level in levels]
        trusted, *others = turn_about(ways, ROUNDS)
        for level, figures in zip(levels[1:], others, strict=True):
            yield Row(f"the start of a bot in C at {level}", "ms of CPU", figures, "trusted", trusted)
