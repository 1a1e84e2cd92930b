"""Lays out a label, and beside it words that may need several lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.text import Text

from arena.text import plain

WIDEST = 100
"""The most columns for words: longer lines are hard to read."""
NARROWEST = 20
"""The fewest columns for words, whatever the width."""


def entry(label: str, words: str, column: int, width: int, style: str = "bold") -> Iterator[Text]:
    """Yields the lines of an entry, escaped for terminals.

    Args:
        label: The words at the left of the first line.
        words: The words beside it, wrapped.
        column: The column in which the words begin.
        width: Columns of the whole entry.
        style: The label's style.
    """
    label = plain(label)
    room = max(NARROWEST, min(width, WIDEST) - column)
    for line in wrap(plain(words), room, break_on_hyphens=False) or [""]:
        yield Text.assemble((f"{label:{column}}", style), line)
        label = ""


def span(numbers: Sequence[int]) -> str:
    """Returns ascending numbers for people: `2 to 4`, `2 or 3`, `3`."""
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} {'or' if len(numbers) == 2 else 'to'} {numbers[-1]}"
