"""The formats of a tournament: which entrants meet, round after round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from arena.tournament.formats.extension import Extension
from arena.tournament.formats.round_robin import RoundRobin

AnyFormat: TypeAlias = RoundRobin | Extension
"""A format with its parameters."""

FORMATS: Final[Mapping[str, type[AnyFormat]]] = {
    "round-robin": RoundRobin,
    "extension": Extension,
}
"""Every format by its name."""
