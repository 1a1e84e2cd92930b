"""What a league's matchmaking does: who waits, who meets again, what ratings come out; and the sigma of new versions.

Bots have known skills, drawn with a deviation of 6 round 25. A match is one deal in all seatings, and 8 matches run at
a time, so that choices know the results up to the eighth match before. The rules that are compared:

- `random`: everybody is drawn evenly;
- `nearest`: who has played the fewest plays, with the nearest in rating;
- `sigma`: whose rating is the most uncertain plays, with one of the 10 nearest;
- `fewest`: the league's rule, but always for who has played the fewest;
- `league`: the league's rule (`arena/league/matches/matchmaking.py`), one match a meeting;
- `5 deals`: the same, five matches a meeting.

Where bots are `moving`, one in 50 matches is replaced: four times of five by its next version, which inherits its
rating, else by a stranger. Correlation and error are then over the versions that are active at the end. The refit is
over all versions' games. `simulated.py` says what the figures of a line are.

The second table is about new versions: the error (root mean square) of their mu after 3, 10 and 20 matches of two
players, by how much sigma was added to their predecessor's (`new`: they start anew), and how many of the true skills
lie within three sigma of mu.

Draws come from a fixed seed: the same program prints the same figures. It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest
from random import Random
from typing import TypeAlias

import msgspec
from simulated import HEADING, LOOKS, MATCHES, SPREAD, Figures, Waits, error_of, play, rank_correlation

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.refit import refit
from arena.core.ratings.running import MU, Rating, inherit
from arena.core.tournament.formats.closeness import draw_place, generator, weights
from arena.league.matches.matchmaking import ChosenMatch, after, next_match
from arena.league.settings import MatchRule
from arena.league.store.records import Candidate

RUNNING = 8
"""Matches that run at a time."""
REPLACED = 50
"""Where bots are moving, one is replaced in so many matches."""
BETTER = (0.5, 1.5)
"""Mean and deviation of what a next version is better by."""

Rule: TypeAlias = Callable[[Sequence[Candidate], Mapping[int, float], int, int, Random], tuple[int, ...]]
"""Chooses from those that are free, their sigmas, the number of players, the match's number."""


def by_league(placement: int = MatchRule().placement, *, fewest: bool = False) -> Rule:
    """Returns the league's rule; with `fewest` it is always for who has played the fewest."""

    def rule(
        free: Sequence[Candidate], sigmas: Mapping[int, float], players: int, number: int, rng: Random
    ) -> tuple[int, ...]:
        settings = MatchRule(players=(players,), placement=10**9 if fewest else placement, deals=1)
        drawn = generator(rng.randbytes(8), number)
        choice = next_match(free, {}, settings, number * 2 if fewest else number, drawn)
        assert isinstance(choice, ChosenMatch)
        return choice.entrants

    return rule


def by_meetings(deals: int) -> Rule:
    """Returns the league's rule, where those that meet play several matches, one after another."""
    left: list[tuple[int, ...]] = []

    def rule(
        free: Sequence[Candidate], sigmas: Mapping[int, float], players: int, number: int, rng: Random
    ) -> tuple[int, ...]:
        if number == 0:
            left.clear()
        if not left:
            settings = MatchRule(players=(players,), deals=deals)
            choice = next_match(free, {}, settings, number, generator(rng.randbytes(8), number))
            assert isinstance(choice, ChosenMatch)
            left.extend([choice.entrants] * deals)
        return left.pop()

    return rule


def by_chance(
    free: Sequence[Candidate], sigmas: Mapping[int, float], players: int, number: int, rng: Random
) -> tuple[int, ...]:
    """Draws everybody evenly."""
    return tuple(one.entrant for one in rng.sample(free, players))


def by_nearest(
    free: Sequence[Candidate], sigmas: Mapping[int, float], players: int, number: int, rng: Random
) -> tuple[int, ...]:
    """Takes who has played the fewest, and the nearest."""
    who = min(free, key=lambda one: (one.matches, one.last))
    return tuple(one.entrant for one in _nearest(who, free, players))


def by_sigma(
    free: Sequence[Candidate], sigmas: Mapping[int, float], players: int, number: int, rng: Random
) -> tuple[int, ...]:
    """Takes whose rating is the most uncertain, and draws the others from the 10 nearest."""
    who = max(free, key=lambda one: sigmas[one.entrant])
    return (who.entrant, *(one.entrant for one in rng.sample(_nearest(who, free, 11)[1:], players - 1)))


def _nearest(who: Candidate, free: Sequence[Candidate], count: int) -> list[Candidate]:
    """Returns the nearest, itself first."""
    return nsmallest(count, free, key=lambda one: (one is not who, abs(one.mu - who.mu), one.entrant))


class _League:
    """A league that is being simulated."""

    def __init__(self, bots: int, seats: int, seed: int) -> None:
        self.seats = seats
        self.rng = Random(seed)
        self.skills = [self.rng.gauss(MU, SPREAD) for _ in range(bots)]
        self.ratings = [Rating()] * bots
        self.active = {
            number: Candidate(entrant=number, author=str(number), mu=MU) for number in range(bots)
        }  # fmt: skip
        self.games = [0] * bots
        self.pairs: list[PairResult] = []
        self.waits = Waits(bots)
        self.running: deque[tuple[int, tuple[int, ...]]] = deque()

    def choose(self, rule: Rule, number: int) -> None:
        """Chooses a match, which begins."""
        busy = {entrant for _, table in self.running for entrant in table}
        free = [one for one in self.active.values() if one.entrant not in busy]
        sigmas = {one.entrant: self.ratings[one.entrant].sigma for one in free}
        table = rule(free, sigmas, self.seats, number, self.rng)
        self.waits.note(table)
        choice = ChosenMatch(table, "", rated=True)
        known = [self.active[entrant] for entrant in table if entrant in self.active]
        for seated in after(known, choice, number, MatchRule(deals=1)):
            self.active[seated.entrant] = seated
        self.running.append((number, table))

    def finish(self) -> None:
        """Plays the match that was chosen first."""
        number, table = self.running.popleft()
        self.pairs += play(table, number, self.skills, self.ratings, self.rng)
        for entrant in table:
            self.games[entrant] += self.seats
            if entrant in self.active:
                self.active[entrant] = msgspec.structs.replace(self.active[entrant], mu=self.ratings[entrant].mu)

    def replace(self, number: int) -> None:
        """Replaces a bot by its next version or by a stranger."""
        old = self.rng.choice(list(self.active))
        del self.active[old]
        self.waits.leave(old)
        if self.rng.random() < 0.8:
            skill, rating = self.skills[old] + self.rng.gauss(*BETTER), inherit(self.ratings[old])
        else:
            skill, rating = self.rng.gauss(MU, SPREAD), Rating()
        new = len(self.skills)
        self.skills.append(skill)
        self.ratings.append(rating)
        self.games.append(0)
        self.waits.join()
        self.active[new] = Candidate(entrant=new, author=str(new), mu=rating.mu, last=number)

    def correlation(self) -> float:
        """Returns the rank correlation of running ratings with skills, of those that are active."""
        return rank_correlation(*self.of_active([one.mu for one in self.ratings]))

    def of_active(self, found: Sequence[float]) -> tuple[list[float], list[float]]:
        """Returns ratings and skills of the versions that are active."""
        return [found[entrant] for entrant in self.active], [self.skills[entrant] for entrant in self.active]


def simulate(bots: int, seats: int, rule: Rule, seed: int, *, moving: bool = False, matches: int = MATCHES) -> Figures:
    """Plays a league of so many matches a bot, and returns its figures."""
    league = _League(bots, seats, seed)
    correlations = []
    looks = deque(LOOKS)
    for number in range(matches * bots // seats):
        if moving and number % REPLACED == REPLACED - 1:
            league.replace(number)
        league.choose(rule, number)
        if len(league.running) == RUNNING:
            league.finish()
        if looks and sum(league.games) >= looks[0] * bots:
            correlations.append(league.correlation())
            looks.popleft()
    while league.running:
        league.finish()
    correlations.append(league.correlation())
    for entrant in league.active:
        league.waits.leave(entrant)  # a wait that goes on at the end is one
    fitted, skills = league.of_active(refit(league.pairs, len(league.skills), players=seats).ratings)
    running, _ = league.of_active([one.mu for one in league.ratings])
    games = [league.games[entrant] for entrant in league.active]
    return Figures(
        tuple(correlations),
        min(games),
        max(games),
        league.waits.longest * seats / bots,
        league.waits.again / league.waits.meetings,
        statistics.linear_regression(skills, fitted).slope,
        error_of(fitted, skills),
        error_of(running, skills),
    )


CHANGES: dict[str, Callable[[Random], float]] = {
    "better by N(0.5, 1.5)": lambda rng: rng.gauss(*BETTER),
    "one in five rewritten": lambda rng: rng.gauss(0, 6) if rng.random() < 0.2 else rng.gauss(*BETTER),
    "8 worse": lambda rng: -8.0,
}
"""By name what a new version's skill changes by."""
ADDED: tuple[float | None, ...] = (0, 1.5, 3, None)
"""What is added to the predecessor's sigma. None: the version starts anew."""
AFTER = (3, 10, 20)
"""After how many matches the error is measured."""


class Errors(msgspec.Struct, frozen=True):
    """How wrong the ratings of new versions are, after each number of matches of `AFTER`."""

    error: tuple[float, ...]
    """The root mean square of mu's error."""
    within: tuple[float, ...]
    """The part of the true skills that lie within three sigma of mu."""

    def line(self) -> str:
        """Returns the figures as they are printed."""
        return "   ".join(f"{error:.1f} ({within:.0%})" for error, within in zip(self.error, self.within, strict=True))


def new_version(change: Callable[[Random], float], added: float | None, versions: int, seed: int = 1) -> Errors:
    """Lets versions play 50 matches in a settled league, and then their successors; returns how wrong these are."""
    rng = Random(seed)
    others = [rng.gauss(MU, SPREAD) for _ in range(500)]
    settled = [Rating(rng.gauss(skill, 1), 1) for skill in others]
    wrong: list[list[float]] = [[] for _ in AFTER]
    held: list[list[bool]] = [[] for _ in AFTER]
    for _ in range(versions):
        skill = rng.gauss(MU, SPREAD)
        rating = _played(skill, Rating(), MATCHES, others, settled, rng)[-1]
        skill += change(rng)
        start = Rating() if added is None else inherit(rating, added)
        course = _played(skill, start, max(AFTER), others, settled, rng)
        for place, count in enumerate(AFTER):
            rating = course[count - 1]
            wrong[place].append((rating.mu - skill) ** 2)
            held[place].append(abs(rating.mu - skill) <= 3 * rating.sigma)
    return Errors(
        tuple(math.sqrt(statistics.fmean(squares)) for squares in wrong),
        tuple(statistics.fmean(kept) for kept in held),
    )


def _played(
    skill: float, rating: Rating, matches: int, others: Sequence[float], settled: Sequence[Rating], rng: Random
) -> list[Rating]:
    """Returns the rating after each match against settled opponents, which are drawn as the league draws them."""
    course = []
    for _ in range(matches):
        sample = rng.sample(range(len(others)), MatchRule().sample)
        likely = weights(rating.mu, [settled[place].mu for place in sample], [False] * len(sample))
        other = sample[draw_place(rng, likely)]
        ratings = [rating, settled[other]]
        play((0, 1), 0, (skill, others[other]), ratings, rng)
        rating = ratings[0]
        course.append(rating)
    return course


def seconds(bots: int, times: int = 200) -> float:
    """Returns the processor time of one choice among so many bots."""
    rng = Random(1)
    candidates = [
        Candidate(
            entrant=number,
            author=str(number // 3),
            mu=rng.gauss(MU, SPREAD),
            matches=30 + number % 7,
            last=number,
            seats={2: 15 + number % 2, 4: 15},
        )
        for number in range(bots)
    ]  # fmt: skip
    settings = MatchRule(players=(2, 4))
    start = time.process_time()
    for number in range(bots, bots + times):
        next_match(candidates, {1: 2}, settings, number, generator(b"", number))
    return (time.process_time() - start) / times


LINES: tuple[tuple[str, int, bool, Rule], ...] = (
    ("random", 2, False, by_chance),
    ("nearest", 2, False, by_nearest),
    ("sigma", 2, False, by_sigma),
    ("league", 2, False, by_league()),
    ("5 deals", 2, False, by_meetings(5)),
    ("random", 4, False, by_chance),
    ("nearest", 4, False, by_nearest),
    ("league", 4, False, by_league()),
    ("5 deals", 4, False, by_meetings(5)),
    ("nearest", 2, True, by_nearest),
    ("fewest", 2, True, by_league(fewest=True)),
    ("league", 2, True, by_league()),
    ("5 deals", 2, True, by_meetings(5)),
    ("league", 4, True, by_league()),
)
"""The table: rule, seats, whether bots are moving."""


def main() -> None:
    """Prints both tables, and how long a choice takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=500, help="bots of a league (500)")
    parser.add_argument("--versions", type=int, default=1000, help="new versions a figure (1000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{f'{arguments.bots} bots':26}{HEADING}")
    for name, seats, moving, rule in LINES:
        figures = simulate(arguments.bots, seats, rule, arguments.seed, moving=moving)
        row = f"{seats} seats{', moving' if moving else ''}: {name}"
        print(f"{row:26}{figures.line()}", flush=True)
    print(f"\nnew versions' error after {', '.join(map(str, AFTER))} matches, and how many within 3 sigma")
    for change, changed in CHANGES.items():
        for added in ADDED:
            errors = new_version(changed, added, arguments.versions, arguments.seed)
            print(f"{change}, {'new' if added is None else f'+{added}'}".ljust(32), errors.line(), flush=True)
    print()
    for bots in (100, 1_000, 10_000):
        print(f"{bots:6,} bots: {1000 * seconds(bots):.2f} ms a choice")


if __name__ == "__main__":
    main()
