"""The games. `make_rules` is how the rest of the program comes by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.errors import ConfigError, did_you_mean
from arena.rules.base import Rules, Ruleset
from arena.rules.boardtext import find_section

NAMES = ("samurai", "gardener")
"""Every game, by its name on the wire."""


def game(name: str) -> type[Rules[Any]]:
    """A game, for what holds at any board: its options, its rulesets, how many may play.

    Raises:
        ConfigError: There is no such game. Show the message: it names the close ones.
    """
    if name == "samurai":
        from arena.rules.samurai.game import Samurai

        return Samurai
    if name == "gardener":
        from arena.rules.gardener.game import Gardener

        return Gardener
    raise _unknown("the rules of a game", NAMES, name)


def rules_of_board(text: str) -> str | None:
    """The name of the game whose board a text is, going by the section that only its boards have, or None."""
    lines = text.splitlines()
    return next((name for name in NAMES if find_section(lines, game(name).board_section) is not None), None)


def find_ruleset(name: str, ruleset: str | None) -> Ruleset:
    """A ruleset of a game by its name, or the game's first.

    Raises:
        ConfigError: There is no such game or ruleset. Show the message: it names the close ones.
    """
    rulesets = game(name).rulesets
    ruleset = next(iter(rulesets)) if ruleset is None else ruleset
    if ruleset not in rulesets:
        raise _unknown(f"a ruleset of {name}", rulesets, ruleset)
    return rulesets[ruleset]


def resolve_options(name: str, ruleset: str | None, overrides: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The options of a ruleset with some set otherwise.

    Args:
        name: The game.
        ruleset: A ruleset's name, or None for the game's first.
        overrides: Options by name, with the values that differ.

    Returns:
        The name of the ruleset that has these options, or `custom`; and every option with its value.

    Raises:
        ConfigError: A name or value does not exist, or two of the values contradict each other. Show the message: it
            names the close ones, or both.
    """
    rulesets = game(name).rulesets
    options = {**find_ruleset(name, ruleset).options, **overrides}
    _check_options(name, options)
    return next((known for known, other in rulesets.items() if other.options == options), "custom"), options


def _check_options(name: str, options: Mapping[str, str]) -> None:
    known = {option.name: option for option in game(name).option_list}
    for option, value in options.items():
        if option not in known:
            raise _unknown(f"an option of {name}", known, option)
        if not known[option].accepts(value):
            domain = known[option].domain()
            raise ConfigError(
                f"expected a value of {option}: {domain}, got: {value!r}{did_you_mean(value, known[option].values)}"
            )
    settings = {f"{option}={value}" for option, value in options.items()}
    for one, other in game(name).contradictions:
        if {one, other} <= settings:
            raise ConfigError(f"expected options that can hold together, got: {one} and {other}; change one of them")


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
    counts = game(name).seat_counts
    if seats not in counts:
        raise ConfigError(f"expected {counts.start} to {counts.stop - 1} players for {name}, got: {seats}")
    _check_options(name, options)
    if missing := [option.name for option in game(name).option_list if option.name not in options]:
        raise ConfigError(f"expected every option of {name} to be set, these are missing: {', '.join(missing)}")
    return game(name).at(board_text, board_name, seats, options)


def _unknown(what: str, names: Iterable[str], got: str) -> ConfigError:
    known = list(names)
    return ConfigError(f"expected {what}, one of {', '.join(known)}, got: {got!r}{did_you_mean(got, known)}")
