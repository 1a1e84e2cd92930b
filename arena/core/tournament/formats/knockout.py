"""Knockout: who loses a tie is out, until one is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Final

from arena.core.errors import ConfigError
from arena.core.tournament.formats.adaptive import check_chances, growing
from arena.core.tournament.formats.base import Director, Format, Meeting, MeetingResult, Round, RoundResult

MOST_REPLAYS: Final = 5
"""A level tie plays its deals at most so often again."""
MOST_SHOWN: Final = 400
"""A tie that is played until it is shown who is better ends after so many deals. Bots that differ by as much as to win
56 deals of 100 are told apart in about so many; equal ones never are."""
NOBODY: Final = -1
"""Has the places of the bracket that are left over."""
NAMES: Final = {2: "final", 4: "semi-finals", 8: "quarter-finals"}
"""Names of rounds, by the number of places in the bracket."""


class Knockout(Format, frozen=True, kw_only=True, tag="knockout"):
    """The better half of each table goes on, until one is left. It picks a winner, not always the best.

    For two players the bracket has as many places as the next power of two. The first seeds have byes, and the first
    two can only meet in the final. At a table of three one goes on, of four or five two. The entrants' order is the
    order of seeds.
    """

    text: ClassVar[str] = "arena.core.show.rounds:bracket_text"

    deals: int = 4
    """Number of deals that a tie plays. A level tie plays as many again, up to 5 times."""
    until_shown: bool = False
    """Whether a tie is played until it is shown who is better, up to 400 deals. Otherwise it may be luck."""
    alpha: float = 0.05
    """Probability that a tie is decided wrongly that is played until it is shown who is better, at most."""
    third_place: bool = False
    """Whether those who lose the semi-finals play for the third place. For two players."""

    def check(self, entrants: int, players: int) -> None:
        """Checks that there are enough for what is asked.

        Raises:
            ConfigError: There are not. Show the message to the operator.
        """
        super().check(entrants, players)
        check_chances(self.alpha, 0)
        if self.third_place and players > 2:
            raise ConfigError(
                f"expected --third-place with games of 2 players, got: {players}; "
                "leave it out, since the final decides the third place"
            )
        if self.third_place and entrants < 4:
            raise ConfigError(f"expected at least 4 bots for --third-place, got: {entrants}; leave it out")

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return _Bracket(self, entrants, players)

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in who goes on from a tie that stays level."""
        return True


class _Tie:
    """A table whose best go on. A bye is a table of one, who goes on."""

    def __init__(self, entrants: Sequence[int], going_on: int) -> None:
        self.entrants = tuple(sorted(entrants))
        self.going_on = going_on
        self.deals = 0
        self.shares = dict.fromkeys(self.entrants, 0.0)
        """Sum of each entrant's shares, one a deal."""
        self.results: list[MeetingResult] = []

    @property
    def is_bye(self) -> bool:
        return len(self.entrants) == 1

    def is_level(self) -> bool:
        """Whether the last who would go on is level with the first who would not."""
        above, below = self._border()
        return math.isclose(self.shares[above], self.shares[below], abs_tol=1e-9)

    def is_shown(self, alpha: float) -> bool:
        """Whether the last who would go on is shown to be better than the first who would not."""
        # Imported when used, like all that is slow to import.
        from arena.core.ratings.evidence import Evidence

        above, below = self._border()
        shares = [share for result in self.results for share in result.deal_shares(above, below)]
        return Evidence.of(shares).verdict(alpha, 0, math.comb(len(self.entrants), 2)) == "better"

    def _border(self) -> tuple[int, int]:
        order = sorted(self.entrants, key=lambda entrant: -self.shares[entrant])
        return order[self.going_on - 1], order[self.going_on]

    def take(self, result: MeetingResult, deals: int) -> None:
        self.deals += deals
        self.results.append(result)
        for entrant in self.entrants:
            self.shares[entrant] += result.share(entrant) * deals


class _Bracket(Director):
    def __init__(self, format: Knockout, entrants: int, players: int) -> None:
        self._format = format
        self._players = players
        self._deals = 0
        self._shares = [0.0] * entrants
        """Sum of each entrant's shares in the whole event, one a deal."""
        self._played = [0] * entrants
        self._byes = [0] * entrants
        self._places = dict.fromkeys(range(entrants), 1)
        self._alive = [*range(entrants)]
        """Who is left. For two players in the order of the bracket, else the first seed first."""
        self._losers: list[int] = []
        """Losers of the semi-finals, while they have the tie for the third place before them."""
        self._title = ""
        self._replays = 0
        self._ties: list[_Tie] = []
        self._open: list[_Tie] = []
        self._begin()

    def next(self) -> Round | None:
        if not self._open:
            return None
        return Round(
            title=f"{self._title}, replay {self._replays}" if self._replays else self._title,
            deals=self._batch(),
            meetings=[Meeting(tie.entrants, self._deals) for tie in self._open],
            byes=() if self._replays else tuple(tie.entrants[0] for tie in self._ties if tie.is_bye),
        )

    def add(self, round: Round) -> None:
        self._deals += round.deals

    def take(self, result: RoundResult) -> None:
        batch = self._batch()
        for tie, meeting in zip(self._open, result.meetings, strict=True):
            tie.take(meeting, batch)
            for entrant in tie.entrants:
                self._shares[entrant] += meeting.share(entrant) * batch
                self._played[entrant] += batch
        self._open = [tie for tie in self._open if self._is_open(tie)]
        self._replays += 1
        if not self._open:
            self._end()
            self._begin()

    def places(self) -> dict[int, int]:
        return dict(self._places)

    def _batch(self) -> int:
        """Returns how many deals the open ties play at once. All of them have played equally many."""
        if not self._format.until_shown:
            return self._format.deals
        played = self._open[0].deals
        return min(growing(self._format.deals, played), max(self._format.deals, MOST_SHOWN - played))

    def _is_open(self, tie: _Tie) -> bool:
        """Whether a tie that has been played is played again."""
        if self._format.until_shown:
            return tie.deals < MOST_SHOWN and not tie.is_shown(self._format.alpha)
        return self._replays < MOST_REPLAYS and tie.is_level()

    def _begin(self) -> None:
        """Begins the next round: the tie for the third place, or ties of those who are left, or none."""
        self._replays = 0
        if self._losers:
            self._title, self._ties = "third place", [_Tie(self._losers, 1)]
        elif self._players == 2:
            self._title, self._ties = self._brackets()
        else:
            self._title, self._ties = self._tables()
        self._open = [tie for tie in self._ties if not tie.is_bye]

    def _end(self) -> None:
        """Ends a round: says who is out, and who is left."""
        if self._losers:
            (tie,) = self._ties
            self._places.update(zip(self._ranked(tie), (3, 4), strict=True))
            self._losers = []
            return
        if self._title == "final":
            (tie,) = self._ties
            self._places.update(zip(self._ranked(tie), range(1, self._players + 1), strict=True))
            self._alive = []
            return
        ranked = [(self._ranked(tie), tie.going_on) for tie in self._ties]
        out = [entrant for entrants, going_on in ranked for entrant in entrants[going_on:]]
        self._alive = [entrant for entrants, going_on in ranked for entrant in entrants[:going_on]]
        self._places.update(dict.fromkeys(out, len(self._alive) + 1))
        if self._players > 2:
            self._alive.sort()
            for tie in self._ties:
                self._byes[tie.entrants[0]] += tie.is_bye
        elif self._format.third_place and self._title == NAMES[4]:
            self._losers = out

    def _ranked(self, tie: _Tie) -> list[int]:
        """Returns the entrants of a tie, the best first: by share in it, then by seed.

        The rest of the event does not count: who had a bye has no games in it. By the first version of planning it did.
        """

        def key(entrant: int) -> tuple[float, float, int]:
            event = self._shares[entrant] / max(1, self._played[entrant]) if self._format.planning == 1 else 0
            return -round(tie.shares[entrant], 9), -round(event, 9), entrant

        return sorted(tie.entrants, key=key)

    def _brackets(self) -> tuple[str, list[_Tie]]:
        """Returns the ties of two. In the first round the places of the bracket that nobody has give byes."""
        places = self._alive
        if not self._deals:
            places = [seed if seed < len(self._alive) else NOBODY for seed in seeding(len(self._alive))]
        ties = [
            _Tie([entrant for entrant in pair if entrant != NOBODY], 1)
            for pair in zip(places[::2], places[1::2], strict=True)
        ]
        return NAMES.get(len(places), f"round of {len(places)}"), ties

    def _tables(self) -> tuple[str, list[_Tie]]:
        """Returns the tables of three or more.

        Full tables, of which the best half goes on, lead to the next size from which full tables lead to the final.
        Who has no seat rests: those with the fewest byes, and of them the first seeds.
        """
        left = len(self._alive)
        if left <= self._players:
            return "final", [_Tie(self._alive, 1)] if left else []
        going_on = self._players // 2
        falling = self._players - going_on
        out = left - size_below(left, self._players)
        tables = min(-(-out // falling), left // self._players)
        out = min(out, tables * falling)
        resting = sorted(self._alive, key=lambda entrant: (self._byes[entrant], entrant))
        resting = resting[: left - tables * self._players]
        playing = [entrant for entrant in self._alive if entrant not in resting]
        ties = []
        for table in range(tables):
            seated = [
                playing[row * tables + (table if row % 2 == 0 else tables - 1 - table)] for row in range(self._players)
            ]
            is_last = table == tables - 1
            ties.append(_Tie(seated, self._players - (out - (tables - 1) * falling) if is_last else going_on))
        title = "semi-finals" if left - out == self._players else f"round of {left}"
        return title, [*ties, *(_Tie([entrant], 1) for entrant in resting)]


def seeding(entrants: int) -> list[int]:
    """Returns the seed of each place of a bracket that is large enough. Neighbours meet, then their winners.

    >>> seeding(7)
    [0, 7, 3, 4, 1, 6, 2, 5]
    """
    seeds = [0]
    while len(seeds) < entrants:
        last = 2 * len(seeds) - 1
        seeds = [seed for upper in seeds for seed in (upper, last - upper)]
    return seeds


def size_below(left: int, players: int) -> int:
    """Returns to how many a round of tables of three or more leads: the largest such size below those who are left.

    >>> [size_below(left, 4) for left in (5, 8, 9, 16, 17)]
    [4, 4, 8, 8, 16]
    """
    going_on = players // 2
    size = players
    while (larger := size // going_on * players + size % going_on) < left:
        size = larger
    return size
