"""Compares two bots: who is better, and by how much, from as many tournaments as that took.

A comparison is a tournament of the format `compare`. One that reached its most deals without an answer is finished, and
all of it can be verified; a larger number of deals continues it by another tournament, which begins with what the first
one showed. So does the next one if the deals that were under way when the answer came took it back: the evidence is
that of all deals, and the answer must hold for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from arena.core.catalogue import margin_of
from arena.core.ratings.running import BETA
from arena.core.standings.report import chain
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.seating import orders
from arena.core.tournament.settings import Settings
from arena.core.types import Payload

if TYPE_CHECKING:
    from arena.core.ratings.evidence import Evidence

Verdict = Literal["better", "worse", "level", "open"]

_LIMITS = ("max_deals", "continues", "before")  # parameters in which a comparison and its continuation differ


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about two bots. Everything is told of the first one."""

    bots: tuple[str, str]
    tournaments: tuple[str, ...]
    """In which they met, in order; without those that were removed."""
    deals: int
    games: int
    by: Literal["wins", "margin"]
    counts: tuple[tuple[float, int], ...]
    """Mean shares on a deal, and how many deals had each, in rising order."""
    score: float
    """The mean share of a deal, from 0 to 1. By wins better than the other counts 1, level with it a half; by margins
    the largest lead counts 1, none a half."""
    interval: tuple[float, float]
    """Confidence interval of the true score, with 1 - `alpha`, at all looks together."""
    one_look: tuple[float, float] | None
    """Confidence interval if this is the only look (Student's t); None if all deals were alike."""
    rating: float | None
    """Rating points by which the first is ahead; None if it won or lost everything, or if wins are not judged."""
    e_plus: float
    """Evidence that the first is better: 20 says 20 : 1."""
    e_minus: float
    """Evidence that the second is better."""
    needed: float
    """So much evidence is an answer."""
    p: float
    """Probability that equal bots ever give so much evidence."""
    alpha: float
    delta: float
    verdict: Verdict
    """`level`: the score is within `delta` of a half. `open`: nothing is shown yet."""
    more_deals: int | None
    """Roughly how many more deals like these bring an answer; None if that is too far away to say."""
    lead: Lead | None
    """Lead of the first; None if the game does not count it."""
    wins: Share | None
    sprt: SprtResult | None
    """The sequential test that was asked for, if any. Then it says when to stop."""
    forfeits: tuple[int, int]
    max_deals: int
    answered: bool
    """Whether there is an answer: of the sequential test if there is one, else of the evidence."""

    def is_over(self, max_deals: int) -> bool:
        """Returns whether there is an answer, or there are so many deals."""
        return self.answered or self.deals >= max_deals


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What the deals show by something that is not judged."""

    score: float
    interval: tuple[float, float]
    verdict: Verdict


class Lead(msgspec.Struct, frozen=True, kw_only=True):
    """By how much the first bot was ahead of the other in a game, on average."""

    unit: str
    most: int
    """A larger lead in a game counts as this one."""
    level: float
    """The two are level if the true mean is shown to be within so much of 0, where the lead is judged."""
    mean: float
    interval: tuple[float, float]
    """Confidence interval of the true mean, with 1 - `alpha`, at all looks together."""
    one_look: tuple[float, float] | None
    """Confidence interval if this is the only look (Student's t); None if all deals were alike."""
    deals: tuple[int, int, int]
    """In how many deals the first was ahead, level, behind."""


class SprtResult(msgspec.Struct, frozen=True, kw_only=True):
    """A sequential test of two differences, in Elo points."""

    elo: tuple[float, float]
    log_ratio: float | None
    """None while fewer than two deals were not level."""
    bounds: tuple[float, float]
    verdict: Literal["H0", "H1", "open"]


def earlier(reader: Reader, settings: Settings) -> Comparison | None:
    """Returns the latest finished comparison of the same, or None. It may have the answer, or may be continued."""
    wanted = settings.document()
    for found in reader.finished_ones(settings.game.rules, settings.game.ruleset):
        if found.settings["format"] == "compare" and _same(found.settings, wanted):
            return compared(reader, found.id)
    return None


def going_on(settings: Settings, known: Comparison) -> Settings:
    """Returns the settings of the comparison that continues an earlier one."""
    format = replace(_format(settings), continues=known.tournaments[-1], before=known.counts)
    return replace(settings, format=format)


def compared(reader: Reader, tournament: str) -> Comparison:
    """Returns what a comparison and those that it continues show.

    Raises:
        StoreError: There is no such tournament.
    """
    last = reader.tournament(tournament)
    rows = list(chain(reader, last, "continues"))
    settings = Settings.read(last.settings)
    format = _format(settings)
    players = settings.game.players
    evidence = evidence_of(reader, last.id, format, players)
    margin = margin_of(settings.game.rules, players, settings.game.options)
    lead = wins = None
    if format.margin is not None:
        wins = _share(_of_all(reader, rows, replace(format, margin=None), players), format)
    if margin is not None:
        by_margin = replace(format, margin=format.margin or margin.most)
        margins = _of_all(reader, rows, by_margin, players) if format.margin is None else evidence
        lead = _lead(margins, by_margin, margin.unit, players) if margins.deals == evidence.deals else None
    test = format.test()
    sprt = None
    if test is not None and format.sprt is not None:
        log_ratio, accepted = test.log_ratio(evidence.counts), test.verdict(evidence.counts)
        sprt = SprtResult(elo=format.sprt, log_ratio=log_ratio, bounds=test.bounds, verdict=accepted)
    tallies = [reader.tallies(row.id) for row in rows]
    score = evidence.score
    verdict = evidence.verdict(format.alpha, format.delta)
    return Comparison(
        bots=(settings.bots[0].name, settings.bots[1].name), tournaments=tuple(row.id for row in rows),
        deals=evidence.deals, games=sum(reader.done(row.id) for row in rows),
        by="wins" if format.margin is None else "margin",
        counts=tuple((share, round(count)) for share, count in evidence.counts.items()), score=score,
        interval=evidence.interval(format.alpha), one_look=_one_look(evidence, format.alpha),
        rating=_rating(score) if format.margin is None else None, e_plus=evidence.e_plus, e_minus=evidence.e_minus,
        needed=2 / format.alpha, p=evidence.p, alpha=format.alpha, delta=format.delta, verdict=verdict,
        more_deals=evidence.more_deals(format.alpha, format.delta), lead=lead, wins=wins, sprt=sprt,
        forfeits=(sum(each[0].forfeits for each in tallies), sum(each[1].forfeits for each in tallies)),
        max_deals=format.max_deals, answered=(verdict if sprt is None else sprt.verdict) != "open",
    )  # fmt: skip


class SoFar(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a comparison that goes on."""

    bot: str
    deals: int
    score: float
    lead: tuple[float, str] | None
    """Its mean lead in a game, and the unit, if that is judged."""
    evidence: float
    """For whichever is ahead."""
    needed: float


def so_far(reader: Reader, tournament: str) -> SoFar:
    """Returns what is known so far. Quicker than `compared`."""
    settings = Settings.read(reader.tournament(tournament).settings)
    format, players = _format(settings), settings.game.players
    evidence = evidence_of(reader, tournament, format, players)
    margin = margin_of(settings.game.rules, players, settings.game.options)
    return SoFar(
        bot=settings.bots[0].name,
        deals=evidence.deals,
        score=evidence.score,
        lead=None if format.margin is None or margin is None else (format.lead(evidence.score, players), margin.unit),
        evidence=max(evidence.e_plus, evidence.e_minus),
        needed=2 / format.alpha,
    )


def evidence_of(reader: Reader, tournament: str, format: Compare, players: int) -> Evidence:
    """Returns the evidence of the deals whose games are all done, and of those before."""
    from arena.core.ratings.evidence import Evidence

    evidence = Evidence()
    for share, count in format.before:
        evidence.add(share, count)
    _add(evidence, reader, tournament, format, players)
    return evidence


def _of_all(reader: Reader, rows: Iterable[Tournament], format: Compare, players: int) -> Evidence:
    """Returns what the tournaments show by another measure than the one that is judged."""
    from arena.core.ratings.evidence import Evidence

    evidence = Evidence()
    for row in rows:
        _add(evidence, reader, row.id, format, players)
    return evidence


def _add(evidence: Evidence, reader: Reader, tournament: str, format: Compare, players: int) -> None:
    whole = len(orders(players, format.seatings)[0])
    for share in format.shares((pair for pair in reader.pairs(tournament) if pair.games == whole), players):
        evidence.add(share)


def _share(evidence: Evidence, format: Compare) -> Share:
    return Share(
        score=evidence.score,
        interval=evidence.interval(format.alpha),
        verdict=evidence.verdict(format.alpha, format.delta),
    )


def _lead(evidence: Evidence, format: Compare, unit: str, players: int) -> Lead:
    def ends(interval: tuple[float, float]) -> tuple[float, float]:
        return format.lead(interval[0], players), format.lead(interval[1], players)

    once = _one_look(evidence, format.alpha)
    counts = evidence.counts.items()
    return Lead(
        unit=unit,
        most=format.margin or 0,
        level=format.lead(0.5 + format.delta, players),
        mean=format.lead(evidence.score, players),
        interval=ends(evidence.interval(format.alpha)),
        one_look=None if once is None else ends(once),
        deals=(
            round(sum(count for share, count in counts if share > 0.5)),
            round(sum(count for share, count in counts if share == 0.5)),
            round(sum(count for share, count in counts if share < 0.5)),
        ),
    )


def _same(there: Payload, here: Payload) -> bool:
    return {key: value for key, value in there.items() if key not in _LIMITS} == {
        key: value for key, value in here.items() if key not in _LIMITS
    }


def _format(settings: Settings) -> Compare:
    assert isinstance(settings.format, Compare)
    return settings.format


def _one_look(evidence: Evidence, alpha: float) -> tuple[float, float] | None:
    from arena.core.ratings.normal import quantile

    if len(evidence.counts) < 2:
        return None
    squares = sum(count * (share - evidence.score) ** 2 for share, count in evidence.counts.items())
    error = math.sqrt(squares / (evidence.deals - 1) / evidence.deals)
    half = quantile(alpha, evidence.deals - 1) * error
    return max(0.0, evidence.score - half), min(1.0, evidence.score + half)


def _rating(score: float) -> float | None:
    from statistics import NormalDist

    return math.sqrt(2) * BETA * NormalDist().inv_cdf(score) if 0 < score < 1 else None


def others_of(bots: Sequence[str], players: int) -> tuple[str, ...]:
    """Returns who fills the seats that two bots leave: copies of both, in turn."""
    return tuple(bots) * (players - 2)
