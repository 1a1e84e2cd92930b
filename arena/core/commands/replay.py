"""`arena replay`: shows a logged game, step by step on a terminal, as one long text elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from arena.cli import complete
from arena.cli.output import UNBOUNDED, console, say
from arena.core import files, plugs
from arena.core.commands.logs import check_seat, db_option, find_game, moved_option
from arena.core.commands.stepping import Stepper
from arena.core.commands.terminal import END, MOST_WIDTH, Terminal, can_step, too_small
from arena.core.errors import ConfigError
from arena.core.extras import need
from arena.core.record.log import Log, read_log
from arena.core.show.layout import picture
from arena.core.show.replay import Remark, Replay
from arena.core.text import plain

FILE_WIDTH = 80  # the width of frames in a file or a pipe


@click.command()
@click.argument("log", metavar="LOG|ID", shell_complete=complete.games)
@click.option("--seat", type=click.IntRange(min=0), metavar="N", help="Show only what this seat could know.")
@click.option("--turn", type=click.IntRange(min=0), metavar="K", help="Print only this turn or round; 0 is the set-up.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the game as a page for a browser instead: one file, no network.",
)  # fmt: skip
@click.option("--frame", type=click.IntRange(min=1), metavar="N", help="Print only this frame, as they are numbered.")
@click.option(
    "--png", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Draw one frame as a picture instead: the last of --turn, or --frame.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Print every frame, on a terminal too.")
@db_option
@moved_option
def replay(
    log: str,
    seat: int | None,
    turn: int | None,
    html: Path | None,
    frame: int | None,
    png: Path | None,
    everything: bool,
    db: Path,
    logs: Path | None,
) -> None:
    """Show a logged game, decision by decision. That is the board, what happened, and the bots' notes.

    On a terminal of 80 columns or more the arrow keys step through the game, digits show what a seat knew, c goes to
    the next capture, ? lists all keys, and q quits. Without --seat everything is shown, hidden hands too. LOG may be a
    folder: then the game that ended last, in it or in the folders below it, is shown. ID is that of a game in the
    database, as `arena games` lists it, or TOURNAMENT:NUMBER; the id of a tournament, or `latest`, stands for the
    folder of its logs.

    With --html the whole game becomes one file that any browser opens and that can be sent to a friend: board, hands,
    captures, notes, times, and whose eyes to look with. With --seat, too, nothing else is in it.

    \b
    Example:
      arena replay game.jsonl --seat 0
      arena replay game.jsonl --html game.html
      arena replay logs
      arena replay latest:7
    """
    path = find_game(log, db, logs)
    game = read_log(path)
    check_seat(game, seat)
    if html is not None:
        if turn is not None or frame is not None or png is not None or everything:
            raise click.UsageError("--html writes the whole game: leave out --turn, --frame, --png and --all")
        write_page(game, html, seat)
        return
    shown = Replay(game, seat)
    if turn is not None and turn not in shown.turns:
        raise click.BadParameter(f"expected a turn in 0..{shown.turns[-1]}, got: {turn}", param_hint="--turn")
    if frame is not None and frame > len(shown.frames):
        raise click.BadParameter(f"expected a frame in 1..{len(shown.frames)}, got: {frame}", param_hint="--frame")
    chosen = [at for at, one in enumerate(shown.frames) if turn in (None, one.turn) and frame in (None, at + 1)]
    if not chosen:
        raise click.UsageError(f"expected a frame of turn {turn}, got: --frame {frame}; leave out one of the two")
    if png is not None:
        if png.suffix.lower() != ".png":
            raise click.UsageError(f"expected a name that ends in .png, got: --png {png}; a page is made by --html")
        _draw(shown.draw(chosen[-1], FILE_WIDTH), png)
        return
    screen = console()
    if turn is None and frame is None and not everything and can_step(screen):
        games = sorted({path, *path.parent.glob("*.jsonl"), *path.parent.glob("*.jsonl.zst")})
        step_through(Stepper(games, games.index(path), seat), screen)
        return
    width = FILE_WIDTH if screen.width == UNBOUNDED else min(screen.width, MOST_WIDTH)
    for at in chosen:
        _print(shown.draw(at, width), screen)


def _draw(lines: list[Text], path: Path) -> None:
    data = BytesIO()
    picture(lines, FILE_WIDTH).save(data, "png")
    write_new(data.getvalue(), path, "look at it")


def write_page(game: Log, path: Path, seat: int | None = None, remarks: Mapping[int, Remark] | None = None) -> None:
    """Writes a game as a page for a browser, with what is said of its decisions.

    Raises:
        ConfigError: The file cannot be written, or what makes pages is not installed.
    """
    need("pages", "--html")
    write_new(plugs.page(game, seat, remarks).encode(), path, "open it in a browser")


def write_new(data: bytes, path: Path, then: str) -> None:
    """Writes a file, and says so.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        files.write(path, data)
    except OSError as error:
        raise ConfigError(f"expected a file that can be written, got: '{path}': {error.strerror}") from None
    say(f"{plain(str(path))} is written: {then}")


def _print(lines: list[Text], screen: Console) -> None:
    for line in [*lines, Text()]:
        if not screen.is_terminal:
            line.rstrip()
        screen.print(line, no_wrap=True, overflow="crop", soft_wrap=not screen.is_terminal)


def step_through(steps: Stepper, screen: Console) -> None:
    """Shows one frame at a time and follows the keys."""
    with Terminal(screen) as terminal:
        while True:
            small = too_small(screen, "q quits, and --all prints every frame.")
            terminal.show(small or steps.draw(*screen.size))
            typed, _ = terminal.wait()
            for key in typed:
                if (small and key in ("q", "Q", END)) or not (small or steps.press(key)):
                    return
