"""`arena league log`: fetches the log of a game from a league."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.output import show_line
from arena.league.commands.away import Elsewhere, at_options
from arena.league.commands.here import to_option
from arena.league.commands.leagues import opened


@click.command("log")
@click.argument("game")
@to_option
@click.option(
    "--author", metavar="NAME", help="With --league: the log as this author sees it.  [default: as everybody does]"
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=".", metavar="FOLDER",
    help="The folder for the file.  [default: this one]",
)  # fmt: skip
@at_options
def log(game: str, folder: Path | None, author: str | None, out: Path, elsewhere: Elsewhere | None) -> None:
    """Fetch the log of a game, once its match is over.

    The log of a game of your own version has your bot's notes and what it printed. Those of others hold the deal and
    everybody's actions. Standard output has the file's name, for `arena replay`, `arena verify` and `arena bot rerun`.

    \b
    Example:
      arena league log spring-000123 --at tcp://cup.example:5599/5f… --key anna.key
    """
    from arena.core.face import compression, files

    with opened(folder, elsewhere, author) as league:
        packed = league.log(game)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{game}.jsonl"
    files.write(path, compression.expand(packed, f"the log of {game}"))
    show_line(str(path))
