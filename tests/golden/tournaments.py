"""Small tournaments for `protocol/vectors/tournaments`: honest ones, which the forgeries there are made from.

Bots in memory play them on a clock that jumps, so that they are the same each time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from arena.games import make_settings, rules_of
from arena.link.bots import BotSpec
from arena.link.memory import MemoryBot, MemoryLink, answer
from arena.referee.game import Game
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.plan import draw_tournament, publish_commitment, publish_contributions, reveal_secret
from arena.tournament.settings import Settings, Setup, enter
from arena.types import GameSettings
from arena.wire.messages import Request
from tests.referee_kit import first_legal

FOLDER: Final = Path(__file__).parents[2] / "protocol" / "vectors" / "tournaments"


def specs() -> tuple[BotSpec, ...]:
    return tuple(
        BotSpec(name=name, version="1", command=("x",), folder="/", digest=digit * 64)
        for name, digit in (("quick", "a"), ("slow", "b"))
    )


def after(*ms: float) -> Any:
    """A bot that plays the first legal play after so many milliseconds, these in turn."""
    return lambda request: [answer(request, first_legal(request), after_ms=ms[request.id % len(ms)])]


def silent(request: Request) -> Any:
    """A bot that does not answer from its third request on."""
    return [answer(request, first_legal(request), after_ms=2)] if request.id < 3 else []


TOURNAMENTS: Final[dict[str, tuple[GameSettings, int, Any, Any]]] = {
    "deals": (make_settings("samurai", 2, ruleset="basic"), 2, after(2), after(5)),
    "race": (make_settings("gardener", 2, ruleset="race"), 1, after(2), after(2.5, 4, 4, 7)),
    "clock": (make_settings("samurai", 2, ruleset="basic", time="0.2/move"), 1, after(2), silent),
}
"""By name: what is played, on how many deals, and how the two bots decide."""


def files() -> Iterator[tuple[Path, bytes]]:
    """Yields every file of the honest tournaments, with its content."""
    for number, name in enumerate(TOURNAMENTS, start=1):
        with tempfile.TemporaryDirectory() as logs:
            play(name, f"20260101-000{number}", Path(logs))
            for file in sorted(Path(logs).glob("*.json*")):
                yield FOLDER / name / file.name, file.read_bytes()


def play(name: str, id: str, logs: Path) -> None:
    """Plays a tournament into a folder. Bots contribute, and a beacon has spoken."""
    game, deals, *decide = TOURNAMENTS[name]
    settings = Settings(game=game, format=RoundRobin(deals=deals), seed=f"vectors/{name}", bots=enter(specs()))
    setup = Setup(settings=settings, specs=specs(), refs=("quick", "slow"))
    tournament = replace(draw_tournament(settings, id, logs), beacon="round 42", entropy=("0f" * 32, None))
    publish_commitment(tournament, settings)
    publish_contributions(tournament)
    for game_of in settings.schedule():
        bots = [MemoryBot(decide[entrant]) for entrant in game_of.entrants]
        job = setup.job(tournament, game_of)
        Game(job, rules_of(job.settings), MemoryLink(bots)).play()
    reveal_secret(tournament)
