"""The likelihood of results, and the strengths that maximise it.

Strengths are on the scale of the ratings, with 0 for `MU`. The model is that of `refit`. Beside the results there is a
prior, a normal distribution held by its precision. It is weak: it keeps a bot that won every game at a finite rating,
and hardly moves the others.

Strengths scatter with deviation `SIGMA`. A new version of a bot is another case: it is about as strong as its
predecessor, give or take `ADDED_SIGMA`, so that its first matches do not take it to the middle of all bots. Of such a
chain only the first scatters by itself. With anchors the prior is about distances from the mean of all, so that an
anchor moves the scale and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import ADDED_SIGMA, BETA, SIGMA

Vector: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]


def sums(places: Indices, values: Vector, size: int) -> Vector:
    """Returns for each place the sum of the values that have it."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


class Comparisons(msgspec.Struct, frozen=True):
    """Results of all meetings. Entrants are counted among those that played: 0, 1, ..."""

    entrants: Indices
    """The numbers that the entrants have outside."""
    deals: int
    deal: Indices
    """Deal of each row, from 0."""
    pair: Indices
    """Pair of each row."""
    points: Vector
    """Games that `one` won, by row; a drawn one is a half."""
    against: Vector
    """Games that `other` won, by row; a drawn one is a half."""
    one: Indices
    """First entrant of each pair."""
    other: Indices
    """Second entrant of each pair."""

    @property
    def size(self) -> int:
        """How many entrants played."""
        return len(self.entrants)

    def by_pair(self) -> tuple[Vector, Vector]:
        """Returns of each pair the points of `one` and of `other`, over all deals."""
        pairs = len(self.one)
        return sums(self.pair, self.points, pairs), sums(self.pair, self.against, pairs)

    def by_entrant(self, signed: Vector) -> Vector:
        """Returns of each entrant the sum over its pairs, with a plus where it is `one` and a minus where `other`."""
        return sums(self.one, signed, self.size) - sums(self.other, signed, self.size)

    def seats(self) -> tuple[Indices, Indices, Indices]:
        """Returns which deal and entrant belong together: deals, entrants, and of each row the two places in them."""
        rows = np.concatenate([self.deal, self.deal])
        who = np.concatenate([self.one[self.pair], self.other[self.pair]])
        keys, place = np.unique(rows * self.size + who, return_inverse=True)
        return keys // self.size, keys % self.size, place.reshape(2, -1)


def compare(pairs: Iterable[PairResult]) -> Comparisons:
    """Returns the results as arrays."""
    flat = chain.from_iterable((p.deal, p.one, p.other, p.better, p.equal, p.worse) for p in pairs)
    table = np.fromiter(flat, np.int64).reshape(-1, 6)
    table = table[table[:, 3:].sum(axis=1) > 0]
    deals, deal = np.unique(table[:, 0], return_inverse=True)
    entrants, place = np.unique(table[:, 1:3], return_inverse=True)
    place = place.reshape(-1, 2)
    keys, pair = np.unique(place[:, 0] * len(entrants) + place[:, 1], return_inverse=True)
    return Comparisons(
        entrants=entrants, deals=len(deals), deal=deal, pair=pair, points=table[:, 3] + table[:, 4] / 2,
        against=table[:, 5] + table[:, 4] / 2, one=keys // max(1, len(entrants)), other=keys % max(1, len(entrants)),
    )  # fmt: skip


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


class LikelihoodPoint(NamedTuple):
    """What the likelihood is at some strengths."""

    value: float
    """Its logarithm, with the prior."""
    up: Vector
    """Strength, at each pair, with which a point of `one` pulls it up and `other` down."""
    down: Vector
    """Strength with which a point of `other` pulls `one` down and `other` up."""
    curvature: Vector
    """Rate at which the pull of each pair changes with the distance."""


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

    def at(self, strengths: Vector) -> LikelihoodPoint:
        """Returns value and derivatives at some strengths."""
        eta = (strengths[self.results.one] - strengths[self.results.other]) / NOISE
        log_up, log_down, up, down = both_sides(eta)
        prior = float(strengths @ self.prior.times(strengths)) / 2
        curvature = self._points * up * (up + eta) + self._against * down * (down - eta)
        return LikelihoodPoint(
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

    def _step(self, strengths: Vector, place: LikelihoodPoint) -> Vector:
        gradient = self.results.by_entrant(self._points * place.up - self._against * place.down)
        gradient -= self.prior.times(strengths)
        return Information(self, place.curvature).solve(gradient[:, None], 1e-6)[:, 0]


class Information:
    """The matrix of second derivatives (with a minus) over the free entrants, to solve systems with."""

    def __init__(self, likelihood: Likelihood, curvature: Vector) -> None:
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
