"""Gauntlet: challengers meet a field, and the field is left alone."""

from __future__ import annotations

import math

from arena.core.errors import ConfigError
from arena.core.tournament.formats import round_robin
from arena.core.tournament.formats.base import Director, Format, Meeting, Planning
from arena.core.tournament.formats.seating import orders
from arena.core.types import Payload


class Gauntlet(Format, frozen=True, kw_only=True, tag="gauntlet"):
    """The first entrants are challengers. Each meets the others, the field; nobody else meets.

    At a table of three or more sits one challenger, with every choice of the field.
    """

    challengers: int = 1
    """How many entrants, from the first on, are challengers."""
    deals: int = 30
    planning: Planning = 3

    def check(self, entrants: int, players: int) -> None:
        """Checks that there are challengers, and enough others for them to meet.

        Raises:
            ConfigError: There are not. Show the message to the operator.
        """
        if self.challengers < 1:
            raise ConfigError(f"expected at least 1 challenger, got: {self.challengers}; use --challengers")
        if players >= 2 and entrants - self.challengers < players - 1:
            raise ConfigError(
                f"expected at least {players - 1} bots that are no challengers, got: "
                f"{max(0, entrants - self.challengers)}; use a smaller --challengers, or name more bots"
            )
        super().check(entrants, players)

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        meetings = self.challengers * math.comb(entrants - self.challengers, players - 1)
        return self.deals * meetings * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int:
        """Returns the number of deals: all meetings play the same."""
        return self.deals

    def anchored(self, entrants: int) -> range:
        """Returns the field."""
        return range(self.challengers, entrants)

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        return round_robin.Stages(
            round_robin.stages_of(self.deals, len(self._meetings(entrants, players, 0)), self.planning),
            lambda first_deal: self._meetings(entrants, players, first_deal),
        )

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in the choices of the field's order, or in the stages."""
        return players > 3 or self.deals > round_robin.FIRST_STAGE

    def _meetings(self, entrants: int, players: int, first_deal: int) -> Challenges:
        return Challenges(self.challengers, entrants, players, first_deal, self.planning)

    def document(self, entrants: int, players: int) -> Payload:
        """Returns the description, with what says how the order follows."""
        meetings = self._meetings(entrants, players, 0)
        return {
            **super().document(entrants, players),
            **round_robin.stages_document(self, len(meetings), players),
            "stride": meetings.choices.stride if players > 3 else None,
        }


class Challenges(round_robin.Computed):
    """Every challenger with every choice of the field.

    Wherever it is cut, the challengers have nearly the same number of games, and so have the bots of the field.
    """

    def __init__(self, challengers: int, entrants: int, players: int, first_deal: int, planning: Planning = 3) -> None:
        self.choices = round_robin.Pairings(entrants - challengers, players - 1, first_deal, planning)
        self._challengers = challengers
        self._first_deal = first_deal

    def __len__(self) -> int:
        return self._challengers * len(self.choices)

    def _at(self, place: int) -> Meeting:
        # Both go round in step. After as many meetings as bring both to their beginnings again, one choice is skipped:
        # otherwise the same pairs would come again.
        challenger = place % self._challengers
        choice = (place + place // math.lcm(self._challengers, len(self.choices))) % len(self.choices)
        others = (choice,) if self.choices.players == 1 else self.choices[choice].entrants
        return Meeting((challenger, *(self._challengers + other for other in others)), self._first_deal)
