"""Writes the bundled deck of Samurai Gardener: python boards/make_garden.py > boards/garden.txt

The published list of cards is not available, so the deck is one of arena's own. 16 base patterns are relabelled
cyclically four ways. Of the base patterns a quarter has no two adjacent squares alike, half has one such pair, a
quarter has two; none has a column of three alike, and none is another, or its own half turn, with other kinds.
"""

from __future__ import annotations

import sys
from itertools import product

SYMBOLS = "=.~*"
PAIRS = ((0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (1, 3), (3, 5))
"""The adjacent squares of a card, which are numbered row by row."""
COLUMNS = ((0, 2, 4), (1, 3, 5))
PATTERNS = {0: 4, 1: 8, 2: 4}
"""How many base patterns have so many pairs alike."""

Pattern = tuple[int, ...]

HEADER = """\
# A deck for Samurai Gardener: arena's own, not the published cards, the list of which is not available.
# boards/make_garden.py makes this file and says how. boards/README.md explains the format.
name: Garden
source: arena's own deck; 16 patterns, each with the four kinds exchanged in a circle

cards:
"""


def canonical(pattern: Pattern) -> Pattern:
    """The kinds renamed in the order in which they appear."""
    order = list(dict.fromkeys(pattern))
    return tuple(order.index(kind) for kind in pattern)


def pairs(pattern: Pattern) -> int:
    """How many adjacent squares are alike."""
    return sum(pattern[one] == pattern[other] for one, other in PAIRS)


def candidates(alike: int) -> list[Pattern]:
    """The patterns with so many pairs alike, one of all that differ in the names of the kinds or by a half turn."""
    found = []
    for pattern in product(range(len(SYMBOLS)), repeat=6):
        turned = canonical(pattern[::-1])
        column = any(len({pattern[square] for square in squares}) == 1 for squares in COLUMNS)
        if pattern == canonical(pattern) and pattern < turned and pairs(pattern) == alike and not column:
            found.append(pattern)
    return found


def cards() -> list[Pattern]:
    """The 64 cards: of the candidates as many as are wanted, evenly spread, each relabelled four ways."""
    base = []
    for alike, wanted in PATTERNS.items():
        some = candidates(alike)
        base += [some[index * len(some) // wanted] for index in range(wanted)]
    return [tuple((kind + shift) % 4 for kind in pattern) for pattern in base for shift in range(4)]


def text() -> str:
    """The deck file: eight cards side by side."""
    drawn = [["".join(SYMBOLS[kind] for kind in card[row : row + 2]) for row in (0, 2, 4)] for card in cards()]
    blocks = [zip(*drawn[first : first + 8], strict=True) for first in range(0, len(drawn), 8)]
    return HEADER + "\n".join("".join("  ".join(line) + "\n" for line in block) for block in blocks)


if __name__ == "__main__":
    sys.stdout.write(text())
