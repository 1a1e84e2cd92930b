"""Reports a tournament as one document, made from the database; of one in rounds also how it stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from arena.core.errors import ConfigError
from arena.core.progress import Met, Neighbour, Progress, Round
from arena.core.ratings.scores import mean_scores
from arena.core.standings.sources import known_of
from arena.core.standings.table import MOST_CROSSED, Order, Row, Standing, fit_of, numbered, tabulate
from arena.core.store.reader import Reader
from arena.core.store.records import Pace, Tournament
from arena.core.tournament.formats.adaptive import Adaptive
from arena.core.tournament.formats.base import MeetingResult, Points, RoundResult
from arena.core.tournament.planner import meetings_of, schedule_of
from arena.core.tournament.schedule import PlacedRound
from arena.core.tournament.settings import Settings
from arena.core.types import Payload, is_cooperative
from arena.learn.tune.format import Tune
from arena.learn.tune.report import tuning_of


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies the tournament."""

    id: str
    seed: str | None
    commitment: str
    """SHA-256 (hex) of the tournament's secret."""


class BotPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a bot was on one worker."""

    bot: str
    games: int
    mean_ms: float
    """Of a decision."""


class WorkerPace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast bots were on a worker of a cluster."""

    worker: str
    """Its name."""
    bots: tuple[BotPace, ...]
    """In the order in which they entered."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--json` prints."""

    tournament: Identity
    settings: Payload
    processes: str
    """How long a bot process is kept: `block`, `game` or `tournament`. Only with the last can it meet a deal again."""
    games: int
    """Number of games that are done, with those that are reused."""
    reused: tuple[str, ...]
    """The tournaments whose games are reused, the earliest first."""
    seconds: float
    """Time spent playing, over all runs."""
    standings: tuple[Standing, ...]
    order: Order | None
    """How much of it is settled; None before any game."""
    crosstable: tuple[Row, ...] | None
    """None if it was left out because there are many entrants."""
    progress: Progress | None
    """How its rounds stand, if its format has rounds that people follow."""
    workers: tuple[WorkerPace, ...]
    """By worker of a cluster how fast bots were; empty if all games were played here."""
    logs: str
    """The folder of its logs."""


def report(
    reader: Reader,
    tournament: str | None = None,
    *,
    rules: str | None = None,
    ruleset: str | None = None,
    anchors: Mapping[str, float] | None = None,
    crosstable: bool = False,
    without: Collection[str] = (),
) -> tuple[Report, Tournament]:
    """Returns the document and the row of the latest tournament that matches.

    Args:
        reader: The database.
        tournament: Its identifier; None means any.
        rules: The name of its rules; None means any.
        ruleset: The name of its ruleset; None means any.
        anchors: By bot a rating that is given, not estimated; others follow from it.
        crosstable: Whether there is a cross-table of more than `MOST_CROSSED` entrants.
        without: Entrants whose games are left out. `mu` and `sigma` stay those of all games.

    Raises:
        StoreError: There is no such tournament.
        ConfigError: An anchor is not an entrant, or the games of one cannot be left out.
    """
    with reader.snapshot():
        row = reader.tournament(tournament, rules=rules, ruleset=ruleset)
        known = known_of(reader, row, without)
        entrants = known.entrants
        fixed = {**known.anchors, **numbered([entrant.name for entrant in entrants], anchors or {})}
        players = row.settings["game"]["players"]
        scores = fit = None
        if is_cooperative(row.settings["game"].get("teams")):
            if without:
                raise ConfigError("expected a game of rivals, got one that is played together - at --without")
            scores = mean_scores(reader.scores(row.id), len(entrants))
        else:
            fit = fit_of(known.tallies, known.pairs(), players, fixed, reader.predecessors(row.id))
        order = fit.order() if fit is not None else range(len(entrants))
        progress = None if without else progress_of(reader, row, order)
        places = progress.places if progress is not None else None
        ratings = reader.ratings(row.id)
        table = tabulate(
            entrants,
            [ratings[entrant.number] for entrant in known.entered],
            known.tallies,
            known.pairs(),
            fit,
            scores=scores,
            crosstable=scores is None and (crosstable or len(entrants) <= MOST_CROSSED),
            places=None if places is None else {entrant.number: places[entrant.name] for entrant in entrants},
        )
        done = 0 if without else reader.done(row.id)
        paces = reader.paces(row.id)
    document = Report(
        tournament=Identity(id=row.id, seed=row.seed, commitment=row.commitment),
        settings=row.settings,
        processes=row.settings.get("processes", "tournament"),  # all were kept before there was a choice
        games=done + known.games,
        reused=tuple(id for id in known.reused if id != row.id),
        seconds=round(row.seconds, 3),
        standings=table.standings,
        order=table.order,
        crosstable=table.crosstable,
        progress=progress,
        workers=_by_worker(paces, {entrant.number: entrant.name for entrant in known.entered}),
        logs=row.logs,
    )
    return document, row


def _by_worker(paces: Iterable[Pace], names: Mapping[int, str]) -> tuple[WorkerPace, ...]:
    bots: dict[str, list[BotPace]] = {}
    for pace in (pace for pace in paces if pace.entrant in names):
        mean_ms = round(pace.total_ms / pace.decisions, 3) if pace.decisions else 0.0
        bots.setdefault(pace.worker, []).append(BotPace(bot=names[pace.entrant], games=pace.games, mean_ms=mean_ms))
    return tuple(WorkerPace(worker=worker, bots=tuple(found)) for worker, found in bots.items())


POINTS = 8
"""The number of moments at which the course of a rating is looked at."""


def courses(reader: Reader, tournament: str) -> dict[str, tuple[float, ...]]:
    """Returns by bot its running rating as it moved: the mean after each eighth of the games that are rated."""
    rated = reader.rated(tournament)
    moments = [rated * point // POINTS for point in range(1, POINTS + 1)]
    return {
        entrant.name: tuple(reader.rating_after(tournament, entrant.number, games).mu for games in moments)
        for entrant in reader.entrants(tournament)
        if rated
    }


def forfeit_counts(reader: Reader, tournament: str) -> dict[str, Counter[str]]:
    """Returns how often each bot forfeited, by code. Bots that never did are left out."""
    names = {entrant.number: entrant.name for entrant in reader.entrants(tournament)}
    counts: dict[str, Counter[str]] = {}
    for forfeit in reader.forfeits(tournament):
        counts.setdefault(names[forfeit.entrant], Counter())[forfeit.code] += 1
    return counts


def leader(reader: Reader, tournament: str) -> str:
    """Returns the name of the bot with the best conservative rating so far."""
    ratings = reader.ratings(tournament)
    return reader.name(tournament, max(range(len(ratings)), key=lambda number: ratings[number].conservative))


SHOWN: Final = ("swiss", "knockout", "adaptive", "tune")
"""Formats that people follow round by round, pair by pair, or value by value."""


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
    if isinstance(settings.format, Tune):
        return Progress(format="tune", tuned=tuning_of(reader, row).parameters)
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
    """Returns the sentence about a meeting, from the number of its games."""
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
    from arena.core.ratings.evidence import Evidence

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
