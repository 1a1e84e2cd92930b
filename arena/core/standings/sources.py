"""Finds all that counts for the standings of a tournament: its own games, those that it extends, anchors."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from arena.core.errors import ConfigError, did_you_mean
from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.standings.pool import Joined
from arena.core.store.reader import Reader
from arena.core.store.records import Entrant, Tally, Tournament, teams_of
from arena.core.tournament.settings import Settings
from arena.core.types import SeatResult


class Known:
    """What the standings of a tournament are made from."""

    def __init__(self, reader: Reader, row: Tournament, without: Collection[str] = ()) -> None:
        """Reads the sums of the tournament; without some entrants it has none. `extend` adds those of others."""
        self._reader = reader
        self._id = "" if without else row.id
        self.entered: Sequence[Entrant] = [one for one in reader.entrants(row.id) if one.name not in without]
        """Those entrants that are shown, with their numbers in the tournament."""
        self.entrants = [msgspec.structs.replace(entrant, number=place) for place, entrant in enumerate(self.entered)]
        """By number here."""
        self.tallies = [Tally(entrant.number) for entrant in self.entrants] if without else reader.tallies(row.id)
        """By entrant."""
        self.anchors: Mapping[int, float] = {}
        """By entrant a rating that holds the scale."""
        self.games = 0
        """Games of other tournaments."""
        self.reused: tuple[str, ...] = ()
        """These tournaments, the earliest first."""
        self._others: list[PairResult] = []

    def pairs(self) -> Iterator[PairResult]:
        """Yields the results of each pair by deal. Deals of different tournaments are different deals."""
        if not self._others and self._id:
            return self._reader.pairs(self._id)
        count = len(self.reused) + 1
        own = (msgspec.structs.replace(pair, deal=pair.deal * count) for pair in self._reader.pairs(self._id))
        return itertools.chain(own, self._others)

    def extend(self, before: Sequence[Tournament]) -> None:
        """Adds the games of earlier tournaments in which only entrants of this one played, with the same files."""
        numbers = {(entrant.name, entrant.digest): entrant.number for entrant in self.entrants}
        self.reused = tuple(row.id for row in before)
        for place, row in enumerate(before, start=1):
            here = {
                entrant.number: numbers[entrant.name, entrant.digest]
                for entrant in self._reader.entrants(row.id)
                if (entrant.name, entrant.digest) in numbers
            }
            for deal, entrants, seats in self._reader.results(row.id):
                if all(entrant in here for entrant in entrants):
                    self._add(deal * (len(before) + 1) + place, [here[entrant] for entrant in entrants], seats)
        self._others = add_up(self._others)

    def _add(self, deal: int, entrants: Sequence[int], seats: Sequence[SeatResult]) -> None:
        self.games += 1
        self._others += pairs_of(deal, entrants, tuple(seat.rank for seat in seats), teams=teams_of(seats))
        for tally in Tally.of_game(entrants, seats):
            self.tallies[tally.entrant] = self.tallies[tally.entrant].plus(tally)


def known_of(reader: Reader, row: Tournament, without: Collection[str] = ()) -> Known:
    """Returns what the standings of a tournament are made from: all its games, or those without some entrants.

    Raises:
        ConfigError: One is no entrant, or fewer than two are left.
    """
    names = [entrant.name for entrant in reader.entrants(row.id)]
    for name in without:
        if name not in names:
            close = did_you_mean(name, names)
            raise ConfigError(f"expected an entrant of tournament {row.id}, got: {name!r:.80}{close} - at --without")
    known = Known(reader, row, without)
    if len(known.entrants) < 2:
        raise ConfigError(f"expected two entrants or more, got: {len(known.entrants)} of {row.id} - at --without")
    before = list(chain(reader, row, "extends")) if row.settings["format"] == "extension" else [row]
    if without or len(before) > 1:
        known.extend(before if without else before[:-1])
    shown = {entrant.number: place for place, entrant in enumerate(known.entered)}
    anchors = _anchors(reader, row, reader.entrants(row.id))
    known.anchors = {shown[number]: rating for number, rating in anchors.items() if number in shown}
    return known


def chain(reader: Reader, row: Tournament, link: Literal["continues", "extends"]) -> Iterator[Tournament]:
    """Yields a tournament after those that it goes on from, the earliest first, back to one that was removed.

    `link` is the parameter of its format that names the one before it.
    """
    before = row.settings.get(link)
    if before and reader.has(before):
        yield from chain(reader, reader.tournament(before), link)
    yield row


def _anchors(reader: Reader, row: Tournament, entrants: Sequence[Entrant]) -> dict[int, float]:
    """Returns the ratings of a gauntlet's field, from earlier tournaments of the same pool if there are any."""
    if row.settings["format"] != "gauntlet":
        return {}
    anchored = Settings.read(row.settings).format.anchored(len(entrants))
    earlier = [found for found in reader.pool(row.id) if found.created <= row.created and found.id != row.id]
    if not earlier:
        return {}
    from arena.core.ratings.refit import refit

    joined = Joined(reader, earlier)
    fit = refit(joined.pairs(), len(joined.bots), players=max(joined.players))
    ratings = {
        bot.digest: fit.ratings[bot.number] for bot in reversed(joined.bots) if fit.half_width[bot.number] is not None
    }
    return {number: ratings[entrants[number].digest] for number in anchored if entrants[number].digest in ratings}
