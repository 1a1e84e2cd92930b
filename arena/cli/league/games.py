"""`arena league games`: finds games of a league."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options, show_maps
from arena.cli.league.here import folder_of, folder_or_elsewhere, reading
from arena.cli.options import json_option
from arena.cli.output import echo, show_json

if TYPE_CHECKING:
    from arena.types import Payload

COLUMNS = ("game", "match", "version", "opponents", "outcome", "rank", "turns", "forfeit", "turn", "rated")
EXPLAINED = 5
"""For how many forfeits the cause and the commands are printed."""


@click.command()
@folder_or_elsewhere
@click.option("--author", metavar="NAME", help="Of a league here: games of this author's versions.")
@click.option("--bot", default="", metavar="NAME", help="Of this bot, or this version of one.")
@click.option("--lost", "only", flag_value="lost", default="", help="Lost games only.")
@click.option("--forfeits", "only", flag_value="forfeits", help="Games that the bot forfeited only.")
@click.option(
    "--limit", "most", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="At most so many."
)
@json_option
@at_options
def games(
    folder: Path | None,
    author: str | None,
    bot: str,
    only: str,
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
    if elsewhere is not None:
        remote.games(elsewhere, bot, only=only or "", most=most, as_json=as_json)
        return
    from arena.league import documents

    with reading(folder_of(folder)) as reader:
        name = None if author is None else reader.authors.known(author).name
        wanted = {"lost": "lost", "forfeits": "forfeits"}.get(only or "")
        found = documents.games(
            reader,
            author=name,
            bot=bot or None,
            only=wanted,  # type: ignore[arg-type]  # one of the literals
            limit=most,
        )
    if as_json:
        show_json({"games": found})
        return
    shown = [{**game, "opponents": " ".join(game["opponents"])} for game in found]
    show_maps(shown, COLUMNS, "No game is like that.")
    for game in [game for game in found if game["forfeit"]][:EXPLAINED]:
        _explain(game)


def _explain(game: Payload) -> None:
    echo()
    echo(f"{game['game']}, {game['version']}, turn {game['turn']}: {game['sentence']}")
    for line in game["last_words"][-3:]:
        echo(f"  | {line}")
    if game["rerun"]:
        echo(f"  ask it again: {game['rerun']}")
