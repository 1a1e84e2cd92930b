"""Plans the rounds of a tournament as the results come in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from arena.core.progress import Met, Progress, RoundProgress
from arena.core.ratings.pairs import PairResult
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.store.store import Store
from arena.core.tournament.formats.base import MeetingResult, RoundResult
from arena.core.tournament.schedule import PlacedRound, Schedule
from arena.core.tournament.settings import Settings


def schedule_of(reader: Reader, tournament: Tournament, settings: Settings) -> Schedule:
    """Returns the schedule of a tournament in the database, with the rounds that are planned."""
    schedule = settings.schedule(tournament.commitment, reader.rounds(tournament.id))
    if not tournament.open:
        schedule.open = False
    return schedule


def plan_further(store: Store, tournament: str, schedule: Schedule) -> PlacedRound | None:
    """Plans the next round and returns it; None if the results that it depends on are missing, or there is none."""
    rated = store.rated(tournament)
    while (awaited := schedule.awaited) is not None:
        if rated < awaited.end:
            return None
        schedule.take(result_of(store, tournament, awaited))
    placed = schedule.plan()
    if placed is None:
        store.plan_no_more(tournament)
        return None
    store.plan(tournament, placed.stored())
    return placed


def result_of(reader: Reader, tournament: str, placed: PlacedRound) -> RoundResult:
    """Returns the results of a round whose games are all done and rated."""
    return round_result(
        placed,
        meetings_of(reader, tournament, placed),
        lambda entrant: reader.rating_after(tournament, entrant, placed.end).mu,
    )


def round_result(placed: PlacedRound, meetings: Sequence[MeetingResult], mu: Callable[[int], float]) -> RoundResult:
    """Returns the results of a round, from those of its meetings and from ratings after it."""
    played = {entrant for meeting in placed.round.meetings for entrant in meeting.entrants}
    return RoundResult(meetings=meetings, mu={entrant: mu(entrant) for entrant in played})


def meetings_of(reader: Reader, tournament: str, placed: PlacedRound) -> list[MeetingResult]:
    """Returns what came of the meetings of a round so far, in their order."""
    firsts = [meeting.first_deal for meeting in placed.round.meetings]
    return collect(placed, reader.pairs(tournament, range(min(firsts), max(firsts) + placed.round.deals)))


def collect(placed: PlacedRound, pairs: Iterable[PairResult]) -> list[MeetingResult]:
    """Returns what came of the meetings of a round, in their order, from the results of pairs on its deals.

    Nobody plays one deal in two meetings of such a round.
    """
    table = {
        (deal, entrant): place
        for place, meeting in enumerate(placed.round.meetings)
        for deal in range(meeting.first_deal, meeting.first_deal + placed.round.deals)
        for entrant in meeting.entrants
    }
    of: list[list[PairResult]] = [[] for _ in placed.round.meetings]
    for pair in pairs:
        place = table.get((pair.deal, pair.one))
        if place is not None and place == table.get((pair.deal, pair.other)):
            of[place].append(pair)
    return [MeetingResult(meeting, tuple(found)) for meeting, found in zip(placed.round.meetings, of, strict=True)]


def progress_of_rounds(reader: Reader, row: Tournament, names: Sequence[str], order: Sequence[int]) -> Progress:
    """Returns how a tournament stands that people follow round by round; arguments are those of `Format.progress`."""
    schedule = schedule_of(reader, row, Settings.read(row.settings))
    rounds = []
    for placed in schedule.rounds:
        meetings = meetings_of(reader, row.id, placed)
        if row.rated >= placed.end:
            schedule.take(RoundResult(meetings=meetings, mu={}))  # places and points do not ask for ratings
        rounds.append(_shown(placed, meetings, names, schedule.seatings))
    places, points = schedule.places(), schedule.points()
    return Progress(
        format=row.settings["format"],
        rounds=tuple(rounds),
        places=None if places is None else {names[entrant]: place for entrant, place in places.items()},
        points=None if points is None else _by_points(points, names, order),
    )


def _by_points(points: Mapping[int, float], names: Sequence[str], order: Sequence[int]) -> dict[str, float]:
    """Returns the points, most first; of equal ones first who is ahead in the standings."""
    place = {entrant: place for place, entrant in enumerate(order)}
    best = sorted(points, key=lambda entrant: (-points[entrant], place[entrant]))
    return {names[entrant]: points[entrant] for entrant in best}


def _shown(placed: PlacedRound, results: Sequence[MeetingResult], names: Sequence[str], seatings: int) -> RoundProgress:
    return RoundProgress(
        title=placed.round.title,
        meetings=tuple(_met(result, placed.round.deals * seatings, names) for result in results),
        byes=tuple(names[entrant] for entrant in placed.round.byes),
    )


def _met(result: MeetingResult, games: int, names: Sequence[str]) -> Met:
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
