"""The games. `make_rules` is how the rest of the program comes by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.errors import ConfigError, did_you_mean
from arena.rules.base import Rules

NAMES = ("samurai",)
"""Every game, by its name on the wire."""


def _game(name: str) -> Any:
    if name == "samurai":
        from arena.rules.samurai.game import Samurai

        return Samurai
    raise _unknown("the rules of a game", NAMES, name)


def resolve_options(name: str, ruleset: str, overrides: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The options of a ruleset with some set otherwise.

    Returns:
        The ruleset's name, or `custom` if an option differs from it; and every option with its value.

    Raises:
        ConfigError: A name or value does not exist. Show the message: it names the close ones.
    """
    game = _game(name)
    if ruleset not in game.rulesets:
        raise _unknown(f"a ruleset of {name}", game.rulesets, ruleset)
    _check_options(name, overrides)
    named = dict(game.rulesets[ruleset])
    options = named | dict(overrides)
    return (ruleset if options == named else "custom"), options


def _check_options(name: str, options: Mapping[str, str]) -> None:
    values = {option.name: option.values for option in _game(name).option_list}
    for option, value in options.items():
        if option not in values:
            raise _unknown(f"an option of {name}", values, option)
        if value not in values[option]:
            raise _unknown(f"a value of {option}", values[option], value)


def make_rules(name: str, board_text: str, board_name: str, seats: int, options: Mapping[str, str]) -> Rules[Any]:
    """A game's rules at a board.

    Args:
        name: The game.
        board_text: The text of the board file.
        board_name: What to call it in errors.
        seats: The number of players.
        options: Every option with its value, as `resolve_options` returns them.

    Raises:
        BoardError: The board file is malformed.
        ConfigError: The game or the board is not for so many players.
    """
    game = _game(name)
    if seats not in game.seat_counts:
        counts = game.seat_counts
        raise ConfigError(f"expected {counts.start} to {counts.stop - 1} players for {name}, got: {seats}")
    _check_options(name, options)
    if missing := [option.name for option in game.option_list if option.name not in options]:
        raise ConfigError(f"expected every option of {name} to be set, these are missing: {', '.join(missing)}")
    rules: Rules[Any] = game.at(board_text, board_name, seats, options)
    return rules


def _unknown(what: str, names: Iterable[str], got: str) -> ConfigError:
    known = list(names)
    return ConfigError(f"expected {what}, one of {', '.join(known)}, got: {got!r}{did_you_mean(got, known)}")
