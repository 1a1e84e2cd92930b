"""Small tournaments for `protocol/vectors/tournaments`: honest ones, which the forgeries there are made from.

Bots in memory play them on a clock that jumps, so that they are the same each time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.referee.beacon import QUICKNET
from arena.core.referee.game import Game
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.plan import draw_tournament, publish_commitment, publish_contributions, reveal_secret
from arena.core.tournament.settings import Settings, Setup, enter
from arena.core.types import GameSettings
from arena.core.wire.messages import Request
from tests.memory_link import MemoryBot, MemoryLink, answer
from tests.referee_kit import first_legal

FOLDER: Final = Path(__file__).parents[2] / "protocol" / "vectors" / "tournaments"


def specs(entrants: int) -> tuple[BotSpec, ...]:
    return tuple(
        BotSpec(name=name, version="1", command=("x",), folder="/", digest=digit * 64)
        for name, digit in (("quick", "a"), ("slow", "b"), ("third", "c"))[:entrants]
    )


def after(*ms: float) -> Any:
    """A bot that plays the first legal play after so many milliseconds, these in turn."""
    return lambda request: [answer(request, first_legal(request), after_ms=ms[request.id % len(ms)])]


def silent(request: Request) -> Any:
    """A bot that does not answer from its third request on."""
    return [answer(request, first_legal(request), after_ms=2)] if request.id < 3 else []


class Honest(NamedTuple):
    """A tournament, and how it is played."""

    id: str
    game: GameSettings
    deals: int
    bots: tuple[Any, ...]
    """How the bots decide."""
    beacon: str | None = None
    """Which public value goes into the deals."""
    value: str = ""
    entropy: tuple[str | None, ...] = (None, None)
    """What the bots put into chance."""
    kept: tuple[int, ...] = ()
    """The numbers of the games whose logs are there, of a tournament that is not finished; empty: all."""


ROUND: Final = 657413  # a round of drand's quicknet, of 2023-09-15 11:00:03 UTC, and what it gave
SIGNATURE: Final = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"
TOURNAMENTS: Final = {
    "deals": Honest(
        "20260101-0001",
        make_settings("samurai", 2, ruleset="basic"),
        2,
        (after(2), after(5)),
        entropy=("0f" * 32, None),
    ),
    "race": Honest(
        "20230915-0002",
        make_settings("gardener", 2, ruleset="race"),
        1,
        (after(2), after(2.5, 4, 4, 7)),
        beacon=f"drand {QUICKNET} round {ROUND}",
        value=SIGNATURE,
    ),
    "clock": Honest(
        "20260101-0003",
        make_settings("samurai", 2, ruleset="basic", time="0.2/move"),
        1,
        (after(2), silent),
        beacon="the last seven digits of the hash of block 940000 of Bitcoin",
        value="36f1a0b",
    ),
    "stages": Honest(
        "20260101-0004",
        make_settings("samurai", 2, ruleset="basic", time="0.2/move"),
        8,
        (silent, silent, silent),
        entropy=(None, None, None),
        kept=(0, 5, 30, 33),
    ),
}


def files() -> Iterator[tuple[Path, bytes]]:
    """Yields every file of the honest tournaments, with its content."""
    for name in TOURNAMENTS:
        with tempfile.TemporaryDirectory() as logs:
            play(name, Path(logs))
            for file in sorted(Path(logs).glob("*.json*")):
                yield FOLDER / name / file.name, file.read_bytes()


def play(name: str, logs: Path) -> None:
    """Plays a tournament into a folder."""
    honest = TOURNAMENTS[name]
    bots = specs(len(honest.bots))
    settings = Settings(
        game=honest.game,
        format=RoundRobin(deals=honest.deals),
        seed=f"vectors/{name}",
        beacon=honest.beacon,
        bots=enter(bots),
    )
    setup = Setup(settings=settings, specs=bots, refs=tuple(bot.name for bot in bots))
    created = f"{datetime.strptime(honest.id[:8], '%Y%m%d'):%Y-%m-%d}T10:00:00+00:00"
    tournament = replace(
        draw_tournament(settings, honest.id, logs), created=created, beacon=honest.value, entropy=honest.entropy
    )
    publish_commitment(tournament, settings)
    publish_contributions(tournament)
    for game_of in settings.schedule():
        if honest.kept and game_of.number not in honest.kept:
            continue
        job = setup.job(tournament, game_of)
        Game(job, rules_of(job.settings), MemoryLink([MemoryBot(honest.bots[one]) for one in game_of.entrants])).play()
    if not honest.kept:
        reveal_secret(tournament)
