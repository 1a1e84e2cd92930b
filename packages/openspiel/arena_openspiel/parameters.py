"""OpenSpiel's parameters of a game as options of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from arena.core.face import game_kit

VIEW: Final = "view"
"""The option that says what views hold. It is the arena's, not OpenSpiel's."""
PLAYERS: Final = "players"
"""The parameter that the number of seats sets."""
MOST: Final = 1_000_000
"""The greatest whole number that a parameter can have."""


class NumberOption(game_kit.Option, frozen=True):
    """An option that can be any number."""

    def accepts(self, value: str) -> bool:
        """Returns whether it can have a value."""
        try:
            float(value)
        except ValueError:
            return False
        return True

    def domain(self) -> str:
        """Returns the values it can have, for people."""
        return "a number"


class TextOption(game_kit.Option, frozen=True):
    """An option that can be any text: what OpenSpiel makes of it is seen when a game is made."""

    def accepts(self, value: str) -> bool:
        """Returns whether it can have a value."""
        return True

    def domain(self) -> str:
        """Returns the values it can have, for people."""
        return "a text"


def options_of(kind: Any, *, has_struct: bool, withheld: Mapping[str, str] = {}) -> Iterator[game_kit.Option]:
    """Yields the options of a game: what views hold, and OpenSpiel's parameters.

    Args:
        kind: OpenSpiel's type of the game.
        has_struct: Whether it describes what a seat sees by a map.
        withheld: By form of a view that is not offered why not.
    """
    meanings = {"text": "what OpenSpiel says of the position in words"}
    if kind.provides_information_state_tensor or kind.provides_observation_tensor:
        meanings["tensor"] = "that, and the numbers for a program that learns"
    if has_struct:
        meanings["struct"] = "that, and a map of what lies where"
    offered = {form: meaning for form, meaning in meanings.items() if form not in withheld}
    without = "".join(f"; not {form}: {why}" for form, why in withheld.items())
    yield game_kit.Option(VIEW, offered, f"What a seat is shown{without}")
    for name, value in kind.parameter_specification.items():
        if name in (PLAYERS, VIEW):
            continue
        told, about = {_text(value): "OpenSpiel's default"}, f"OpenSpiel's parameter {name}"
        if isinstance(value, bool):
            other = _text(not value)
            yield game_kit.Option(name, {**told, other: f"not {_text(value)}"}, about)
        elif isinstance(value, int):
            yield game_kit.Option(name, told, about, numbers=range(MOST + 1))
        elif isinstance(value, float):
            yield NumberOption(name, told, f"{about}, a number")
        elif isinstance(value, str):
            yield TextOption(name, told, f"{about}, a text")


def parameters_of(kind: Any, options: Mapping[str, str], seats: int) -> dict[str, Any]:
    """Returns the parameters with which OpenSpiel makes a game."""
    specification = kind.parameter_specification
    found: dict[str, Any] = {}
    for name, text in options.items():
        default = specification.get(name)
        if name == VIEW or _text(default) == text:
            continue
        found[name] = text == "true" if isinstance(default, bool) else type(default)(text)
    if PLAYERS in specification:
        found[PLAYERS] = seats
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
