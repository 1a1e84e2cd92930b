"""`arena league report`: shows what the steps of a version found."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options
from arena.cli.league.here import folder_of, reading, to_option
from arena.cli.league.reports import show_reports
from arena.cli.options import json_option
from arena.cli.output import echo, say, show_json

KINDS = ("build", "check", "qualify")


@click.command()
@click.argument("version")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@to_option
@json_option
@at_options
def report(version: str, kind: str | None, folder: Path | None, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Show what the steps of a version found: its build, its check, its first games against random.

    VERSION is a version such as fox/3, or a bot for its newest. KIND is build, check or qualify. Without it, the last
    step is shown in full, and a line of each before it. A check is laid out as `arena bot check` does it.

    \b
    Example:
      arena league report fox --to cup
      arena league report fox/3 check --at tcp://cup.example:5599/5f… --key anna.key
    """
    if elsewhere is not None:
        remote.report(elsewhere, version, KINDS if kind is None else (kind,), as_json=as_json)
        return
    from arena.league import documents

    with reading(folder_of(folder)) as reader:
        found = documents.reports(reader, version, kind)
        about = reader.versions.named(version)
        history = reader.versions.history(about.id)
    if as_json:
        show_json({"version": about.name, "state": about.state, "reports": found})
        return
    for change in history:
        echo(f"{change.at}  {change.new}{': ' if change.reason else ''}{change.reason}")
    echo()
    show_reports(found)
    if not found:
        say("No step has come to its end yet.")
