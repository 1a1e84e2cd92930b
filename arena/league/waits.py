"""How long versions have waited for a match: the figure by which a league's matchmaking is judged."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec

from arena.store.league.records import Standing


class Wait(msgspec.Struct, frozen=True):
    """A wait."""

    matches: int = 0
    """In matches of the whole league."""
    rounds: float = 0.0
    """In rounds: so many matches as give each version that plays one seat."""


def longest_wait(standing: Sequence[Standing], matches: int, players: Sequence[int]) -> Wait:
    """Returns how long the version has waited that waits longest; those that play now do not wait.

    Args:
        standing: The versions that play.
        matches: How many matches the season has.
        players: The numbers of players that matches may have, each as often.
    """
    waits = (matches - max(one.last_match + 1, one.since_match) for one in standing if not one.playing)
    longest = max(waits, default=0)
    return Wait(longest, round(longest * fmean(players) / len(standing), 2) if longest else 0.0)
