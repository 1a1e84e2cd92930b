"""The geometry of a garden: where a card may be put, and which rows it makes (rules page, "A round").

1. Pure functions of plain numbers: nothing here knows of decks, seats, scores or the state of a game.
2. A square is one number, `STRIDE * x + y`: steps are additions, and ascending numbers are ascending (x, y).
   The position of a card is its upper left square.
3. A row is never covered, so what is barred once stays barred, and a garden grows card by card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

STRIDE = 1024
"""Distance of the numbers of two squares that lie side by side. No garden of 64 cards is nearly so high."""
WIDE, HIGH = 2, 3
"""The squares of a card."""
LENGTHS = range(3, 6)
"""The lengths of rows that can be new and can score. Longer ones are protected all the same."""


def square(x: int, y: int) -> int:
    """Returns the number of a square, for -512 <= y < 512."""
    return STRIDE * x + y


@lru_cache(maxsize=16_384)
def point(number: int) -> tuple[int, int]:
    """Returns x and y of a square; the inverse of `square`."""
    x, y = divmod(number + STRIDE // 2, STRIDE)
    return x, y - STRIDE // 2


_CARD = tuple(square(x, y) for y in range(HIGH) for x in range(WIDE))
"""From a card's position to its squares, row by row."""
NEAR = tuple(
    square(x, y)
    for x in range(-WIDE, WIDE + 1)
    for y in range(-HIGH, HIGH + 1)
    if (abs(x), abs(y)) != (WIDE, HIGH)  # a corner is not enough
)
"""From a card's position to those where another lies beside it or over it."""
_STEPS = ((STRIDE, False), (1, True))


class Row(Struct, frozen=True, order=True):
    """A line of alike squares with no further one at either end. Rows ascend by y, then x, across before down."""

    y: int
    """Row of its leftmost or topmost square."""
    x: int
    down: bool
    """Whether it runs down, not across."""
    kind: int
    length: int


class Layout(Struct, frozen=True):
    """A garden as it lies. Its parts are never changed."""

    kinds: Mapping[int, int]
    """The kind that is seen on each square of the garden."""
    cards: int
    touching: Mapping[int, int]
    """The positions beside a card of the garden or over it, legal or not, each with its number in the garden: that of
    the first card that it touches, times the length of `NEAR`, and which of `NEAR` leads from there."""
    positions: tuple[int, ...]
    """Positions of the next card, turned or not, ascending."""
    rows: tuple[Row, ...]
    """The new rows that the last card made or lengthened, ascending."""


EMPTY = Layout({}, 0, {square(0, 0): NEAR.index(0)}, (square(0, 0),), ())
"""No card yet: the first lies at (0, 0)."""


def plant(layout: Layout, card: bytes, position: int, exactly_over: bool = False) -> Layout:
    """Returns the garden after a card was put at a legal position.

    Args:
        card: The kinds of its squares, row by row, as it lies: a turned card is reversed.
        position: One of `layout.positions`.
        exactly_over: Whether a card may be put exactly over one if it lies beside or partly over another, too. From
            the second card on, every card of a garden has another one beside it or partly over it.
    """
    squares = [position + offset for offset in _CARD]
    kinds = {**layout.kinds}
    kinds.update(zip(squares, card, strict=True))
    barred: set[int] = set()
    rows = []
    for step, down in _STEPS:
        for start, end in _lines(kinds, squares, step):
            barred.update([alike - offset for alike in range(start, end + step, step) for offset in _CARD])
            length = (end - start) // step + 1
            if length in LENGTHS:
                x, y = point(start)
                rows.append(Row(y, x, down, kinds[start], length))
    # Only what did not touch the garden before can become legal: what did and is not, is barred for ever.
    touching = {**layout.touching}
    for number, offset in enumerate(NEAR, layout.cards * len(NEAR)):
        touching.setdefault(position + offset, number)
    positions = [*layout.positions, *list(touching)[len(layout.touching) :]]
    if not (exactly_over and layout.kinds):
        positions.remove(position)
    elif len(layout.kinds) == len(_CARD) and not any(_lines(layout.kinds, layout.kinds, step) for step, _ in _STEPS):
        positions += EMPTY.positions  # the first card is no longer alone
    if barred:
        positions = [near for near in positions if near not in barred]
    positions.sort()
    return Layout(kinds, layout.cards + 1, touching, tuple(positions), tuple(sorted(rows)))


def _lines(kinds: Mapping[int, int], squares: Iterable[int], step: int) -> set[tuple[int, int]]:
    """Returns the ends of the lines of three or more alike, in one direction, through some squares.

    If these were just put, each such line is a new one: had it been there before, they could not have been put.
    """
    lines = set()
    for number in squares:
        kind = kinds[number]
        start = end = number
        while kinds.get(start - step) == kind:
            start -= step
        while kinds.get(end + step) == kind:
            end += step
        if end - start >= 2 * step:
            lines.add((start, end))
    return lines
