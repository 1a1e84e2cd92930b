"""Defines the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from arena.types import RACE_WINDOW_MS

if TYPE_CHECKING:
    from arena.types import GameSettings

F = TypeVar("F", bound=Callable[..., Any])

_GAME = (
    click.option("--rules", default="samurai", show_default=True, help="Which game."),
    click.option(
        "--ruleset", help="A named set of options of the rules (see `arena rules list`).  [default: the game's first]"
    ),
    click.option(
        "--rule", "overrides", multiple=True, metavar="NAME=VALUE", help="One option that differs; may be repeated."
    ),
    click.option("--board", metavar="FILE", help="A board: a file or a bundled name.  [default: the game's own]"),
    click.option(
        "--time",
        default="10+0.1",
        show_default=True,
        metavar="CONTROL",
        help="BANK+INCREMENT, LIMIT/move, or both with a comma between, in seconds.",
    ),
    click.option(
        "--race-window",
        "race_window_ms",
        type=float,
        default=RACE_WINDOW_MS,
        metavar="MS",
        help="Answers of a race that are no further apart are a tie, decided by chance.  "
        f"[default: {RACE_WINDOW_MS:g}]",
    ),
)


MakeGame: TypeAlias = Callable[[int], "GameSettings"]
"""Makes the settings of a game for a number of players."""


def game_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say what is played. The function gets them as one argument, `make_game: MakeGame`."""

    @wraps(function)
    def command(*args: Any, **kwargs: Any) -> Any:
        chosen = {name: kwargs.pop(name) for name in ("ruleset", "overrides", "board", "time", "race_window_ms")}
        rules = kwargs.pop("rules")

        def make_game(players: int) -> GameSettings:
            from arena.games import make_settings

            return make_settings(rules, players, **chosen)

        return function(*args, make_game=make_game, **kwargs)

    for option in reversed(_GAME):
        command = option(command)
    return command


def logs_option(help: str) -> Callable[[F], F]:
    """Returns the option `--logs DIR`."""
    return click.option("--logs", default="logs", show_default=True, type=click.Path(path_type=Path), help=help)


seed_option = click.option("--seed", metavar="TEXT", help="Make the deals reproducible.  [default: from the system]")
"""`--seed TEXT`."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
"""`--json`."""

db_option = click.option(
    "--db", default="arena.db", show_default=True, type=click.Path(path_type=Path), help="The database of results."
)
"""`--db FILE`."""
