"""How large the values of an order may be. It imports nothing, so that commands can ask before they write an order."""

from __future__ import annotations

from typing import Final

MOST_TEXT: Final = 1_000
"""Characters of a text."""
MOST_NUMBER: Final = 2**31 - 1
"""The largest number: of a match, of a quota."""
MOST_MATCHES: Final = 200
"""Matches that one order plays again. Each takes up to 0.05 s on a busy machine, and the service does nothing else."""
MOST_WORKERS: Final = 1_024
"""Games at a time."""
MOST_NAME: Final = 64
"""Characters of a season's name."""


def is_season_name(text: str) -> bool:
    r"""Says whether a season may have this name: people choose it, and it is shown on a line.

    >>> [is_season_name(text) for text in ("spring", "Cup of 2026", "", " ", "a\nb")]
    [True, True, False, False, False]
    """
    return len(text) <= MOST_NAME and text.isprintable() and text.strip() == text != ""
