"""Whole games under the referee, with bots in memory and a clock that jumps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kit import check_ranks

from arena.link.bots import BotSpec
from arena.link.memory import MemoryLink, Reply
from arena.record.log import read_log
from arena.referee.game import Game
from arena.referee.job import Job
from arena.referee.verify import verify
from arena.resources import default_board
from arena.rules import make_rules, resolve_options
from arena.types import GameResult, Payload, TimeControl
from arena.wire.messages import Request

SECRET = b"s" * 32


def first_legal(request: Request) -> Payload:
    """The first legal play of a request: a bot in a few lines."""
    legal = request.legal or {}
    if request.kind == "hand":
        return {"hand": legal["hand"][: legal["choose"]]}
    key = "plays" if request.kind == "turn" else request.kind
    play = {name: values[0] for name, values in legal[key][0].items()}
    return {"turn": {"plays": [play]}, "score": {"rows": [play]}}.get(request.kind, play)


def make_job(
    folder: Path,
    seats: int,
    *,
    rules: str = "samurai",
    ruleset: str | None = None,
    time: str = "10+0.1",
    deal: int = 0,
    **overrides: Any,
) -> Job:
    """The work for one game on the game's own board; `overrides` are options of the rules, or fields of the job."""
    name, text = default_board(rules)
    fields = {key: overrides.pop(key) for key in list(overrides) if key in Job.__struct_fields__}
    named, options = resolve_options(rules, ruleset, overrides)
    return Job(
        game="test-000000",
        tournament="test",
        rules=rules,
        ruleset=named,
        options=options,
        board_name=name,
        board_text=text,
        bots=tuple(
            BotSpec(name=f"bot{n}", version="1", command=("x",), folder="/", digest="0" * 64) for n in range(seats)
        ),
        time=TimeControl.parse(time),
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
    rules = make_rules(job.rules, job.board_text, job.board_name, len(bots), job.options)
    result = Game(job, rules, link).play()
    check_ranks(result.ranks, len(bots))
    assert verify(folder / result.log, SECRET).draws_checked
    assert read_log(folder / result.log).sha256 == result.log_sha256
    return result, link


def on_turn(number: int, misbehave: Callable[[Request], Payload | Iterable[Reply]]) -> Callable[[Request], Any]:
    """Play well, but do something else at the seat's n-th turn."""
    turns = itertools.count(1)

    def decide(request: Request) -> Any:
        return misbehave(request) if request.kind == "turn" and next(turns) == number else first_legal(request)

    return decide
