"""Says which games share bot processes, and which bots are started before they are needed. Pure.

A process that met a deal before would know its hidden cards: a bot that remembered decks won 57 of 90 games against its
equal. So no process serves two games of one deal, unless the operator asks for processes that are kept. Where each
meeting has the same deals, a block's processes are of no use to the next, and end with it. Where deals follow one
another, they serve on (`link/pool.py` knows which deals each has met).
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
"""Lifetime of a bot process. Only with `tournament` does it meet deals again."""
DEALS: Final = "deals"  # the one block of games whose processes serve on


def block_of(processes: Processes, game: PlannedGame, attempt: int = 1, *, serve_on: bool = False) -> str:
    """Returns the name of the block of games that share processes with a game.

    A game that is played again has a block of its own: its bots of the first time have met its deal.

    Args:
        serve_on: Whether later blocks have other deals, so that those of one serve them as well.
    """
    match processes:
        case "tournament":
            return "all"
        case "game":
            return f"game {game.number}, attempt {attempt}"
        case "block":
            return DEALS if serve_on else f"block {game.block}, attempt {attempt}"


def placed(job: Job, processes: Processes, game: PlannedGame, attempt: int = 1, *, serve_on: bool) -> Job:
    """Returns the job with what it says of the processes that play it. The arguments are those of `block_of`."""
    block = block_of(processes, game, attempt, serve_on=serve_on)
    return replace(job, block=block, deals_again=processes == "tournament")


def started_ahead(job: Job, following: Iterable[Job]) -> Job:
    """Returns the job with the bots that are started during it: those of the next block, if that is near.

    Where processes serve on, these are the bots of the next game, as far as none waits that is new to its deal.

    Args:
        following: The jobs that its worker gets after it, in order.
    """
    for distance, other in enumerate(islice(following, AHEAD_GAMES)):
        if job.block == DEALS:
            serve_it = other.bots == job.bots and other.deal != job.deal
            return job if serve_it else replace(job, ahead=other.bots, ahead_deal=other.deal)
        if other.block != job.block:
            count = len(other.bots) if distance == 0 else AHEAD_GAMES - distance
            return replace(job, ahead=other.bots[:count])
    return job
