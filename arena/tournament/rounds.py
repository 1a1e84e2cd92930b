"""Tells how a tournament that is played in rounds stands: who met, places and points; or which neighbours are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from arena.progress import Met, Neighbour, Progress, Round
from arena.ratings.pairs import PairResult
from arena.store.reader import Reader
from arena.store.records import StoredRound, Tournament
from arena.tournament.formats.adaptive import Adaptive
from arena.tournament.formats.base import Meeting, MeetingResult, Points
from arena.tournament.formats.seating import orders
from arena.tournament.planner import result_of, schedule_of
from arena.tournament.settings import Settings

SHOWN: Final = ("swiss", "knockout", "adaptive")
"""Formats that people follow round by round, or pair by pair."""


def progress_of(reader: Reader, row: Tournament, order: Sequence[int]) -> Progress | None:
    """Returns how a tournament stands, or None if its rounds tell nobody anything.

    Args:
        reader: The database.
        row: The tournament.
        order: The entrants as its standings have them, best first.
    """
    if row.settings["format"] not in SHOWN:
        return None
    settings = Settings.read(row.settings)
    names = [bot.name for bot in settings.bots]
    if isinstance(settings.format, Adaptive):
        return _neighbours(reader, row, settings.format, names, order)
    schedule = schedule_of(reader, row, settings)
    rounds = reader.rounds(row.id)
    for placed in schedule.rounds:
        if row.rated >= placed.end:
            schedule.take(result_of(reader, row.id, placed))
    places, points = schedule.places(), schedule.points()
    whole = len(orders(settings.game.players, settings.format.seatings)[0])
    return Progress(
        format=row.settings["format"],
        rounds=tuple(_round(reader, row.id, found, names, whole) for found in rounds),
        places=None if places is None else {names[entrant]: place for entrant, place in places.items()},
        points=None if points is None else _by_points(points, names, order),
    )


def _by_points(points: Mapping[int, Points], names: Sequence[str], order: Sequence[int]) -> dict[str, float]:
    """Returns the points, most first; of equal ones first who is ahead in the standings."""
    place = {entrant: place for place, entrant in enumerate(order)}
    best = sorted(points, key=lambda entrant: (-points[entrant].points, place[entrant]))
    return {names[entrant]: points[entrant].points for entrant in best}


def _round(reader: Reader, tournament: str, found: StoredRound, names: Sequence[str], whole: int) -> Round:
    firsts = [first for first, _ in found.meetings]
    pairs: dict[tuple[int, int], list[PairResult]] = {}
    for pair in reader.pairs(tournament, range(min(firsts), max(firsts) + found.deals)):
        pairs.setdefault((pair.deal, pair.one), []).append(pair)
    return Round(
        title=found.title,
        meetings=tuple(_met(first, entrants, found.deals, pairs, names, whole) for first, entrants in found.meetings),
        byes=tuple(names[entrant] for entrant in found.byes),
    )


def _met(
    first: int,
    entrants: tuple[int, ...],
    deals: int,
    pairs: Mapping[tuple[int, int], Sequence[PairResult]],
    names: Sequence[str],
    whole: int,
) -> Met:
    own = tuple(
        pair
        for deal in range(first, first + deals)
        for entrant in entrants
        for pair in pairs.get((deal, entrant), ())
        if pair.other in entrants
    )
    bots = tuple(names[entrant] for entrant in entrants)
    if not own:
        return Met(bots=bots)
    result = MeetingResult(Meeting(entrants, first), own)
    games = deals * whole * len(entrants) * (len(entrants) - 1) // 2
    return Met(
        bots=bots,
        shares=tuple(round(result.share(entrant), 4) for entrant in entrants),
        deals=len({pair.deal for pair in own}),
        done=sum(pair.games for pair in own) == games,
    )


def _neighbours(
    reader: Reader, row: Tournament, format: Adaptive, names: Sequence[str], order: Sequence[int]
) -> Progress:
    from arena.ratings.evidence import Evidence

    wanted = {(min(pair), max(pair)) for pair in pairwise(order)}
    evidence = {pair: Evidence() for pair in wanted}
    for pair in reader.pairs(row.id):
        if (pair.one, pair.other) in wanted:
            evidence[pair.one, pair.other].add(pair.share)
    comparisons = len(names) * (len(names) - 1) // 2
    neighbours = []
    for one, other in pairwise(order):
        known = evidence[min(one, other), max(one, other)]
        verdict = known.verdict(format.alpha, format.delta, comparisons)
        if one > other:
            verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)  # type: ignore[assignment]
        score = known.score if one < other else 1 - known.score
        neighbours.append(
            Neighbour(
                bot=names[one],
                deals=known.deals,
                share=round(score, 4) if known.deals else None,
                evidence=max(known.e_plus, known.e_minus),
                verdict=verdict,
            )
        )
    return Progress(
        format="adaptive",
        neighbours=(*neighbours, *(Neighbour(bot=names[entrant]) for entrant in order[-1:])),
        needed=2 * comparisons / format.alpha,
    )
