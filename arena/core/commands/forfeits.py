"""Announces forfeits while `match` and `tournament` play."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.output import say
from arena.core.show.standings import forfeit_text
from arena.core.text import plain

if TYPE_CHECKING:
    from arena.core.store.records import Played
    from arena.core.tournament.settings import Setup

COUNTED = frozenset(10**power for power in range(1, 10))
"""The numbers of forfeits of a bot for one reason at which the number is told."""


class Forfeits:
    """Announces the forfeits of a tournament or match: the first of a bot for a reason in full, others by number."""

    def __init__(self, setup: Setup, logs: str) -> None:
        self._setup = setup
        self._logs = Path(logs)
        self._told: Counter[tuple[str, str]] = Counter()

    def tell(self, played: Played, *, quiet: bool = False) -> None:
        """Prints which bots forfeited a game, where their authors can find out why, and whether the game is void.

        With `quiet` only that it is void: the standings lack it, and do not say so.
        """
        log = self._logs / played.result.log
        for seat in played.result.seats:
            if (forfeit := seat.forfeit) is not None:
                names = [self._setup.settings.bots[entrant].name for entrant in played.game.entrants]
                name = names.pop(forfeit.seat)
                self._told[name, forfeit.code] += 1
                if quiet:
                    continue
                if (count := self._told[name, forfeit.code]) in COUNTED:
                    say(plain(f"{name} forfeited {count:,} times so far: {forfeit.code}"))
                elif count == 1:
                    ref = self._setup.refs[played.game.entrants[forfeit.seat]]
                    kept = {"against": ", ".join(names), **_files(log, forfeit.seat)}
                    say(forfeit_text(forfeit, name, ref, kept))
        if played.void:
            say(f"Game {played.result.game} is void, because the machine was overloaded, and not played again.")

    def total(self) -> str:
        """Returns whose forfeits ended games, with the number of each cause; empty if there were none."""
        return ", ".join(f"{name} {code} {count}" for (name, code), count in self._told.items())


def _files(log: Path, seat: int) -> dict[str, str]:
    """Returns the files kept for the author of a seat's bot: their paths by kind."""
    files = {
        "log": log,
        "its output": log.with_suffix(f".seat{seat}.output"),
        "its messages": log.with_suffix(f".seat{seat}.transcript"),
    }
    return {kind: os.path.relpath(path) for kind, path in files.items() if kind == "log" or path.exists()}
