"""How kinds and rows are written in events, views and actions."""

from __future__ import annotations

from arena.rules.gardener.deck import KINDS
from arena.rules.gardener.geometry import Row
from arena.rules.gardener.state import ALL_KINDS
from arena.types import Payload

_KIND_NAMES = [[name for kind, name in enumerate(KINDS) if kinds >> kind & 1] for kinds in range(ALL_KINDS + 1)]


def kind_names(kinds: int) -> list[str]:
    """The names of a set of kinds, in their order."""
    return list(_KIND_NAMES[kinds])


def along(down: bool) -> str:
    """The direction in which a row runs."""
    return "down" if down else "across"


def row_fact(row: Row) -> Payload:
    """A row with all that is to be known of it."""
    return {"at": [row.x, row.y], "along": along(row.down), "kind": KINDS[row.kind], "length": row.length}
