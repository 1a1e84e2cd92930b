"""`arena rules`: shows the games, their rulesets and options, and checks a game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.options import json_option
from arena.cli.output import redrawn, show, show_json, stdout_width

if TYPE_CHECKING:
    from arena.core.testing import Variant
    from arena.core.types import Payload


@click.group()
def rules() -> None:
    """Show the games, their rulesets and options; check your own.

    \b
    Example:
      arena rules show samurai
    """


@rules.command("list")
@click.argument("family", required=False, shell_complete=complete.families)
@json_option
def list_(family: str | None, as_json: bool) -> None:
    """List the games, or those of a family.

    \b
    Example:
      arena rules list
    """
    from arena.core.show.rules import family_lines, family_list, list_lines, rules_list

    found = rules_list() if family is None else family_list(family)
    if as_json:
        show_json(found)
        return
    for line in (list_lines if family is None else family_lines)(found, stdout_width()):
        show(line)


@rules.command("show")
@click.argument("name", shell_complete=complete.rules)
@click.option("--ruleset", metavar="NAME", help="Only this ruleset.  [default: all]", shell_complete=complete.rulesets)
@json_option
def show_(name: str, ruleset: str | None, as_json: bool) -> None:
    """Show a game: every option, what each of its values does, and which ruleset has it.

    \b
    Example:
      arena rules show samurai --ruleset basic
    """
    from arena.core.show.rules import page_lines, rules_page

    page = rules_page(name, ruleset)
    if as_json:
        show_json(page)
        return
    for line in page_lines(page, stdout_width()):
        show(line)


@rules.command()
@click.argument("name", shell_complete=complete.rules)
@click.option("--ruleset", metavar="NAME", help="Only this ruleset.  [default: all]", shell_complete=complete.rulesets)
@click.option(
    "--rule", "overrides", multiple=True, metavar="NAME=VALUE", help="An option that differs; may be repeated.",
    shell_complete=complete.rule_options,
)  # fmt: skip
@click.option("--players", type=int, metavar="N", help="Only this number of players.  [default: every number]")
@click.option("--games", type=click.IntRange(min=1), default=10, show_default=True, help="Games at each table.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the first game.")
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    name: str,
    ruleset: str | None,
    overrides: tuple[str, ...],
    players: int | None,
    games: int,
    seed: int,
    as_json: bool,
) -> None:
    """Check a game against the laws that every game must keep.

    Random games are played with every ruleset and number of players. At each step it is checked, for example, that
    events lead to what each seat sees, that only legal plays are accepted, and that nothing hidden reaches a seat.
    The exit code is 3 if the game breaks a law. docs/games.md explains each.

    \b
    Example:
      arena rules check gardener --ruleset draft
    """
    from arena.core.show.rules import check_rules, fault_lines, faults
    from arena.core.testing import GameFault

    with watching(quiet=as_json, games=games) as watch:
        found = check_rules(name, ruleset, players, games, seed, watch, overrides)
    if as_json:
        show_json(found)
    else:
        for fault in faults(found):
            for line in fault_lines(fault, stdout_width()):
                show(line)
    if faults(found):
        ctx.exit(GameFault.exit_code)


@contextmanager
def watching(*, quiet: bool, games: int) -> Iterator[Callable[[Variant, Payload | None], None]]:
    """Prints each table after its check. Before that, stderr names it if it is a terminal that can redraw a line."""
    from rich.text import Text

    from arena.core.show.rules import table_text
    from arena.core.text import plain

    screen = redrawn(stderr=True)
    status = screen.status("") if screen else None

    def watch(table: Variant, row: Payload | None) -> None:
        if status is not None and row is None:
            status.update(Text(plain(f"{table.ruleset}, {table.players} players ...")))
        elif row is not None and not quiet:
            show(Text(plain(table_text(row, games))))

    if status is None:
        yield watch
        return
    with status:
        yield watch
