"""`arena league report`: shows what the steps of a version found."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.league.away import Elsewhere, at_options
from arena.cli.league.here import to_option
from arena.cli.league.leagues import STEPS, opened
from arena.cli.league.reports import show_reports
from arena.cli.options import json_option
from arena.cli.output import echo, say, show_json


@click.command()
@click.argument("version")
@click.argument("kind", required=False, type=click.Choice(STEPS))
@to_option
@json_option
@at_options
def report(version: str, kind: str | None, folder: Path | None, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Show what the steps of a version found: its build, its check, its first games against random.

    VERSION is a version such as fox/3, or a bot for its newest. KIND is build, check or qualify. Without it, the last
    step is shown in full, and a line of each before it. A check is laid out as `arena bot check` does it.

    \b
    Example:
      arena league report fox --league cup
      arena league report fox/3 check --at tcp://cup.example:5599/5f… --key anna.key
    """
    with opened(folder, elsewhere) as league:
        found = league.reports(version, kind)
    if as_json:
        show_json(found)
        return
    history = found.get("history", ())
    for change in history:
        echo(f"{change['at']}  {change['state']}{': ' if change['reason'] else ''}{change['reason']}")
    if history:
        echo()
    show_reports(found["reports"])
    if not found["reports"]:
        say("No step has come to its end yet.")
