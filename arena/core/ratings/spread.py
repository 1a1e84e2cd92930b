"""How sure the differences of a refit are: roots of its covariance.

A root has a row for each entrant. The squared distance of two rows is the variance of the difference of the two
ratings; the distance of a row from the middle of all rows belongs to the rating itself. Anchors have rows of zeros.

There are two. `naive` takes games for independent: it is the inverse of the information. `clustered` takes deals for
independent: a sandwich of the same inverse around how much the deals disagree. Both include the prior.

Up to `DENSE` entrants the roots are exact. Above, they are `SAMPLES` columns drawn at random from the same covariance,
always the same draws for the same results; standard errors are then right within some 6 %.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arena.core.ratings.likelihood import CELLS, DENSE, Indices, Information, Likelihood, Matrix, Vector, sums

SAMPLES = 128
"""Columns of a sampled root."""
SLIGHT = 1e-9
"""A pull so small is that of a level deal between equals."""


class Spread(NamedTuple):
    """How sure the ratings of those that played are."""

    roots: tuple[Matrix, Matrix]
    deals: list[int]
    surprises: list[int]
    """On how many deals each entrant did better than expected, or worse; the fewer of both."""
    total: int


class Disagreement:
    """The gradients of the deals, of which each pulls at the entrants that played on it, around their mean."""

    def __init__(self, likelihood: Likelihood, strengths: Vector) -> None:
        """Begins with the strengths that maximise the likelihood; there the gradients sum to almost nothing."""
        results = likelihood.results
        place = likelihood.at(strengths)
        moves = results.points * place.up[results.pair] - results.against * place.down[results.pair]
        self.deal, self.who, (one, other) = results.seats()
        self.deals, self.size = results.deals, results.size
        pull = sums(one, moves, len(self.deal)) - sums(other, moves, len(self.deal))
        self.counts = np.bincount(self.who, minlength=self.size)
        # The correction for a small number of deals, for each entrant by its own number.
        self.pull = pull * np.sqrt(self.counts / np.maximum(self.counts - 1, 1))[self.who]
        self.mean = sums(self.who, self.pull, self.size) / self.deals

    def surprises(self) -> Indices:
        """Returns of each entrant the deals that pull it up or that pull it down, the fewer of both."""
        up, down = (
            sums(self.who, side.astype(np.float64), self.size) for side in (self.pull > SLIGHT, self.pull < -SLIGHT)
        )
        fewer: Indices = np.minimum(up, down).astype(np.int64)
        return fewer

    def product(self) -> Matrix:
        """Returns the sum over the deals of each entrant's pull times each other's."""
        if self.deals * self.size <= max(CELLS, 8 * len(self.deal)):
            whole = np.zeros((self.deals, self.size))
            whole[self.deal, self.who] = self.pull
            total = whole.T @ whole
        else:
            total = np.zeros(self.size**2)
            most = int(np.bincount(self.deal).max())
            for apart in range(most):
                same = np.flatnonzero(self.deal[apart:] == self.deal[: len(self.deal) - apart])
                cells = self.who[same] * self.size + self.who[same + apart]
                np.add.at(total, cells, self.pull[same] * self.pull[same + apart])
            upper = total.reshape(self.size, self.size)
            total = upper + np.triu(upper, 1).T
        around_mean: Matrix = total - self.deals * np.outer(self.mean, self.mean)
        return around_mean

    def draw(self, random: np.random.Generator) -> Vector:
        """Returns a sum of the pulls with random weights: its covariance is the product."""
        weights = random.standard_normal(self.deals)
        return sums(self.who, weights[self.deal] * self.pull, self.size) - float(weights.sum()) * self.mean


def spread(likelihood: Likelihood, strengths: Vector) -> Spread:
    """Returns the roots at the strengths that maximise the likelihood."""
    disagreement = Disagreement(likelihood, strengths)
    information = Information(likelihood, likelihood.at(strengths).curvature)
    roots = _exact if likelihood.free.sum() <= DENSE else _sampled
    return Spread(
        roots=roots(likelihood, information, disagreement),
        deals=disagreement.counts.tolist(),
        surprises=disagreement.surprises().tolist(),
        total=likelihood.results.deals,
    )


def _exact(likelihood: Likelihood, information: Information, disagreement: Disagreement) -> tuple[Matrix, Matrix]:
    free, size = likelihood.free, likelihood.results.size
    prior = likelihood.prior.times(np.eye(size))
    among = np.ix_(free, free)
    dense = information.dense()
    naive, clustered = np.zeros((2, size, len(dense)))
    naive[free] = np.linalg.inv(np.linalg.cholesky(dense)).T
    clustered[free] = np.linalg.solve(dense, np.linalg.cholesky((disagreement.product() + prior)[among]))
    return naive, clustered


def _sampled(likelihood: Likelihood, information: Information, disagreement: Disagreement) -> tuple[Matrix, Matrix]:
    results, random = likelihood.results, np.random.default_rng(0)
    naive, clustered = np.empty((2, results.size, SAMPLES))
    for column in range(SAMPLES):
        games = np.sqrt(information.curvature) * random.standard_normal(len(information.curvature))
        naive[:, column] = results.by_entrant(games) + likelihood.prior.draw(random)
        clustered[:, column] = disagreement.draw(random) + likelihood.prior.draw(random)
    both = information.solve(np.concatenate([naive, clustered], axis=1), 1e-2) / math.sqrt(SAMPLES)
    return both[:, :SAMPLES], both[:, SAMPLES:]
