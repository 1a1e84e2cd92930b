"""Describes a game that was played, as `match` and `tournament` print it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.output import counted
from arena.core.text import plain

if TYPE_CHECKING:
    from arena.core.store.records import Played


def describe(played: Played, names: Sequence[str], logs: Path) -> dict[str, Any]:
    """Returns a game as `--json` prints it; lists are by seat."""
    result = played.result
    return {
        "game": result.game,
        "deal": played.game.deal,
        "rotation": played.game.rotation,
        "bots": [names[entrant] for entrant in played.game.entrants],
        "ranks": list(result.ranks),
        "scores": [seat.score for seat in result.seats],
        "termination": result.termination,
        "turns": result.turns,
        "seconds": round(result.seconds, 3),
        "off_turn_cpu_ms": [seat.off_turn_cpu_ms for seat in result.seats],
        "play_digest": result.play_digest,
        "log": os.path.relpath(logs / result.log),
    }


def sentence(game: dict[str, Any]) -> str:
    """Returns how a game ended, in one line."""
    order = sorted(range(len(game["bots"])), key=lambda seat: (game["ranks"][seat], seat))
    places = ", ".join(
        f"{game['ranks'][seat]}. {game['bots'][seat]} (seat {seat}){_points(game, seat)}" for seat in order
    )
    return plain(f"{places}: {counted(game['turns'], 'turn')}, {game['seconds']:.2f} s, {game['log']}")


def line(played: Played, names: Sequence[str], logs: Path) -> str:
    """Returns a game's identifier and how it ended, in one line."""
    game = describe(played, names, logs)
    return f"{plain(game['game'])}: {sentence(game)}{', void' if played.void else ''}"


def _points(game: dict[str, Any], seat: int) -> str:
    """Returns what a seat scored, if the game has scores."""
    from arena.core.show.seats import number_of_points

    score = game["scores"][seat]
    return "" if score is None else f" {number_of_points(score)}"
