"""`arena league`: a league of strangers' bots, from an empty folder to its standings."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.cli.group import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("arena.cli.league.run:run", "Run a league: build, try and play what is submitted."),
}
"""As `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def league() -> None:
    """Run a league of strangers' bots, and take part in one."""
