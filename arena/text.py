"""Makes text from strangers (names, notes, output, messages of bots) safe to show."""

from __future__ import annotations


def plain(text: str) -> str:
    r"""Spells out everything in an untrusted text that a terminal could act on.

    That is: control characters, escape sequences, ends of lines, characters that turn the direction of writing or are
    invisible, and lone surrogates. What is left is one line of visible characters. It may still hold brackets: hand it
    to `rich.text.Text`, never to a function that reads markup.

    >>> print(plain("a\nb \x1b[2J"))
    a\nb \x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
