"""An extension of a round-robin: the games that another tournament has not played already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from arena.core.errors import ConfigError
from arena.core.tournament.formats.base import Director, Format, Meeting, Planning, Round
from arena.core.tournament.formats.round_robin import FIRST_STAGE, Computed, Pairings, RoundRobin, stages_of
from arena.core.tournament.formats.seating import orders
from arena.core.types import Payload

MAX_PAIRINGS = 1_000_000
"""The most pairings of an extension. They are held in memory."""


class Extension(Format, frozen=True, kw_only=True, tag="extension"):
    """Every pairing of entrants plays so many deals, with those that it played in the tournament that is extended.

    The deals are new: those of a finished tournament are known to everybody.
    """

    deals: int = 30
    """Number of deals that every pairing has in the end."""
    extends: str = ""
    unchanged: tuple[int, ...] = ()
    """The entrants that played in it, by their numbers here, in order."""
    played: int = 0
    """Number of deals that their pairings played."""
    planning: Planning = 3

    def check(self, entrants: int, players: int) -> None:
        """Checks that there can be such a tournament.

        Raises:
            ConfigError: There cannot.
        """
        super().check(entrants, players)
        if math.comb(entrants, players) > MAX_PAIRINGS:
            raise ConfigError(
                f"expected at most {MAX_PAIRINGS:,} pairings to extend, got: {math.comb(entrants, players):,}; "
                "use fewer bots, or begin another tournament"
            )

    @classmethod
    def words(cls, settings: Payload, refs: Sequence[str]) -> tuple[list[str], list[str]]:
        """Returns the command that extends the tournament."""
        return ["tournament", *refs], ["--extend", settings["extends"], *RoundRobin.options(settings)]

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        old = math.comb(len(self.unchanged), players)
        new = math.comb(entrants, players) - old
        return (old * self._missing + new * self.deals) * len(orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int:
        """Returns the number of different deals that are played here."""
        return self.deals if entrants > len(self.unchanged) else self._missing

    def director(self, entrants: int, players: int, draw: bytes) -> Director:
        """Returns the director. It draws nothing."""
        old = set(combinations(self.unchanged, players))
        pairings = Pairings(entrants, players, 0, self.planning)
        both = [meeting.entrants for meeting in pairings] if old else []
        new = [meeting.entrants for meeting in pairings if meeting.entrants not in old]
        missing = self._missing if old else 0
        return _InTurn(
            [*self._stages("more deals", both, 0, missing), *self._stages("new bots", new, missing, self.deals)]
        )

    def depends_on_planning(self, players: int) -> bool:
        """Returns whether the versions of planning differ: in the order of pairings, or in the stages."""
        return players > 2 or self.deals > FIRST_STAGE

    def _stages(self, title: str, met: list[tuple[int, ...]], first: int, end: int) -> list[Round]:
        """Returns the rounds in which these meet on the deals from `first` to `end`: one before there were stages."""
        if not met or end <= first:
            return []
        sizes = stages_of(end - first, len(met), self.planning) if self.planning == 3 else [end - first]
        return [
            Round(
                title=title if len(sizes) == 1 else f"{title}, stage {number}",
                deals=deals,
                meetings=_On(met, first + sum(sizes[: number - 1])),
            )
            for number, deals in enumerate(sizes, start=1)
        ]

    @property
    def _missing(self) -> int:
        """How many deals the pairings of unchanged entrants have still to play."""
        return max(0, self.deals - self.played)


class _On(Computed):
    """Choices of entrants who meet from one deal on."""

    def __init__(self, met: list[tuple[int, ...]], first_deal: int) -> None:
        self._met = met
        self._first_deal = first_deal

    def __len__(self) -> int:
        return len(self._met)

    def _at(self, place: int) -> Meeting:
        return Meeting(self._met[place], self._first_deal)


class _InTurn(Director):
    """Gives rounds that are known from the beginning."""

    lag = None

    def __init__(self, rounds: list[Round]) -> None:
        self._rounds = rounds
        self._planned = 0

    def next(self) -> Round | None:
        return self._rounds[self._planned] if self._planned < len(self._rounds) else None

    def add(self, round: Round) -> None:
        self._planned += 1
