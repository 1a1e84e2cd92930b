"""Whole games under the referee, with bots in memory and a clock that jumps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kit import check_ranks
from msgspec.structs import replace

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.record.log import read_log
from arena.core.record.published import Secret
from arena.core.referee.chance import commitment
from arena.core.referee.game import Game
from arena.core.referee.job import Job
from arena.core.referee.verify import Publication, verify
from arena.core.types import RACE_WINDOW_MS, GameResult, Payload
from arena.core.wire.messages import Request
from tests.memory_link import MemoryLink, Reply

SECRET = b"s" * 32


def first_legal(request: Request) -> Payload:
    """The first legal play of a request: a bot in two lines, for any game."""
    (product, *_) = request.legal or []
    return {"plays": [{key: _first(values) for key, values in product.items()}]}


def _first(values: Any) -> Any:
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def revealed(secret: bytes, tournament: str = "test") -> Publication:
    """What is published of a tournament in the end."""
    return Publication(None, None, Secret(tournament, secret.hex(), commitment(secret)))


def make_job(
    folder: Path,
    seats: int,
    *,
    rules: str = "samurai",
    ruleset: str | None = None,
    time: str = "10+0.1",
    deal: int = 0,
    race_window_ms: float = RACE_WINDOW_MS,
    **overrides: Any,
) -> Job:
    """The work for one game on the game's own board; `overrides` are options of the rules, or fields of the job."""
    fields = {key: overrides.pop(key) for key in list(overrides) if key in Job.__struct_fields__}
    settings = make_settings(
        rules, seats, ruleset=ruleset, overrides=[f"{key}={value}" for key, value in overrides.items()], time=time
    )
    return Job(
        game="test-000000",
        tournament="test",
        settings=replace(settings, race_window_ms=race_window_ms),
        bots=tuple(
            BotSpec(name=f"bot{n}", version="1", command=("x",), folder="/", digest="0" * 64) for n in range(seats)
        ),
        deal=deal,
        rotation=0,
        secret=SECRET,
        logs=str(folder),
        **fields,
    )


def referee(folder: Path, bots: list[Any], **options: Any) -> tuple[GameResult, MemoryLink]:
    """Play a game between scripted bots; its log is verified."""
    link = MemoryLink(bots)
    job = make_job(folder, len(bots), **options)
    result = Game(job, rules_of(job.settings), link).play()
    check_ranks(result.ranks, len(bots))
    assert verify(folder / result.log, revealed(SECRET)).draws_checked
    assert read_log(folder / result.log).sha256 == result.log_sha256
    return result, link


def on_turn(number: int, misbehave: Callable[[Request], Payload | Iterable[Reply]]) -> Callable[[Request], Any]:
    """Play well, but do something else at the seat's n-th turn."""
    turns = itertools.count(1)

    def decide(request: Request) -> Any:
        return misbehave(request) if request.kind == "turn" and next(turns) == number else first_legal(request)

    return decide
