"""Writes `catalogue.json`, the games of OpenSpiel that can be hosted: `python -m arena_openspiel.catalogue`.

A game can be hosted if it can be loaded without parameters, two to five can play it, and its chance is explicit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import pyspiel

from arena_openspiel.family import Entry
from arena_openspiel.game import is_open, read_struct
from arena_openspiel.parameters import PLAYERS

MOST_SEATS: Final = 5
"""How many can sit at a table of the arena."""
CHANGED: Final = {"bridge": {"use_double_dummy_result": "false"}}
"""Parameters that are not as OpenSpiel has them. In Bridge cards are played, and not only bid."""
REFUSED: Final = {
    "pathfinding": "OpenSpiel's own grid is for one player, and how many can play on another is not known before",
}
"""Games that break a law, or cannot be played, and why."""
_MORE: Final = "it tells a seat more than the words do"
WITHHELD: Final = {
    "dou_dizhu": {"tensor": _MORE},
    "gin_rummy": {"struct": "it shows whoever knocked the other's cards"},
    "go_fish": {"tensor": _MORE},
    "kriegspiel": {"tensor": _MORE},
}
"""Forms of views that are not offered, by game, and why. `arena rules check` finds each; the tests try all others."""


def catalogue() -> dict[str, Entry]:
    """Returns the games of the OpenSpiel that is installed, by their short names."""
    found = {}
    for kind in pyspiel.registered_games():
        is_sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        least, most = max(2, kind.min_num_players), min(MOST_SEATS, kind.max_num_players)
        if kind.default_loadable and not is_sampled and least <= most:
            name = kind.short_name
            most = next((count - 1 for count in range(least + 1, most + 1) if not _is_for(kind, count)), most)
            changed, refused = CHANGED.get(name, {}), REFUSED.get(name, "")
            found[name] = Entry(
                kind.long_name, least, most, changed, _has_struct(kind), WITHHELD.get(name, {}), refused
            )
    return dict(sorted(found.items()))


def _has_struct(kind: Any) -> bool:
    """Tells whether what a seat sees of a game can be had as a map."""
    start = pyspiel.load_game(kind.short_name).new_initial_state()
    try:
        read_struct(start, None if is_open(kind) else 0)
    except (pyspiel.SpielError, RuntimeError):
        return False
    return True


def _is_for(kind: Any, players: int) -> bool:
    """Tells whether a number of players can play a game, all else being as OpenSpiel has it."""
    parameters = {PLAYERS: players} if PLAYERS in kind.parameter_specification else {}
    try:
        return bool(pyspiel.load_game(kind.short_name, parameters).num_players() == players)
    except pyspiel.SpielError:
        return False


if __name__ == "__main__":
    written = msgspec.json.format(msgspec.json.encode(catalogue()), indent=1)
    Path(__file__).with_name("catalogue.json").write_bytes(written + b"\n")
