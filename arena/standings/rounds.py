"""Tells how a tournament that is played in rounds stands: who met, places and points; or which neighbours are open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from arena.progress import Met, Neighbour, Progress, Round
from arena.store.reader import Reader
from arena.store.records import Tournament
from arena.tournament.formats.adaptive import Adaptive
from arena.tournament.formats.base import MeetingResult, Points, RoundResult
from arena.tournament.planner import meetings_of, schedule_of
from arena.tournament.schedule import PlacedRound
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
    rounds = []
    for placed in schedule.rounds:
        meetings = meetings_of(reader, row.id, placed)
        if row.rated >= placed.end:
            schedule.take(RoundResult(meetings=meetings, mu={}))  # places and points do not ask for ratings
        rounds.append(_round(placed, meetings, names, schedule.seatings))
    places, points = schedule.places(), schedule.points()
    return Progress(
        format=row.settings["format"],
        rounds=tuple(rounds),
        places=None if places is None else {names[entrant]: place for entrant, place in places.items()},
        points=None if points is None else _by_points(points, names, order),
    )


def _by_points(points: Mapping[int, Points], names: Sequence[str], order: Sequence[int]) -> dict[str, float]:
    """Returns the points, most first; of equal ones first who is ahead in the standings."""
    place = {entrant: place for place, entrant in enumerate(order)}
    best = sorted(points, key=lambda entrant: (-points[entrant].points, place[entrant]))
    return {names[entrant]: points[entrant].points for entrant in best}


def _round(placed: PlacedRound, results: Sequence[MeetingResult], names: Sequence[str], seatings: int) -> Round:
    return Round(
        title=placed.round.title,
        meetings=tuple(_met(result, placed.round.deals * seatings, names) for result in results),
        byes=tuple(names[entrant] for entrant in placed.round.byes),
    )


def _met(result: MeetingResult, games: int, names: Sequence[str]) -> Met:
    """Returns what is told of a meeting that has so many games."""
    entrants = result.meeting.entrants
    bots = tuple(names[entrant] for entrant in entrants)
    if not result.pairs:
        return Met(bots=bots)
    return Met(
        bots=bots,
        shares=tuple(round(result.share(entrant), 4) for entrant in entrants),
        deals=len({pair.deal for pair in result.pairs}),
        done=sum(pair.games for pair in result.pairs) == games * math.comb(len(entrants), 2),
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
