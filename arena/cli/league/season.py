"""`arena league season`: ends a season, and lists those that there were."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from arena.cli.group import LazyGroup
from arena.cli.league.here import folder_argument, folder_of, reading, to_option
from arena.cli.output import echo, say, show_json
from arena.text import plain

if TYPE_CHECKING:
    from arena.league.folder import Folder
    from arena.store.league.records import Season

COMMANDS: Mapping[str, tuple[str, str]] = {
    "close": ("arena.cli.league.season:close", "End the season: freeze its standings, begin the next."),
    "list": ("arena.cli.league.season:list_", "List the seasons of a league."),
}
"""As `arena.cli.COMMANDS`."""
_POLL_S: Final = 0.2


@click.command(cls=LazyGroup, lazy=COMMANDS)
def season() -> None:
    """End a league's season, or list those that there were.

    \b
    Example:
      arena league season close first --to cup
      arena league season list cup
    """


@click.command()
@click.argument("name")
@to_option
@click.option(
    "--next", "following", default="", metavar="NAME", help="The name of the next season.  [default: season-N]"
)
def close(name: str, folder: Path | None, following: str) -> None:
    """End the season NAME, and begin the next one.

    Games that run are finished, and no other begins. The standings are frozen, with a digest over all results and over
    the season before. All versions that play go on in the next season, with new ratings or those that they had, as
    `league.toml` says. What else was changed there is in force from then on.

    \b
    Example:
      arena league season close first --to cup
      arena league season close first --to cup --next autumn
    """
    from arena.cli.league.here import order
    from arena.league.closing import close_season
    from arena.league.duties import VERBS
    from arena.store.league import open_league

    league = folder_of(folder)
    arguments = {"season": name, **({"next": following} if following else {})}
    if order(folder, "season_close", arguments, verbs=VERBS) is None:
        return
    told = False
    while (closed := _closed(league, name)) is None:
        if league.is_running:
            if not told:
                say("The season ends as soon as the games that run are over.")
            told = True
            time.sleep(_POLL_S)
            continue
        with open_league(league.database) as store:
            if store.controls.closing is not None:
                current = store.seasons.current()
                if current is not None:
                    store.games.resume(current.tournament)
                close_season(store, league)
    echo(plain(f"Season {closed.name} is closed; digest {closed.digest}"))


def _closed(folder: Folder, name: str) -> Season | None:
    """Returns a season of that name if it is closed."""
    with reading(folder) as reader:
        return next((one for one in reader.seasons.all() if one.name == name and one.closed is not None), None)


@click.command(name="list")
@folder_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_(folder: Path, as_json: bool) -> None:
    """List the seasons of a league, with who won and the digest over all results.

    \b
    Example:
      arena league season list cup
    """
    with reading(folder_of(folder)) as reader:
        seasons = reader.seasons.all()
    rows = [
        {
            "number": one.number,
            "name": one.name,
            "opened": one.opened,
            "closed": one.closed,
            "first": next((item["name"] for item in (one.standings or {}).get("items", [])), None),
            "digest": one.digest,
        }
        for one in seasons
    ]
    if as_json:
        show_json(rows)
        return
    for row in rows:
        what = f"won by {row['first']}, digest {row['digest']}" if row["closed"] else "open"
        echo(plain(f"{row['number']}  {row['name']}  {row['opened']}  {what}"))
