"""Says what a format is: a pure function from the entrants and the results so far to the next round.

Laws:
1. A format has no clock, no file and no random generator of its own. What it draws follows from `draw`, a public value
   that is fixed before the first game. So anybody can compute each round again from the results.
2. A round depends on results of whole rounds only, those up to `lag` rounds before the last one. So it is the same at
   any concurrency, and after any number of kills. With a lag of 1 a round is known before the one in front of it ends,
   and no worker has to wait.
3. Between `add` and `take` of its rounds a director changes nothing: `next` only computes. Two directors that were
   given the same rounds and results give the same next round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import msgspec

from arena.core.errors import ConfigError
from arena.core.ratings.pairs import PairResult
from arena.core.store.records import NamedRound
from arena.core.tournament.formats.seating import Seatings, orders
from arena.core.types import Payload

if TYPE_CHECKING:
    from arena.core.progress import Progress
    from arena.core.store.reader import Reader
    from arena.core.store.records import Tournament

MAX_GAMES: Final = 10**9
"""The most games of a tournament. At 25 games a second they take more than a year: the operator typed a digit too
many. Below it every number in the database, a meeting's too, is far from SQLite's 2**63."""

Planning: TypeAlias = Literal[1, 2, 3]
"""Which version of the formats a tournament is planned by. The second orders the meetings of three and more evenly,
gives half a point for a bye at such tables, and decides a level tie of a knockout by seed, not by the whole event. In
the third, stages begin small and grow, so that soon everybody has met everybody; only formats with stages know it."""


class Meeting(msgspec.Struct, frozen=True):
    """Entrants who meet at one table, on one or more deals, each in all its seatings."""

    entrants: tuple[int, ...]
    """Entrants, as many as a game has players, each once."""
    first_deal: int
    """The number of the first deal; the others follow it."""


class Round(NamedRound, frozen=True, kw_only=True):
    """Meetings that are planned together. Their games may be played in any order."""

    meetings: Sequence[Meeting]
    """Not empty. May be computed when it is asked for."""


class MeetingResult(msgspec.Struct, frozen=True):
    """What came of a meeting."""

    meeting: Meeting
    pairs: tuple[PairResult, ...]
    """Pairs of the meeting's entrants, every one of each deal."""

    def share(self, entrant: int) -> float:
        """Returns an entrant's mean share, from 0 to 1, against the others of the table. All deals count alike.

        It is a half if no game has a result.
        """
        own = [pair.share_of(entrant) for pair in self.pairs if entrant in (pair.one, pair.other)]
        return sum(own) / len(own) if own else 0.5

    def deal_shares(self, one: int, other: int) -> list[float]:
        """Returns by deal the share of `one` against `other`."""
        found = [pair for pair in self.pairs if {pair.one, pair.other} == {one, other}]
        return [pair.share_of(one) for pair in sorted(found, key=lambda pair: pair.deal)]


class RoundResult(msgspec.Struct, frozen=True):
    """What came of a round whose games are all done."""

    meetings: Sequence[MeetingResult]
    """In the order of the round's meetings."""
    mu: Mapping[int, float]
    """Running rating of each entrant (TrueSkill's mean) after the round's last game, of those who played in it."""


class Director(ABC):
    """Directs one tournament: gives round after round."""

    lag: ClassVar[int | None] = 0
    """Largest number of rounds without results when the next is asked for. None: rounds need no results."""

    @abstractmethod
    def next(self) -> Round | None:
        """Returns the next round, or None if there is none: then the tournament ends."""

    @abstractmethod
    def add(self, round: Round) -> None:
        """Takes note that a round, one that `next` returned, will be played."""

    def take(self, result: RoundResult) -> None:  # noqa: B027  (formats without memory have nothing to do here)
        """Takes the results of the earliest round that has none yet."""

    def places(self) -> dict[int, int] | None:
        """Returns by entrant the place reached so far, which may be shared, or None if the format gives no places."""
        return None

    def points(self) -> dict[int, float] | None:
        """Returns by entrant the points so far: a won match or a bye 1, a level match a half. None: there are none."""
        return None


class Lagging(Director):
    """A director with a lag of one round: while a round is played, the next one is known already.

    Its rounds depend on all results but those of the round in front, even if these are there already.

    So the rounds are the same however fast the games are played.
    """

    lag = 1

    def __init__(self) -> None:
        self._added = 0
        self._noted = 0
        self._early: deque[RoundResult] = deque()
        """Results on which the next round must not depend yet."""

    def add(self, round: Round) -> None:
        self._added += 1
        self.plan(round)
        self._note()

    def take(self, result: RoundResult) -> None:
        self._early.append(result)
        self._note()

    def _note(self) -> None:
        while self._early and self._noted < self._added - 1:
            self.note(self._early.popleft())
            self._noted += 1

    @abstractmethod
    def plan(self, round: Round) -> None:
        """Takes note that a round will be played."""

    @abstractmethod
    def note(self, result: RoundResult) -> None:
        """Takes note of the results of the earliest round that has none yet."""


class Format(msgspec.Struct, frozen=True, kw_only=True, tag_field="name"):
    """A format with its parameters. Subclasses have their own parameters, and the tag that is their name."""

    text: ClassVar[str] = ""
    """Function that shows `progress` as text, `module:attribute`, called with that and the width of the terminal."""
    is_contest: ClassVar[bool] = True
    """Whether it matters who of its entrants won."""
    deals: int
    seatings: Seatings = "cyclic"
    """Seatings of a meeting's entrants on a deal: rotated, or in every order."""
    planning: Planning = 2

    def check(self, entrants: int, players: int) -> None:
        """Checks that there can be such a tournament.

        Raises:
            ConfigError: There cannot. Show the message to the operator.
        """
        if players < 2:
            raise ConfigError(f"expected at least 2 players, got: {players}; use --players")
        if entrants < players:
            raise ConfigError(
                f"expected at least {players} bots for games of {players} players, got: {entrants}; "
                "name more (the same bot may enter twice), or use a smaller --players"
            )
        if self.deals < 1:
            raise ConfigError(f"expected at least 1 deal, got: {self.deals}; use --deals")
        if (total := self.total(entrants, players)) is not None and total > MAX_GAMES:
            raise ConfigError(
                f"expected at most {MAX_GAMES:,} games, got: {total:,}; use a smaller --deals, or fewer bots"
            )

    def total(self, entrants: int, players: int) -> int | None:
        """Returns the number of games, or None if it depends on the results."""
        return None

    def deals_in_all(self, entrants: int, players: int) -> int | None:
        """Returns how many different deals there are, 0 and up, or None if that depends on the results."""
        return None

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning can differ in games of so many players."""
        return False

    def parameters(self, players: int) -> Payload:
        """Returns name and parameters as plain values, with lists for tuples, as in a file.

        `planning` is there only where it is not 1 and makes a difference: so documents of earlier tournaments stay.
        """
        parameters: Payload = msgspec.json.decode(msgspec.json.encode(self))
        if self.planning == 1 or not self.depends_on_planning(players):
            del parameters["planning"]
        return parameters

    def progress(self, reader: Reader, row: Tournament, names: Sequence[str], order: Sequence[int]) -> Progress:
        """Returns how such a tournament stands: by default its rounds so far. It is shown by `text` alone.

        Args:
            names: Of the entrants.
            order: The entrants as its standings have them, best first.
        """
        from arena.core.tournament.planner import progress_of_rounds

        return progress_of_rounds(reader, row, names, order)

    @classmethod
    def words(cls, settings: Payload, refs: Sequence[str]) -> tuple[list[str], list[str]]:
        """Returns the command that plays such a tournament of `refs`, and its options that are not defaults."""
        return ["tournament", *refs], ["--format", str(settings["format"]), *cls.options(settings)]

    @classmethod
    def options(cls, settings: Payload) -> list[str]:
        """Returns the options for the parameters among these settings, without those that have their default."""
        words: list[str] = []
        for field in msgspec.structs.fields(cls):
            value = settings.get(field.name)
            if value is None or value is False or value == field.default:
                continue
            if field.name == "until_shown":
                words += ["--until", "shown"]
                continue
            words.append("--" + field.name.replace("_", "-"))
            if value is not True:
                words += map(str, value) if isinstance(value, list) else [str(value)]
        return words

    def anchored(self, entrants: int) -> range:
        """Returns the entrants whose ratings hold the scale while the others are rated against them."""
        return range(0)

    @abstractmethod
    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director of a tournament that begins.

        Args:
            entrants: How many there are. Entrant 0 is the first seed, if the format has seeds.
            draw: From which everything random in it follows.
        """

    def document(self, entrants: int, players: int) -> Payload:
        """Returns a description from which, with the results, every round can be computed, as plain values."""
        parameters = self.parameters(players)
        return {
            "format": parameters.pop("name"),
            "entrants": entrants,
            "players": players,
            **parameters,
            "circles": [list(seatings[0]) for seatings in orders(players, self.seatings)],
            "games": self.total(entrants, players),
        }
