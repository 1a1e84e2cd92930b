"""What the commands cost: of a game and of a decision at each level, of each log, of each page, and before the first.

What a game costs is the difference between a command with many games and one with two, so that it is of all processes,
and what every command pays once is not in it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from rows import Row, arena, pin, python, turn_about

from arena.core.link.confinement import LEVELS
from arena.sandbox.levels import level_in_force

ROUNDS = 3
INSTANT = str(Path(__file__).parent / "instant")
FEW, MANY = 1, 61
"""Deals, of two games each."""
GAMES = 2 * (MANY - FEW)


class Place:
    """Folders for commands, each with a database of its own."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._played: dict[int, Path] = {}

    def new(self) -> Path:
        """Makes an empty folder."""
        return Path(tempfile.mkdtemp(dir=self._top))

    def played(self, deals: int) -> Path:
        """Returns a folder with a finished tournament, the same again for as many deals."""
        if deals not in self._played:
            self._played[deals] = self.new()
            arena(self._played[deals], "tournament", INSTANT, INSTANT, "--deals", str(deals), "--quiet")
        return self._played[deals]

    def difference(self, *words: str) -> float:
        """Returns the milliseconds of processor time of a game more, in a tournament."""
        many, few = (arena(self.new(), "tournament", *words, "--quiet", "--deals", str(n)) for n in (MANY, FEW))
        return many.per(few, GAMES)


def wants_view(folder: Path) -> str:
    """Makes the bot that answers at once, but also wants the view."""
    copy = folder / "instant-view"
    shutil.copytree(INSTANT, copy)
    for name, old, new in (("bot.py", '"want": [', '"want": ["view", '), ("bot.toml", '"instant"', '"instant-view"')):
        text = (copy / name).read_text()
        assert old in text
        (copy / name).write_text(text.replace(old, new))
    return str(copy)


def decisions(database: Path) -> float:
    """Returns how many decisions a game of a tournament has, in the mean."""
    with sqlite3.connect(database) as connection:
        (mean,) = connection.execute("SELECT sum(decisions) * 1.0 / count(DISTINCT game) FROM v_seats").fetchone()
    return float(mean)


def games(place: Place) -> Iterator[Row]:
    """A game of bots that answer at once, by level and by what they want; then by how it is played."""
    plain, view = (INSTANT, INSTANT), (wants_view(place.new()),) * 2
    levels = [level for level in LEVELS if not level_in_force(level)]
    ways = [
        lambda: place.difference(*plain),
        lambda: place.difference(*view),
        *(lambda level=level: place.difference(*plain, "--level", level) for level in levels if level != "trusted"),
    ]
    trusted, viewed, *others = turn_about(ways, ROUNDS)
    each = decisions(place.played(MANY) / "arena.db")
    yield Row(
        "a decision in a tournament, `view, legal`", "us of CPU", tuple(one * 1e3 / each for one in viewed),
        "`legal`", tuple(one * 1e3 / each for one in trusted),
    )  # fmt: skip
    for level, found in zip((level for level in levels if level != "trusted"), others, strict=True):
        yield Row(f"a game in a tournament at {level}", "ms of CPU", found, "trusted", trusted)


def commands(place: Place) -> Iterator[Row]:
    """What commands cost that do nearly nothing."""
    played = place.played(MANY)
    words = {
        "arena tournament random greedy, two games": ("tournament", "random", "greedy", "--deals", "1"),
        "arena match random greedy": ("match", "random", "greedy"),
        "arena rules list": ("rules", "list"),
        f"arena standings of {2 * MANY} games": ("standings",),
    }

    def run(name: str) -> float:
        return arena(played if "standings" in name else place.new(), *words[name]).cpu_s

    ways = [lambda: python(played).cpu_s, *(lambda name=name: run(name) for name in words)]
    floor, *found = turn_about(ways, ROUNDS)
    for name, figures in zip(words, found, strict=True):
        yield Row(name, "s of CPU", figures, "python -c pass", floor)


def afterwards(place: Place) -> Iterator[Row]:
    """What is done with a game that was played."""
    many, few = place.played(MANY), place.played(FEW)

    def verify(folder: Path) -> tuple[str, ...]:
        return ("verify", str(next((folder / "logs").iterdir())))

    ways = [
        lambda: place.difference(INSTANT, INSTANT),
        lambda: arena(many, *verify(many)).per(arena(few, *verify(few)), GAMES),
    ]
    names = ["arena verify, a log"]
    if find_spec("jinja2"):
        out = place.new
        ways.append(lambda: arena(many, "site", "-o", str(out())).per(arena(few, "site", "-o", str(out())), GAMES))
        names.append("arena site, a game")
    floor, *found = turn_about(ways, ROUNDS)
    for name, figures in zip(names, found, strict=True):
        yield Row(name, "ms of CPU", figures, "playing it", floor)


def elsewhere(place: Place) -> Iterator[Row]:
    """A game of a league and one on a cluster, beside one of a tournament."""

    bots = ("random", "greedy", INSTANT, wants_view(place.new()))

    def league() -> float:
        folder = place.new()
        arena(folder, "league", "init", "cup", "--level", "trusted")
        for bot in bots[2:]:
            arena(folder, "league", "submit", bot, "--to", "cup")
        # The first run tries what was submitted, which costs more than all games after it.
        _, few, many = (arena(folder, "league", "run", "cup", "--games", str(n)) for n in (2, 10, 10 + GAMES))
        return many.per(few, GAMES)

    def tournament(*more: str) -> float:
        words = ("tournament", *bots, "--quiet", *more, "--deals")
        many, few = (arena(place.new(), *words, str(deals)) for deals in (11, 1))
        return many.per(few, 10 * len(bots) * (len(bots) - 1))

    ways = [tournament, league]
    names = ["a game of a league"]
    if find_spec("distributed"):
        ways.append(lambda: tournament("--cluster", "local:1", "--insecure"))
        names.append("a game on a cluster of one worker")
    floor, *found = turn_about(ways, ROUNDS)
    for name, figures in zip(names, found, strict=True):
        yield Row(name, "ms of CPU", figures, "one of a tournament of the same bots", floor)


def together(place: Place, processors: set[int]) -> Iterator[Row]:
    """How many games a second there are, one and two at a time."""
    os.sched_setaffinity(0, processors)

    def rate(concurrency: int) -> float:
        words = ("tournament", INSTANT, INSTANT, "--quiet", "--concurrency", str(concurrency), "--deals")
        many, few = (arena(place.new(), *words, str(deals)) for deals in (2 * MANY, FEW))
        return 2 * (2 * MANY - FEW) / (many.wall_s - few.wall_s)

    one, two = turn_about([lambda: rate(1), lambda: rate(2)], ROUNDS)
    yield Row(f"games a second, 2 at a time ({len(processors)} processors)", "games/s", two, "1 at a time", one)


def rows() -> Iterator[Row]:
    """Yields all of them, each when it is measured."""
    processors = os.sched_getaffinity(0)
    pin()
    with tempfile.TemporaryDirectory() as top:
        place = Place(Path(top))
        for part in (games, commands, afterwards, elsewhere):
            yield from part(place)
        yield from together(place, processors)
