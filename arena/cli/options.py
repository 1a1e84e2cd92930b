"""Defines the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli import complete
from arena.cli.help import HOW, RESULTS, WHAT, option
from arena.core.types import RACE_WINDOW_MS, Level, times_by_bot

if TYPE_CHECKING:
    from arena.core.types import GameSettings

_GAME = (
    option(WHAT, "--rules", default="samurai", show_default=True, metavar="NAME", shell_complete=complete.rules,
           help="Which game."),
    option(WHAT, "--ruleset", metavar="NAME", shell_complete=complete.rulesets,
           help="Its ruleset (`arena rules list`).  [default: its first]"),
    option(WHAT, "--rule", "overrides", multiple=True, metavar="NAME=VALUE", shell_complete=complete.rule_options,
           help="An option that differs; may be repeated."),
    option(WHAT, "--board", metavar="FILE", shell_complete=complete.boards,
           help="A board: a file or a bundled name.  [default: the game's]"),
)  # fmt: skip
_AFTER_TIME = (
    option(WHAT, "--cpu", rare=True, metavar="TIME", help="CPU time of a bot in a game, such as 20s, beside --time."),
    option(WHAT, "--race-window", "race_window_ms", type=float, default=RACE_WINDOW_MS, rare=True, metavar="MS",
           help=f"Answers of a race this close are a tie.  [default: {RACE_WINDOW_MS:g}]"),
)  # fmt: skip

_CHOSEN = ("ruleset", "overrides", "board", "time", "cpu", "race_window_ms")  # beside the game's name

TIME: Final = "10+0.1"
LEVELS = tuple(str(level) for level in Level if level is not Level.REMOTE)  # of bots on this machine


class MakeGame:
    """Makes the settings of the game that the operator chose, for a number of players."""

    def __init__(self, rules: str, chosen: dict[str, Any]) -> None:
        self.rules = rules
        """The game's name, not yet checked."""
        self._chosen = chosen
        self.times: dict[str, str] = {}
        """Time by entrant, where it is not that of all."""
        if not isinstance(chosen["time"], str):
            self.times = times_by_bot(chosen["time"])
            chosen["time"] = self.times.pop("", TIME)

    def __call__(self, players: int) -> GameSettings:
        """Returns the settings.

        Raises:
            ConfigError: Something cannot be used. Show the message to the operator.
        """
        from arena.core.catalogue import make_settings

        return make_settings(self.rules, players, **self._chosen)


def game_options(
    function: Callable[..., Any],
    default: str | tuple[str] = (TIME,),
    times: str = "10s, 1m+1, 500ms/move, 1m,2/move; BOT=5s.",
) -> Callable[..., Any]:
    """Adds the options that say what is played. The function gets them as one argument, `make_game: MakeGame`."""
    several = not isinstance(default, str)

    @wraps(function)
    def command(*args: Any, **kwargs: Any) -> Any:
        chosen = {name: kwargs.pop(name) for name in _CHOSEN}
        return function(*args, make_game=MakeGame(kwargs.pop("rules"), chosen), **kwargs)

    time = option(WHAT, "--time", default=default, multiple=several, show_default=True, metavar="CONTROL", help=times)
    for add in (*reversed(_AFTER_TIME), time, *reversed(_GAME)):
        command = add(command)
    return command


untimed_game_options = partial(game_options, default="off", times="off, or 10s, 1m+1, 500ms/move, 1m,2/move.")
"""Adds the same options, for games in which the clock is off unless somebody wants one."""


def logs_option(help: str) -> Callable[..., Any]:
    """Returns the option `--logs DIR`."""
    path = click.Path(path_type=Path)
    return option(RESULTS, "--logs", default="logs", show_default=True, type=path, metavar="DIR", help=help)


level_option = option(
    HOW, "--level", type=click.Choice(LEVELS), default=str(Level.TRUSTED), show_default=True, metavar="LEVEL",
    callback=lambda _ctx, _option, level: Level(level), help="trusted, fenced, isolated or strict.",
)  # fmt: skip


def force_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--force-concurrency`. Without it `concurrency` is no more than the cores, but on a cluster."""

    @wraps(function)
    def command(*args: Any, force_concurrency: bool, **kwargs: Any) -> Any:
        from arena.core.tournament.workers import check_cores

        address, games = kwargs.get("cluster") or "local:", kwargs["concurrency"]
        if not force_concurrency and address.startswith("local:"):
            here = address.removeprefix("local:")
            check_cores(*((int(here), "--cluster") if here.isdecimal() else (games or 1, "--concurrency")))
        return function(*args, **kwargs)

    return option(HOW, "--force-concurrency", is_flag=True, hidden=True, help="More games than cores.")(command)


def concurrency_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--concurrency N` and `--force-concurrency`."""
    help = "Games at a time (--force-concurrency: beyond the cores).  [default: one on each core]"
    return option(HOW, "--concurrency", type=int, metavar="N", help=help)(force_option(function))


seed_option = option(WHAT, "--seed", metavar="TEXT", help="Make the deals reproducible.")

json_option = option(RESULTS, "--json", "as_json", is_flag=True, help="Print one JSON document.")

quiet_option = option(RESULTS, "-q", "--quiet", is_flag=True, help="Print only results and errors.")

verbose_option = option(RESULTS, "-v", "--verbose", is_flag=True, help="Print all columns, and digests.")

columns_option = click.option("-v", "--verbose", is_flag=True, help="Print all columns.")
"""`--verbose`, of commands that print standings and nothing else."""

each_game_option = option(RESULTS, "--each-game", is_flag=True, help="Print a line for each game that is over.")

DEFAULT_DB = "arena.db"
db_option = option(RESULTS, "--db", default=DEFAULT_DB, show_default=True, type=click.Path(path_type=Path),
                   metavar="FILE", help="The database of results.")  # fmt: skip
