"""Plays games in this process, one after another. The function that executors are given."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from arena.link.local import LocalLink
from arena.link.pool import worker_pool
from arena.referee.game import Game
from arena.referee.job import Job
from arena.referee.scribe import Watch
from arena.referee.transcript import Tap
from arena.rules import make_rules
from arena.rules.base import Rules
from arena.types import GameResult


def play(job: Job, watch: Watch | None = None, tap: Tap | None = None) -> GameResult:
    """Play one game. Bots that behaved are kept for the games to come.

    Args:
        job: The game.
        watch: Is told of each record, between decisions, for whoever looks on in this process.
        tap: Is told of each message, likewise.

    Raises:
        ConfigError: The job describes no game.
        OSError: The log cannot be written.
    """
    rules = _rules(job.rules, job.board_text, job.board_name, len(job.bots), msgspec.json.encode(job.options))
    return Game(job, rules, LocalLink(worker_pool(), job.bots), watch, tap).play()


@lru_cache(maxsize=4)
def _rules(name: str, board_text: str, board_name: str, seats: int, options: bytes) -> Rules[Any]:
    """The games of a tournament share their rules."""
    return make_rules(name, board_text, board_name, seats, msgspec.json.decode(options))
