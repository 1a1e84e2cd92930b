"""`arena bot list`: lists the bots."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import json_option
from arena.cli.output import say, show, show_json, show_line
from arena.core.face import Payload, plain

if TYPE_CHECKING:
    from rich.table import Table

STATES = {"ready": "ready", "unbuilt": "not built", "broken": "broken"}
"""Words for the states; for `missing`, the missing thing is printed instead."""


@click.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the bundled bots and those in this folder.

    For each bot: the games that it plays, its folder, and whether it can be started. It may have to be built first, or
    need a program that is not installed.

    \b
    Example:
      arena bot list
    """
    from arena.author.build import list_bots
    from arena.core.face import resources

    rows = list_bots()
    if as_json:
        show_json({"bots": rows})
        return
    _print([row for row in rows if row["bundled"]], f"Bundled, in {resources.bots_folder()}", resources.bots_folder())
    if local := [row for row in rows if not row["bundled"]]:
        show_line("")
        _print(local, f"In {Path.cwd()}", Path.cwd())
    if unbuilt := [row["bot"] for row in rows if row["state"] == "unbuilt"]:
        say(plain(f"To build: arena bot build {shlex.join(unbuilt)}"))


def _print(rows: Sequence[Payload], title: str, base: Path) -> None:
    """Prints bots that are in one place, and below them what is wrong with the broken ones."""
    show_line(plain(title))
    show(_table(rows, base))
    for row in rows:
        if row["state"] == "broken":
            show_line(plain(f"{row['bot']} is broken: {row['remedy']}"))


def _table(rows: Iterable[Payload], base: Path) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("bot", style="bold", overflow="fold")
    for column in ("language", "plays", "state", "folder"):
        table.add_column(column, overflow="fold")
    for row in rows:
        name = "" if row["name"] in ("", row["bot"].removeprefix("./")) else f" ({row['name']})"
        state = STATES.get(row["state"], f"needs {row['remedy']}")
        place = os.path.relpath(row["folder"], base.resolve())
        cells = (f"{row['bot']}{name} {row['version']}".rstrip(), row["language"], _plays(row), state, place)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


def _plays(row: Payload) -> str:
    """Returns which games a bot plays; nothing for a folder whose manifest cannot be read."""
    if row["state"] == "broken":
        return ", ".join(row["rules"])
    return ", ".join(row["rules"]) or "any game"
