"""Numbers the games of a tournament. Pure: every game is computed from its number and the rounds that are planned.

The order is round by round, within a round meeting by meeting, then seating by seating, then deal by deal. The games of
one meeting and seating are a *block*: no deal comes twice in it, so that bot processes which serve one block only meet
no deal again.

The circle of seats changes from deal to deal: two circles for three players, six for four, so that everybody follows
everybody about equally often. A rotation alone leaves every player behind the same neighbour, and whom one plays after
matters: of three copies of one bot, with a weak one among them, one won 14 games of 18 and another 2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from arena.core.store.records import PlannedGame, StoredRound
from arena.core.tournament.formats.base import Format, Meeting, Round, RoundResult
from arena.core.tournament.formats.seating import orders


class PlacedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round with its place in the order of games."""

    number: int
    round: Round
    first_game: int
    games: int
    first_block: int

    @property
    def end(self) -> int:
        """The number of the first game after it."""
        return self.first_game + self.games

    def stored(self) -> StoredRound:
        """Returns the round as the database holds it."""
        return StoredRound(
            number=self.number,
            title=self.round.title,
            deals=self.round.deals,
            meetings=tuple((meeting.first_deal, meeting.entrants) for meeting in self.round.meetings),
            byes=self.round.byes,
            first_game=self.first_game,
            games=self.games,
            parameters=self.round.parameters,
        )


class Schedule:
    """The games of a tournament as far as its rounds are planned.

    Args:
        draw: From which everything random in the format follows.
        stored: The rounds that were planned before. What they depended on is given to `take` again.
    """

    def __init__(
        self, format: Format, entrants: int, players: int, draw: bytes = b"", stored: Iterable[StoredRound] = ()
    ) -> None:
        format.check(entrants, players)
        self._director = format.director(entrants, players, draw)
        self._orders = orders(players, format.seatings)
        self.seatings = len(self._orders[0])  # in how many seatings each deal is played
        self.rounds: list[PlacedRound] = []
        self._starts: list[int] = []
        self._taken = 0
        self.open = True  # whether more rounds may follow
        for was in stored:
            meetings = tuple(Meeting(entrants, first_deal) for first_deal, entrants in was.meetings)
            self._place(
                Round(title=was.title, deals=was.deals, meetings=meetings, byes=was.byes, parameters=was.parameters)
            )
        while self.open and self._director.lag is None:
            self.plan()

    @property
    def total(self) -> int:
        """The number of games that are planned."""
        return self.rounds[-1].end if self.rounds else 0

    @property
    def computed(self) -> bool:
        """Whether the rounds follow without results, so that nobody has to store them."""
        return self._director.lag is None

    @property
    def in_rounds(self) -> bool:
        """Whether a round ends before the next is planned, as people know it of Swiss and knockout."""
        return self._director.lag == 0

    @property
    def awaited(self) -> PlacedRound | None:
        """The round whose results must be taken before the next can be planned, or None if it can be planned now."""
        lag = self._director.lag
        if lag is None or len(self.rounds) - self._taken <= lag:
            return None
        return self.rounds[self._taken]

    def take(self, result: RoundResult) -> None:
        """Takes the results of the round that is awaited."""
        self._director.take(result)
        self._taken += 1

    def places(self) -> dict[int, int] | None:
        """Returns by entrant the place reached in the rounds that were taken, or None if the format gives none."""
        return self._director.places()

    def points(self) -> dict[int, float] | None:
        """Returns by entrant the points in the rounds that were taken, or None if the format gives none."""
        return self._director.points()

    def plan(self) -> PlacedRound | None:
        """Plans the next round, and returns it; None if there is none: then all games are planned."""
        round = self._director.next()
        if round is None:
            self.open = False
            return None
        return self._place(round)

    def _place(self, round: Round) -> PlacedRound:
        last = self.rounds[-1] if self.rounds else None
        placed = PlacedRound(
            number=len(self.rounds),
            round=round,
            first_game=last.end if last else 0,
            games=len(round.meetings) * round.deals * self.seatings,
            first_block=last.first_block + len(last.round.meetings) * self.seatings if last else 0,
        )
        self._director.add(round)
        self.rounds.append(placed)
        self._starts.append(placed.first_game)
        return placed

    def game(self, number: int) -> PlannedGame:
        """Returns the game at a place in the order.

        Raises:
            IndexError: No game is planned at that place.
        """
        if not 0 <= number < self.total:
            raise IndexError(number)
        placed = self.rounds[bisect_right(self._starts, number) - 1]
        deals = placed.round.deals
        block, deal = divmod(number - placed.first_game, deals)
        place, rotation = divmod(block, self.seatings)
        meeting = placed.round.meetings[place]
        deal += meeting.first_deal
        order = self._orders[deal % len(self._orders)][rotation]
        entrants = tuple(meeting.entrants[i] for i in order)
        chosen = placed.round.parameters
        return PlannedGame(
            number=number,
            block=placed.first_block + block,
            deal=deal,
            rotation=rotation,
            entrants=entrants,
            parameters=tuple(chosen[entrant] for entrant in entrants) if chosen else (),
        )

    def __iter__(self) -> Iterator[PlannedGame]:
        return map(self.game, range(self.total))
