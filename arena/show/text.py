"""Text from strangers: names, notes and messages of bots, before they are shown to anyone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text


def plain(text: str) -> str:
    r"""The text with everything that a terminal could act on spelled out: control characters, escape sequences, line
    ends, characters that turn the direction of writing or are invisible, and lone surrogates.

    A `\n` becomes the two characters `\` and `n`, an escape becomes `\x1b`. What is left is one line of visible
    characters. It may still hold brackets: hand it to `rich.text.Text`, never to a function that reads markup.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def clip(text: str, width: int) -> str:
    """The text made `plain`, and cut off with an ellipsis where it is longer than `width` characters of a terminal."""
    clipped = Text(plain(text))
    clipped.truncate(width, overflow="ellipsis")
    return clipped.plain


def listed(items: Iterable[object]) -> str:
    """Items as one writes them: `5, 12 and 31`."""
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
