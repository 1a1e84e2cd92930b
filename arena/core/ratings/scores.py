"""Mean scores in a cooperative game, where nobody is against anybody: only the score says how well it went.

Law: games of one deal are not independent. So a deal counts once, by its mean, and the interval comes from how much the
deals differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from math import inf, sqrt
from statistics import fmean, stdev

import msgspec

from arena.core.ratings.normal import quantile

ALPHA = 0.05
"""The share of intervals that may miss the truth."""


class MeanScore(msgspec.Struct, frozen=True):
    """The mean score of an entrant over its deals."""

    mean: float
    half_width: float | None
    """The true mean is in `mean` ± `half_width` with 95 %. None as long as all deals are alike: it is not known yet."""


def mean_scores(scores: Iterable[tuple[int, int, int]], entrants: int) -> list[MeanScore | None]:
    """Returns the mean score of each entrant, None for one without games, from deal, entrant and score of each seat."""
    found: list[dict[int, list[int]]] = [defaultdict(list) for _ in range(entrants)]
    for deal, entrant, score in scores:
        found[entrant][deal].append(score)
    return [_mean([fmean(of_deal) for of_deal in deals.values()]) if deals else None for deals in found]


def _mean(deals: Sequence[float]) -> MeanScore:
    if len({*deals}) == 1:
        return MeanScore(deals[0], None)
    return MeanScore(fmean(deals), quantile(ALPHA, len(deals) - 1) * stdev(deals) / sqrt(len(deals)))


def ranked(scores: Sequence[MeanScore | None], among: Collection[int]) -> list[tuple[int, int]]:
    """Returns these entrants and their ranks, best first: 1, and 1 for each whose whole interval lies above.

    Those without games come last, and share their rank.
    """
    known = {entrant: score for entrant in among if (score := scores[entrant]) is not None}
    ends = {entrant: (inf if score.half_width is None else score.half_width) for entrant, score in known.items()}
    order = sorted(known, key=lambda entrant: (-known[entrant].mean, entrant))
    rank = {
        one: 1 + sum(known[other].mean - ends[other] > known[one].mean + ends[one] for other in known) for one in known
    }
    return [*((one, rank[one]) for one in order), *((one, 1 + len(known)) for one in among if one not in known)]
