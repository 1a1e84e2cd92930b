"""`arena league author` and `token`: who may submit bots, and by which tokens they are known."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.group import LazyGroup
from arena.cli.options import json_option
from arena.cli.output import echo, say, show_json
from arena.core.face import errors, plain
from arena.league.commands.here import Elsewhere, at_options, folder_of, order, out_option, reading, to_option
from arena.league.commands.leagues import opened
from arena.league.commands.tables import show_maps

COMMANDS = {
    "add": ("arena.league.commands.author:add", "Let somebody submit bots."),
    "list": ("arena.league.commands.author:list_", "List the authors, and their tokens."),
    "remove": ("arena.league.commands.author:remove", "Remove an author: revoke their tokens, retire their bots."),
}
"""As `arena.cli.COMMANDS`."""
TOKEN_COMMANDS = {
    "new": ("arena.league.commands.author:new", "Make a token for an author."),
    "add": ("arena.league.commands.author:add_token", "Give an author one more token."),
    "revoke": ("arena.league.commands.author:revoke", "Revoke a token."),
}
"""The same of `token`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def author() -> None:
    """Say who may submit bots.

    \b
    Example:
      arena league author add anna --token anna.hash --league cup
    """


@click.command()
@click.argument("name")
@to_option
@click.option(
    "--token", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The hash of their token."
)
@click.option(
    "--quota", "quotas", multiple=True, metavar="NAME=N",
    help="bots, pending, submissions, archive_mib, built_mib or start_s; repeatable.",
)  # fmt: skip
def add(name: str, folder: Path | None, token: Path | None, quotas: tuple[str, ...]) -> None:
    """Let somebody submit bots.

    With --token they can do so from their own machine; `arena league token new` makes tokens. --quota gives them other
    limits than league.toml says.

    \b
    Example:
      arena league author add anna --token anna.hash --quota bots=10 --league cup
    """
    from arena.core.face import bot_manifests
    from arena.league.bounds import MOST_NUMBER
    from arena.league.door.tokens import read_hash
    from arena.league.order_context import unknown_quota

    bot_manifests.check_name(name, "an author")
    limits: dict[str, int] = {}
    for text in quotas:
        quota, _, value = text.partition("=")
        if not (value.isascii() and value.isdigit() and len(value) <= 10 and int(value) <= MOST_NUMBER):
            raise errors.ConfigError(f"expected NAME=N, such as bots=10, got: {text!r}; correct --quota")
        if reason := unknown_quota(quota):
            raise errors.ConfigError(f"{reason}; correct --quota")
        limits[quota] = int(value)
    arguments = {"name": name, "quotas": limits}
    if token is not None:
        arguments |= {"key": read_hash(token), "label": token.name}
    if order(folder, "author_add", arguments) is not None:
        echo(f"{name} is an author")


@click.command("list")
@to_option
@json_option
def list_(folder: Path | None, as_json: bool) -> None:
    """List the authors, and their tokens.

    \b
    Example:
      arena league author list --league cup
    """
    import msgspec

    with reading(folder_of(folder)) as reader:
        authors = reader.authors.all()
        keys = {found.name: reader.authors.keys_of(found.name) for found in authors}
        bots = {found.name: {one.bot for one in reader.versions.of_author(found.name)} for found in authors}
    rows = [
        {**msgspec.to_builtins(found), "bots": sorted(bots[found.name]), "keys": msgspec.to_builtins(keys[found.name])}
        for found in authors
    ]
    if as_json:
        show_json({"authors": rows})
        return
    shown = [
        {
            "author": row["name"],
            "status": row["status"],
            "bots": " ".join(row["bots"]),
            "tokens": sum(key["revoked"] is None for key in row["keys"]),
            "quotas": " ".join(f"{name}={limit}" for name, limit in row["quotas"].items()),
        }
        for row in rows
    ]
    show_maps(shown, ("author", "status", "bots", "tokens", "quotas"), "There is no author.")


@click.command()
@click.argument("name")
@to_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@at_options
@click.pass_context
def remove(ctx: click.Context, name: str, folder: Path | None, yes: bool, elsewhere: Elsewhere | None) -> None:
    """Remove an author: their tokens are revoked, and their bots retired. Results stay, under a pseudonym.

    With --at an author leaves. `arena league export-author` fetches what is kept of them, and must come before.

    \b
    Example:
      arena league author remove anna --league cup
      arena league author remove anna --at https://cup.example --token anna.token
    """
    import sys

    if not yes:
        if not sys.stdin.isatty():
            raise errors.ConfigError(
                "expected --yes, because there is no terminal on which to ask whether to remove them"
            )
        if not click.confirm(f"Remove {name}, and retire their bots? It cannot be undone.", err=True):
            say("Nobody is removed.")
            ctx.exit(1)
    with opened(folder, elsewhere) as league:
        answer = league.ordered("author_remove", name=name)
    if answer is not None:
        told = f"{name} is removed, and called {answer['author']}"
        echo(plain(f"{told}; retired: {', '.join(answer['retired']) or 'nothing'}"))


@click.command("export-author")
@click.argument("name")
@to_option
@out_option("The folder for the file.")
def export_author(name: str, folder: Path | None, out: Path) -> None:
    """Write what a league keeps of the author NAME into one file, NAME.zip, before they leave.

    It has what they could read (status, notices, hashes of tokens, games, reports, logs), and their bots' archives.

    \b
    Example:
      arena league export-author anna --league cup
    """
    import zipfile

    league = folder_of(folder)
    with reading(league) as reader:
        name = reader.authors.known(name).name
        archives = {one.name: league.archive(one.digest) for one in reader.versions.of_author(name)}
    found = {f"bots/{version.replace('/', '-')}.tar.zst": path for version, path in archives.items()}
    for kind in ("authors", "own", "reports"):
        top = league.published / kind / name
        found |= {f"{kind}/{path.relative_to(top)}": path for path in sorted(top.rglob("*"))}
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for place, path in found.items():
            if path.is_file():
                file.write(path, place)
    echo(str(out / f"{name}.zip"))


@click.command("token", cls=LazyGroup, lazy=TOKEN_COMMANDS)
def tokens() -> None:
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


@click.command("add")
@click.argument("author")
@_file
@to_option
def add_token(author: str, file: Path, folder: Path | None) -> None:
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
