"""`arena league`: a league of strangers' bots, for its operator and for authors."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.league.commands.here import LeagueGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("arena.league.commands.init:init", "Make a league."),
    "run": ("arena.league.commands.run:run", "Run a league: build, try and play what is submitted."),
    "open": ("arena.league.commands.open:open_", "Open a league to authors elsewhere."),
    "serve": ("arena.league.commands.open:serve", "Serve a league's pages, and what is played now."),
    "pause": ("arena.league.commands.steer:pause", "Begin no game until the league is resumed."),
    "resume": ("arena.league.commands.steer:resume", "End a pause."),
    "concurrency": ("arena.league.commands.steer:concurrency", "Set how many games are played at a time."),
    "trust-clock": ("arena.league.commands.steer:trust_clock", "Say that this machine's clock is right."),
    "suspend": ("arena.league.commands.steer:suspend", "Suspend a version, so that the last good one comes back."),
    "lift": ("arena.league.commands.steer:lift", "Let a suspended version play again."),
    "season": ("arena.league.commands.season:season", "End a season, or list those that there were."),
    "author": ("arena.league.commands.author:author", "Say who may submit bots."),
    "token": ("arena.league.commands.author:tokens", "Make tokens for authors elsewhere, and say which are valid."),
    "replay-games": ("arena.league.commands.steer:replay_games", "Play matches again whose results should not count."),
    "strike": ("arena.league.commands.steer:strike", "Take all results back of who has cheated."),
    "backup": ("arena.league.commands.backup:backup", "Copy a league into one file, while it runs."),
    "restore": ("arena.league.commands.backup:restore", "Make a league from a backup, or only check the backup."),
    "submit": ("arena.league.commands.submit:submit", "Send a bot to a league."),
    "report": ("arena.league.commands.submit:report", "Show what the steps of a version found."),
    "log": ("arena.league.commands.look:log", "Fetch the log of a game, once its match is over."),
    "match": ("arena.league.commands.steer:match", "Ask for an unrated match against a bot of your choice."),
    "play": ("arena.league.commands.play:play", "Play against a bot of a league yourself, unrated."),
    "hand-over": ("arena.league.commands.steer:hand_over", "Hand a bot over to another author."),
    "rename": ("arena.league.commands.steer:rename", "Give a bot another display name."),
    "export-author": ("arena.league.commands.author:export_author", "Write what a league keeps of an author."),
    "retire": ("arena.league.commands.steer:retire", "Take a bot out of a league."),
    "status": ("arena.league.commands.look:status", "Say how a league is, or how your bots stand in it."),
    "standings": ("arena.league.commands.look:standings", "Print the standings of a league."),
    "games": ("arena.league.commands.look:games", "Find games of a league, the latest first."),
    "audit": ("arena.league.commands.season:audit", "Check that a league has changed nothing that it has shown."),
}
"""As `arena.cli.COMMANDS`."""
HEADINGS: Mapping[str, str] = {"init": "Run a league", "submit": "Take part", "status": "Look"}
"""As `arena.cli.HEADINGS`."""


@click.command(cls=LeagueGroup, lazy=COMMANDS, headings=HEADINGS)
def league() -> None:
    """Run a league of strangers' bots, or take part in one.

    Every command takes its league as --league FOLDER, or --at ADDRESS for one elsewhere. A FOLDER that comes first is
    the same.

    \b
    Example:
      arena league init cup
      arena league submit ./fox --league cup
      arena league submit ./fox --at https://cup.example --token anna.token --wait
    """
