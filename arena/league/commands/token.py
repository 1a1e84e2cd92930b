"""`arena league token`: the tokens by which authors are known."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.group import LazyGroup
from arena.cli.output import echo
from arena.league.commands.here import order, out_option, to_option

COMMANDS = {
    "new": ("arena.league.commands.token:new", "Make a token for an author."),
    "add": ("arena.league.commands.token:add", "Give an author one more token."),
    "revoke": ("arena.league.commands.token:revoke", "Revoke a token."),
}
"""As `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def token() -> None:
    """Make tokens for authors elsewhere, and say which are valid.

    \b
    Example:
      arena league token new anna
    """


@click.command()
@click.argument("name")
@out_option("The folder for the files.")
def new(name: str, out: Path) -> None:
    """Make a token for an author.

    NAME.token is the author's, and secret. NAME.hash is for the operator of the league: authors make their tokens
    themselves, and send only that one. Whoever has no arena makes both with openssl and sha256sum
    (docs/league-authors.md).

    \b
    Example:
      arena league token new anna
    """
    from arena.core.face import bot_manifests
    from arena.league.door.tokens import new_token, write_hash, write_token

    bot_manifests.check_name(name, "an author")
    made = new_token()
    write_token(out / f"{name}.token", made)
    write_hash(out / f"{name}.hash", made, name)
    echo(f"{out / f'{name}.token'}: keep it to yourself")
    echo(f"{out / f'{name}.hash'}: for the league's operator")


_file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.command()
@click.argument("author")
@_file
@to_option
def add(author: str, file: Path, folder: Path | None) -> None:
    """Give an author one more token, for another machine of theirs. FILE is that with its hash.

    \b
    Example:
      arena league token add anna laptop.hash --league cup
    """
    from arena.league.door.tokens import read_hash

    if order(folder, "key_add", {"author": author, "key": read_hash(file), "label": file.name}) is not None:
        echo(f"{author} has one more token")


@click.command()
@_file
@to_option
def revoke(file: Path, folder: Path | None) -> None:
    """Revoke a token: from now on it opens nothing, not even for whoever is connected. FILE is that with its hash.

    \b
    Example:
      arena league token revoke anna.hash --league cup
    """
    from arena.league.door.tokens import read_hash

    answer = order(folder, "key_revoke", {"key": read_hash(file)})
    if answer is not None:
        echo(f"{answer['author']}'s token is revoked")
