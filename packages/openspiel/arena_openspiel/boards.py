"""Finds the board in what OpenSpiel writes of a position: squares or hexagons, stones or the pieces of chess."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PIECES: Final = {"k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟"}
"""What stands for the pieces of chess, in both colours."""
STONES: Final = {**dict.fromkeys("xXbB@", "black"), **dict.fromkeys("oOwW", "white")}
"""The colours of stones by the letters that OpenSpiel writes for them."""
EMPTY: Final = ".+-"
"""What it writes for an empty place."""
FOG: Final = "?"
"""A square that the seat does not see."""
_ROW: Final = re.compile(rf"\s*\d*\s?([{re.escape(''.join(STONES) + EMPTY + FOG)}]{{3,}})\s*")
_HEX_ROW: Final = re.compile(
    rf"\s*((?:[{re.escape(''.join(STONES) + EMPTY)}]\s)+[{re.escape(''.join(STONES) + EMPTY)}]?)\s*"
)
_COLUMNS: Final = re.compile(r"\s*([a-z]+|[A-Z]+)\s*")
_LEAST: Final = 3  # rows of a board


class Board(NamedTuple):
    """A board."""

    rows: list[str]
    """A letter for each place; rows have the same length."""
    is_hex: bool = False
    """Whether each row is half a place further right than the one above."""
    is_chess: bool = False
    """Whether the letters are those of the pieces of chess, capital ones for white."""


def split_board(shown: str, *, is_hex: bool = False) -> tuple[Board | None, list[str]]:
    """Returns the board in what OpenSpiel writes, if there is one, and the other lines.

    >>> split_board("2k/?P1/3 w - - 0 1")
    (Board(rows=['..k', '?P.', '...'], is_hex=False, is_chess=True), ['w - - 0 1'])
    >>> split_board("xo.\\n...\\n..x\\nnext: o")
    (Board(rows=['xo.', '...', '..x'], is_hex=False, is_chess=False), ['next: o'])

    Args:
        shown: The text.
        is_hex: Whether places are hexagons, also where the text does not show it.
    """
    lines = shown.rstrip().splitlines()
    if lines and (rows := _chess_rows(lines[0])) is not None:
        return Board(rows, is_chess=True), [lines[0].partition(" ")[2], *lines[1:]]
    for pattern, slanted in ((_ROW, is_hex), (_HEX_ROW, True)):
        found = [pattern.fullmatch(line) for line in lines]
        first = next((at for at, row in enumerate(found) if row), 0)
        rows = []
        for row in found[first:]:
            if row is None:
                break
            rows.append("".join(row[1].split()))
        if len(rows) >= _LEAST and len({len(row) for row in rows}) == 1:
            others = lines[:first] + lines[first + len(rows) :]
            return Board(rows, slanted), [line for line in others if not _COLUMNS.fullmatch(line)]
    return None, lines


def _chess_rows(line: str) -> list[str] | None:
    """Returns the rows of a position in the notation of chess (FEN), or None if it is none."""
    notation = line.partition(" ")[0]
    if "/" not in notation:
        return None
    rows = ["".join("." * int(letter) if letter.isdigit() else letter for letter in row) for row in notation.split("/")]
    known = {*PIECES, FOG, "."}
    same = len({len(row) for row in rows}) == 1
    return rows if same and all(letter.lower() in known for row in rows for letter in row) else None
