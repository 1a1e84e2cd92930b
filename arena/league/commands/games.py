"""`arena league games`: finds games of a league."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import json_option
from arena.cli.output import show_json
from arena.league.commands.away import Elsewhere, at_options
from arena.league.commands.here import folder_or_elsewhere
from arena.league.commands.leagues import opened
from arena.league.commands.tables import show_games

if TYPE_CHECKING:
    from arena.league.store.played import Only


@click.command()
@folder_or_elsewhere
@click.option("--author", metavar="NAME", help="Of a league here: games of this author's versions.")
@click.option("--bot", default="", metavar="NAME", help="Of this bot, or this version of one.")
@click.option("--lost", "only", flag_value="lost", help="Lost games only.")
@click.option("--forfeits", "only", flag_value="forfeits", help="Games that the bot forfeited only.")
@click.option(
    "--limit", "most", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Show at most N games."
)
@json_option
@at_options
def games(
    folder: Path | None,
    author: str | None,
    bot: str,
    only: Only | None,
    most: int,
    as_json: bool,
    elsewhere: Elsewhere | None,
) -> None:
    """Find games of a league, the latest first: a line for each seat that is asked for.

    Under the games are the causes of forfeits, with the command that asks the bot again what it was asked. It takes the
    game's log: `arena league log GAME` fetches it, once the game's match is over.

    \b
    Example:
      arena league games cup --bot fox --lost
      arena league games --bot fox --lost --at tcp://cup.example:5599/5f… --key anna.key
    """
    with opened(folder, elsewhere, author) as league:
        found = league.games(bot, only, most)
    if as_json:
        show_json({"games": found})
        return
    show_games(found)
