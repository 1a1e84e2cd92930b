"""`arena league status`: how a league is, and how an author's bots stand."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import json_option
from arena.cli.output import counted, echo, show_json
from arena.core.face import errors
from arena.league.commands.here import Elsewhere, at_options, folder_or_elsewhere, order
from arena.league.commands.leagues import opened
from arena.league.commands.tables import NOTICES, face_lines, show_final, show_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.core.face import Payload


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
