"""Where the spaces of a board of Samurai lie in a picture, and the line between land and sea."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt

from arena.games.samurai.board import Board, Space

RADIUS = 34.0
"""The distance from the centre of a space to its corners."""
RISE = RADIUS * sqrt(3) / 2
"""The distance from the centre of a space to its upper side."""

Point = tuple[float, float]

_SIDES = {(1, 1): 0, (2, 0): 1, (1, -1): 2, (-1, -1): 3, (-2, 0): 4, (-1, 1): 5}  # lines down and columns right


def corners(radius: float = RADIUS) -> list[Point]:
    """Returns the corners of a hexagon around its centre, from the east on."""
    return [(radius * cos(turn * pi / 3), radius * sin(turn * pi / 3)) for turn in range(6)]


def centre(space: Space) -> Point:
    """Returns the centre of a space, measured from that of column 0, row 0."""
    return 1.5 * RADIUS * space.col, RISE * (2 * space.row + space.col % 2)


def coast(board: Board, centres: Sequence[Point]) -> str:
    """Returns the path around the land: the sides of land spaces and settlements that no other of these shares."""
    solid = {(2 * space.row + space.col % 2, space.col) for space in board.spaces if space.kind != "sea"}
    edge = corners()
    sides = []
    for space, (x, y) in zip(board.spaces, centres, strict=True):
        line = 2 * space.row + space.col % 2
        for (down, right), corner in _SIDES.items():
            if (line, space.col) in solid and (line + down, space.col + right) not in solid:
                (x1, y1), (x2, y2) = edge[corner], edge[(corner + 1) % 6]
                sides.append(f"M{x + x1:.2f},{y + y1:.2f}L{x + x2:.2f},{y + y2:.2f}")
    return "".join(sides)
