"""Rates the bots of a pool, over all its tournaments at once.

A bot is known by the digest of its files: the same digest is the same bot, whatever a tournament calls it, and two
versions are two bots. The second copy of a bot in a tournament is its second copy in every tournament.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import asdict, replace

from arena.core.ratings.pairs import PairResult
from arena.core.ratings.scores import mean_scores
from arena.core.standings.table import MOST_CROSSED, CrossRow, Order, Standing, fit_of, numbered, tabulate
from arena.core.store.reader import Reader
from arena.core.store.records import Entrant, Pool, Tally, Tournament
from arena.core.types import is_cooperative

SHOWN = 6  # digits of a digest that tell two bots of one name and version apart

_COPY = re.compile(r"#\d+\Z")
"""Matches the end of a name in a tournament where others have the same name."""


class PoolStanding(Standing, frozen=True, kw_only=True):
    """One bot's row."""

    digest: str
    tournaments: int


class PoolReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document that `--pool --json` prints."""

    pool: Pool
    tournaments: tuple[str, ...]
    players: tuple[int, ...]
    games: int
    standings: tuple[PoolStanding, ...]
    order: Order | None
    crosstable: tuple[CrossRow, ...] | None


def pool_report(
    reader: Reader,
    tournament: str | None = None,
    *,
    rules: str | None = None,
    ruleset: str | None = None,
    anchors: Mapping[str, float] | None = None,
    crosstable: bool = False,
) -> PoolReport:
    """Returns the standings of the pool of the latest tournament that matches.

    Args:
        tournament: Its identifier; None means any.
        rules: The name of its rules; None means any.
        ruleset: The name of its ruleset; None means any.
        anchors: By bot a rating that is given, not estimated; others follow from it.
        crosstable: Whether there is a cross-table of more than `MOST_CROSSED` bots.

    Raises:
        StoreError: There is no such tournament.
        ConfigError: An anchor is not a bot of the pool.
    """
    with reader.snapshot():
        tournaments = reader.pool(reader.tournament(tournament, rules=rules, ruleset=ruleset).id)
        joined = Joined(reader, tournaments)
        fixed = numbered([bot.name for bot in joined.bots], anchors or {})
        scores = fit = None
        if is_cooperative(tournaments[0].settings["game"].get("teams")):
            scores = mean_scores(joined.scores(), len(joined.bots))
        else:
            fit = fit_of(joined.tallies, joined.pairs(), max(joined.players), fixed)
        table = tabulate(
            joined.bots,
            None,
            joined.tallies,
            joined.pairs(),
            fit,
            scores=scores,
            crosstable=scores is None and (crosstable or len(joined.bots) <= MOST_CROSSED),
        )
        games = sum(reader.done(row.id) for row in tournaments)
    bots = {bot.name: bot for bot in joined.bots}
    return PoolReport(
        pool=Pool.of(tournaments[0].settings),
        tournaments=tuple(row.id for row in tournaments),
        players=joined.players,
        games=games,
        standings=tuple(
            PoolStanding(**asdict(row), digest=bots[row.bot].digest, tournaments=joined.entered[bots[row.bot].number])
            for row in table.standings
        ),
        order=table.order,
        crosstable=table.crosstable,
    )


class Joined:
    """The tournaments of a pool, with one number for each bot."""

    def __init__(self, reader: Reader, tournaments: Sequence[Tournament]) -> None:
        self._reader = reader
        self._tournaments = tournaments
        self._chances = list(dict.fromkeys(map(_chance, tournaments)))
        self._numbers: list[list[int]] = []  # by tournament and entrant the bot's number
        self.players = tuple(sorted({int(row.settings["game"]["players"]) for row in tournaments}))
        self.entered: Counter[int] = Counter()  # by bot in how many tournaments it is
        self.tallies: list[Tally] = []  # by bot
        found: dict[tuple[str, int], int] = {}
        bots: list[Entrant] = []
        for row in tournaments:
            entrants, copies = reader.entrants(row.id), Counter[str]()
            numbers = []
            for entrant, tally in zip(entrants, reader.tallies(row.id), strict=True):
                copy = copies[entrant.digest]
                copies[entrant.digest] += 1
                number = found.setdefault((entrant.digest, copy), len(found))
                numbers.append(number)
                if number == len(bots):
                    bots.append(entrant)
                    self.tallies.append(Tally(number))
                bots[number] = replace(entrant, number=number, name=_name(entrant, copy))
                self.tallies[number] = self.tallies[number].plus(tally)
                self.entered[number] += 1
            self._numbers.append(numbers)
        self.bots = _told_apart(bots)  # By number. Names are unique, those of their latest tournament.

    def pairs(self) -> Iterator[PairResult]:
        """Yields the results of all tournaments. Deals of different tournaments are different deals.

        Tournaments with the same chance, those of one seed, have the same deals.
        """
        for row, numbers, chance in self._tables():
            for pair in self._reader.pairs(row.id):
                one, other = numbers[pair.one], numbers[pair.other]
                better, worse = pair.better, pair.worse
                if one > other:
                    one, other, better, worse = other, one, worse, better
                yield PairResult(pair.deal * len(self._chances) + chance, one, other, better, pair.equal, worse)

    def scores(self) -> Iterator[tuple[int, int, int]]:
        """Yields the deal, the bot and the score of each seat of all tournaments, as `pairs` numbers them."""
        for row, numbers, chance in self._tables():
            for deal, entrant, score in self._reader.scores(row.id):
                yield deal * len(self._chances) + chance, numbers[entrant], score

    def _tables(self) -> Iterator[tuple[Tournament, list[int], int]]:
        """Yields each tournament with the bots' numbers and that of its deals' chance."""
        for row, numbers in zip(self._tournaments, self._numbers, strict=True):
            yield row, numbers, self._chances.index(_chance(row))


def _chance(row: Tournament) -> tuple[object, ...]:
    """Returns what a tournament's deals follow from."""
    return row.secret, row.beacon, row.entropy


def _name(entrant: Entrant, copy: int) -> str:
    """Returns what a bot is called without regard to other bots of that name in its tournament."""
    name = _COPY.sub("", entrant.name)
    return name if copy == 0 else f"{name}#{copy + 1}"


def _told_apart(bots: Sequence[Entrant]) -> list[Entrant]:
    """Returns the bots with unique names: with the version where versions meet, else with digits of the digest."""
    names = Counter(bot.name for bot in bots)
    with_version = [f"{bot.name} {bot.version}".rstrip() if names[bot.name] > 1 else bot.name for bot in bots]
    versions = Counter(with_version)
    return [
        replace(bot, name=name if versions[name] == 1 else f"{name} ({bot.digest[:SHOWN]})")
        for bot, name in zip(bots, with_version, strict=True)
    ]
