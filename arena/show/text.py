"""Cuts and joins words for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from arena.text import plain


def clip(text: str, width: int) -> str:
    """Returns the text made `plain`, and cut off with an ellipsis if it is longer than `width` columns."""
    clipped = Text(plain(text))
    clipped.truncate(width, overflow="ellipsis")
    return clipped.plain


def listed(items: Iterable[object]) -> str:
    """Returns items as people write them: `5, 12 and 31`."""
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
