"""`arena league submit`: sends a bot to a league."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options
from arena.cli.league.here import folder_of, order, reading, to_option
from arena.cli.league.tables import received
from arena.cli.output import echo, say
from arena.errors import CheckFailed
from arena.text import plain

if TYPE_CHECKING:
    from arena.league.folder import Folder
    from arena.store.league.records import Version
    from arena.types import Payload

LOOK_S = 0.2
"""Seconds between two looks at a version that is waited for."""


@click.command()
@click.argument("bot", shell_complete=complete.bots)
@to_option
@click.option("--author", metavar="NAME", help="With --to: on behalf of whom.  [default: local]")
@click.option("--wait", is_flag=True, help="Follow the version until it plays, or is rejected (exit 3).")
@at_options
def submit(bot: str, folder: Path | None, author: str | None, wait: bool, elsewhere: Elsewhere | None) -> None:
    """Send a bot to a league.

    BOT is packed into one archive: its folder, and what its manifest includes. Built files, hidden folders and what
    tools make are left out, and listed. The league builds it, checks it and tries it against random; then it plays, in
    place of its older version. The same files twice are one version.

    \b
    Example:
      arena league submit ./fox --to cup --wait
      arena league submit ./fox --at tcp://cup.example:5599/5f… --key anna.key --wait
    """
    if elsewhere is not None:
        remote.submit(elsewhere, bot, wait=wait)
        return
    from arena.league.init import LOCAL
    from arena.parcels import pack

    league = folder_of(folder)
    parcel = pack(bot)
    for path in parcel.left_out:
        say(plain(f"left out: {path}"))
    arguments = {"author": author or LOCAL, "digest": parcel.digest}
    answer = order(folder, "submit", arguments, parcel.data)
    if answer is None:
        return
    report = shlex.join(["arena", "league", "report", str(answer["version"]), "--to", str(folder)])
    _tell(answer, league, folder, report)
    if wait and answer["state"] not in remote.SETTLED:
        _follow(league, str(answer["version"]), report)


def _tell(answer: Payload, league: Folder, folder: Path | None, report: str) -> None:
    """Says what became of it, and what happens next."""
    name = answer["version"]
    if answer["same"]:
        echo(f"{name} has these files already, and is {answer['state']}")
        return
    echo(received(name, answer["before"]))
    run = shlex.join(["arena", "league", "run", str(folder)])
    say(
        plain(
            "It is built, checked and tried now." if league.is_running else f"It is tried when the league runs: {run}"
        )
    )
    say(plain(f"What comes of it: {report}"))


def _follow(league: Folder, name: str, report: str) -> None:
    """Says each state of a version until the last one.

    Raises:
        CheckFailed: It does not play in the end.
    """
    told = ""
    if not league.is_running:
        say("No service runs this league, so nothing happens yet: arena league run FOLDER")
    while True:
        version = _look(league, name)
        if version.state != told:
            told = version.state
            echo(f"{name}: {told}")
        if told in remote.SETTLED:
            break
        time.sleep(LOOK_S)
    if told not in ("active", "superseded"):
        raise CheckFailed(f"expected {name} to become active, got: {told}; read `{report}`")


def _look(league: Folder, name: str) -> Version:
    with reading(league) as reader:
        return reader.versions.named(name)
