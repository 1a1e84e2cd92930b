"""`arena league run`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from arena.cli.help import Command
from arena.cli.output import counted, say, show_line
from arena.errors import ArenaError
from arena.text import plain


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--games",
    type=click.IntRange(min=1),
    metavar="N",
    help="End after N more rated games, once what was submitted before is tried.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Games at a time, instead of what league.toml says.",
)
@click.option(
    "--open",
    "door",
    default="",
    metavar="ADDRESS",
    help="Open it to authors elsewhere, too: tcp://HOST:PORT, with * for all addresses of this machine.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no events; league.log has them.")
def run(folder: Path, games: int | None, concurrency: int | None, door: str, quiet: bool) -> None:
    """Run the league in FOLDER: build, check and try what is submitted, play matches, rate, publish.

    It runs until it is stopped, by Ctrl-C or `kill`. Games that run then have a minute to end (`stop_s` in
    league.toml); a second signal does not wait for them. Nothing is lost by that, nor by a crash or a power failure:
    give the same command again. Games that were dropped are played again.

    Other commands work from other terminals meanwhile: `arena league status`, `submit`, `pause`, `concurrency`.

    With --open, or `bind` in [door] of league.toml, it starts the door as `arena league open` does, and starts it again
    when it falls over. Standard output has the address to give to authors.

    \b
    Example:
      arena league run cup
      arena league run cup --games 100
      arena league run cup --open tcp://*:5599
    """
    from arena.cli.progress import moving_line
    from arena.league.folder import Folder
    from arena.league.running import run_league
    from arena.show.league import service_line

    with moving_line(quiet=quiet) as line:
        ended = run_league(
            Folder(folder.absolute()),
            games=games,
            workers=concurrency,
            tell=(lambda sentence: None) if quiet else say,
            watch=None if line is None else lambda state: line(service_line(state, games)),
            door=door,
            # Where a line moves on the same terminal, the address comes above it.
            announce=show_line if line is None or not sys.stdout.isatty() else say,
        )
    if ended.idle:
        raise ArenaError(
            f"expected {counted(games or 0, 'more rated game')}, got: {ended.games}; {ended.idle}; submit a bot with "
            f"`arena league submit BOT --to {folder}`"
        )
    if not quiet:
        say(f"Who leads: arena league standings {plain(str(folder))}")
