"""What the authors' commands share when the league is elsewhere: `--at ADDRESS --key FILE`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.cli.output import say, show
from arena.core.face import errors, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.core.face import Payload
    from arena.league.door.client import Client

F = TypeVar("F", bound=Callable[..., Any])


REMOTE = ("level", "remote")
WHOLE = 2
"""The number of first columns that are never broken: they hold names."""
UNCONTROLLED = "uncontrolled"
"""What is shown beside the rating of a bot on its author's machine."""


class Elsewhere:
    """A league elsewhere, and the key by which it knows the author."""

    def __init__(self, at: str, key: Path) -> None:
        self.at = at
        """The league's address."""
        self.key = key
        """The author's key file."""

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Yields a connection to the league, whose ledger goes on from the one that was seen last."""
        from arena.league.door.client import Client
        from arena.league.door.heads import look_again
        from arena.league.door.keys import address, read_pair

        def tell(sentence: str) -> None:
            say(plain(sentence))

        league = address(self.at)
        with Client(league, read_pair(self.key), tell=tell) as client:
            look_again(client, league, self.key, tell)
            yield client


def out_option(help: str) -> Callable[[F], F]:
    """Returns what adds `--out`, a folder."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--out", type=kind, default=".", metavar="FOLDER", help=f"{help}  [default: this one]")


def at_options(function: F) -> Any:
    """Adds `--at` and `--key`. The function gets `elsewhere: Elsewhere | None`, None if neither is given."""

    @click.option("--at", metavar="ADDRESS", help="A league elsewhere: tcp://HOST:PORT/KEY, as its operator gave it.")
    @click.option(
        "--key", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Your key file, with --at."
    )
    @wraps(function)
    def command(*args: Any, at: str | None, key: Path | None, **kwargs: Any) -> Any:
        return function(*args, elsewhere=_elsewhere(at, key), **kwargs)

    return command


def _elsewhere(at: str | None, key: Path | None) -> Elsewhere | None:
    if at is None and key is None:
        return None
    if at is None:
        raise errors.ConfigError("expected --at with --key, got: --key alone; give the address of the league")
    if key is None:
        raise errors.ConfigError("expected --key with --at, got: --at alone; make a key: arena league key new NAME")
    return Elsewhere(at, key)


def show_maps(rows: Sequence[Payload], columns: Iterable[str], nothing: str) -> None:
    """Prints what a league published as a table.

    Args:
        rows: What it published.
        columns: The fields to print; those that are empty in all rows are left out.
        nothing: What to say, on stderr, if there are no rows.
    """
    if not rows:
        say(nothing)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    found = [column for column in columns if any(_cell(row.get(column)) for row in rows)]
    for place, column in enumerate(found):
        table.add_column(column, overflow="fold", no_wrap=place < WHOLE)
    for row in rows:
        cells = (UNCONTROLLED if (column, row.get(column)) == REMOTE else _cell(row.get(column)) for column in found)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    show(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.1f}"
        case list():
            return (" " if all(isinstance(each, str) for each in value) else " to ").join(map(_cell, value))
        case _:
            return str(value)
