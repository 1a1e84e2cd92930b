"""The formats of a tournament: which entrants meet, round after round.

Those of the core stand here, and a wing brings those that its commands make. Another package brings one as an entry
point of the group `arena.formats`: its name there is the format's name, and its value a subclass of
`arena.core.tournament.formats.base.Format` with that tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from arena.core import plugs
from arena.core.errors import ConfigError
from arena.core.loading import Entry, entries, load
from arena.core.tournament.formats.adaptive import Adaptive as Adaptive
from arena.core.tournament.formats.adaptive import check_games as check_games
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.base import Lagging as Lagging
from arena.core.tournament.formats.compare import Compare as Compare
from arena.core.tournament.formats.compare import shares as shares
from arena.core.tournament.formats.extension import Extension as Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.ladder import Ladder
from arena.core.tournament.formats.round_robin import Gauntlet as Gauntlet
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.types import Payload

GROUP: Final = "arena.formats"
"""The group of entry points by which formats of other packages are found."""
OWN: Final[Mapping[str, type[Format]]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
    "adaptive": Adaptive,
    "compare": Compare,
    "extension": Extension,
}
"""Formats of the core, in the order in which people are told about them."""


class _Formats(Mapping[str, type[Format]]):
    """Formats by name: those of the core, of wings, then of packages, which are looked for only if they are needed."""

    def __getitem__(self, name: str) -> type[Format]:
        """Returns a format. KeyError: none has that name. ConfigError (for the operator): its package is broken."""
        if name in OWN:
            return OWN[name]
        for wing, formats in plugs.brought("formats"):
            if name in formats:
                found: type[Format] = plugs.load(formats[name], f"the format {name!r}", wing)
                return found
        return _load(others()[name])

    def __iter__(self) -> Iterator[str]:
        return iter(
            dict.fromkeys((*OWN, *(name for _, found in plugs.brought("formats") for name in found), *others()))
        )

    def __len__(self) -> int:
        return len([*self])


FORMATS: Final[Mapping[str, type[Format]]] = _Formats()
"""All that are installed, by name."""


def format_of(settings: Payload) -> type[Format]:
    """Returns the format of stored settings.

    Raises:
        ValueError: Nothing that is installed brings it.
        ConfigError: A wing brings it that is not loaded. Show the message to the operator.
    """
    name = str(settings.get("format"))
    if name in FORMATS:
        return FORMATS[name]
    raise plugs.refusal("formats", name, f"the format {name!r:.80}") or ValueError(
        f"unknown format {name!r:.80}: install the package that brings it"
    )


@cache
def others() -> Mapping[str, Entry]:
    """Returns the formats of packages, none of them loaded."""
    return {entry.name: entry for entry in entries(GROUP)}


@cache
def _load(entry: Entry) -> type[Format]:
    loaded = load(entry.value, f"the format {entry.name!r}", entry.package)
    if not (isinstance(loaded, type) and issubclass(loaded, Format) and loaded.__struct_config__.tag == entry.name):
        raise ConfigError(
            f"expected the entry point {entry.name!r} to name a subclass of "
            "arena.core.tournament.formats.base.Format whose "
            f"tag is {entry.name!r}, got: {entry.value}; correct the entry point or the class"
        )
    return loaded
