"""Rates bots by TrueSkill, game by game, with the constants of `arena`.

Laws:
1. Ratings are a pure function of the results in schedule order, whatever order the games finished in.
2. A version of a bot does not learn: `TAU` is 0, so that later games count no more than earlier ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from arena.core.types import Ranks, Teams, is_cooperative, sides

MU = 25.0
"""The rating that every bot begins with."""
SIGMA = MU / 3
"""Standard deviation of a rating at first."""
BETA = MU / 6
"""The distance at which the better bot wins about 76 games of 100."""
TAU = 0.0
"""Drift of skill from game to game, as a deviation."""
DRAW_PROBABILITY = 0.02
"""Probability that equal bots share a rank: rare, because three tie-breaks decide the ranking."""
ADDED_SIGMA = 3.0
"""Difference of a new version of a bot from its predecessor, as a deviation."""


class Rating(msgspec.Struct, frozen=True):
    """An estimate of a bot's strength."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """The strength that the bot has almost certainly: `mu - 3 * sigma`. Tables sort by it."""
        return self.mu - 3 * self.sigma


def inherit(predecessor: Rating, added: float = ADDED_SIGMA) -> Rating:
    """Returns the rating that a new version of a bot begins with.

    The mean is its predecessor's, since most changes are small. The deviation is wider, and never wider than that of a
    bot of which nothing is known, so that the rating soon follows if the change was large.

    >>> inherit(Rating(31.0, 1.0))
    Rating(mu=31.0, sigma=3.1622776601683795)
    """
    return Rating(predecessor.mu, min(SIGMA, math.hypot(predecessor.sigma, added)))


@cache
def _environment() -> Any:
    with warnings.catch_warnings():
        # Where it was installed without being compiled, its first import warns of its docstrings, on stderr.
        warnings.simplefilter("ignore")
        import trueskill

    return trueskill.TrueSkill(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU, draw_probability=DRAW_PROBABILITY, backend=None)


def rate(ratings: Sequence[Rating], ranks: Ranks, teams: Teams | None = None) -> list[Rating]:
    """Returns the ratings after one game, in the order given. Equal ranks are a draw between those seats.

    A team is as strong as its members' sum. Where all are of one team nobody was better, and the ratings stay.
    """
    if teams is None and len(ratings) == 2:
        return _rate_two(ratings[0], ratings[1], *ranks)
    teams = sides(teams, len(ratings))
    if is_cooperative(teams):
        return list(ratings)
    environment = _environment()
    groups: dict[int, dict[int, Any]] = {team: {} for team in teams}
    for seat, (team, rating) in enumerate(zip(teams, ratings, strict=True)):
        groups[team][seat] = environment.create_rating(rating.mu, rating.sigma)
    rated = environment.rate([*groups.values()], ranks=[ranks[next(iter(group))] for group in groups.values()])
    after = {seat: rating for group in rated for seat, rating in group.items()}
    return [Rating(after[seat].mu, after[seat].sigma) for seat in range(len(ratings))]


@cache
def _draw_margin() -> float:
    from trueskill import calc_draw_margin

    return float(calc_draw_margin(DRAW_PROBABILITY, 2, _environment()))


def _rate_two(one: Rating, other: Rating, rank: int, other_rank: int) -> list[Rating]:
    """Rates a game of two, for which the message passing of TrueSkill has a closed form: it takes a twentieth.

    Source: R. Herbrich, T. Minka, T. Graepel, "TrueSkill: A Bayesian Skill Rating System", NIPS 2006, table 1.
    """
    if rank > other_rank:
        return _rate_two(other, one, other_rank, rank)[::-1]
    environment = _environment()
    variance, other_variance = one.sigma**2 + TAU**2, other.sigma**2 + TAU**2
    spread = math.sqrt(variance + other_variance + 2 * BETA**2)
    ahead, margin = (one.mu - other.mu) / spread, _draw_margin() / spread
    if rank == other_rank:
        v, w = environment.v_draw(ahead, margin), environment.w_draw(ahead, margin)
    elif below := environment.cdf(x := ahead - margin):
        w = (v := environment.pdf(x) / below) * (v + x)  # as v_win and w_win, which compute all of it twice
    else:
        v, w = -x, environment.w_win(ahead, margin)
    shift, shrink = v / spread, w / spread**2
    return [
        Rating(one.mu + variance * shift, math.sqrt(variance * (1 - variance * shrink))),
        Rating(other.mu - other_variance * shift, math.sqrt(other_variance * (1 - other_variance * shrink))),
    ]
