"""The formats of a tournament: which entrants meet, round after round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from arena.tournament.formats.adaptive import Adaptive
from arena.tournament.formats.compare import Compare
from arena.tournament.formats.extension import Extension
from arena.tournament.formats.gauntlet import Gauntlet
from arena.tournament.formats.knockout import Knockout
from arena.tournament.formats.ladder import Ladder
from arena.tournament.formats.round_robin import RoundRobin
from arena.tournament.formats.swiss import Swiss

AnyFormat: TypeAlias = RoundRobin | Gauntlet | Swiss | Knockout | Ladder | Adaptive | Compare | Extension
"""Any format. Its tag, `name`, says which."""

FORMATS: Final[Mapping[str, type[AnyFormat]]] = {
    "round-robin": RoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "ladder": Ladder,
    "adaptive": Adaptive,
    "compare": Compare,
    "extension": Extension,
}
"""By name, in the order in which people are told about them."""
