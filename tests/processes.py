"""What tests with real processes share: their ends, of which no event tells, and the levels that hold them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.types import Level
from arena.sandbox.levels import level_in_force


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether something becomes true in this time, which it does at once if all is well."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def level_of(request: pytest.FixtureRequest) -> Level:
    """The level that a fixture asks for; without it the test is skipped."""
    level = Level(request.param)
    if missing := level_in_force(level):
        pytest.skip(f"this machine does not give level {level}: {', '.join(missing)}")
    return level
