"""The authors' commands for a league that is elsewhere: `--at ADDRESS --key FILE`."""

from __future__ import annotations

import click

from arena.cli import complete
from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options
from arena.cli.options import json_option
from arena.errors import ConfigError

ONLY = ("lost", "forfeits")


def _needed(elsewhere: Elsewhere | None) -> Elsewhere:
    if elsewhere is None:
        raise ConfigError("expected --at ADDRESS and --key FILE, got: neither; say which league")
    return elsewhere


@click.command()
@click.argument("bot", shell_complete=complete.bots)
@click.option("--wait", is_flag=True, help="Follow the version until it plays, or is rejected (exit 3).")
@at_options
def submit(bot: str, wait: bool, elsewhere: Elsewhere | None) -> None:
    """Send a bot to a league.

    BOT is packed into one archive: its folder, and what its manifest includes. Built files, hidden folders and what
    tools make are left out, and listed. If the connection is lost, the same command goes on where it stopped. The same
    files twice are one version.

    \b
    Example:
      arena league submit ./fox --at tcp://cup.example:5599/5f… --key anna.key --wait
    """
    remote.submit(_needed(elsewhere), bot, wait=wait)


@click.command()
@click.option("--bot", default="", metavar="NAME", help="Of this bot only.")
@json_option
@at_options
def status(bot: str, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Say how your bots stand in a league.

    For each version: its state, its rating, its games. Below it, what the league has to say to you.

    \b
    Example:
      arena league status --at tcp://cup.example:5599/5f… --key anna.key
    """
    remote.status(_needed(elsewhere), bot, as_json=as_json)


@click.command()
@click.option("--bot", default="", metavar="NAME", help="Of this bot only.")
@click.option("--lost", "only", flag_value="lost", default="", help="Lost games only.")
@click.option("--forfeits", "only", flag_value="forfeits", help="Games that your bot forfeited only.")
@click.option(
    "--limit", "most", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="At most so many."
)
@json_option
@at_options
def games(bot: str, only: str, most: int, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Find games of your bots, the latest first.

    \b
    Example:
      arena league games --bot fox --lost --at tcp://cup.example:5599/5f… --key anna.key
    """
    remote.games(_needed(elsewhere), bot, only=only or "", most=most, as_json=as_json)


@click.command()
@json_option
@at_options
def standings(as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Print the standings of a league.

    \b
    Example:
      arena league standings --at tcp://cup.example:5599/5f… --key anna.key
    """
    remote.standings(_needed(elsewhere), as_json=as_json)


@click.command()
@click.argument("version")
@click.argument("kind", default="build")
@json_option
@at_options
def report(version: str, kind: str, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Show what a step of a version's life found.

    VERSION is a version of yours, such as fox/3. KIND is build, check or qualify.

    \b
    Example:
      arena league report fox/3 check --at tcp://cup.example:5599/5f… --key anna.key
    """
    remote.report(_needed(elsewhere), version, kind, as_json=as_json)


@click.command()
@click.argument("bot")
@at_options
def retire(bot: str, elsewhere: Elsewhere | None) -> None:
    """Take a bot out of a league. Its games stay.

    \b
    Example:
      arena league retire fox --at tcp://cup.example:5599/5f… --key anna.key
    """
    remote.retire(_needed(elsewhere), bot)
