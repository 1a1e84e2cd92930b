"""Draws the board of Samurai as a map of hexagons for a terminal, with its pieces and tiles.

A space is four characters wide and two lines high, odd columns one line lower, so that the map has the shape of the
board file. The upper line shows what is there, the lower line the number of the space. Whatever a colour says, a
character says too: each seat has a mark, and what has just changed has an asterisk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rich.style import Style
from rich.text import Text

from arena.core.face import Payload, plain, seat_styles
from arena.games.samurai.board import PIECES, Board, Kind

CELL = 4
"""The width of a space in characters."""
CHANGED = "*"
"""Follows what has just changed."""
TARGET = "+"
"""Marks a space that a person may choose now."""
TAKEN = "-"
"""The sign of a piece that is not there: not yet placed, or captured."""

_LETTERS = {"samurai": "s", "ship": "h", "ronin": "n", "buddha": "b", "rice": "r", "castle": "c"}
_GROUND: dict[Kind, str] = {"sea": "~", "land": "."}
_HIGH_GROUND: dict[Kind, str] = {"sea": "~", "land": "'"}
_LOW_GROUND: dict[Kind, str] = {"sea": "_", "land": "."}
"""Signs of empty spaces where a row has one line: those of odd columns look lower, as those spaces are."""
# Three shades of sea and land: neighbouring hexagons never have the same one. All colours are chosen so that they stay
# apart on terminals with 256 colours too, where each is replaced by one near it.
_SHADES: dict[Kind, tuple[str, str, str]] = {
    "sea": ("#0e294c", "#102c52", "#122f58"),
    "land": ("#2a4c22", "#2d5225", "#2f5828"),
    "village": ("#7a5428",) * 3,
    "city": ("#9c5420",) * 3,
    "edo": ("#a4581c",) * 3,
}
_INK: dict[Kind, str] = {"sea": "#6f9dc4", "land": "#9db383", "village": "#d8b98a", "city": "#d8b98a", "edo": "#d8b98a"}
_PIECE_STYLE = Style(color="#ffffff", bold=True)
_TARGET_STYLE = Style(color="#000000", bgcolor="#e8e8e8", bold=True)
# Black on white; reversed, so that it is visible where colours are off.
_CHANGED_STYLE = Style(color="#ffffff", bgcolor="#1c1c1c", bold=True, reverse=True)


def tile_code(tile: str) -> str:
    """Returns a tile's name in two characters: `r3` for `rice3`, `h1` for `ship1`, `mv`, `sw`."""
    if tile in ("move", "switch"):
        return {"move": "mv", "switch": "sw"}[tile]
    return _LETTERS[tile[:-1]] + tile[-1]


def map_lines(board: Board, view: Payload, changed: Collection[int] = (), targets: Collection[int] = ()) -> list[Text]:
    """Draws a view of a game on its board; returns the lines of the map, without empty ones around it.

    Args:
        changed: The numbers of the spaces to highlight.
        targets: The numbers of the spaces that a person may choose now.
    """
    tiles = {space: (seat, tile) for space, seat, tile in view["tiles"]}
    castes = _castes(board, view)
    left, _ = corner(board)
    top = min(_line(space.row, space.col) for space in board.spaces)
    halves: dict[int, list[tuple[int, Text]]] = {}
    for number, space in enumerate(board.spaces):
        ground = Style.parse(f"on {_SHADES[space.kind][(space.row + space.col // 2 + space.col) % 3]}")
        ink = Style(color=_INK[space.kind])
        if number in tiles:
            seat, tile = tiles[number]
            what, ground, ink = seat_styles.MARKS[seat] + tile_code(tile), seat_styles.SEAT_STYLES[seat], Style()
            above = ground
        elif space.kind in PIECES:
            what, above = castes[number].ljust(PIECES[space.kind], TAKEN), ground + _PIECE_STYLE
        else:
            what, above = _GROUND[space.kind], ground + ink
        below = ground + (_CHANGED_STYLE if number in changed else ink)
        upper = Text(f"{what:^{CELL - 1}}{CHANGED if number in changed else ' '}", above)
        lower = Text(f"{number:^{CELL - 1}} ", below)
        if number in targets:
            lower = Text(f"{TARGET}{number}".center(CELL - 1) + " ", _TARGET_STYLE)
        line = _line(space.row, space.col) - top
        halves.setdefault(line, []).append((space.col - left, upper))
        halves.setdefault(line + 1, []).append((space.col - left, lower))
    return [_join(sorted(halves.get(line, ()), key=lambda half: half[0])) for line in range(max(halves) + 1)]


def compact_lines(
    board: Board, view: Payload, changed: Collection[int] = (), targets: Collection[int] = ()
) -> list[Text]:
    """Draws as `map_lines` with one line for each row. Odd columns, which lie half a space lower, have low signs.

    Of `targets`, one that is empty shows its number.
    """
    tiles = {space: (seat, tile) for space, seat, tile in view["tiles"]}
    castes = _castes(board, view)
    left, top = corner(board)
    cells: dict[int, list[tuple[int, Text]]] = {}
    for number, space in enumerate(board.spaces):
        ground = Style.parse(f"on {_SHADES[space.kind][(space.row + space.col // 2 + space.col) % 3]}")
        mark = CHANGED if number in changed else " "
        if number in tiles:
            seat, tile = tiles[number]
            cell = Text(f"{seat_styles.MARKS[seat]}{tile_code(tile)}{mark}", seat_styles.SEAT_STYLES[seat])
        elif space.kind in PIECES:
            cell = Text(f"{castes[number].ljust(PIECES[space.kind], TAKEN):{CELL - 1}}{mark}", ground + _PIECE_STYLE)
        else:
            sign = _LOW_GROUND[space.kind] if space.col % 2 else _HIGH_GROUND[space.kind]
            cell = Text(f"{sign}{number:<{CELL - 1}}", ground + Style(color=_INK[space.kind]))
        if number in targets and number not in changed:
            is_empty = number not in tiles and not castes[number]
            cell = Text(f"{TARGET}{number:<{CELL - 1}}" if is_empty else f"{cell.plain[:-1]}{TARGET}", _TARGET_STYLE)
        if number in changed:
            cell.stylize(_CHANGED_STYLE, CELL - 1 if cell.plain[-1] == CHANGED else 0)
        cells.setdefault(space.row - top, []).append((space.col - left, cell))
    return [_join(sorted(cells.get(row, ()), key=lambda cell: cell[0])) for row in range(max(cells) + 1)]


def corner(board: Board) -> tuple[int, int]:
    """Returns the board's first column and first row that have spaces."""
    return min(space.col for space in board.spaces), min(space.row for space in board.spaces)


def _castes(board: Board, view: Payload) -> dict[int, str]:
    castes = dict.fromkeys(range(len(board.spaces)), "")
    for caste, spaces in view["pieces"].items():
        for space in spaces:
            castes[space] += caste[0].upper()
    return castes


def legend(board: Board) -> Iterator[Text]:
    """Yields what the signs on the map mean, as items to be set side by side."""
    yield Text("B R C buddha, rice, castle")
    yield Text("- no piece")
    yield Text("~ sea")
    yield Text(". land")
    yield Text("r3 tile rice 3")
    yield Text("s samurai")
    yield Text("h ship")
    yield Text("n ronin")
    yield Text("mv move")
    yield Text("sw switch")
    yield Text("* changed")
    for number, space in enumerate(board.spaces):
        if space.name:
            yield Text(f"{number} {plain(space.name)}")


def _line(row: int, col: int) -> int:
    return 2 * row + col % 2


def _join(halves: list[tuple[int, Text]]) -> Text:
    line = Text()
    for col, half in halves:
        line.append(" " * (CELL * col - len(line)))
        line.append_text(half)
    return line
