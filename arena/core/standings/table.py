"""Computes standings and cross-table from sums and ratings. Pure; reads no single game.

In a game of three or four a *win* is rank 1 alone, a *draw* is rank 1 shared, and anything else is a *loss*. The
cross-table compares two entrants in the games that both played: better, equal or worse rank. Memory grows with the
entrants, and with the pairs that met if there is a cross-table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

import msgspec

from arena.core.errors import ConfigError, did_you_mean
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import Rating
from arena.core.ratings.scores import MeanScore
from arena.core.ratings.scores import ranked as by_score
from arena.core.store.records import Entrant, Tally

if TYPE_CHECKING:
    from arena.core.ratings.refit import Fit


MOST_CROSSED = 100  # a cross-table of more entrants is made only if it is asked for


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entrant's row."""

    rank: int
    """1, and 1 for each entrant that is shown to be better; in a knockout it is the place."""
    worst_rank: int | None
    """The last rank that the games leave open: of all that are rated, less one for each that it is shown to be better
    than. None where ranks do not come from the refit."""
    bot: str
    display_name: str
    version: str
    rating: float | None
    """From the refit, which uses all results at once. None before any game."""
    half_width: float | None
    """The true rating is in `rating` ± `half_width` with 95 %. None before any game."""
    ahead_of_next: float | None
    """Probability that it is better than the bot of the next row. None in the last row, and without ratings."""
    points: float | None
    """Its mean share against opponents, from 0 to 1: a better rank counts 1, an equal one a half. None before any
    game."""
    mu: float | None
    """TrueSkill's mean, which moves game by game. None in a pool of tournaments."""
    sigma: float | None
    """TrueSkill's standard deviation. None in a pool of tournaments."""
    conservative: float | None
    """`mu - 3 * sigma`. None in a pool of tournaments."""
    games: int
    wins: int
    """Games with rank 1 alone."""
    draws: int
    """Games with rank 1 shared."""
    losses: int
    """All other games."""
    forfeits: int
    """Games lost by its own doing."""
    mean_ms: float
    """Mean time per decision."""
    max_ms: float
    """Time of the slowest decision."""
    mean_score: float | None
    """Mean score of the games that had scores; None before any."""
    score_half_width: float | None
    """In a cooperative game, which has no ratings: the true mean score is in `mean_score` ± this with 95 %. None as
    long as all deals are alike."""
    mean_off_turn_ms: float | None
    """Mean CPU time of a game while others were to move; None where that was never measured."""
    off_turn_share: float | None
    """The same as a share of the time that its opponents thought: 1 is a whole core all that time."""
    tokens: int | None = None
    """Tokens read and written in all its games, by its notes; absent if no bot's notes say any."""
    dollars: float | None = None
    """The same in US dollars."""
    retries: int | None = None
    """The answers of a model that were of no use."""


class HeadToHead(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant against another, over the games that both played."""

    bot: str
    games: int
    """At least 1."""
    better: int
    """Games in which it had the better rank."""
    equal: int
    worse: int
    """Games in which the other had the better rank."""
    score: float
    """From 0 to 1: better counts 1, equal counts a half."""


class CrossRow(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant's row of the cross-table."""

    bot: str
    against: tuple[HeadToHead, ...]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the standings' order is settled, at 95 % for all neighbours at once."""

    enough: bool
    """Whether there are enough deals for the intervals. If not, they are rough."""
    open: tuple[tuple[str, ...], ...]
    """Groups of neighbours of whom none is shown to be better than the last of the group, best first."""


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """Standings and cross-table of a tournament."""

    standings: tuple[Standing, ...]
    order: Order | None
    crosstable: tuple[CrossRow, ...] | None
    """In the same order. None if it was left out."""


def fit_of(
    tallies: Sequence[Tally],
    pairs: Iterable[PairResult],
    players: int,
    anchors: Mapping[int, float],
    predecessors: Mapping[int, int] | None = None,
) -> Fit | None:
    """Returns the refit of all results, or None before any game.

    Args:
        tallies: By the entrants' numbers.
        pairs: Every pair's results by deal; read once.
        players: Seats of a game, the most if games differ.
        anchors: By entrant a rating that is given.
        predecessors: By entrant the earlier one of which it is a new version.
    """
    if not any(tally.games for tally in tallies):
        return None
    from arena.core.ratings.refit import refit

    return refit(pairs, len(tallies), players=players, anchors=anchors, predecessors=predecessors)


def tabulate(
    entrants: Sequence[Entrant],
    ratings: Sequence[Rating] | None,
    tallies: Sequence[Tally],
    pairs: Iterable[PairResult],
    fit: Fit | None,
    *,
    scores: Sequence[MeanScore | None] | None = None,
    crosstable: bool = True,
    places: Mapping[int, int] | None = None,
    among: Collection[int] | None = None,
) -> Standings:
    """Puts the entrants in order, and adds up who did how well against whom.

    Args:
        entrants: By number.
        ratings: TrueSkill's, by the entrants' numbers; None if there are none.
        tallies: By the entrants' numbers.
        pairs: Every pair's results by deal; read once, one at a time.
        fit: The refit of these pairs; None before any game, or for an order by TrueSkill.
        scores: By the entrants' numbers their mean scores, for an order by them; None unless the game is cooperative.
        crosstable: Whether a cross-table is wanted.
        places: By entrant the place that it reached, which may be shared. They come before ratings.
        among: Only these entrants get rows, and are ranked; None means all. There is no cross-table of some.
    """
    met = _Met(len(entrants), crosstable)
    for pair in pairs:
        met.add(pair)
    shown = range(len(entrants)) if among is None else among
    if scores is not None:
        ratings, rated = None, by_score(scores, shown)
    elif fit is not None:
        rated = _by_fit(fit, shown)
    else:
        rated = _by_rating(ratings or [Rating()] * len(entrants), shown)
    # Those of one place stay in the order of their ratings.
    ranked = rated if places is None else sorted([(of, places[of]) for of, _ in rated], key=lambda placed: placed[1])
    order = [number for number, _ in ranked]
    worst = fit.worst_ranks(among=shown) if fit is not None and places is None else {}
    names = [entrant.name for entrant in entrants]
    return Standings(
        standings=tuple(
            _standing(
                entrants[number],
                rank,
                worst.get(number),
                _strength(fit, number, following),
                ratings[number] if ratings else None,
                met.points(number),
                tallies[number],
                None if scores is None else scores[number],
            )
            for (number, rank), following in zip_longest(ranked, order[1:])
        ),
        order=_order(fit, shown, tallies, names),
        crosstable=_crosstable(order, names, met.against) if crosstable else None,
    )


class _Met:
    """Adds up what entrants did against each other."""

    def __init__(self, entrants: int, crosstable: bool) -> None:
        self._score, self._games = [0.0] * entrants, [0] * entrants
        self.against: list[dict[int, tuple[int, int, int]]] = [{} for _ in range(entrants)] if crosstable else []
        """Games in which an entrant was better than an opponent, equal and worse, by both."""

    def add(self, pair: PairResult) -> None:
        self._side(pair.one, pair.other, pair.better, pair.equal, pair.worse)
        self._side(pair.other, pair.one, pair.worse, pair.equal, pair.better)

    def points(self, entrant: int) -> float | None:
        games = self._games[entrant]
        return self._score[entrant] / games if games else None

    def _side(self, entrant: int, other: int, better: int, equal: int, worse: int) -> None:
        self._score[entrant] += better + equal / 2
        self._games[entrant] += better + equal + worse
        if self.against:
            before = self.against[entrant].get(other, (0, 0, 0))
            self.against[entrant][other] = (before[0] + better, before[1] + equal, before[2] + worse)


def _by_fit(fit: Fit, shown: Collection[int]) -> list[tuple[int, int]]:
    ranks = fit.ranks(among=shown)
    return [(number, ranks[number]) for number in fit.order(shown)]


def _by_rating(ratings: Sequence[Rating], shown: Collection[int]) -> list[tuple[int, int]]:
    """Returns these entrants and their ranks, best first; equal ratings share a rank."""
    order = sorted(shown, key=lambda number: (-ratings[number].conservative, number))
    ranked: list[tuple[int, int]] = []
    for _, equal in groupby(order, key=lambda number: ratings[number].conservative):
        rank = len(ranked) + 1
        ranked += [(number, rank) for number in equal]
    return ranked


def _order(fit: Fit | None, shown: Collection[int], tallies: Sequence[Tally], names: Sequence[str]) -> Order | None:
    if fit is None:
        return None
    better = fit.better(among=shown)
    played = [number for number in fit.order(shown) if tallies[number].games]
    groups: list[tuple[str, ...]] = []
    last = 0
    for first, one in enumerate(played):
        end = first + 1
        while end < len(played) and (one, played[end]) not in better:
            end += 1
        if end - first > 1 and end > last:
            groups.append(tuple(names[number] for number in played[first:end]))
            last = end
    return Order(enough=fit.enough, open=tuple(groups))


class _Strength(msgspec.Struct, frozen=True):
    rating: float | None = None
    half_width: float | None = None
    ahead: float | None = None


def _strength(fit: Fit | None, number: int, following: int | None) -> _Strength:
    if fit is None or (half_width := fit.half_width[number]) is None:
        return _Strength()
    known = following is not None and fit.half_width[following] is not None
    ahead = fit.ahead(number, following) if known and following is not None else None
    return _Strength(fit.ratings[number], half_width, ahead)


def _standing(
    entrant: Entrant,
    rank: int,
    worst_rank: int | None,
    strength: _Strength,
    rating: Rating | None,
    points: float | None,
    tally: Tally,
    score: MeanScore | None,
) -> Standing:
    mean_score = score.mean if score else tally.score / tally.scored if tally.scored else None
    return Standing(
        rank=rank, worst_rank=worst_rank,
        bot=entrant.name, display_name=entrant.display_name, version=entrant.version,
        rating=_rounded(strength.rating, 3), half_width=_rounded(strength.half_width, 3),
        ahead_of_next=_rounded(strength.ahead, 6), points=_rounded(points, 4),
        mu=_rounded(rating.mu, 3) if rating else None, sigma=_rounded(rating.sigma, 3) if rating else None,
        conservative=_rounded(rating.conservative, 3) if rating else None,
        games=tally.games, wins=tally.wins, draws=tally.draws, losses=tally.games - tally.wins - tally.draws,
        forfeits=tally.forfeits, mean_ms=round(tally.mean_ms, 3), max_ms=round(tally.max_ms, 3),
        mean_score=_rounded(mean_score, 3), score_half_width=_rounded(score.half_width if score else None, 3),
        mean_off_turn_ms=tally.mean_off_turn_ms, off_turn_share=tally.off_turn_share,
    )  # fmt: skip


def _rounded(number: float | None, places: int) -> float | None:
    return None if number is None else round(float(number), places)


def _crosstable(
    order: Sequence[int], names: Sequence[str], against: Sequence[dict[int, tuple[int, int, int]]]
) -> tuple[CrossRow, ...]:
    place = {number: place for place, number in enumerate(order)}
    by_place: Callable[[int], int] = place.__getitem__
    return tuple(
        CrossRow(
            bot=names[one],
            against=tuple(_score(names[other], *against[one][other]) for other in sorted(against[one], key=by_place)),
        )
        for one in order
    )


def _score(other: str, better: int, equal: int, worse: int) -> HeadToHead:
    games = better + equal + worse
    score = (better + equal / 2) / games
    return HeadToHead(bot=other, games=games, better=better, equal=equal, worse=worse, score=round(score, 4))


def numbered(names: Sequence[str], anchors: Mapping[str, float]) -> dict[int, float]:
    """Returns the anchors by the entrants' numbers.

    Raises:
        ConfigError: One is not an entrant.
    """
    for name in anchors:
        if name not in names:
            raise ConfigError(
                f"expected a bot of these standings, got: {name!r} - at --anchor{did_you_mean(name, names)}"
            )
    return {names.index(name): rating for name, rating in anchors.items()}
