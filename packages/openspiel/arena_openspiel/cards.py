"""Finds hands of cards in what OpenSpiel writes of a position: a line for each suit, one below the other.

In Gin Rummy the lines are in a box, each card has its suit (`As`), and the suits are in the order of `BOXED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

SUITS: Final = {**dict(zip("SHDC", "♠♥♦♣", strict=True)), **dict(zip("♠♥♦♣", "♠♥♦♣", strict=True))}
"""The signs of the suits, by what OpenSpiel writes for them."""
RED: Final = "♥♦"
"""The red suits."""
_SUIT: Final = rf"(?:Suit )?([{''.join(SUITS)}]):?((?:\s*(?:10|[AKQJT2-9]))*|\s*none)\s*"
_LINE: Final = re.compile(rf"\s*(?:{_SUIT}){{1,2}}")
BOXED: Final = "♠♣♦♥"
"""The suits of the lines in a box."""
_EDGE: Final = re.compile(r"\+-+\+")
_BOX: Final = re.compile(r"\|(?:[AKQJT2-9][scdh]|  )+\|")
_RANK: Final = re.compile(r"10|[AKQJT2-9]")

Hand: TypeAlias = list[tuple[str, list[str]]]
"""A hand: the sign of each suit with its ranks, as they are written; T is ten."""


def split_hands(lines: Sequence[str]) -> Iterator[str | list[Hand]]:
    """Yields the lines of a text, and for each four that are hands those hands: one, or two beside each other.

    A box is left out.

    >>> list(split_hands(["Hand:", "S AQ", "H 8", "D ", "C K"]))
    ['Hand:', [[('♠', ['A', 'Q']), ('♥', ['8']), ('♦', []), ('♣', ['K'])]]]
    """
    at = 0
    while at < len(lines):
        first, *inner, last = lines[at : at + 6] if at + 6 <= len(lines) else ("", "")
        if _EDGE.fullmatch(first) and _EDGE.fullmatch(last) and all(map(_BOX.fullmatch, inner)):
            yield [[(suit, _RANK.findall(line)) for suit, line in zip(BOXED, inner, strict=True)]]
            at += 6
            continue
        rows = [re.findall(_SUIT, line) for line in lines[at : at + 4] if _LINE.fullmatch(line)]
        hands = [[(SUITS[suit], _RANK.findall(ranks)) for suit, ranks in hand] for hand in zip(*rows, strict=False)]
        if hands and all(len({suit for suit, _ in hand}) == len(rows) == 4 for hand in hands):
            yield hands
            at += 4
        else:
            yield lines[at]
            at += 1
