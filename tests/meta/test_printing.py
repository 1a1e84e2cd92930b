"""What is printed is printed by `arena/cli/output.py`, which makes it safe to show."""

from __future__ import annotations

from tests.meta.test_layers import MODULES, module_name

OTHERWISE = {
    "arena.learn.adapters.game": "its render mode `human` prints boards, which presenters have made plain",
    "arena.cli.output": "it is the place",
    "arena.cli.shells": "a script of ours, of many lines",
    "arena.author.commands.bridge": "it starts without the rest of the command line, and makes its sentences plain",
    "arena.league.door.relay_seat": "a program of its own in a seat: it writes the last words of the remote bot",
    "arena.core.show.layout": "a console that wraps lines and prints nothing",
}
"""Modules that use other means, and why they may."""
MEANS = ("click.echo(", "click.secho(", "Console(", "sys.stdout.write", "sys.stderr.write", "print_json(")


def test_text_is_printed_in_one_place() -> None:
    printing = {
        module_name(path): means for path in MODULES for means in MEANS if means in path.read_text(encoding="utf-8")
    }
    assert {name: means for name, means in printing.items() if name not in OTHERWISE} == {}, "use arena.cli.output"
    assert [name for name in OTHERWISE if name not in printing] == [], "these print no more: take them out of the list"
