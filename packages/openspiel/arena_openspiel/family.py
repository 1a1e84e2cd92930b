"""The family `openspiel`: what there is, without loading OpenSpiel.

`catalogue.json` has the games that can be hosted, written by `catalogue.py` from OpenSpiel itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any

import msgspec

from arena.core.face import Family, errors, game_kit

FAMILY = "openspiel"
"""The family's name."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game of OpenSpiel."""

    about: str
    """OpenSpiel's long name of it."""
    least: int
    """How many can play it at least."""
    most: int
    """How many can play it at most, in the arena."""
    changed: dict[str, str] = {}
    """The parameters that are not as OpenSpiel has them, unless somebody sets them."""
    struct: bool = False
    """Whether OpenSpiel describes what a seat sees by a map."""
    withheld: dict[str, str] = {}
    """By form of a view that is not offered why not: it tells a seat more than OpenSpiel's words do."""
    refused: str = ""
    """Why it cannot be played; empty if it can."""


class OpenSpiel(Family):
    """OpenSpiel's games that can be hosted."""

    about = "OpenSpiel's games, from tic-tac-toe to Hearts, Dark Chess and Hanabi"

    @cached_property
    def catalogue(self) -> dict[str, Entry]:
        """The games by OpenSpiel's short names, also those that are refused."""
        text = files(__package__).joinpath("catalogue.json").read_bytes()
        return msgspec.json.decode(text, type=dict[str, Entry])

    def games(self) -> Mapping[str, str]:
        refused = " (cannot be played here)"
        return {name: entry.about + refused * bool(entry.refused) for name, entry in self.catalogue.items()}

    def game(self, name: str) -> type[game_kit.Rules[Any]]:
        entry = self.catalogue[name]
        if entry.refused:
            raise errors.ConfigError(
                f"expected a game of OpenSpiel that the arena can host, got: {name!r}: {entry.refused}"
            )
        try:
            from arena_openspiel.game import game_class
        except ImportError as error:
            raise errors.ConfigError(
                f"expected OpenSpiel to be installed for {FAMILY}:{name}, got: {error}; pip install open_spiel"
            ) from None
        players = range(entry.least, entry.most + 1)
        return game_class(
            f"{FAMILY}:{name}", name, entry.about, players,
            changed=entry.changed, has_struct=entry.struct, withheld=entry.withheld,
        )  # fmt: skip
