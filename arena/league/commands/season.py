"""`arena league season` and `audit`: ends a season, lists those that there were, fetches one, and checks them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli.options import json_option
from arena.cli.output import counted, echo, say, show_json, show_line
from arena.core.face import errors, plain, progress_lines
from arena.league.commands.here import (
    Elsewhere,
    LeagueGroup,
    at_options,
    folder_argument,
    folder_of,
    order,
    out_option,
    reading,
    to_option,
)

if TYPE_CHECKING:
    from arena.league.folder import Folder
    from arena.league.store.records import Season

COMMANDS: Mapping[str, tuple[str, str]] = {
    "beacon": ("arena.league.commands.season:beacon", "Give the value of the beacon in the season's chance."),
    "close": ("arena.league.commands.season:close", "End the season: freeze its standings, begin the next."),
    "list": ("arena.league.commands.season:list_", "List the seasons of a league."),
    "get": ("arena.league.commands.season:get", "Fetch what a league elsewhere publishes of a season."),
}
"""As `arena.cli.COMMANDS`."""
_POLL_S: Final = 0.2


@click.command(cls=LeagueGroup, lazy=COMMANDS)
def season() -> None:
    """End a league's season, list those that there were, or fetch one to check it.

    \b
    Example:
      arena league season close first --league cup
      arena league season list cup
      arena league season get first --out first --at https://cup.example --token anna.token
    """


@click.command()
@click.argument("value")
@to_option
def beacon(value: str, folder: Path | None) -> None:
    """Give the open season the VALUE of the public beacon that its settings name. Its games begin then.

    A season names one if [season] in league.toml has `beacon = "quicknet"`: the round of drand that is out ten minutes
    after it opens. So nobody, the operator neither, can have chosen the deals. `arena league status` says where the
    value stands.

    \b
    Example:
      arena league season beacon $(curl -s https://api.drand.sh/.../public/34281681 | jq -r .signature) --league cup
    """
    if (answer := order(folder, "season_beacon", {"value": value})) is not None:
        echo(plain(f"Season {answer['season']} has its beacon's value; its games begin"))


@click.command()
@click.argument("name")
@to_option
@click.option(
    "--next", "following", default="", metavar="NAME", help="The name of the next season.  [default: season-N]"
)
@click.option("--no-final", is_flag=True, help="Play no final, or end the one that is being played.")
def close(name: str, folder: Path | None, following: str, no_final: bool) -> None:
    """End the season NAME, and begin the next one.

    Games that run are finished, and no other begins. Then the best versions play the final, as [season] in league.toml
    says, until it is settled who has won. For that the service has to run. The standings are frozen, with a digest over
    all results and over the season before. All versions that play go on in the next season, with new ratings or those
    that they had. What else was changed in league.toml is in force from then on. Until then submissions wait.

    \b
    Example:
      arena league season close first --league cup
      arena league season close first --league cup --next autumn --no-final
    """
    from arena.league.bounds import MOST_NAME, is_season_name

    if following and not is_season_name(following):
        raise errors.ConfigError(
            f"expected a name of at most {MOST_NAME} characters on one line, got: {following!r}; correct --next"
        )
    league = folder_of(folder)
    arguments = {"season": name, **({"next": following} if following else {}), "final": "no" if no_final else "yes"}
    if order(folder, "season_close", arguments) is None:
        return
    told, at = "", time.monotonic()
    with progress_lines.moving_line() as show:
        while (closed := _closed(league, name)) is None:
            doing, far = _doing(league)
            if league.is_running:
                if doing not in told:
                    say(f"{doing} This command may be stopped; the season ends all the same.")
                told += doing
                if show is not None:
                    show(far)
                elif far and time.monotonic() >= at + progress_lines.LINE_S:
                    at = time.monotonic()
                    say(far)
                time.sleep(_POLL_S)
            elif not _close_here(league):
                say(f"{_doing(league)[0]} The service plays it: arena league run {league.path}")
                return
    echo(plain(f"Season {closed.name} is closed; digest {closed.digest}"))


def _doing(folder: Folder) -> tuple[str, str]:
    """Returns what has to happen before the season ends, and how much of the final is played; empty if none is."""
    with reading(folder) as reader:
        season = reader.seasons.current()
        final = season and season.final
        if season is None or not final or final.outcome:
            return "The season ends as soon as the games that run are over.", ""
        what = f"The final between {counted(len(final.playing), 'version')} is played first."
        played = sum(match.whole for match in reader.seasons.final_matches(season))
        return what, f"The final: {played:,} of at most {final.deals:,} deals."


def _close_here(folder: Folder) -> bool:
    """Closes the season in this process, as far as that takes no games. Returns whether it is closed."""
    from arena.league.keeping.telling import Telling
    from arena.league.season.closing import close_season
    from arena.league.season.ending import Ending
    from arena.league.settings import load
    from arena.league.store import open_league

    with open_league(folder.database) as store:
        season = store.seasons.current()
        if store.controls.closing is None or season is None:
            return True
        store.games.resume(season.tournament)
        if not Ending(store, load(folder)).look(quiet=True):
            return False
        close_season(store, folder, say)
        Telling(store, folder, load(folder).notify, say).finish()
        return True


def _closed(folder: Folder, name: str) -> Season | None:
    """Returns a season of that name if it is closed."""
    with reading(folder) as reader:
        return next((one for one in reader.seasons.all() if one.name == name and one.closed is not None), None)


@click.command(name="list")
@folder_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_(folder: Path, as_json: bool) -> None:
    """List the seasons of a league: who won, whether a final settled it, and the digest over all results.

    \b
    Example:
      arena league season list cup
    """
    with reading(folder_of(folder)) as reader:
        seasons = reader.seasons.all()
    rows: list[dict[str, Any]] = [
        {
            "number": one.number,
            "name": one.name,
            "opened": one.opened,
            "closed": one.closed,
            "first": [item["name"] for item in (one.standings or {}).get("items", []) if item["rank"] == 1],
            "final": one.final and (one.final.outcome or "being played"),
            "digest": one.digest,
        }
        for one in seasons
    ]
    if as_json:
        show_json(rows)
        return
    for row in rows:
        first = f"{'shared' if len(row['first']) > 1 else 'won'} by {', '.join(row['first']) or 'nobody'}"
        what = f"{first}, digest {row['digest']}" if row["closed"] else "open"
        what += f", final {row['final']}" if row["final"] else ""
        echo(plain(f"{row['number']}  {row['name']}  {row['opened']}  {what}"))


@click.command()
@click.argument("name")
@out_option("The folder for the files.")
@at_options
def get(name: str, out: Path, elsewhere: Elsewhere | None) -> None:
    """Fetch all that a league publishes of the season NAME, to check it with `arena verify FOLDER`.

    Give it again from time to time: a league keeps most logs for some weeks only. What was fetched before must still be
    the same, else it is not replaced, and you are told. Once the season is closed, its results, its standings and its
    secret are there too. A command that was stopped goes on where it was. Standard output has the folder.

    \b
    Example:
      arena league season get first --out first --at https://cup.example --token anna.token
      arena verify first
    """
    if elsewhere is None:
        raise errors.ConfigError(
            "expected --at ADDRESS, got: neither; "
            "of a league on this machine check its folder: arena verify LEAGUE/published"
        )
    from arena.league.door.fetching import fetch_season

    with elsewhere.client() as client:
        say(plain(fetch_season(client, name, out, tell=say)))
    show_line(str(out))


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--noted", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="What was seen before: another author's .heads.jsonl, or a copy of a season's commitment.json."
    "  [default with --at: your own]",
)  # fmt: skip
@out_option("With --at, the folder for what is fetched.")
@at_options
@json_option
@click.pass_context
def audit(
    ctx: click.Context, folder: Path | None, noted: Path | None, out: Path, elsewhere: Elsewhere | None, as_json: bool
) -> None:
    """Check that a league has changed and left out nothing of the seasons that it has ever shown.

    The league is one in FOLDER, or what was fetched into it, or one elsewhere: then what it publishes of its seasons is
    fetched first, without logs. Each line must name the one before it, from the first season on, and each line that was
    seen before must be there. With --noted of another author you find a league that shows the two of you different
    histories. It is what `arena verify` does, which checks the logs too. The exit code is 4 if anything is wrong.

    \b
    Example:
      arena league audit cup
      arena league audit --at https://cup.example --token anna.token --out cup --noted bert.heads.jsonl
    """
    if (folder is None) == (elsewhere is None):
        got = "none; say which league" if folder is None else f"both {folder} and --at; leave one out"
        raise errors.ConfigError(f"expected FOLDER, or --at ADDRESS, got: {got}")
    if elsewhere is not None:
        from arena.league.door.fetching import fetch_seasons

        with elsewhere.client() as client:
            fetch_seasons(client, out)
        own, folder = elsewhere.heads, out
        noted = noted or (own if own is not None and own.exists() else None)
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    verify = root.get_command(ctx, "verify")
    assert verify is not None
    words = [str(folder), *(["--noted", str(noted)] if noted is not None else []), *(["--json"] if as_json else [])]
    ctx.exit(verify.main(words, prog_name="arena verify", standalone_mode=False) or 0)
