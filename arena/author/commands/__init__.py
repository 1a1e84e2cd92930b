"""`arena bot`: tools for authors of bots, from an empty folder to a rerun of a lost game."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.cli.group import LazyGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "new": ("arena.author.commands.new:new", "Make a folder with a bot that plays, as a starting point."),
    "build": ("arena.author.commands.build:build", "Build bots whose language needs it."),
    "check": (
        "arena.author.commands.check:check",
        "Check that a bot keeps to the protocol, and say where it does not.",
    ),
    "list": ("arena.author.commands.list:list_", "List the bundled bots and those in this folder."),
    "rerun": ("arena.author.commands.rerun:rerun", "Ask a bot again what a seat was asked in a logged game."),
    "bridge": (
        "arena.author.commands.bridge:bridge",
        "Speak the protocol for a program that reads and writes JSON lines.",
    ),
    "serve": (
        "arena.league.commands.play:serve",
        "Play in a league elsewhere, with a bot that runs on this machine.",
    ),
}
"""Commands, as `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def bot() -> None:
    """Write, build, check and debug a bot.

    \b
    Example:
      arena bot new ronin --language go
      arena bot build ronin
      arena bot check ronin
    """
