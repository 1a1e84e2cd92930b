"""`arena tournament pause`, `resume`, `stop`, `concurrency`: orders to the tournament that runs in another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.help import Command
from arena.cli.options import db_option, force_option
from arena.cli.output import echo

if TYPE_CHECKING:
    from arena.core.tournament.steering import Verb


@click.command(cls=Command)
@db_option
def pause(db: Path) -> None:
    """Let the running games end, and begin no other until `arena tournament resume`.

    The tournament is the one that another terminal plays on the database. Pausing costs nothing: bots wait, and no
    clock runs.
    """
    _order(db, "pause")


@click.command(cls=Command)
@db_option
def resume(db: Path) -> None:
    """Go on after `arena tournament pause`."""
    _order(db, "resume")


@click.command(cls=Command)
@db_option
def stop(db: Path) -> None:
    """Let the running games end, and then end the command that plays them. The same command goes on later."""
    _order(db, "stop")


@click.command(cls=Command)
@click.argument("concurrency", type=click.IntRange(1, 1000), metavar="N")
@force_option
@db_option
def concurrency(concurrency: int, db: Path) -> None:
    """Play N games at a time from now on, no more than there are cores without --force-concurrency."""
    _order(db, "concurrency", concurrency)


class Steered(Command):
    """A command to which other terminals may give orders: `COMMAND ORDER` is another command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Makes the context of an order, if the arguments begin with one."""
        if args and args[0] in ORDERS:
            order = args.pop(0)
            if parent is not None and parent.default_map is not None:
                extra.setdefault("default_map", parent.default_map.get(info_name or ""))
            return ORDERS[order].make_context(f"{info_name} {order}", args, parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


ORDERS = {command.name or "": command for command in (pause, resume, stop, concurrency)}
"""By name."""


def _order(db: Path, verb: Verb, number: int = 0) -> None:
    from arena.core.tournament.steering import send

    echo(send(db, verb, number))
