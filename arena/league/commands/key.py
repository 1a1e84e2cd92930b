"""`arena league key`: the keys by which authors are known."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.group import LazyGroup
from arena.cli.output import echo
from arena.league.commands.here import order, to_option

COMMANDS = {
    "new": ("arena.league.commands.key:new", "Make a key for an author."),
    "add": ("arena.league.commands.key:add", "Give an author one more key."),
    "revoke": ("arena.league.commands.key:revoke", "Revoke a key."),
}
"""As `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def key() -> None:
    """Make keys for authors elsewhere, and say which are valid.

    \b
    Example:
      arena league key new anna
    """


@click.command()
@click.argument("name")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=".", metavar="FOLDER",
    help="Where the files are written.  [default: here]",
)  # fmt: skip
def new(name: str, out: Path) -> None:
    """Make a key for an author.

    NAME.key is the author's, and secret. NAME.pub is for the operator of the league: authors make their keys
    themselves, and send only that one.

    \b
    Example:
      arena league key new anna
    """
    from arena.core.face import bot_manifests
    from arena.league.door.keys import make_pair, write_pair, write_public

    bot_manifests.check_name(name)
    pair = make_pair()
    write_pair(out / f"{name}.key", pair, name)
    write_public(out / f"{name}.pub", pair.public, name)
    echo(f"{out / f'{name}.key'}: keep it to yourself")
    echo(f"{out / f'{name}.pub'}: for the league's operator")


_file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.command()
@click.argument("author")
@_file
@to_option
def add(author: str, file: Path, folder: Path | None) -> None:
    """Give an author one more key, for another machine of theirs. FILE is the public one.

    \b
    Example:
      arena league key add anna laptop.pub --league cup
    """
    from arena.league.door.keys import read_public

    if order(folder, "key_add", {"author": author, "key": read_public(file), "label": file.name}) is not None:
        echo(f"{author} has one more key")


@click.command()
@_file
@to_option
def revoke(file: Path, folder: Path | None) -> None:
    """Revoke a key: from now on it opens nothing, not even for whoever is connected. FILE is the public one.

    \b
    Example:
      arena league key revoke anna.pub --league cup
    """
    from arena.league.door.keys import read_public

    answer = order(folder, "key_revoke", {"key": read_public(file)})
    if answer is not None:
        echo(f"{answer['author']}'s key is revoked")
