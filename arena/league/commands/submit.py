"""`arena league submit`: sends a bot to a league."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from arena.cli import complete
from arena.cli.output import echo, say
from arena.core.face import errors, plain
from arena.league.commands.here import Elsewhere, at_options, to_option
from arena.league.commands.leagues import League, opened
from arena.league.commands.tables import received

SETTLED = frozenset({"active", "superseded", "suspended", "rejected", "retired"})
"""States in which a submission has come to its end."""


@click.command()
@click.argument("bot", shell_complete=complete.bots)
@to_option
@click.option("--author", metavar="NAME", help="With --league: on behalf of whom.  [default: local]")
@click.option("--wait", is_flag=True, help="Follow the version until it plays, or is rejected (exit 3).")
@at_options
def submit(bot: str, folder: Path | None, author: str | None, wait: bool, elsewhere: Elsewhere | None) -> None:
    """Send a bot to a league.

    BOT is a folder, or a zip or tar of one. It is packed with what its manifest includes. Built files, hidden folders
    and what tools make are left out, and listed. The league builds it, checks it and tries it against random; then it
    plays, in place of its older version. The same files twice are one version.

    \b
    Example:
      arena league submit ./fox --league cup --wait
      arena league submit ./fox --at https://cup.example --token anna.token --wait
    """
    from arena.author.archives import packed_bot
    from arena.core.face import bot_manifests

    with opened(folder, elsewhere, author) as league:
        packed = packed_bot(bot)
        bot_manifests.check_name(packed.manifest.name)
        for path in packed.left_out:
            say(plain(f"left out: {path}"))
        answer = league.submit(packed)
        if answer is None:
            return
        version, state = str(answer.get("version", "")), str(answer.get("state", ""))
        report = shlex.join(["arena", "league", "report", version, *league.options])
        if answer.get("same"):
            echo(f"{version} has these files already, and is {state}")
        else:
            echo(received(version, answer.get("before")))
            if league.hint:
                say(plain(league.hint))
            say(plain(f"What comes of it: {report}"))
        if wait and state not in SETTLED:
            _follow(league, version, report)


def _follow(league: League, version: str, report: str) -> None:
    """Says each state of a version until the last one.

    Raises:
        CheckFailed: It does not play in the end.
    """
    told = ""
    while True:
        state = league.state(version, league.wait_s)
        if state != told:
            told = state
            echo(f"{version}: {told}")
        if told in SETTLED:
            break
        time.sleep(league.look_s)
    if told not in ("active", "superseded"):
        raise errors.CheckFailed(f"expected {version} to become active, got: {told}; read `{report}`")
