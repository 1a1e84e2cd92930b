"""`arena league status`, `standings`, `games` and `log`: how a league is, and what it tells of its games."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import columns_option, json_option
from arena.cli.output import counted, echo, show_json, show_line
from arena.core.face import errors
from arena.league.commands.here import Elsewhere, at_options, folder_or_elsewhere, order, out_option, to_option
from arena.league.commands.leagues import opened
from arena.league.commands.tables import NOTICES, face_lines, show_final, show_games, show_standings, show_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.core.face import Payload
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
@click.option("--forfeited", "only", flag_value="forfeits", help="Games that the bot forfeited only.")
@click.option("--forfeits", "only", flag_value="forfeits", hidden=True, help="What --forfeited was called.")
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


@click.command()
@folder_or_elsewhere
@click.option("--author", metavar="NAME", help="Of a league here: how this author's bots stand.")
@click.option("--bot", default="", metavar="NAME", help="Of this bot only.")
@click.option("--read", is_flag=True, help="Of a league here: take the operator's notices for read after that.")
@json_option
@at_options
def status(
    folder: Path | None, author: str | None, bot: str, read: bool, as_json: bool, elsewhere: Elsewhere | None
) -> None:
    """Say how a league is: whether it runs, what it plays, what waits, what the operator should know.

    With --author, or for a league elsewhere, say how an author's versions stand and what the league has to tell them.
    The operator's notices are shown until --read says that they were read.

    \b
    Example:
      arena league status cup
      arena league status cup --read
      arena league status cup --author anna
      arena league status --at https://cup.example --token anna.token
    """
    if read and (elsewhere is not None or author is not None or bot):
        raise errors.ConfigError(
            "expected --read for the notices of a league's operator, got it with those of an author"
        )
    with opened(folder, elsewhere, author) as league:
        document = league.status(bot)
        where = shlex.join(league.options)
    notices = document["notices"]
    if as_json:
        show_json(document)
    else:
        if "running" in document:
            _show(document)
        for line in face_lines(document.get("league", {}), where, is_here=elsewhere is None):
            echo(line)
        nothing = f"No version yet: arena league submit BOT {where}"
        show_versions(document["versions"], notices, nothing, most=len(notices) if read else NOTICES)
    if read and notices:
        order(folder, "notices_read", {"first": notices[0]["id"], "last": notices[-1]["id"]})


def _show(document: Payload) -> None:
    games, states = document["games"], document["states"]
    runs = "running" if document["running"] else "not running"
    paused = ", paused" if document["paused"] else ""
    echo(f"{document['name']}: {runs}{paused}, season {document['season']}")
    done = f"{counted(document['matches'], 'match')}; {counted(games['done'], 'game')} done"
    echo(f"  {done}, {games['running']} running, {games['planned']} planned, {games['void']} void")
    echo(f"  versions: {', '.join(f'{count} {state}' for state, count in states.items() if count) or 'none'}")
    waited, rounds = counted(document["longest_wait"], "match"), document["longest_wait_rounds"]
    echo(f"  longest wait: {waited}, {rounds:.1f} rounds; {counted(document['authors'], 'author')}")
    for line in door_lines(document["door"]):
        echo(f"  {line}")
    if document["ends"]:
        echo("  the season ends: submissions wait for the next one")
    if document["final"]:
        show_final(document["final"], "  ")
    if document["orders_waiting"]:
        echo(f"  {counted(document['orders_waiting'], 'order')} waiting")
    if document["machine_faults"]:
        echo(f"  {counted(document['machine_faults'], 'fault')} of the machine since the service began")


def door_lines(door: Payload | None) -> Iterator[str]:
    """Yields lines about the door; none if it is not open."""
    if door is None:
        return
    fell = f"; it fell over {counted(door['falls'], 'time')}" if door["falls"] else ""
    have = f"{counted(door['connections'], 'connection')}, {counted(door['messages'], 'message')}"
    yield f"door: open since {door['since']}, {have}, {counted(door['remote'], 'remote bot')}{fell}"
    for name, counts in (("refused requests", door["refused"]), ("closed connections", door["closed"])):
        if counts:
            yield f"  {name}: {', '.join(f'{count} {what}' for what, count in sorted(counts.items()))}"
    if door["turned_away"]:
        yield f"  turned away: {counted(door['turned_away'], 'request')} without a token that is known"
