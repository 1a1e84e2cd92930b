"""`arena league author`: who may submit bots."""

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
