"""A label, and beside it words that may need several lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.text import Text

from arena.text import plain

WIDEST = 100
"""Columns that words are set in at most: longer lines are hard to read."""
NARROWEST = 20
"""Columns that words are given at least, whatever the width."""


def entry(label: str, words: str, column: int, width: int, style: str = "bold") -> Iterator[Text]:
    """The lines of an entry, made harmless.

    Args:
        label: What stands on the left of the first line.
        words: What stands beside it, wrapped.
        column: Where the words begin.
        width: Columns of the whole.
        style: How the label looks.
    """
    label = plain(label)
    room = max(NARROWEST, min(width, WIDEST) - column)
    for line in wrap(plain(words), room, break_on_hyphens=False) or [""]:
        yield Text.assemble((f"{label:{column}}", style), line)
        label = ""


def span(numbers: Sequence[int]) -> str:
    """Numbers one after another, for people: `2 to 4`, `2 or 3`, `3`."""
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} {'or' if len(numbers) == 2 else 'to'} {numbers[-1]}"
