"""`arena league season get`: fetches from a league elsewhere all that it publishes of a season."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.output import say, show_line
from arena.core.face import errors, plain
from arena.league.commands.away import Elsewhere, at_options


@click.command()
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    metavar="FOLDER",
    help="The folder for the files.  [default: this one]",
)
@at_options
def get(name: str, out: Path, elsewhere: Elsewhere | None) -> None:
    """Fetch all that a league publishes of the season NAME, to check it with `arena verify FOLDER`.

    Give it again from time to time: a league keeps most logs for some weeks only. What was fetched before must still be
    the same, else it is not replaced, and you are told. Once the season is closed, its results, its standings and its
    secret are there too. A command that was stopped goes on where it was. Standard output has the folder.

    \b
    Example:
      arena league season get first --out first --at tcp://cup.example:5599/5f… --key anna.key
      arena verify first
    """
    if elsewhere is None:
        raise errors.ConfigError(
            "expected --at ADDRESS with --key FILE, got: neither; "
            "of a league on this machine check its folder: arena verify LEAGUE/published"
        )
    from arena.league.door.fetching import fetch_season

    with elsewhere.client() as client:
        say(plain(fetch_season(client, name, out, tell=say)))
    show_line(str(out))
