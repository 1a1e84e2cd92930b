"""Reads and checks board files, and draws boards before a game."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

import msgspec
from rich.text import Text

from arena.core.catalogue import board_format, bundled_boards, game, game_of_board, names, resolve_options
from arena.core.errors import BoardError, ConfigError
from arena.core.rules.base import Board
from arena.core.show.layout import WIDEST, entry, span
from arena.core.show.presenter import BoardFacts, presenter
from arena.core.testing import GameFault, play_to_end


class BundledBoard(msgspec.Struct, frozen=True, kw_only=True):
    """A board that comes with arena or with an installed game."""

    board: str
    """The name that `--board` takes."""
    facts: BoardFacts


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a text."""

    problems: tuple[BoardError, ...] = ()
    facts: BoardFacts | None = None


def check_board(data: bytes, source: str) -> Checked:
    """Checks that a board file can be read, and played by every number of players that it is for."""
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode().split("\n")
        reason = f"expected text in UTF-8, got the byte 0x{data[error.start]:02x}: save the file as UTF-8"
        return Checked(problems=(BoardError(source, len(before), len(before[-1]) + 1, reason),))
    rules = game_of_board(text)
    boards = None if rules is None else board_format(rules)
    if rules is None or boards is None:
        reason = f"expected a line {_sections()}, got none: write a header above it and the board or deck below"
        last = len(re.split(r"\r\n|\r|\n", text.rstrip("\r\n")))
        return Checked(problems=(BoardError(source, last, 1, reason),))
    problems = boards.problems(text, source)
    if not problems:
        problems = list(_unplayable(text, source))
    return Checked(problems=tuple(problems), facts=None if problems else board_facts(text, source))


def board_facts(text: str, source: str) -> BoardFacts:
    """Returns what a board file says.

    Raises:
        BoardError: The text is not a board. `check_board` finds everything that is wrong.
        ConfigError: It belongs to no game.
    """
    rules, boards = _read(text, source)
    return presenter(rules).board_facts(rules, boards)


def board_rows() -> tuple[BundledBoard, ...]:
    """Returns every installed board, by name."""
    return tuple(
        BundledBoard(board=board.name, facts=board_facts(board.text, board.name)) for board in bundled_boards()
    )


def fact_lines(facts: BoardFacts, column: int, width: int, label: str = "") -> Iterator[Text]:
    """Yields lines for people with what a board file says, beside a label."""
    head = f"{facts.name}, a {facts.thing} for {facts.rules}, {span(facts.players)} players"
    for words in (head, *facts.sentences()):
        yield from entry(label, words, column, width)
        label = ""


def board_lines(text: str, source: str, players: int | None, width: int) -> Iterator[Text]:
    """Returns a board as lines for a terminal.

    Args:
        players: The number of players; None means as many as can play.

    Raises:
        BoardError: The text is not a board.
        ConfigError: It belongs to no game, or is not for that number of players.
    """
    rules, board, players = _choose(text, source, players)
    return presenter(rules).board_lines(board, players, min(width, WIDEST))


def board_svg(text: str, source: str, players: int | None) -> str:
    """Returns a board as a picture; the arguments and errors are those of `board_lines`."""
    rules, board, players = _choose(text, source, players)
    return presenter(rules).board_svg(board, players)


def _read(text: str, source: str) -> tuple[str, dict[int, Board]]:
    rules = game_of_board(text)
    boards = None if rules is None else board_format(rules)
    if rules is None or boards is None:
        raise ConfigError(f"expected a board with {_sections()}, got: {source}; `arena board check` says what it lacks")
    return rules, {players: boards.parse(text, source, players) for players in boards.players(text, source)}


def _choose(text: str, source: str, players: int | None) -> tuple[str, Board, int]:
    rules, boards = _read(text, source)
    if players is None:
        players = max(boards)
    if players not in boards:
        name = next(iter(boards.values())).name
        raise ConfigError(
            f"expected a number of players that board {name!r} is for ({span(tuple(boards))}), got: {players}"
        )
    return rules, boards[players], players


def _sections() -> str:
    """Returns the sections that identify boards: `map:` (for samurai) or ..."""
    formats = [(name, board_format(name)) for name in names()]
    return " or ".join(f"`{boards.section}:` (for {name})" for name, boards in formats if boards is not None)


def _unplayable(text: str, source: str) -> Iterator[BoardError]:
    """Yields why a whole game cannot be played with some number of players that the file is for."""
    name, boards = _read(text, source)
    _, options = resolve_options(name, None, {})
    for players, board in boards.items():
        rules = game(name)(players, options, board)
        try:
            play_to_end(rules, rules.start(), lambda n: 0)
        except GameFault as fault:
            reason = f"expected a board that {players} can play on, got one with a fault: {fault}"
            yield BoardError(source, 1, 1, reason)
