"""`arena league export-author`: hands to an author what a league keeps of them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.output import counted, say, show_line
from arena.core.face import errors, plain
from arena.league.commands.here import Elsewhere, at_options, out_option, to_option
from arena.league.commands.leagues import League, opened

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command("export-author")
@click.argument("name")
@to_option
@out_option("The folder for the file.")
@at_options
def export_author(name: str, folder: Path | None, out: Path, elsewhere: Elsewhere | None) -> None:
    """Write what a league keeps of the author NAME into one file, NAME.zip.

    It has how their versions stand, notices, hashes of tokens, quotas, games, reports, and logs as
    they may see them. Of a league on this machine it has the archives of their bots, too.

    \b
    Example:
      arena league export-author anna --at https://cup.example --token anna.token
    """
    import msgspec

    path = out / f"{name}.zip"
    with opened(folder, elsewhere, name if elsewhere is None else None) as league:
        if (known := league.author()) != name:
            raise errors.ConfigError(
                f"expected the name of an author, got: {name!r}; say {known!r}, as the league does"
            )
        out.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for place, content in _contents(league):
                file.writestr(place, content if isinstance(content, bytes) else msgspec.json.encode(content))
            say(f"{counted(len(file.namelist()), 'file')} of {plain(name)}")
    show_line(str(path))


def _contents(league: League) -> Iterator[tuple[str, object]]:
    """Yields what is kept, each with its place. What is gone meanwhile, or is not there, is left out."""
    status = league.status("")
    yield "author.json", {key: value for key, value in status.items() if key != "league"}
    games, more = league.played(status["notices"])
    yield "games.json", games
    for version in status["versions"]:
        name = str(version["version"])
        yield f"reports/{name.replace('/', '-')}.json", league.reports(name, None)
        if (archive := league.archive(str(version["digest"]))) is not None:
            yield f"bots/{name.replace('/', '-')}.tar.zst", archive
    named = [str(game["game"]) for game in games if game.get("published")]
    for game in dict.fromkeys([*named, *more]):
        try:
            yield f"logs/{game.replace('/', '-')}.jsonl.zst", league.log(game)
        except errors.DoorError as error:
            if error.refusal != "unknown":
                raise
