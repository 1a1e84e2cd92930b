"""`arena league init`: makes a league."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
from click.core import ParameterSource

from arena.cli import complete
from arena.cli.options import LEVELS
from arena.cli.output import command_line, echo, say
from arena.core.face import errors


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="What it is called.  [default: like the folder]")
@click.option(
    "--rules", default="samurai", show_default=True, metavar="NAME", help="Which game.", shell_complete=complete.rules
)
@click.option("--ruleset", default="", metavar="NAME", help="Its ruleset.  [default: its first]")
@click.option("--rule", "overrides", multiple=True, metavar="NAME=VALUE", help="An option that differs; repeatable.")
@click.option("--players", default="2", show_default=True, metavar="N[,N]", help="Seats of a game: 2, or 2,4.")
@click.option("--board", default="", metavar="FILE", help="A board: a bundled name, or a file.  [default: the game's]")
@click.option("--time", default="10+0.1", show_default=True, metavar="CONTROL", help="10s, 1m+1, 500ms/move.")
@click.option("--cpu", default="", metavar="TIME", help="CPU time of a bot in a game, such as 20s.")
@click.option(
    "--level", type=click.Choice(LEVELS), default="isolated", show_default=True, metavar="LEVEL",
    help="How bots are confined: trusted, fenced, isolated or strict.",
)  # fmt: skip
@click.option(
    "--beacon", type=click.Choice(["quicknet"]), metavar="NAME",
    help="quicknet: a round of drand goes into each season's deals (docs/league.md).",
)  # fmt: skip
@click.pass_context
def init(
    ctx: click.Context,
    folder: Path,
    name: str | None,
    rules: str,
    ruleset: str,
    overrides: tuple[str, ...],
    players: str,
    board: str,
    time: str,
    cpu: str,
    level: str,
    beacon: str | None,
) -> None:
    """Make a league: a folder with its settings, its database and its first season.

    The bots random and greedy are in it from the start, as far as they play the game. FOLDER/league.toml explains every
    setting. What ratings depend on (rules, players, board, time, level) is fixed for a season; all else may be changed
    at any time.

    Without --level the machine must give level isolated now. A level that is named need be given only where the league
    runs, for instance in a service of systemd.

    \b
    Example:
      arena league init cup --players 2,4
      arena league submit mybot --league cup --wait
    """
    import msgspec

    from arena.core.face import catalogue, programs
    from arena.league.folder import SETTINGS
    from arena.league.season.opening import make_league
    from arena.league.settings import Bots, Game, Season, Settings
    from arena.league.submissions.house import usual_house
    from arena.sandbox.levels import lack, other

    if not re.fullmatch(r"[0-9]{1,2}(,[0-9]{1,2})*", players):
        raise errors.ConfigError(f"expected numbers of players, such as 2 or 2,4, got: {players!r}; correct --players")
    game = Game(
        rules=rules, ruleset=ruleset, options=catalogue.parse_overrides(overrides),
        players=tuple(int(count) for count in players.split(",")),
        board=str(Path(board).absolute()) if board and Path(board).is_file() else board, time=time, cpu=cpu,
    )  # fmt: skip
    bots = msgspec.convert({"level": level, "house": usual_house(rules)}, Bots)
    season = msgspec.convert({"beacon": beacon or ""}, Season)
    settings = Settings(name=name or folder.absolute().name, game=game, bots=bots, season=season)
    is_there = (folder / SETTINGS).exists()  # then that is said, whatever the machine gives
    lacks = "" if is_there else lack(settings.level)
    given = other(settings.level) if lacks else None
    again = "" if given is None else f"{command_line(ctx, without=('level',))} --level {given}"
    if lacks and ctx.get_parameter_source("level") is ParameterSource.DEFAULT:
        choice = f", or let bots be {given}: {again}" if again else ""
        raise errors.LevelError(
            f"expected a machine that gives level {level}, got: one where {lacks}, and try again{choice}"
        )
    made = make_league(folder, settings)
    many = players.replace(",", " or ")
    echo(f"{folder} is a league of {rules}, {many} players, time {time}, level {level}. Next:")
    echo(f"  arena league submit BOT --league {folder}")
    echo(f"  arena league run {folder}")
    echo(f"Its settings are in {folder / made.settings.name}")
    try:
        programs.check_disk(folder)
    except errors.MachineFault as error:
        say(f"The league does not run before this is so: {error}")
    if lacks:
        choice = f", or begin anew: rm -r {shlex.quote(str(folder))} && {again}" if again else ""
        say(f"The league runs only where level {level} is given (arena doctor --level {level}). Here: {lacks}{choice}")
