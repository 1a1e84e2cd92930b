"""`arena league standings`, `games` and `log`: what a league tells of its games."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import columns_option, json_option
from arena.cli.output import echo, show_json, show_line
from arena.league.commands.here import Elsewhere, at_options, folder_or_elsewhere, out_option, to_option
from arena.league.commands.leagues import opened
from arena.league.commands.tables import show_final, show_games, show_standings

if TYPE_CHECKING:
    from arena.league.store.played import Only


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
      arena league standings --at https://cup.example --token anna.token
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
        show_final(final, above={item["name"]: item["rank"] for item in document["items"]})


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

    Under the games are the causes of forfeits, with the commands that fetch the game's log, once its match is over, and
    ask the bot again what it was asked.

    \b
    Example:
      arena league games cup --bot fox --lost
      arena league games --bot fox --lost --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere, author) as league:
        found = league.games(bot, only, most)
        where = shlex.join(league.options)
    if as_json:
        show_json({"games": found})
        return
    show_games(found, where)


@click.command("log")
@click.argument("game")
@to_option
@click.option(
    "--author", metavar="NAME", help="With --league: the log as this author sees it.  [default: as everybody does]"
)
@out_option("The folder for the file.")
@at_options
def log(game: str, folder: Path | None, author: str | None, out: Path, elsewhere: Elsewhere | None) -> None:
    """Fetch the log of a game, once its match is over.

    The log of a game of your own version has your bot's notes and what it printed. Those of others hold the deal and
    everybody's actions. Standard output has the file's name, for `arena replay`, `arena verify` and `arena bot rerun`.

    \b
    Example:
      arena league log spring-000123 --at https://cup.example --token anna.token
    """
    from arena.core.face import compression, files

    with opened(folder, elsewhere, author) as league:
        packed = league.log(game)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{game}.jsonl"
    files.write(path, compression.expand(packed, f"the log of {game}"))
    show_line(str(path))
