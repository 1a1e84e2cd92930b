"""`arena league standings`: prints the standings of a league."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.options import columns_option, json_option
from arena.cli.output import echo, show_json
from arena.league.commands.away import Elsewhere, at_options
from arena.league.commands.final import show_final
from arena.league.commands.here import folder_or_elsewhere
from arena.league.commands.leagues import opened
from arena.league.commands.tables import show_standings


@click.command()
@folder_or_elsewhere
@click.option("--season", metavar="NAME", help="Those of a season that is closed.")
@columns_option
@json_option
@at_options
def standings(
    folder: Path | None, season: str | None, verbose: bool, as_json: bool, elsewhere: Elsewhere | None
) -> None:
    """Print the standings of a league: the versions that play, by rating.

    The columns are those of `arena standings`, whose help explains them. A rating follows from all results of the
    season, in whatever order they came; with 95 % the true one is as close to it as the column beside it says. MU and
    SIGMA are TrueSkill's, which choose who meets. A rank is 1, and 1 for each version that is shown to be better; 2= is
    shared. A bot on its author's machine is uncontrolled: nobody knows what it computes with. Who plays, or has played,
    the season's final comes first.

    \b
    Example:
      arena league standings cup
      arena league standings --at tcp://cup.example:5599/5f… --key anna.key
    """
    with opened(folder, elsewhere) as league:
        document, heading = league.standings(season)
    if as_json:
        show_json(document)
        return
    echo(heading)
    echo()
    show_standings(document, verbose=verbose)
    if final := document.get("final"):
        echo()
        show_final(final)
