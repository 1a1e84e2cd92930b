"""`arena league`: a league of strangers' bots, for its operator and for authors."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.cli.group import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("arena.cli.league.run:run", "Run a league: build, try and play what is submitted."),
    "open": ("arena.cli.league.open:open_", "Open a league to authors elsewhere."),
    "submit": ("arena.cli.league.elsewhere:submit", "Send a bot to a league."),
    "status": ("arena.cli.league.elsewhere:status", "Say how your bots stand in a league."),
    "games": ("arena.cli.league.elsewhere:games", "Find games of your bots, the latest first."),
    "log": ("arena.cli.league.log:log", "Fetch the log of a game, once its match is over."),
    "report": ("arena.cli.league.elsewhere:report", "Show what a step of a version's life found."),
    "standings": ("arena.cli.league.elsewhere:standings", "Print the standings of a league."),
    "retire": ("arena.cli.league.elsewhere:retire", "Take a bot out of a league."),
    "backup": ("arena.cli.league.backup:backup", "Copy a league into one file, while it runs."),
    "restore": ("arena.cli.league.backup:restore", "Make a league from a backup, or only check the backup."),
}
"""As `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def league() -> None:
    """Run a league of strangers' bots, or take part in one.

    \b
    Example:
      arena league open cup --bind tcp://*:5599
      arena league submit ./fox --at tcp://cup.example:5599/5f… --key anna.key --wait
    """
