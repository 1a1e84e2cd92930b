"""The message with which a game begins."""

from __future__ import annotations

from typing import Any

from arena.rules.base import Rules
from arena.types import Seat, TimeControl
from arena.wire.messages import GameStart, Time


def game_start(
    rules: Rules[Any], seat: Seat, *, game: int, ruleset: str, time: TimeControl, commitment: str, bot_seed: int
) -> GameStart:
    """What a seat is told of a game.

    Args:
        rules: The rules, at their board and under their options.
        seat: Whom it is for.
        game: The number of the game in the seat's session.
        ruleset: The name of the options, or `custom`.
        time: What every seat has.
        commitment: SHA-256 (hex) of the deal's secret.
        bot_seed: For the bot's own randomness.
    """
    return GameStart(
        game=game,
        rules=rules.name,
        rules_version=rules.version,
        ruleset=ruleset,
        options=dict(rules.options),
        seat=seat,
        seats=rules.seats,
        board=rules.board_payload(),
        time=Time(time.bank_ms, time.increment_ms, time.limit_ms),
        commitment=commitment,
        bot_seed=bot_seed,
    )
