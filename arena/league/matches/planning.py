"""Plans matches a little ahead of the workers.

Laws:
1. Few matches are planned beyond those that are played: a new version waits for few, and a suspended one leaves few.
2. What is planned follows from the season's public commitment, the match's number, and the standings and who may play
   at that moment.
3. Versions that meet play several matches (`deals`), each on another deal, so that a bot starts once for all of them.

`longest_wait` is the figure by which a league's matchmaking is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Final

import msgspec

from arena.core.face import closeness, seat_orders
from arena.league.matches.matchmaking import Wait, after, next_match
from arena.league.settings import MatchRule
from arena.league.store import LeagueStore
from arena.league.store.records import Candidate, Match, VersionStanding

MATCHES_A_WORKER: Final = 2
"""Number of matches that are not over, for each worker."""
MOST_UNRATED: Final = 64
"""How many games there may be beyond those that are rated. Ratings follow the order of games, so that one slow game
holds them up: nobody should be matched by old ratings for long."""


class Planner(msgspec.Struct, eq=False):
    """Plans the matches of the open season.

    Args:
        draw: What everything random follows from, with the match's number.
        absent: Returns the names of versions that cannot play now: remote ones that nobody serves, and those that
            are to be built again.
        resting: Returns the authors whose versions do not play while others do.
    """

    store: LeagueStore
    settings: MatchRule
    draw: bytes
    absent: Callable[[], frozenset[str]] = frozenset
    resting: Callable[[], frozenset[str]] = frozenset
    waits: Wait | None = None
    """Why the last call planned less than it could, if a rule was the reason."""

    def plan(self, workers: int) -> list[Match]:
        """Plans as many matches as so many workers need, and returns them."""
        self.waits = None
        playing = self.store.matches.running()
        absent = self.absent()
        if absent and spare(self.store, absent, playing):
            playing = self.store.matches.running()
        missing = MATCHES_A_WORKER * workers - len(playing)
        if missing <= 0 or self.store.matches.games_waiting() >= MOST_UNRATED:
            return []
        standing = self.store.facts.standing()
        candidates: list[Candidate] = [one for one in standing if one.name not in absent]
        meetings = {(match.together, match.entrants) for match in playing}
        running = Counter(entrant for _, entrants in meetings for entrant in entrants)
        running.update(self._held(candidates))
        number = self.store.matches.count()
        planned: list[Match] = []
        while len(planned) < missing:
            choice = next_match(candidates, running, self.settings, number, closeness.generator(self.draw, number))
            if isinstance(choice, Wait):
                self.waits = choice
                break
            numbers = range(number, number + self.settings.deals)
            matches = [seatings_of(choice.entrants, turn) for turn in numbers]
            planned += self.store.matches.plan(matches, choice.why, choice.rated)
            candidates = after(candidates, choice, number, self.settings)
            running.update(choice.entrants)
            number = numbers.stop
            if self.store.matches.games_waiting() >= MOST_UNRATED:
                break
        return planned

    def _held(self, candidates: Sequence[Candidate]) -> dict[int, int]:
        """Returns the meetings that keep resting versions from others; none if they are all that authors have here."""
        resting = self.resting()
        if not resting or all(one.author is None or one.author in resting for one in candidates):
            return {}
        return {one.entrant: self.settings.most_running for one in candidates if one.author in resting}


def seatings_of(entrants: Sequence[int], turn: int) -> Sequence[tuple[int, ...]]:
    """Returns the seatings of a match. With each turn the circle of seats changes."""
    circles = seat_orders.orders(len(entrants), "cyclic")
    return [tuple(entrants[place] for place in order) for order in circles[turn % len(circles)]]


def spare(store: LeagueStore, absent: frozenset[str], playing: Sequence[Match]) -> bool:
    """Takes back planned games of versions that cannot play: they would forfeit them. Says whether it did."""
    gone = {version.entrant for version in store.versions.active() if version.name in absent}
    spared = [
        match for match in playing if gone & {*match.entrants} and any(game.status == "planned" for game in match.games)
    ]
    for match in spared:
        store.matches.void(match.number, "one of its bots cannot play now")
    return bool(spared)


class Waited(msgspec.Struct, frozen=True):
    """A wait."""

    matches: int = 0
    """In matches of the whole league."""
    rounds: float = 0.0
    """In rounds: so many matches as give each version that plays one seat."""


def longest_wait(standing: Sequence[VersionStanding], matches: int, players: Sequence[int]) -> Waited:
    """Returns how long the version has waited that waits longest; those that play now do not wait.

    Args:
        matches: How many matches the season has.
        players: The numbers of players that matches may have, each as often.
    """
    waits = (matches - one.waits_since for one in standing if not one.playing)
    longest = max(waits, default=0)
    return Waited(longest, round(longest * fmean(players) / len(standing), 2) if longest else 0.0)
