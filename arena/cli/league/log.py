"""`arena league log`: fetches the log of a game from a league."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.league.away import Elsewhere, at_options
from arena.cli.output import show_line
from arena.errors import ConfigError


@click.command("log")
@click.argument("game")
@click.option(
    "--to",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="A league on this machine, instead of --at.",
)
@click.option(
    "--author", metavar="NAME", help="With --to: the log as this author sees it.  [default: as everybody does]"
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=".", metavar="FOLDER",
    help="The folder for the file.  [default: this one]",
)  # fmt: skip
@at_options
def log(game: str, folder: Path | None, author: str | None, out: Path, elsewhere: Elsewhere | None) -> None:
    """Fetch the log of a game, once its match is over.

    The log of a game of your own version has your bot's notes and what it printed. Those of others hold the deal and
    everybody's actions. Standard output has the file's name, for `arena replay`, `arena verify` and `arena bot rerun`.

    \b
    Example:
      arena league log spring-000123 --at tcp://cup.example:5599/5f… --key anna.key
    """
    from arena import files
    from arena.record.compressed import expand

    if elsewhere is not None:
        with elsewhere.client() as client:
            packed = client.log(game)
    elif folder is not None:
        packed = _published(folder, author, game)
    else:
        raise ConfigError("expected --to FOLDER, or --at ADDRESS with --key FILE, got: neither; say which league")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{game}.jsonl"
    files.write(path, expand(packed, f"the log of {game}"))
    show_line(str(path))


def _published(folder: Path, author: str | None, game: str) -> bytes:
    from arena.door.messages import Part
    from arena.door.published import Published
    from arena.door.refusals import Refusal
    from arena.errors import DoorError

    data = b""
    published = Published(folder / "published")
    try:
        while True:
            part: Part = published.log(author or "", game, len(data), 0)
            data += part.data
            if len(data) >= part.total:
                return data
    except Refusal as refusal:
        error = refusal.message(None)
        raise DoorError(f"{error.message}; {error.remedy}", error.code) from None
