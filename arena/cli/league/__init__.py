"""`arena league`: a league of strangers' bots, from an empty folder to its seasons."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.cli.group import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "backup": ("arena.cli.league.backup:backup", "Copy a league into one file, while it runs."),
    "restore": ("arena.cli.league.backup:restore", "Make a league from a backup, or only check the backup."),
}
"""As `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def league() -> None:
    """Run a league without end: bots come and go, and everybody sees where they stand.

    \b
    Example:
      arena league backup cup cup.tar
    """
