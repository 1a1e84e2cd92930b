"""Stub."""

from arena.types import Level


def require(level: Level) -> None: ...
