"""`arena league`: a league of strangers' bots, for its operator and for authors."""

from __future__ import annotations

from collections.abc import Mapping

import click

from arena.cli.league.here import LeagueGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("arena.cli.league.init:init", "Make a league."),
    "run": ("arena.cli.league.run:run", "Run a league: build, try and play what is submitted."),
    "open": ("arena.cli.league.open:open_", "Open a league to authors elsewhere."),
    "serve": ("arena.cli.league.serve:serve", "Serve a league's pages, and what is played now."),
    "pause": ("arena.cli.league.steer:pause", "Begin no game until the league is resumed."),
    "resume": ("arena.cli.league.steer:resume", "End a pause."),
    "concurrency": ("arena.cli.league.steer:concurrency", "Set how many games are played at a time."),
    "trust-clock": ("arena.cli.league.steer:trust_clock", "Say that this machine's clock is right."),
    "suspend": ("arena.cli.league.steer:suspend", "Suspend a version, so that the last good one comes back."),
    "lift": ("arena.cli.league.steer:lift", "Let a suspended version play again."),
    "season": ("arena.cli.league.season:season", "End a season, or list those that there were."),
    "author": ("arena.cli.league.author:author", "Say who may submit bots."),
    "key": ("arena.cli.league.key:key", "Make keys for authors elsewhere, and say which are valid."),
    "replay-games": ("arena.cli.league.steer:replay_games", "Play matches again whose results should not count."),
    "backup": ("arena.cli.league.backup:backup", "Copy a league into one file, while it runs."),
    "restore": ("arena.cli.league.backup:restore", "Make a league from a backup, or only check the backup."),
    "submit": ("arena.cli.league.submit:submit", "Send a bot to a league."),
    "report": ("arena.cli.league.report:report", "Show what the steps of a version found."),
    "log": ("arena.cli.league.log:log", "Fetch the log of a game, once its match is over."),
    "retire": ("arena.cli.league.steer:retire", "Take a bot out of a league."),
    "status": ("arena.cli.league.status:status", "Say how a league is, or how your bots stand in it."),
    "standings": ("arena.cli.league.standings:standings", "Print the standings of a league."),
    "games": ("arena.cli.league.games:games", "Find games of a league, the latest first."),
    "audit": ("arena.cli.league.audit:audit", "Check that a league has changed nothing that it has shown."),
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
      arena league submit ./fox --at tcp://cup.example:5599/5f… --key anna.key --wait
    """
