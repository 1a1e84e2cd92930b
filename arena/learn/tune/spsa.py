"""Simultaneous perturbation stochastic approximation (J. C. Spall, 1992): better numbers from comparisons. Pure.

Numbers stand between 0 and 1, the ends of their ranges. In each step all of them are moved at once, each up or down,
and the two opposite moves are compared, by shares. All numbers then go a little way towards the better one.

1. Which go up follows a Hadamard matrix (S. Bhatnagar and others, 2003): over a period every two numbers go the same
   way as often as opposite ways, so that what one of them does is not taken for what another does.
2. A step is measured in deviations of its shares, not in shares. So it fits a game whose shares are all near a half as
   well as one in which the better side wins everything.
3. What is found is the mean of the second half of the way, in which most of the chance of single steps is gone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

REACH: Final = 0.2  # length of the first move, as a part of the range
REACH_FALLS: Final = 0.101  # the power of the step by which it becomes shorter (Spall)
RATE: Final = 0.6  # part of the first move that the numbers go, for each deviation that the shares are from even
RATE_FALLS: Final = 0.602  # the power of the step by which that becomes less (Spall)
SETTLING: Final = 0.1  # before this part of the steps it becomes less slowly
MOST: Final = 3.0
"""So many deviations from even count at most: more of them say no more of the way."""


def period(count: int) -> int:
    """Returns after how many steps so many numbers have gone alike and opposite ways equally often."""
    return 1 << count.bit_length()


def ways(count: int, step: int) -> list[int]:
    """Returns which way each of so many numbers goes in a step at the first end: 1 up, -1 down."""
    row = step % period(count)
    return [(-1) ** ((column & row).bit_count() % 2) for column in range(1, count + 1)]


class Spsa:
    """One search. Ask for `ends`, compare them, and give what came of it to `take`, step by step.

    Steps may be asked for before the last ones are taken: they go from what is known.
    """

    def __init__(self, start: Sequence[float], steps: int, least: Sequence[float] = ()) -> None:
        """Begins a search.

        Args:
            start: The numbers, from 0 to 1.
            steps: The number of steps in all.
            least: The least that each number is moved, so that whole numbers differ; empty means not at all.
        """
        self.at = list(start)
        self._steps = steps
        self._least = list(least) or [0.0] * len(start)
        self._taken = 0
        self._squares = self._degrees = 0.0
        self._second_half = [0.0] * len(start)
        self._counted = 0

    def ends(self, step: int) -> tuple[list[float], list[float]]:
        """Returns the two sets of numbers to compare in a step, counted from 0."""
        moves = self._moves(step)
        up = [_within(at + move) for at, move in zip(self.at, moves, strict=True)]
        down = [_within(at - move) for at, move in zip(self.at, moves, strict=True)]
        return up, down

    def take(self, shares: Sequence[float]) -> None:
        """Takes the shares of the first end of the earliest step that is not taken: each from 0 to 1, of one deal."""
        step, moves = self._taken, self._moves(self._taken)
        self._taken += 1
        ahead = self._ahead(shares)
        settling = SETTLING * self._steps
        rate = RATE * ((1 + settling) / (1 + settling + step)) ** RATE_FALLS
        self.at = [_within(at + rate * ahead * move) for at, move in zip(self.at, moves, strict=True)]
        if self._taken > self._steps / 2:
            self._second_half = [total + at for total, at in zip(self._second_half, self.at, strict=True)]
            self._counted += 1

    def found(self) -> list[float]:
        """Returns the best numbers as far as is known."""
        return [total / self._counted for total in self._second_half] if self._counted else list(self.at)

    def _moves(self, step: int) -> list[float]:
        """Returns by number how far it is moved in a step, and which way."""
        reach = REACH / (1 + step) ** REACH_FALLS
        return [max(reach, least) * way for least, way in zip(self._least, ways(len(self.at), step), strict=True)]

    def _ahead(self, shares: Sequence[float]) -> float:
        """Returns by how many deviations the first end is ahead; the deviation is that of the deals of all steps."""
        if not shares:
            return 0.0
        mean = math.fsum(shares) / len(shares)
        self._squares += math.fsum((share - mean) ** 2 for share in shares)
        self._degrees += len(shares) - 1
        if not self._squares:
            return math.copysign(MOST, mean - 0.5) if mean != 0.5 else 0.0
        deviation = math.sqrt(self._squares / self._degrees / len(shares))
        return max(-MOST, min(MOST, (mean - 0.5) / deviation))


def _within(number: float) -> float:
    return min(1.0, max(0.0, number))
