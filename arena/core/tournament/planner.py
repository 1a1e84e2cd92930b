"""Plans the rounds of a tournament as the results come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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
