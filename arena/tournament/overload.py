"""Says when a machine has too few cores for a tournament, and what becomes of games that were lost because of it. Pure.

A bot cannot make itself overloaded: the referee measures how long it was kept from running. So a game that is void
for that reason is not played again: no bot ever gets another attempt at a deal.
"""

from __future__ import annotations

from arena.types import GameResult


def overload(result: GameResult) -> str:
    """Returns why a game was lost because the machine was overloaded, as sentences; empty if it was not."""
    forfeits = (seat.forfeit for seat in result.seats)
    return "; ".join(forfeit.sentence for forfeit in forfeits if forfeit is not None and forfeit.overloaded)


def crowded(games: int, players: int, cores: int, *, race: bool) -> str:
    """Returns a warning if bots would wait for a core while their clocks run; empty if they would not.

    In a game of turns one seat thinks at a time and the referee sleeps meanwhile: the game keeps one core busy. In a
    race all seats compute at once, so it keeps as many busy as it has seats.

    Args:
        games: Games at a time.
        players: Seats of a game.
        cores: How many cores this process may use.
        race: Whether the rules have races.
    """
    each = players if race else 1
    if games * each <= cores:
        return ""
    at_once = f"{games} game{'' if games == 1 else 's'} at a time"
    if race:
        at_once += f", in each of which {players} bots compute at once,"
    most = cores // each
    remedy = f"use --concurrency {most}" if most else f"no --concurrency helps, a game needs {each} cores"
    return (
        f"Warning: {at_once} on {cores} core{'' if cores == 1 else 's'}: bots will wait for a core while their clocks "
        f"run, and may lose on time; {remedy}, or --on-overload void."
    )
