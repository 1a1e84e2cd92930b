"""The games that come with arena, each in one place: rules, numbers, drawings, words."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Returns a name of `arena.core.catalogue`, which was `arena.games` until 0.2."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("arena.core.catalogue"), name)
