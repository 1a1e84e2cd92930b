"""The formats of a tournament: which entrants meet, round after round.

Those of arena stand here. Another package brings one as an entry point of the group `arena.formats`: its name there is
the format's name, and its value a subclass of `arena.core.tournament.formats.base.Format` with that tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from arena.core.errors import ConfigError
from arena.core.plugs import entries, load_entry
from arena.core.tournament.formats.adaptive import Adaptive
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.gauntlet import Gauntlet
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.ladder import Ladder
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.learn.tune.format import Tune

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
    "tune": Tune,
}
"""Those of arena, in the order in which people are told about them."""


class _Formats(Mapping[str, type[Format]]):
    """Formats by name: those of arena, then those of other packages, which are looked for only if they are needed."""

    def __getitem__(self, name: str) -> type[Format]:
        """Returns a format.

        Raises:
            KeyError: There is none of that name.
            ConfigError: Its package is broken. Show the message to the operator.
        """
        return OWN[name] if name in OWN else _load(_others()[name])

    def __iter__(self) -> Iterator[str]:
        yield from OWN
        yield from (name for name in _others() if name not in OWN)

    def __len__(self) -> int:
        return len({*OWN, *_others()})


FORMATS: Final[Mapping[str, type[Format]]] = _Formats()
"""All that are installed, by name."""


@cache
def _others() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entries(GROUP)}


@cache
def _load(entry: EntryPoint) -> type[Format]:
    loaded = load_entry(entry, f"the format {entry.name!r}")
    if not (isinstance(loaded, type) and issubclass(loaded, Format) and loaded.__struct_config__.tag == entry.name):
        raise ConfigError(
            f"expected the entry point {entry.name!r} to name a subclass of "
            "arena.core.tournament.formats.base.Format whose "
            f"tag is {entry.name!r}, got: {entry.value}; correct the entry point or the class"
        )
    return loaded
