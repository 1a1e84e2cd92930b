"""How a tournament that is played in rounds stands: what is computed in one place and shown in another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """Bots who meet at one table."""

    bots: tuple[str, ...]
    """Bots by seed."""
    shares: tuple[float, ...] | None = None
    """Mean share of a bot against the others so far, from 0 to 1, by bot. None before any game."""
    deals: int = 0
    done: bool = False


class RoundProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Meetings that were planned together."""

    title: str
    """Replays have that of their round, a comma, and more words: `final, replay 1`."""
    meetings: tuple[Met, ...]
    byes: tuple[str, ...] = ()


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """A bot, and what is known about it and the next one."""

    bot: str
    deals: int = 0
    """Number of deals that the two have played against each other."""
    share: float | None = None
    evidence: float | None = None
    """The evidence that the one that is ahead is better."""
    verdict: Literal["better", "worse", "level", "open"] | None = None
    """Verdict about it against the next one; None for the last bot."""


class Tuned(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a bot, and the better value that was found for it. Values are told as bots are sent them."""

    name: str
    low: str
    high: str
    began: str
    found: str
    path: tuple[float, ...]
    """Position after each round: 0 is `low`, 1 is `high`."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How such a tournament stands."""

    format: str
    rounds: tuple[RoundProgress, ...] = ()
    places: Mapping[str, int] | None = None
    """Place that a bot has reached in a knockout, which may be shared, by bot."""
    points: Mapping[str, float] | None = None
    """Points by bot in a Swiss tournament, most first."""
    neighbours: tuple[Neighbour, ...] = ()
    needed: float | None = None
    """Evidence that settles two neighbours."""
    tuned: tuple[Tuned, ...] = ()
    """Parameters of one that tunes, by name."""
