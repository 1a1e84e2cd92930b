"""Says which bots computed much while others were to move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from arena.text import plain

MUCH_MS: Final = 100
"""CPU time of a game that is not worth a word: runtimes collect garbage and compile when they find time."""
MUCH_SHARE: Final = 0.5
"""So much of its opponents' time: they may have lacked what the bot took."""


def off_turn_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns a sentence for each bot that computed for much of its opponents' time.

    Args:
        rows: Each has `bot`, and what a `Tally` says: `mean_off_turn_ms`, `off_turn_share`.
    """
    return [
        f"{plain(row['bot'])} computed while others were to move: {row['mean_off_turn_ms']:,.0f} ms of CPU a game, "
        f"{100 * row['off_turn_share']:.0f} % of the time that they thought. --level strict prevents that."
        for row in rows
        if (row["mean_off_turn_ms"] or 0) >= MUCH_MS and (row["off_turn_share"] or 0) >= MUCH_SHARE
    ]
