"""Says which games share bot processes, and which bots are started before they are needed. Pure.

A process that met a deal before would know its hidden cards: a bot that remembered decks won 57 of 90 games against its
equal. So no process serves two games of one deal, unless the operator asks for processes that are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from arena.core.referee.job import Job
from arena.core.store.records import PlannedGame

AHEAD_GAMES: Final = 10
"""In how many of a block's last games bots of the next block are started: one more in each, so that no game has to
share the machine with several that start. The quickest games take 20 ms, and a bot's start takes 150."""

Processes: TypeAlias = Literal["block", "game", "tournament"]
"""How long a bot process is kept. Only with `tournament` does it meet deals again."""


def block_of(processes: Processes, game: PlannedGame, attempt: int = 1) -> str:
    """Returns the name of the block of games that share processes with a game.

    A game that is played again has a block of its own: its bots of the first time have met its deal.
    """
    match processes:
        case "tournament":
            return "all"
        case "game":
            return f"game {game.number}, attempt {attempt}"
        case "block":
            return f"block {game.block}, attempt {attempt}"


def started_ahead(job: Job, following: Iterable[Job]) -> Job:
    """Returns the job with the bots that are started during it, if the next block is near.

    Args:
        following: The jobs that its worker gets after it, in order.
    """
    for distance, other in enumerate(islice(following, AHEAD_GAMES)):
        if other.block != job.block:
            count = len(other.bots) if distance == 0 else AHEAD_GAMES - distance
            return replace(job, ahead=other.bots[:count])
    return job
