"""`arena board`: boards and decks, bundled ones and your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.options import json_option
from arena.cli.output import console, echo, say, show, show_json, stdout_width
from arena.core.errors import ArenaError, ConfigError
from arena.core.files import MOST_TEXT, read
from arena.core.show.layout import clip
from arena.core.text import plain

if TYPE_CHECKING:
    from arena.core.show.boards import Checked

MOST_PROBLEMS = 100  # how many problems of a file are printed for people; `--json` has them all
LONGEST_PROBLEM = 300  # how many characters of a problem are printed for people


@click.group()
def board() -> None:
    """List, check and draw boards and decks, including your own.

    \b
    Example:
      arena board draw japan --players 3
    """


@board.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the bundled boards and decks.

    \b
    Example:
      arena board list
    """
    from arena.core.show.boards import board_rows, fact_lines

    rows = board_rows()
    if as_json:
        show_json({"boards": rows})
        return
    column = max(len(row.board) for row in rows) + 2
    for row in rows:
        for line in fact_lines(row.facts, column, stdout_width(), row.board):
            show(line)


@board.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
@click.pass_context
def check(ctx: click.Context, files: tuple[Path, ...], as_json: bool) -> None:
    """Check board files and list everything that is wrong.

    A board is right if a game can be played on it with every number of players that it is for. The exit code is 1
    if a file is wrong.

    \b
    Example:
      arena board check islands.txt
    """
    from arena.core.show.boards import check_board

    checked = {str(file): check_board(read(file, "a board file", MOST_TEXT, ConfigError), str(file)) for file in files}
    if as_json:
        show_json({"files": [_document(file, found) for file, found in checked.items()]})
    else:
        for file, found in checked.items():
            _print(file, found)
    if any(found.problems for found in checked.values()):
        ctx.exit(ArenaError.exit_code)


@board.command()
@click.argument("board", metavar="FILE|NAME", shell_complete=complete.boards)
@click.option("--players", type=int, metavar="N", help="For how many players.  [default: as many as can play]")
@click.option(
    "--svg", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE", help="Write a picture to print instead."
)
def draw(board: str, players: int | None, svg: str | None) -> None:
    """Draw a board or a deck, given as a file or a bundled name.

    It draws in the terminal, or a picture with --svg: the spaces with their coordinates and numbers, or a sheet of all
    cards.

    \b
    Example:
      arena board draw japan --players 2 --svg japan.svg
    """
    from arena.core.catalogue import find_board
    from arena.core.show.boards import board_lines, board_svg

    found = find_board(board)
    source = board if Path(board).is_file() else found.name
    if svg is None:
        for line in board_lines(found.text, source, players, stdout_width()):
            if not console().is_terminal:
                line.rstrip()
            console().print(line, no_wrap=True, overflow="crop", soft_wrap=not console().is_terminal)
        return
    picture = board_svg(found.text, source, players)
    try:
        with click.open_file(svg, "w", encoding="utf-8") as file:
            file.write(picture)
    except OSError as error:
        raise ConfigError(f"expected a file that can be written, got: {svg!r}: {error.strerror}") from None
    if svg != "-":
        say(f"{plain(svg)} is written")


def _document(file: str, found: Checked) -> dict[str, object]:
    problems = [{"line": at.line, "column": at.column, "reason": at.reason} for at in found.problems]
    return {"file": file, "problems": problems, "facts": found.facts}


def _print(file: str, found: Checked) -> None:
    from arena.core.show.boards import fact_lines

    for problem in found.problems[:MOST_PROBLEMS]:
        echo(clip(str(problem), LONGEST_PROBLEM))
    if (more := len(found.problems) - MOST_PROBLEMS) > 0:
        echo(f"{file}: and {more} more problems; --json has them all")
    if found.facts:
        echo(f"{file}: ok")
        for line in fact_lines(found.facts, 2, stdout_width()):
            show(line)
