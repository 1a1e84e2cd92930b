"""How much the tests of faults try: all of it takes a quarter of an hour, so the usual run takes samples."""

from __future__ import annotations

import os
import random

THOROUGH = bool(os.environ.get("ARENA_TEST_THOROUGH"))
"""Whether everything is tried: `make test-thorough` sets it."""
USUAL_STEP = 6


def places(statements: int) -> range:
    """Returns the statements at which a fault is tried: all, or every sixth from a random one on.

    Over many runs each is tried. pytest-randomly prints the seed of a run, with which it can be repeated.
    """
    step = 1 if THOROUGH else USUAL_STEP
    return range(random.randint(1, step), statements + 1, step)
