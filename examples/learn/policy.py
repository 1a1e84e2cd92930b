"""What the bot sees in a planting, and how good its network takes it to be. Training and playing share this file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import tanh
from typing import Any

KINDS = ("tatami", "path", "pond", "garden")
SQUARES = tuple((x, y) for y in range(3) for x in range(2))
"""The squares of a card, in the order in which its kinds are given."""
FEATURES = 9
"""How many numbers describe a planting."""

Square = tuple[int, int]
Planting = tuple[list[int], bool]
"""Where a card goes, and whether it is turned."""


def plantings(request: dict[str, Any], cards: Sequence[Sequence[str]]) -> Iterator[tuple[Planting, list[float]]]:
    """Yields every legal planting of a request with the numbers that describe it.

    Args:
        request: Its `view` and its `legal` plays.
        cards: The kinds of each card of the deck, as `game_start.board.cards` has them.
    """
    view = request["view"]
    seat = view["seat"]
    garden = {
        (x + dx, y + dy): kind
        for card, x, y, turned in view["gardens"][seat]
        for (dx, dy), kind in zip(SQUARES, _kinds(cards, card, turned=turned), strict=True)
    }
    for product in request["legal"]:
        for turned in product["turned"]:
            kinds = _kinds(cards, view["taken"][seat], turned=turned)
            for at in product["at"]:
                yield (at, turned), describe(garden, kinds, at, view["features"][seat])


def describe(garden: dict[Square, str], kinds: Sequence[str], at: Sequence[int], face_up: Sequence[str]) -> list[float]:
    """Returns the numbers of one planting: what it covers, which lines it makes, and whether these can score."""
    squares = [(at[0] + dx, at[1] + dy) for dx, dy in SQUARES]
    after = garden | dict(zip(squares, kinds, strict=True))
    found = [0.0] * FEATURES
    found[0] = sum(square in garden for square in squares) / 6
    lines = {_line(after, square, step) for square in squares for step in ((1, 0), (0, 1))}
    scoring = set()
    for start, _, length in lines:
        kind = after[start]
        found[min(length, 6)] += 1  # 1 to 5, and 6 for all that are too long
        if 3 <= length <= 5 and kind in face_up:
            scoring.add(kind)
            found[7] += length - 2
    found[8] = len(scoring)
    return found


def _kinds(cards: Sequence[Sequence[str]], card: int, *, turned: bool) -> Sequence[str]:
    return cards[card][::-1] if turned else cards[card]


def _line(after: dict[Square, str], square: Square, step: Square) -> tuple[Square, Square, int]:
    """Returns the line of one kind through a square: where it begins, its direction, its length."""
    (x, y), (dx, dy), kind = square, step, after[square]
    while after.get((x - dx, y - dy)) == kind:
        x, y = x - dx, y - dy
    length = 1
    while after.get((x + length * dx, y + length * dy)) == kind:
        length += 1
    return (x, y), step, length


def worth(network: dict[str, Any], numbers: Sequence[float]) -> float:
    """Returns how good the network takes a planting to be; only differences count."""
    hidden = [
        tanh(bias + sum(number * weight for number, weight in zip(numbers, weights, strict=True)))
        for weights, bias in zip(network["hidden"], network["bias"], strict=True)
    ]
    return sum(one * weight for one, weight in zip(hidden, network["out"], strict=True))
