"""`arena league standings`: prints the standings of a league."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options, show_maps
from arena.cli.league.final import show_final
from arena.cli.league.here import folder_of, folder_or_elsewhere, reading
from arena.cli.options import json_option
from arena.cli.output import echo, say, show_json
from arena.errors import ConfigError


@click.command()
@folder_or_elsewhere
@click.option("--season", metavar="NAME", help="Those of a season that is closed.")
@json_option
@at_options
def standings(folder: Path | None, season: str | None, as_json: bool, elsewhere: Elsewhere | None) -> None:
    """Print the standings of a league: the versions that play, by rating.

    A rating is that of the refit over all results of the season; the true one lies from LOW to HIGH with 95 %. MU and
    SIGMA are TrueSkill's, which choose who meets. A bot on its author's machine is uncontrolled: nobody knows what it
    computes with. Who plays, or has played, the season's final comes first.

    \b
    Example:
      arena league standings cup
      arena league standings --at tcp://cup.example:5599/5f… --key anna.key
    """
    if elsewhere is not None:
        remote.standings(elsewhere, as_json=as_json)
        return
    from arena.league import documents

    with reading(folder_of(folder)) as reader:
        if season is None:
            document = documents.standings(reader, documents.refit_of(reader))
        else:
            found = {each.name: each for each in reader.seasons.all()}.get(season)
            if found is None or found.standings is None:
                closed = ", ".join(each.name for each in reader.seasons.all() if each.closed) or "none"
                raise ConfigError(f"expected a season that is closed, got: {season!r}; there are: {closed}")
            document = {**found.standings, "season": found.name, "digest": found.digest}
    if as_json:
        show_json(document)
        return
    show_maps(document["items"], remote.STANDINGS, "No bot plays yet.")
    if final := document.get("final"):
        echo()
        show_final(final)
    if document["items"] and not any(item["games"] for item in document["items"]):
        say("No game is rated yet.")
