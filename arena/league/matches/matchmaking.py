"""Chooses the next match of a league: who plays whom. `docs/matchmaking.md` says what that does to a league.

Those that are chosen meet for `deals` matches, each on another deal.

The rule:
1. *Who*: in every second meeting whoever is new (under `placement` matches) and has played the fewest; else whoever has
   waited longest.
2. *Seats*: the number of players that it has played least.
3. *Others*: a sample of all that are free, of other authors, and for whom that number of players is due too. They are
   drawn by how close their ratings are, and less likely if they met lately. Some meetings do not look at ratings.

Laws:
1. The choice is a pure function. It has no clock, no file, and no other chance than the generator that it is given.
2. Running matches count as played.
3. Nobody waits for ever. Say that a version is chosen for meeting t while n versions are active, and that it is free
   again (under `most_running` meetings) when meeting t + w is chosen. Then it is chosen again by meeting t + w + 2n.
   For from t + w on every odd meeting goes to somebody who has waited longer, or to itself. Whoever is chosen goes
   behind it, whoever comes is behind it, and at most n - 1 were before it. A match that is struck may delay it by one.
4. How uncertain a rating is never chooses. A bot of odd strength stays uncertain, and would play all the time.
5. Two versions of one author meet only if there is no other way to fill the seats, and unrated: otherwise one could
   lose to the other on purpose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Literal

import msgspec

from arena.core.face import closeness
from arena.league.settings import MatchRule
from arena.league.store.records import Candidate


class ChosenMatch(msgspec.Struct, frozen=True):
    """The next match."""

    entrants: tuple[int, ...]
    """Who plays, the one whose turn it is first."""
    why: str
    """Why this match, for people: `new: 3 matches so far`, `waited 41 matches; drawn evenly`."""
    rated: bool
    """Whether it counts for ratings."""


class Wait(msgspec.Struct, frozen=True):
    """There is no match to choose now."""

    until: Literal["over", "arrival"]
    """What has to happen first: a running match is over, or a version becomes active."""
    why: str
    """The reason, for people."""


def next_match(
    candidates: Sequence[Candidate],
    running: Mapping[int, int],
    settings: MatchRule,
    number: int,
    rng: closeness.Generator,
) -> ChosenMatch | Wait:
    """Returns the next match, or why there is none now.

    Args:
        candidates: All active versions, in any order. Half a millisecond among 200.
        running: By entrant how many meetings it has that are not over. Entrants without any may be left out.
        number: The number in the season, from 0, of the first match that they play.
        rng: From which everything random in it follows; `closeness.generator` makes one.
    """
    if all(one.author is None and one.matches >= settings.placement for one in candidates):
        return Wait("arrival", "only bots of the house are active, and they have played their placement matches")
    busy = {entrant for entrant, matches in running.items() if matches >= settings.most_running}
    free = [one for one in candidates if one.entrant not in busy] if busy else candidates
    if not free:
        return Wait("over", "every version has as many running meetings as it may have")
    who, why = _whose_turn(free, number, settings)
    possible, rated = _possible(candidates, who, settings.players)
    if not possible:
        return Wait("arrival", f"expected {min(settings.players)} active versions, got: {len(candidates)}")
    players = _least_played(who, possible, free, settings.sample, rng)
    evenly = rng.random() < settings.random
    table = _Table(who, players, possible, rated, settings, rng, evenly)
    others = table.drawn_from(free)
    if others is None:
        return Wait("over", "too many of those that could play are in other matches")
    if evenly:
        why += "; drawn evenly"
    if not rated:
        why += f"; unrated: too few versions of different authors for {players} players"
    return ChosenMatch((who.entrant, *(other.entrant for other in others)), why, rated)


def after(candidates: Sequence[Candidate], choice: ChosenMatch, number: int, settings: MatchRule) -> list[Candidate]:
    """Returns the candidates as they are once those chosen play the matches from `number` on. Ratings stay."""
    matches = range(number, number + settings.deals)
    table = set(choice.entrants)
    return [_seated(one, table, matches, settings.repeat) if one.entrant in table else one for one in candidates]


def _seated(one: Candidate, table: Collection[int], matches: range, keep: int) -> Candidate:
    met = (*one.met, tuple(sorted(set(table) - {one.entrant})))
    return msgspec.structs.replace(
        one, matches=one.matches + len(matches), last=matches[-1],
        seats={**one.seats, len(table): one.seats.get(len(table), 0) + len(matches)}, met=met[-keep:] if keep else (),
    )  # fmt: skip


def _whose_turn(free: Sequence[Candidate], number: int, settings: MatchRule) -> tuple[Candidate, str]:
    if number // settings.deals % 2 == 0:
        new = [one for one in free if one.matches < settings.placement]
        if new:
            who = min(new, key=attrgetter("matches", "last", "entrant"))
            return who, f"new: {who.matches} matches so far"
    who = min(free, key=attrgetter("last", "entrant"))
    return who, f"waited {max(0, number - who.last)} matches"


def _possible(candidates: Sequence[Candidate], who: Candidate, players: Sequence[int]) -> tuple[list[int], bool]:
    """Returns the numbers of players for which there are enough versions, busy or not, and whether that is rated."""
    enough = max(players)
    sides: set[str | int] = {who.side}
    for one in candidates:
        if len(sides) == enough:
            break
        sides.add(one.side)
    if rated := [count for count in players if count <= len(sides)]:
        return rated, True
    return [count for count in players if count <= len(candidates)], False


def _least_played(
    who: Candidate, possible: Sequence[int], free: Sequence[Candidate], most: int, rng: closeness.Generator
) -> int:
    """Returns the number of players that it has played least; of several the one that more of the others are due."""
    due = [count for count in possible if _excess(who, count, possible) == 0]
    if len(due) > 1 and len(free) <= most:  # among many, chance does as well
        wanted = {count: sum(_excess(one, count, possible) == 0 for one in free) for count in due}
        due = [count for count in due if wanted[count] == max(wanted.values())]
    return due[int(rng.random() * len(due))]


def _excess(one: Candidate, players: int, possible: Iterable[int]) -> int:
    """Returns the surplus of its matches with this number of players over those with the number it played least."""
    return one.seats.get(players, 0) - min(one.seats.get(count, 0) for count in possible)


class _Table(msgspec.Struct, frozen=True):
    """Fills the seats of one match."""

    who: Candidate
    players: int
    possible: Sequence[int]
    rated: bool
    settings: MatchRule
    rng: closeness.Generator
    evenly: bool

    def drawn_from(self, free: Sequence[Candidate]) -> list[Candidate] | None:
        """Returns the others, or None if too few are free."""
        for sample in self._samples(free):
            if (others := self._draw(sample)) is not None:
                return others
        return None

    def _samples(self, free: Sequence[Candidate]) -> Iterator[list[Candidate]]:
        """Yields those from whom the others may be drawn, ever more of them.

        First comes an even sample of those for whom so many players are due, then all of these. Then come those too who
        have played it once more often than another number, and so on.
        """
        fitting = [(self._excess(one), one) for one in free if self._may_meet(one)]
        due = [one for excess, one in fitting if excess == 0]
        if len(due) > self.settings.sample:
            yield [due.pop(int(self.rng.random() * len(due))) for _ in range(self.settings.sample)]
        for most in sorted({excess for excess, _ in fitting}):
            yield [one for excess, one in fitting if excess <= most]

    def _may_meet(self, one: Candidate) -> bool:
        return one.entrant != self.who.entrant and not (self.rated and one.side == self.who.side)

    def _excess(self, one: Candidate) -> int:
        return _excess(one, self.players, self.possible)

    def _draw(self, sample: list[Candidate]) -> list[Candidate] | None:
        """Returns the others, drawn from a sample by weight, or None if it has too few sides."""
        if len(sample) < self.players - 1:
            return None
        likely = [1.0] * len(sample)
        if not self.evenly:
            met = {*chain(*self.who.met)}
            lately = [one.entrant in met for one in sample]
            likely = closeness.weights(self.who.mu, [one.mu for one in sample], lately, self.settings.again)
        sides = {self.who.side}
        others: list[Candidate] = []
        while len(others) < self.players - 1:
            places = [place for place, one in enumerate(sample) if one.side not in sides]
            if not places:
                if self.rated:
                    return None
                places = list(range(len(sample)))
            place = places[closeness.draw_place(self.rng, [likely[place] for place in places])]
            del likely[place]
            others.append(sample.pop(place))
            sides.add(others[-1].side)
        return others
