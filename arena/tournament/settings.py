"""All that the games of a tournament depend on. The same settings mean the same tournament."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from arena.link.bots import BotSpec
from arena.store.records import canonical
from arena.tournament.schedule import RoundRobin, Seatings
from arena.types import RACE_WINDOW_MS


class BoardSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The board."""

    name: str
    hash: str
    """SHA-256 (hex) of the file's text."""


class BotSettings(msgspec.Struct, frozen=True, kw_only=True):
    """An entrant."""

    name: str
    """Unique in the tournament: the second `random` is `random#2`."""
    version: str
    digest: str
    """SHA-256 of what the bot is, wherever it lies."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament's settings. What does not change a game (workers, folders) is not among them."""

    rules: str
    rules_version: int
    ruleset: str
    options: dict[str, str]
    """Every option with its value."""
    board: BoardSettings
    players: int
    """Seats of a game."""
    format: Literal["round-robin"] = "round-robin"
    deals: int
    seatings: Seatings = "cyclic"
    time: str
    """The time control, as `BANK+INCREMENT` or `LIMIT/move` in seconds."""
    race_window_ms: float = RACE_WINDOW_MS
    """Answers of a race whose reaction times lie no further apart are a tie, decided by chance."""
    level: Literal["trusted"] = "trusted"
    """How bots are confined."""
    seed: str | None = None
    """Whence the tournament's secret, or None if it comes from the system."""
    bots: tuple[BotSettings, ...]
    """The entrants, by number."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex): equal settings have equal digests."""
        return hashlib.sha256(canonical(self).encode()).hexdigest()

    def schedule(self) -> RoundRobin:
        """The games.

        Raises:
            ConfigError: There can be no such tournament.
        """
        return RoundRobin(len(self.bots), self.players, self.deals, self.seatings)


def enter(specs: Sequence[BotSpec]) -> tuple[BotSettings, ...]:
    """The entrants, with names that are unique."""
    seen: Counter[str] = Counter()
    entered = []
    for spec in specs:
        seen[spec.name] += 1
        name = spec.name if seen[spec.name] == 1 else f"{spec.name}#{seen[spec.name]}"
        entered.append(BotSettings(name=name, version=spec.version, digest=spec.digest))
    return tuple(entered)
