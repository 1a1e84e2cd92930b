"""What is printed is printed by `arena/cli/output.py`, which makes it safe to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.meta.test_layers import MODULES, module_name

OTHERWISE = {
    "arena.cli.output": "it is the place",
    "arena.cli.completion": "a script of ours, of many lines",
    "arena.cli.bot.bridge": "it starts without the rest of the command line, and makes its sentences plain",
    "arena.door.relay_seat": "a program of its own in a seat: what it writes are the last words of the remote bot",
    "arena.show.tables": "a console that wraps lines and prints nothing",
    "arena.show.layout": "a console that wraps lines and prints nothing",
}
"""Modules that use other means, and why they may."""
MEANS = ("click.echo(", "click.secho(", "Console(", "sys.stdout.write", "sys.stderr.write", "print_json(")


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_text_is_printed_in_one_place(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    found = [means for means in MEANS if means in source]
    if module_name(path) in OTHERWISE:
        assert found, f"{path} does not print any more: take it out of the list"
    else:
        assert not found, f"{path} has {found[0]}: use arena.cli.output"
