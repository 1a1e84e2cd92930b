"""Tournaments between programs that play board games with hidden information.

`import arena` offers the names of `__all__` to Python programs; docs/library.md shows them. They are in `arena.api`,
which is loaded when one of them is first asked for: a command does not wait for parts that it does not use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.renamed import OldNames

if TYPE_CHECKING:
    from arena.api import *  # noqa: F403

__version__ = "0.2.0"

sys.meta_path.insert(0, OldNames)  # before those that would load a file twice

__all__ = [  # noqa: F405
    "FORMATS",
    "ArenaError",
    "Begun",
    "Finished",
    "Level",
    "Planned",
    "Played",
    "Stopped",
    "analyse",
    "check_game",
    "find_logs",
    "make_settings",
    "open_reader",
    "open_store",
    "play_tournament",
    "read_log",
    "replay",
    "report",
    "rules_of",
    "set_caps",
    "set_up",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("arena.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
