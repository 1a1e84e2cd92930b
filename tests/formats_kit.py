"""Plays formats without games: results are drawn, and the laws of a director are checked on the way."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from arena.core.link.bots import Parameter
from arena.core.ratings.pairs import PairResult
from arena.core.tournament.formats import FORMATS
from arena.core.tournament.formats.base import Director, Format, Meeting, MeetingResult, Round, RoundResult
from arena.core.tournament.formats.seating import orders

DRAW = b"a public value"
BETA = 25 / 6

Performances: TypeAlias = Callable[[random.Random, Sequence[int]], Sequence[float]]
"""How well each entrant at a table plays in one game: the largest has the best rank, equal ones share it."""

TUNED = {"depth": Parameter(value=3, low=1, high=8), "risk": Parameter(value=0.5, low=-1.0, high=1.0)}
"""Parameters to tune."""


def example_of(name: str, **parameters: object) -> Format:
    """A format with some parameters; one that tunes has something to tune."""
    return FORMATS[name](**{"tuned": TUNED} | parameters if name == "tune" else parameters)


def by_number(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
    """Lets the smaller number win, always."""
    return [-entrant for entrant in entrants]


def all_level(rng: random.Random, entrants: Sequence[int]) -> Sequence[float]:
    """Lets everybody share the first rank."""
    return [0] * len(entrants)


def by_skill(skills: Sequence[float]) -> Performances:
    """Draws performances round the skills, as TrueSkill assumes."""
    return lambda rng, entrants: [rng.gauss(skills[entrant], BETA) for entrant in entrants]


def by_order(order: Sequence[int]) -> Performances:
    """Lets win whoever comes first in the order, always."""
    place = {entrant: place for place, entrant in enumerate(order)}
    return lambda rng, entrants: [-place[entrant] for entrant in entrants]


@dataclass
class Played:
    """A tournament that was played, or its beginning."""

    format: Format
    entrants: int
    players: int
    director: Director
    rounds: list[Round] = field(default_factory=list)
    results: list[RoundResult] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """What the director was given: `add` or `take`."""
    ended: bool = False

    @property
    def meetings(self) -> list[Meeting]:
        return [meeting for round in self.rounds for meeting in round.meetings]

    @property
    def games(self) -> int:
        seatings = len(orders(self.players, self.format.seatings)[0])
        return sum(round.deals * len(round.meetings) * seatings for round in self.rounds)

    @property
    def deals(self) -> set[int]:
        """The numbers of all deals that were played."""
        return {
            meeting.first_deal + deal
            for round in self.rounds
            for meeting in round.meetings
            for deal in range(round.deals)
        }

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Who met, a pair for each meeting, the smaller number first."""
        return [pair for meeting in self.meetings for pair in combinations(sorted(meeting.entrants), 2)]


def play(
    format: Format,
    entrants: int,
    players: int = 2,
    performances: Performances = by_number,
    *,
    draw: bytes = DRAW,
    rounds: int | None = None,
    eager: bool = True,
) -> Played:
    """Plays a tournament.

    Args:
        format: Is checked first.
        entrants: How many.
        players: Seats of a game.
        performances: What each is worth in a game.
        draw: From which everything random follows, the results too.
        rounds: Stops after so many. None: at the end.
        eager: Asks for each round as early as the lag allows. Otherwise when all results are there.
    """
    format.check(entrants, players)
    played = Played(format, entrants, players, format.director(entrants, players, draw))
    mu = dict.fromkeys(range(entrants), 25.0)
    lag = (played.director.lag or 0) if eager else 0
    while rounds is None or len(played.rounds) < rounds:
        while len(played.rounds) - len(played.results) > lag:
            _take(played, performances, mu, draw)
        planned = played.director.next()
        if planned is None:
            played.ended = True
            break
        _check_round(played, planned)
        played.director.add(planned)
        played.rounds.append(planned)
        played.order.append("add")
    while len(played.results) < len(played.rounds):
        _take(played, performances, mu, draw)
    return played


def check_laws(played: Played) -> None:
    """Checks what must hold of every director.

    `next` only computes. A new director goes on where another was, which is tried at about four places: with rounds
    and results in the order in which they came, and with all rounds first, as when they are read from the database.
    """
    director = played.format.director(played.entrants, played.players, DRAW)
    rounds, results = iter(enumerate(played.rounds)), iter(played.results)
    fed: list[tuple[str, Round | RoundResult]] = []
    some = max(1, len(played.rounds) // 4)
    for step in played.order:
        if step == "take":
            fed.append((step, next(results)))
            director.take(fed[-1][1])
            continue
        number, expected = next(rounds)
        assert same(director.next(), expected)
        assert same(director.next(), expected)
        if number % some == 0:
            for order in (fed, sorted(fed, key=lambda step: step[0] == "take")):
                resumed = played.format.director(played.entrants, played.players, DRAW)
                for earlier, what in order:
                    resumed.add(what) if earlier == "add" else resumed.take(what)
                assert same(resumed.next(), expected)
        fed.append((step, expected))
        director.add(expected)
    if played.ended:
        assert director.next() is None
        total = played.format.total(played.entrants, played.players)
        assert total is None or total == played.games
        deals = played.format.deals_in_all(played.entrants, played.players)
        assert deals is None or played.deals == set(range(deals))


def same(one: Round | None, other: Round | None) -> bool:
    """Whether two rounds are the same, even if their meetings are computed when asked for."""
    if one is None or other is None:
        return one is other
    return (one.title, one.deals, list(one.meetings), one.byes) == (
        other.title,
        other.deals,
        list(other.meetings),
        other.byes,
    )


def _check_round(played: Played, planned: Round) -> None:
    assert planned.deals >= 1
    assert planned.title
    assert len(planned.meetings) > 0
    for meeting in planned.meetings:
        assert len(set(meeting.entrants)) == len(meeting.entrants) == played.players
        assert all(0 <= entrant < played.entrants for entrant in meeting.entrants)
        assert meeting.first_deal >= 0


def _take(played: Played, performances: Performances, mu: dict[int, float], draw: bytes) -> None:
    planned = played.rounds[len(played.results)]
    meetings = [_meet(played, planned, meeting, performances, draw) for meeting in planned.meetings]
    met = {entrant for result in meetings for entrant in result.meeting.entrants}
    for result in meetings:
        for pair in result.pairs:
            expected = 1 / (1 + math.exp((mu[pair.other] - mu[pair.one]) / BETA))
            moved = 2 * (pair.share - expected)
            mu[pair.one] += moved
            mu[pair.other] -= moved
    result = RoundResult(meetings, {entrant: mu[entrant] for entrant in met})
    played.director.take(result)
    played.results.append(result)
    played.order.append("take")


def _meet(played: Played, planned: Round, meeting: Meeting, performances: Performances, draw: bytes) -> MeetingResult:
    pairs = []
    for deal in range(meeting.first_deal, meeting.first_deal + planned.deals):
        name = f"{draw!r} {deal} {meeting.entrants}".encode()
        rng = random.Random(int.from_bytes(hashlib.sha256(name).digest()[:8]))
        games = [performances(rng, meeting.entrants) for _ in orders(played.players, played.format.seatings)[0]]
        for one, other in combinations(range(played.players), 2):
            if meeting.entrants[one] > meeting.entrants[other]:
                one, other = other, one
            better = sum(game[one] > game[other] for game in games)
            worse = sum(game[one] < game[other] for game in games)
            level = len(games) - better - worse
            pairs.append(PairResult(deal, meeting.entrants[one], meeting.entrants[other], better, level, worse))
    return MeetingResult(meeting, tuple(pairs))
