"""Boards: a text that a person can edit, and the spaces with their neighbours that a game is played on.

1. This module opens no file: it is handed the text, and says in its errors where in the text something is wrong.
2. `find_problems` finds everything that is wrong with a text, in one pass.
3. Spaces are numbered as one reads the map, line by line from left to right, over the spaces of the board for that
   number of players.

`boards/README.md` describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from arena.core.face import BoardText, Payload, errors, game_kit

Kind: TypeAlias = Literal["land", "sea", "village", "city", "edo"]
"""Kind of a space. The last three are settlements."""

KINDS: Mapping[str, Kind] = {"~": "sea", ".": "land", "v": "village", "c": "city", "E": "edo"}
"""The character of each kind in a map."""
PIECES: Mapping[Kind, int] = {"village": 1, "city": 2, "edo": 3}
"""Number of pieces that each kind of settlement holds."""
CASTES = 3
"""Number of castes, which share the pieces evenly."""
PLAYERS = range(2, 5)
MAX_SPACES = 255
"""Number of spaces that a board may have, so that a space's number fits a byte."""

SECTION = "map"
"""Name of the map in the file."""

_STEPS = ((-2, 0), (-1, -1), (-1, 1), (1, -1), (1, 1), (2, 0))


class Space(Struct, frozen=True):
    """One space of a board. Its number is its index in `Board.spaces`."""

    kind: Kind
    neighbours: tuple[int, ...]
    """The numbers of the spaces that share a border with it, ascending."""
    col: int
    """Its column on the map, from 0 in the west."""
    row: int
    """Its place in the column, from 0 in the north; odd columns lie half a space lower."""
    name: str = ""


class Board(game_kit.Board, frozen=True):
    """A board for one number of players."""

    spaces: tuple[Space, ...]
    """Its spaces; a space's number is its index."""
    players: tuple[int, ...]
    """The numbers of players that the file has a board for."""

    def payload(self) -> Payload:
        spaces = [
            {"kind": space.kind, "neighbours": list(space.neighbours), "col": space.col, "row": space.row}
            | ({"name": space.name} if space.name else {})
            for space in self.spaces
        ]
        return super().payload() | {"spaces": spaces}


class Cell(Struct, frozen=True):
    """One cell of the map in a board file."""

    kind: Kind
    players: int
    """The smallest number of players whose board has it."""
    col: int
    row: int
    name: str = ""
    """Its name, if it has one; only settlements have names."""

    @property
    def line(self) -> int:
        """Its line of the map, from 0: a line is half a space high."""
        return 2 * self.row + self.col % 2


class BoardSet(Struct, frozen=True):
    """What a board file says: a board for each of several numbers of players."""

    name: str
    source: str
    players: tuple[int, ...]
    """The numbers of players that it has a board for, ascending."""
    cells: tuple[Cell, ...]
    """The cells in the order in which one reads the map."""
    text: str
    """The whole text, with line ends normalised."""

    def for_players(self, players: int) -> Board:
        """Returns the board for that number of players.

        Raises:
            ConfigError: The file has no board for that number.
        """
        if players not in self.players:
            raise errors.ConfigError(
                f"expected a number of players that board {self.name!r} is for ({_span(self.players)}), got: {players}"
            )
        cells = [cell for cell in self.cells if cell.players <= players]
        numbers = {(cell.line, cell.col): number for number, cell in enumerate(cells)}
        spaces = tuple(
            Space(cell.kind, _neighbours(cell.line, cell.col, numbers), cell.col, cell.row, cell.name) for cell in cells
        )
        return Board(self.name, self.source, self.text, spaces, self.players)


def parse_board(text: str, source: str) -> BoardSet:
    """Reads a board file.

    Raises:
        BoardError: The text is not a board; this is the first of `find_problems`.
    """
    parser = _Parser(text, source)
    if parser.problems:
        raise parser.problems[0]
    return parser.board


def find_problems(text: str, source: str) -> list[errors.BoardError]:
    """Returns everything that keeps `text` from being a board file, in the order of the text; nothing if it is one."""
    return _Parser(text, source).problems


class BoardFormat(game_kit.BoardFormat):
    """The boards of Samurai as files."""

    section = SECTION
    default = "japan"

    def problems(self, text: str, source: str) -> list[errors.BoardError]:
        return find_problems(text, source)

    def players(self, text: str, source: str) -> tuple[int, ...]:
        return parse_board(text, source).players

    def parse(self, text: str, source: str, players: int) -> Board:
        return parse_board(text, source).for_players(players)


def _span(players: tuple[int, ...]) -> str:
    return f"{players[0]}-{players[-1]}" if len(players) > 1 else f"{players[0]}"


def _neighbours(line: int, col: int, numbers: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    # The steps are in reading order, and so are the numbers: the result ascends.
    return tuple(numbers[at] for down, right in _STEPS if (at := (line + down, col + right)) in numbers)


class _Parser(BoardText):
    """Reads the text of a board."""

    section = SECTION
    keys = (*BoardText.keys, "players")
    more_keys = ("place",)

    def __init__(self, text: str, source: str) -> None:
        self.places: dict[tuple[int, int], tuple[str, int]] = {}  # (col, row) to name, and line in the file
        self.players: tuple[int, ...] = ()
        self.cells: dict[tuple[int, int], Cell] = {}  # by line and column of the map: reading order
        super().__init__(text, source)

    def read_section(self, head: int) -> None:
        """Reads the map, and checks the whole."""
        self._read_map(head)
        if not self.found:
            self._check_places()
            self._check_spaces(head)

    @property
    def board(self) -> BoardSet:
        cells = tuple(
            Cell(cell.kind, cell.players, cell.col, cell.row, self.places.get((cell.col, cell.row), ("", 0))[0])
            for cell in self.cells.values()
        )
        return BoardSet(self.header["name"], self.header["source"], self.players, cells, self.text)

    # The header

    def read_value(self, line: int, column: int, key: str, value: str) -> None:
        """Reads the numbers of players."""
        if key != "players":
            return
        match = re.fullmatch(r"([0-9])(?:-([0-9]))?", value)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if first in PLAYERS and last in PLAYERS and first <= last:
            self.players = tuple(range(first, last + 1))
        else:
            expected = f"a number of players or a range of them within {_span(tuple(PLAYERS))}"
            self.problem(line, column, expected, repr(value), "write it like 2-4 or 3")

    def read_other(self, line: int, column: int, key: str, value: str) -> None:
        """Reads the name of a settlement."""
        match = re.fullmatch(r"place ([0-9]{1,3})-([0-9]{1,3})", key)
        if not match:
            self.problem(line, 1, "`place COL-ROW: name`", repr(key), "write it like `place 11-15: Kyoto`")
            return
        at = int(match[1]), int(match[2])
        if at in self.places:
            self.problem(line, 1, f"one name for {match[1]}-{match[2]}", "a second", "remove one of the two lines")
        elif not value:
            self.problem(line, column, f"a name after `{key}:`", "nothing", "write one, or remove the line")
        else:
            self.places[at] = value, line

    # The map

    def _read_map(self, head: int) -> None:
        before = len(self.found)
        for line, text in enumerate(self.lines[head + 1 :]):
            if (tab := text.find("\t")) >= 0:
                self.problem(head + 2 + line, tab + 1, "only spaces between cells", "a tab", "write spaces instead")
            else:
                for match in re.finditer(r"[^ ]+", text):
                    self._read_cell(line, match.start(), match[0], head + 2 + line)
        if not self.cells and len(self.found) == before:
            self.problem(head + 1, 1, "cells on the lines below `map:`", "none", "draw the map")

    def _read_cell(self, line: int, start: int, text: str, number: int) -> None:
        symbol, digit, rest = text[0], text[1:2], text[2:]
        column = start + 1  # for people, who count from 1
        if symbol not in KINDS:
            remedy = "comments go above `map:`" if symbol == "#" else "use one of these"
            self.problem(number, column, f"the character of a kind ({' '.join(KINDS)})", repr(symbol), remedy)
        elif not digit:
            expected = f"the smallest number of players after {symbol!r}"
            self.problem(number, column + 1, expected, "nothing", "add the digit")
        elif digit not in "0123456789":
            expected = f"the smallest number of players, a digit, after {symbol!r}"
            self.problem(number, column + 1, expected, repr(digit), "write the digit there")
        elif self.players and int(digit) not in self.players:
            expected = f"a number of players within {_span(self.players)}"
            self.problem(number, column + 1, expected, digit, "change it, or the line `players:`")
        elif rest:
            self.problem(
                number, column + 2, f"a space after the cell {text[:2]!r}", repr(rest), "one cell is two characters"
            )
        elif start % 6 != 3 * (line % 2):
            west = start - (start - 3 * (line % 2)) % 6
            near = " or ".join(str(at + 1) for at in (west, west + 6) if at >= 0)
            self.problem(
                number, column, "a cell at every sixth character of this line", f"one at {column}", f"move it to {near}"
            )
        elif len(self.cells) == MAX_SPACES:
            self.problem(number, column, f"at most {MAX_SPACES} spaces", "one more", "remove some")
        else:
            self.cells[line, start // 3] = Cell(KINDS[symbol], int(digit), start // 3, line // 2)

    # The whole

    def _check_places(self) -> None:
        for (col, row), (name, number) in self.places.items():
            cell = self.cells.get((2 * row + col % 2, col))
            if cell is None or cell.kind not in PIECES:
                got = "no space" if cell is None else cell.kind
                expected = f"a settlement at {col}-{row}, to be called {name!r}"
                self.problem(number, 1, expected, got, "give the column and the row of one")

    def _check_spaces(self, head: int) -> None:
        landlocked: set[tuple[int, int]] = set()
        for players in self.players:
            cells = {at: cell for at, cell in self.cells.items() if cell.players <= players}
            pieces = sum(PIECES.get(cell.kind, 0) for cell in cells.values())
            if pieces == 0 or pieces % CASTES:
                expected = f"a number of pieces divisible by three for {players} players"
                self.problem(head + 1, 1, expected, str(pieces), "a village holds 1, a city 2, Edo 3; change some")
            land = {at: 0 for at, cell in cells.items() if cell.kind == "land"}
            for (line, col), cell in cells.items():
                if cell.kind in PIECES and (line, col) not in landlocked and not _neighbours(line, col, land):
                    landlocked.add((line, col))
                    expected = f"land beside the {cell.kind} for {players} players"
                    self.problem(
                        head + 2 + line, 3 * col + 1, expected, "none", "it could never be surrounded; add some"
                    )
