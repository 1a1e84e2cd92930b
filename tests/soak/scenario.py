"""Draws from a seed what happens to a league, and when. Pure: the same seed and length give the same scenario.

What the machine does with it is another matter: games are played at its own speed, so two runs of one scenario are
alike and not equal.
"""

from __future__ import annotations

import random
from typing import Final, Literal, TypeAlias

import msgspec

BUNDLED: Final = ("banzai", "daimyo")
"""Bundled bots that are submitted as they are. `random` and `greedy` are the house's."""
AT_ONCE: Final = ("R1", "X3", "P3", "T5")
"""Attacks of bots that attack whenever they are started: memory, daemons, floods, silence. None gets a rank."""
LATER: Final = ("R2", "P1", "P4", "P17", "P23", "H14")
"""Attacks of bots that play well until a certain moment, and have ranks: memory, floods, nonsense, silence, the end."""
STYLES: Final = ("first", "last", "middle", "dice")  # how small honest bots choose among the legal plays
AUTHORS: Final = 3  # so many bots an author may have

Blow: TypeAlias = Literal["service", "worker", "door", "supervisor", "little room", "full disk"]
"""A kill -9 of the service, of one of its workers, of the door, of what keeps the door open; or trouble of the disk."""
BLOWS: Final[tuple[Blow, ...]] = (
    "service",
    "worker",
    "door",
    "worker",
    "little room",
    "service",
    "full disk",
    "supervisor",
)
"""The kinds of trouble, the more important ones more often."""

DISK_S: Final = 6.0  # how long trouble of the disk lasts at least: the league measures its room every 5 seconds


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that is submitted."""

    name: str
    author: str
    style: str = ""
    """How it plays; empty: it is bundled, or attacks at once."""
    attack: str = ""
    """Its case in the hostile suite; empty: it is honest."""

    @property
    def is_hostile(self) -> bool:
        """Whether it is to be suspended or rejected."""
        return bool(self.attack)


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """A submission."""

    at: float
    """When, in seconds since the beginning."""
    bot: Bot
    number: int
    """1 for the first version of the bot."""
    by_door: bool
    """Whether it comes through the door; else `submit --to`."""


class Trouble(msgspec.Struct, frozen=True):
    """Something bad."""

    at: float
    blow: Blow
    seconds: float
    """How long it lasts: for a disk until there is room, for a service until it is started again."""


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """What happens in a soak."""

    seed: int
    seconds: float
    bots: tuple[Bot, ...]
    arrivals: tuple[Arrival, ...]
    troubles: tuple[Trouble, ...]
    wakes: float
    """When hostile bots that have played well begin to attack."""
    calm: float
    """From when on nothing more is disturbed: then memory can be watched."""

    @property
    def authors(self) -> tuple[str, ...]:
        """Everybody who submits bots."""
        return tuple(dict.fromkeys(bot.author for bot in self.bots))


def draw(seed: int, seconds: float, bots: int = 30, hostile: int = 10, troubles: int = 0) -> Scenario:
    """Returns a scenario.

    Args:
        seed: Where its chance comes from.
        seconds: How long it takes, until nothing more arrives and the league is let play to its end.
        bots: How many are submitted.
        hostile: How many of them are hostile.
        troubles: How many there are; 0 means one every 15 seconds of the disturbed time.
    """
    dice = random.Random(seed)
    calm = 0.7 * seconds
    entered = [*_attackers(hostile, dice), *_honest(bots - hostile, dice)]
    return Scenario(
        seed=seed,
        seconds=seconds,
        bots=tuple(entered),
        arrivals=tuple(_arrivals(entered, seconds, dice)),
        troubles=tuple(_troubles(troubles or max(len(BLOWS), int(calm / 15)), calm, dice)),
        wakes=0.6 * seconds,
        calm=calm,
    )


def _attackers(count: int, dice: random.Random) -> list[Bot]:
    """Returns hostile bots: of both kinds, however few there are."""
    later, at_once = list(LATER), list(AT_ONCE)
    dice.shuffle(later)
    dice.shuffle(at_once)
    bots = []
    for number in range(count):
        attack = at_once.pop() if at_once and (number % 2 or not later) else later.pop()
        style = dice.choice(STYLES) if attack in LATER else ""
        bots.append(Bot(name=f"bad{number}", author=f"mallory{number // AUTHORS}", style=style, attack=attack))
    return bots


def _honest(count: int, dice: random.Random) -> list[Bot]:
    bundled = BUNDLED[: count // 4]
    names = [*bundled, *(f"fair{number}" for number in range(count - len(bundled)))]
    styles = ["" if name in BUNDLED else dice.choice(STYLES) for name in names]
    return [
        Bot(name=name, author=f"anna{number // AUTHORS}", style=style)
        for number, (name, style) in enumerate(zip(names, styles, strict=True))
    ]


def _arrivals(bots: list[Bot], seconds: float, dice: random.Random) -> list[Arrival]:
    """Returns the submissions in order: first versions one after another, then new ones of every third honest bot.

    Bots that will attack come first, so that they play well for a while.
    """
    first = sorted(bots, key=lambda bot: (not (bot.style and bot.is_hostile), dice.random()))
    pause = 0.42 * seconds / len(first)
    arrivals = [
        Arrival(at=place * pause + dice.uniform(0, pause), bot=bot, number=1, by_door=dice.random() < 0.5)
        for place, bot in enumerate(first)
    ]
    fair = [bot for bot in bots if bot.style and not bot.is_hostile]
    for bot in dice.sample(fair, -(-len(fair) // 3)):
        at = dice.uniform(0.45, 0.62) * seconds
        arrivals.append(Arrival(at=at, bot=bot, number=2, by_door=dice.random() < 0.5))
    return sorted(arrivals, key=lambda arrival: arrival.at)


def _troubles(count: int, calm: float, dice: random.Random) -> list[Trouble]:
    """Returns the trouble in order: every kind, at random instants of equal parts of the time."""
    blows = [*BLOWS, *(dice.choice(BLOWS) for _ in range(count - len(BLOWS)))][:count]
    dice.shuffle(blows)
    begin = 0.08 * calm
    part = (calm - begin) / count
    troubles = []
    for place, blow in enumerate(blows):
        at = begin + place * part + dice.uniform(0, 0.6 * part)
        least, most = (DISK_S, DISK_S + 6.0) if blow in ("little room", "full disk") else (0.5, 4.0)
        troubles.append(Trouble(at, blow, dice.uniform(least, most)))
    return troubles
