"""What is expected of strengths before any result: a normal distribution, held by its precision.

Strengths scatter with deviation `SIGMA`. A new version of a bot is another case: it is about as strong as its
predecessor, give or take `ADDED_SIGMA`, so that its first matches do not take it to the middle of all bots. Of such a
chain only the first scatters by itself. With anchors the prior is about distances from the mean of all, so that an
anchor moves the scale and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from arena.ratings.comparisons import Indices, Matrix, Vector, sums
from arena.ratings.running import ADDED_SIGMA, SIGMA

PRIOR: Final = SIGMA**-2
"""The precision of a strength of which nothing is known."""
STEP: Final = ADDED_SIGMA**-2
"""That of the difference between a version and its predecessor."""


class Prior:
    """The prior of those that played, who are counted 0, 1, ...

    Args:
        played: The numbers that they have outside.
        anchored: Whether anchors fix the scale.
        predecessors: By entrant, as numbered outside, the one that it follows. It must have come earlier, and so may
            have no results: then the one before it counts, at a greater distance.
    """

    def __init__(self, played: Indices, *, anchored: bool, predecessors: Mapping[int, int]) -> None:
        row = {who: place for place, who in enumerate(played.tolist())}
        links = [(place, *found) for who, place in row.items() if (found := _before(who, row, predecessors))]
        self._anchored = anchored
        self._later = np.array([later for later, _, _ in links], dtype=np.int64)
        self._earlier = np.array([earlier for _, earlier, _ in links], dtype=np.int64)
        self._weights = np.array([STEP / steps for _, _, steps in links])
        self._alone = np.ones(len(row))
        self._alone[self._later] = 0.0
        met = sums(self._later, self._weights, len(row)) + sums(self._earlier, self._weights, len(row))
        self.diagonal: Vector = PRIOR * self._alone + met
        """Its diagonal as a matrix, but for what is taken off with anchors."""

    @property
    def is_linked(self) -> bool:
        """Whether anybody follows a predecessor: then the mean of all need not be where the prior's is."""
        return len(self._later) > 0

    def times(self, values: Matrix) -> Matrix:
        """Returns the precision times strengths, or times each column."""
        image: Matrix = PRIOR * self._scattered(values)
        apart = (self._weights * (values[self._later] - values[self._earlier]).T).T
        np.add.at(image, self._later, apart)
        np.subtract.at(image, self._earlier, apart)
        return image

    def draw(self, random: np.random.Generator) -> Vector:
        """Returns a vector of which the covariance is the precision."""
        drawn: Vector = np.sqrt(PRIOR) * self._scattered(random.standard_normal(len(self._alone)))
        apart = np.sqrt(self._weights) * random.standard_normal(len(self._weights))
        return drawn + sums(self._later, apart, len(drawn)) - sums(self._earlier, apart, len(drawn))

    def _scattered(self, values: Matrix) -> Matrix:
        """Returns the values of those that follow nobody, 0 for the others; with anchors from their mean.

        Without anchors the mean is 0 anyway, and leaving it out of the prior would leave it undetermined.
        """
        alone: Matrix = (self._alone * values.T).T
        if self._anchored:
            alone = alone - np.multiply.outer(self._alone, alone.sum(axis=0) / self._alone.sum())
        return alone


def _before(who: int, row: Mapping[int, int], predecessors: Mapping[int, int]) -> tuple[int, int] | None:
    """Returns the place of the nearest predecessor that played, and how many steps before it was; None without one."""
    steps = 0
    while (before := predecessors.get(who, who)) < who:
        who, steps = before, steps + 1
        if who in row:
            return row[who], steps
    return None
