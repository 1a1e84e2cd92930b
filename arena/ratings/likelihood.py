"""The likelihood of results, and the strengths that maximise it.

Strengths are on the scale of the ratings, with 0 for `MU`. The model is that of `refit`. Beside the results there is a
prior (`prior.py`). It is weak: it keeps a bot that won every game at a finite rating, and hardly moves the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.ratings.comparisons import Comparisons, Matrix, Vector, sums
from arena.ratings.prior import Prior
from arena.ratings.running import BETA

NOISE = math.sqrt(2) * BETA
"""The deviation of the difference of two plays. A bot so far ahead wins 84 games of 100."""
MOST_STEPS = 200
"""Newton's method takes 5 to 15 steps."""
CLOSE = 1e-10
"""It stops when no strength moves by more."""
DENSE = 1000
"""Up to so many entrants, matrices are stored whole. Above, systems are solved by conjugate gradients."""
CELLS = 4_000_000
"""So many numbers are handled at a time, to bound memory."""


class Place(NamedTuple):
    """What the likelihood is at some strengths."""

    value: float
    """Its logarithm, with the prior."""
    up: Vector
    """How strongly, at each pair, a point of `one` pulls it up and `other` down."""
    down: Vector
    """How strongly a point of `other` pulls `one` down and `other` up."""
    curvature: Vector
    """How fast the pull of each pair changes with the distance."""


def tails(eta: Vector) -> tuple[Vector, Vector]:
    """Returns log Phi and its derivative phi / Phi at -|eta|, exact however small Phi is."""
    x = np.abs(eta)
    near = np.minimum(x, 30.0)
    halves = np.fromiter(map(math.erfc, (near / math.sqrt(2)).tolist()), np.float64, len(near))
    logs, slopes = np.log(halves / 2), math.sqrt(2 / math.pi) * np.exp(-near * near / 2) / halves
    far = x > near
    if far.any():
        x = x[far]
        logs[far] = -x * x / 2 - np.log(x * math.sqrt(2 * math.pi)) - x**-2
        slopes[far] = x + 1 / x - 2 / x**3
    return logs, slopes


def both_sides(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Returns log Phi at eta and at -eta, and its derivative at eta and at -eta."""
    small, steep = tails(eta)
    large = np.log1p(-np.exp(small))
    flat = steep * np.exp(small - large)
    up = eta > 0
    return np.where(up, large, small), np.where(up, small, large), np.where(up, flat, steep), np.where(up, steep, flat)


class Likelihood:
    """The logarithm of the likelihood of the results with the prior, and its derivatives, at any strengths."""

    def __init__(self, results: Comparisons, free: npt.NDArray[np.bool_], predecessors: Mapping[int, int]) -> None:
        """Begins with results, which entrants may move (if some may not, the scale is theirs), and who follows whom."""
        self.results = results
        self.free = free
        self.prior = Prior(results.entrants, anchored=not free.all(), predecessors=predecessors)
        self._points, self._against = results.by_pair()

    def at(self, strengths: Vector) -> Place:
        """Returns value and derivatives at some strengths."""
        eta = (strengths[self.results.one] - strengths[self.results.other]) / NOISE
        log_up, log_down, up, down = both_sides(eta)
        prior = float(strengths @ self.prior.times(strengths)) / 2
        curvature = self._points * up * (up + eta) + self._against * down * (down - eta)
        return Place(
            value=float(self._points @ log_up + self._against @ log_down) - prior,
            up=up / NOISE,
            down=down / NOISE,
            curvature=curvature / NOISE**2,
        )

    def maximise(self, strengths: Vector) -> Vector:
        """Returns the strengths of the highest value; those that are not free stay."""
        place = self.at(strengths)
        for _ in range(MOST_STEPS):
            step = self._step(strengths, place)
            following = self.at(strengths + step)
            while following.value < place.value - 1e-9 * (1 + abs(place.value)):
                step /= 2
                following = self.at(strengths + step)
            strengths, place = strengths + step, following
            if np.abs(step).max(initial=0.0) < CLOSE:
                break
        return strengths

    def _step(self, strengths: Vector, place: Place) -> Vector:
        """Returns the step of Newton's method."""
        gradient = self.results.by_entrant(self._points * place.up - self._against * place.down)
        gradient -= self.prior.times(strengths)
        return Information(self, place.curvature).solve(gradient[:, None], 1e-6)[:, 0]


class Information:
    """The matrix of second derivatives (with a minus) over the free entrants, to solve systems with."""

    def __init__(self, likelihood: Likelihood, curvature: Vector) -> None:
        """Begins with the curvature of each pair."""
        self._likelihood = likelihood
        self._results = likelihood.results
        self.curvature = curvature

    def dense(self) -> Matrix:
        """Returns the matrix over the free entrants."""
        one, other = self._results.one, self._results.other
        whole = np.zeros((self._results.size, self._results.size))
        whole[one, other] = whole[other, one] = -self.curvature
        whole -= np.diag(whole.sum(axis=1))
        whole += self._likelihood.prior.times(np.eye(self._results.size))
        return whole[np.ix_(self._likelihood.free, self._likelihood.free)]

    def solve(self, right: Matrix, tolerance: float) -> Matrix:
        """Returns what the matrix takes to `right`, a column for each column; 0 for entrants that are not free."""
        free = self._likelihood.free
        solved = np.zeros_like(right)
        if free.sum() <= DENSE:
            solved[free] = np.linalg.solve(self.dense(), right[free])
        else:
            solved[free] = self._conjugate_gradients(right, tolerance)[free]
        return solved

    def _conjugate_gradients(self, right: Matrix, tolerance: float) -> Matrix:
        """Solves to a relative error, columns side by side, scaled by the diagonal."""
        free = self._likelihood.free[:, None]
        times = self._times()
        met = [sums(side, self.curvature, len(free)) for side in (self._results.one, self._results.other)]
        scale = free / (met[0] + met[1] + self._likelihood.prior.diagonal)[:, None]
        solved, rest = np.zeros_like(right), right * free
        direction = scaled = scale * rest
        square = np.sum(rest * scaled, axis=0)
        enough = tolerance**2 * square
        for _ in range(10 * len(free)):
            if np.all(square <= enough):
                break
            image = times(direction) * free
            length = square / np.maximum(np.sum(direction * image, axis=0), 1e-300)
            solved = solved + length * direction
            rest = rest - length * image
            scaled = scale * rest
            following = np.sum(rest * scaled, axis=0)
            direction = scaled + following / np.maximum(square, 1e-300) * direction
            square = following
        return solved

    def _times(self) -> Callable[[Matrix], Matrix]:
        """Returns the function that multiplies columns with the matrix, over all entrants."""
        size = self._results.size
        rows = np.concatenate([self._results.one, self._results.other])
        by_row = np.argsort(rows, kind="stable")
        columns = np.concatenate([self._results.other, self._results.one])[by_row]
        weights = np.concatenate([self.curvature, self.curvature])[by_row][:, None]
        starts = np.searchsorted(rows[by_row], np.arange(size + 1))
        diagonal = np.add.reduceat(weights, starts[:-1], axis=0)

        def times(values: Matrix) -> Matrix:
            image = diagonal * values + self._likelihood.prior.times(values)
            first = 0
            while first < size:
                most = starts[first] + CELLS // values.shape[1]
                last = max(first + 1, int(np.searchsorted(starts, most, side="right")) - 1)
                part = slice(starts[first], starts[last])
                image[first:last] -= np.add.reduceat(
                    weights[part] * values[columns[part]], starts[first:last] - starts[first], axis=0
                )
                first = last
            return image

        return times
