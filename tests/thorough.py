"""How much the tests of faults try: all of it takes a quarter of an hour, so the usual run takes samples."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

THOROUGH = bool(os.environ.get("ARENA_TEST_THOROUGH"))  # whether everything is tried: `make test-thorough` sets it
USUAL_STEP = 25


def places(statements: int) -> range:
    """Returns the statements at which a fault is tried: all, or every 25th from a random one on.

    Over many runs each is tried. pytest-randomly prints the seed of a run, with which it can be repeated.
    """
    step = 1 if THOROUGH else USUAL_STEP
    return range(random.randint(1, step), statements + 1, step)


def but_thorough(values: Iterable[str], *slow: str) -> list[ParameterSet]:
    """Returns values as cases of a test; those that are slow are left to the thorough suite."""
    return [pytest.param(value, marks=[pytest.mark.thorough] if value in slow else []) for value in values]
