"""`arena replay`: shows a logged game, step by step on a terminal, as one long text elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console, Group
from rich.text import Text

from arena.cli import complete
from arena.cli.logs import db_option, find_log, moved_option
from arena.cli.output import UNBOUNDED, console
from arena.errors import ConfigError
from arena.record.log import find_logs, read_log
from arena.show.replay import Replay

WIDTH = 100
"""The widest frame, however wide the terminal is."""
FILE_WIDTH = 80
"""The width of frames in a file or a pipe."""

_KEYS = {
    "next": ("\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB", " ", "\r", "\n", "l", "j"),
    "back": ("\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "\x7f", "\b", "h", "k"),
    "first": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~", "g"),
    "last": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~", "G"),
    "down": ("\x1b[6~",),
    "up": ("\x1b[5~",),
    "quit": ("q", "Q"),
}
_COMMANDS = {key: command for command, keys in _KEYS.items() for key in keys}
_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)


@click.command()
@click.argument("log", metavar="LOG|ID", shell_complete=complete.games)
@click.option("--seat", type=click.IntRange(min=0), metavar="N", help="Show only what this seat could know.")
@click.option(
    "--turn", type=click.IntRange(min=0), metavar="K", help="Print only this turn, or round; 0 is the set-up."
)
@click.option("--all", "everything", is_flag=True, help="Print every frame, on a terminal too.")
@db_option
@moved_option
def replay(log: str, seat: int | None, turn: int | None, everything: bool, db: Path, logs: Path | None) -> None:
    """Show a logged game decision by decision: the board, what happened, and the bots' notes.

    On a terminal the arrow keys step through the game, Home and End go to its ends, Page Up and Page Down scroll, and
    q quits. Without --seat everything is shown, hidden hands too. LOG may be a folder: then the game that ended last,
    in it or in the folders below it, is shown. ID is that of a game in the database, as `arena games` lists it, or
    TOURNAMENT:NUMBER; the id of a tournament, or `latest`, stands for the folder of its logs.

    \b
    Example:
      arena replay game.jsonl --seat 0
      arena replay logs
      arena replay latest:7
    """
    path = find_log(log, db, logs)
    game = read_log(_latest(path) if path.is_dir() else path)
    if seat is not None and seat >= game.header.settings.players:
        raise click.BadParameter(
            f"expected a seat in 0..{game.header.settings.players - 1}, got: {seat}", param_hint="--seat"
        )
    shown = Replay(game, seat)
    if turn is not None and turn not in shown.turns:
        raise click.BadParameter(f"expected a turn in 0..{shown.turns[-1]}, got: {turn}", param_hint="--turn")
    screen = console()
    if turn is None and not everything and _can_step(screen):
        _step(shown, screen)
        return
    for index, frame in enumerate(shown.frames):
        if turn in (None, frame.turn):
            _print(shown.draw(index, _width(screen)), screen)


def _latest(folder: Path) -> Path:
    """Returns the log that was written last; of logs written at the same moment, the last by name."""
    logs = [(log.stat().st_mtime_ns, log.name, log) for log in find_logs(folder) if log.is_file()]
    if not logs:
        raise ConfigError(f"expected a folder with game logs (*.jsonl, *.jsonl.zst), got: {folder}")
    return max(logs)[-1]


def _can_step(screen: Console) -> bool:
    return screen.is_terminal and not screen.is_dumb_terminal and sys.stdin.isatty()


def _width(screen: Console) -> int:
    return FILE_WIDTH if screen.width == UNBOUNDED else min(screen.width, WIDTH)


def _print(lines: list[Text], screen: Console) -> None:
    for line in [*lines, Text()]:
        if not screen.is_terminal:
            line.rstrip()
        screen.print(line, no_wrap=True, overflow="crop", soft_wrap=not screen.is_terminal)


def _step(shown: Replay, screen: Console) -> None:
    """Shows one frame at a time and follows the keys."""
    index = top = 0
    last = len(shown.frames) - 1
    with screen.screen() as page:
        while True:
            lines = shown.draw(index, _width(screen))
            room = max(1, screen.height - 1)
            top = max(0, min(top, len(lines) - room))
            page.update(Group(*_page(lines[top : top + room], room), _help(top > 0, top + room < len(lines))))
            try:
                typed = click.getchar()
            except EOFError:  # Ctrl-D
                return
            for command in _commands(typed):
                if command == "quit":
                    return
                if command in ("up", "down"):
                    top += room // 2 if command == "down" else -(room // 2)
                else:
                    steps = {"next": min(index + 1, last), "back": max(index - 1, 0), "first": 0, "last": last}
                    index, top = steps[command], 0


def _page(lines: list[Text], height: int) -> Iterator[Text]:
    for line in lines:
        line.no_wrap, line.overflow = True, "crop"
        yield line
    yield from (Text() for _ in range(height - len(lines)))


def _help(above: bool, below: bool) -> Text:
    scroll = {(False, False): "", (True, False): "PgUp more above  ", (False, True): "PgDn more below  "}
    return Text(
        f" \u2190 \u2192 step  Home End  {scroll.get((above, below), 'PgUp PgDn more  ')}q quit ",
        "reverse",
        no_wrap=True,
        overflow="crop",
    )


def _commands(typed: str) -> Iterator[str]:
    """Yields the commands in what was typed. Keys that are held down arrive several at a time."""
    return (_COMMANDS[key] for key in _KEY.findall(typed) if key in _COMMANDS)
