"""`arena rules`: the games, their rulesets and options."""

from __future__ import annotations

import click

from arena.cli.options import json_option
from arena.cli.output import console, show, show_json


@click.group()
def rules() -> None:
    """Show the games: who may play, rulesets, options.

    \b
    Example:
      arena rules show samurai
    """


@rules.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the games.

    \b
    Example:
      arena rules list
    """
    from arena.show.rules import list_lines, rules_rows

    rows = rules_rows()
    if as_json:
        show_json({"rules": rows})
        return
    for line in list_lines(rows, console().width):
        show(line)


@rules.command("show")
@click.argument("name")
@click.option("--ruleset", metavar="NAME", help="Only this ruleset.  [default: all]")
@json_option
def show_(name: str, ruleset: str | None, as_json: bool) -> None:
    """Show a game: every option, what each of its values does, and which ruleset has it.

    \b
    Example:
      arena rules show samurai --ruleset basic
    """
    from arena.show.rules import page_lines, rules_page

    page = rules_page(name, ruleset)
    if as_json:
        show_json(page)
        return
    for line in page_lines(page, console().width):
        show(line)
