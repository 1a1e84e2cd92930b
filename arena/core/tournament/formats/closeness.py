"""Draws opponents by how close their ratings are: what the ladder and a league's matchmaking have in common.

Laws:
1. Only `random` is used of a generator: its other methods may change with Python.
2. How uncertain a rating is never matters.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from typing import Final, Protocol

from arena.core.ratings.running import BETA

AGAIN: Final = 0.1
"""Factor by which somebody is chosen less likely who was met lately."""


class Generator(Protocol):
    """What is needed of `random.Random`."""

    def random(self) -> float:
        """Returns a number from 0 up to, but not including, 1."""


def generator(draw: bytes, number: int) -> Generator:
    """Returns the generator of match `number`, from which all in its choice follows; all matches share `draw`."""
    return random.Random(int.from_bytes(hashlib.sha256(draw + number.to_bytes(8)).digest()))


def weights(mu: float, others: Sequence[float], lately: Sequence[bool], again: float = AGAIN) -> list[float]:
    """Returns how likely each of the others is chosen, relative to the rest.

    Args:
        lately: By other whether they met lately.
        again: What the weight of these is multiplied by.
    """
    distances = [(other - mu) ** 2 / (4 * BETA**2) for other in others]
    # Measured from the closest, so that not all weights are 0 for somebody who is far from everybody.
    closest = min(distances)
    return [math.exp(closest - far) * (again if met else 1) for far, met in zip(distances, lately, strict=True)]


def draw_place(rng: Generator, weights: Sequence[float]) -> int:
    """Returns a place in `weights`, drawn with these weights."""
    left = rng.random() * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return place
    # Rounding left a little, or all weights are too small for a number.
    return len(weights) - 1
