"""`arena league standings`: prints the standings of a league."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.league import remote
from arena.cli.league.away import Elsewhere, at_options
from arena.cli.league.final import show_final
from arena.cli.league.here import folder_of, folder_or_elsewhere, reading
from arena.cli.league.tables import show_standings
from arena.cli.options import json_option
from arena.cli.output import echo, show_json
from arena.errors import ConfigError

if TYPE_CHECKING:
    from arena.store.league import LeagueReader
    from arena.types import Payload


@click.command()
@folder_or_elsewhere
@click.option("--season", metavar="NAME", help="Those of a season that is closed.")
@click.option("--trueskill", is_flag=True, help="Show mu and sigma, however narrow the terminal.")
@json_option
@at_options
def standings(
    folder: Path | None, season: str | None, trueskill: bool, as_json: bool, elsewhere: Elsewhere | None
) -> None:
    """Print the standings of a league: the versions that play, by rating.

    The columns are those of `arena standings`, whose help explains them. A rating follows from all results of the
    season, in whatever order they came; with 95 % the true one is as close to it as the column beside it says. MU and
    SIGMA are TrueSkill's, which choose who meets. Versions share a rank, as 2=, where nothing settles who is better.
    A bot on its author's machine is uncontrolled: nobody knows what it computes with. Who plays, or has played, the
    season's final comes first.

    \b
    Example:
      arena league standings cup
      arena league standings --at tcp://cup.example:5599/5f… --key anna.key
    """
    if elsewhere is not None:
        remote.standings(elsewhere, trueskill=trueskill, as_json=as_json)
        return
    with reading(folder_of(folder)) as reader:
        document, heading = _document(reader, season)
    if as_json:
        show_json(document)
        return
    echo(heading)
    echo()
    show_standings(document, trueskill=trueskill)
    if final := document.get("final"):
        echo()
        show_final(final)


def _document(reader: LeagueReader, name: str | None) -> tuple[Payload, str]:
    """Returns the standings of the open season or of a closed one, and their heading.

    Raises:
        ConfigError: There is no closed season of that name.
    """
    from arena.league import documents
    from arena.show.league import season_text

    seasons = {each.name: each for each in reader.seasons.all()}
    if name is None:
        document = documents.standings(reader)
        name = str(document["season"])
    else:
        found = seasons.get(name)
        if found is None or found.standings is None:
            closed = ", ".join(each.name for each in seasons.values() if each.closed) or "none"
            raise ConfigError(f"expected a season that is closed, got: {name!r}; there are: {closed}")
        document = {**found.standings, "season": found.name, "digest": found.digest}
    return document, season_text(name, reader.finder.tournament(seasons[name].tournament).settings)
