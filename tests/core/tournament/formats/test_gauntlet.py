"""Gauntlet: who meets whom, and how even it is wherever it is cut."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from arena.core.errors import ConfigError
from arena.core.tournament.formats.round_robin import Challenges, Gauntlet


@pytest.mark.parametrize(
    ("challengers", "entrants", "players"),
    [
        *[(1, 2, 2), (1, 9, 2), (2, 8, 2), (3, 9, 2), (4, 10, 2), (6, 8, 2), (7, 8, 2)],
        *[(1, 3, 3), (1, 9, 3), (2, 8, 3), (6, 8, 3), (1, 4, 4), (3, 9, 4), (4, 10, 4), (2, 9, 5)],
    ],
)
def test_each_challenger_meets_each_choice_of_the_field_once(challengers: int, entrants: int, players: int) -> None:
    meetings = list(Challenges(challengers, entrants, players, 0))
    tables = [meeting.entrants for meeting in meetings]
    assert len(set(tables)) == len(tables) == challengers * math.comb(entrants - challengers, players - 1)
    for challenger, *others in tables:
        assert challenger < challengers
        assert others == sorted(set(others))
        assert all(challengers <= other < entrants for other in others)


@pytest.mark.parametrize(("challengers", "entrants"), [(1, 9), (2, 8), (3, 9), (4, 10), (6, 21)])
def test_any_beginning_is_even(challengers: int, entrants: int) -> None:
    games: Counter[int] = Counter(dict.fromkeys(range(entrants), 0))
    for meeting in Challenges(challengers, entrants, 2, 0):
        games.update(meeting.entrants)
        for group in (range(challengers), range(challengers, entrants)):
            counts = [games[entrant] for entrant in group]
            assert max(counts) - min(counts) <= 1


def test_the_field_holds_the_scale() -> None:
    assert Gauntlet(challengers=2).anchored(5) == range(2, 5)


def test_a_meeting_of_millions_is_computed_when_asked_for() -> None:
    meetings = Challenges(100, 10_000, 4, 30)
    assert len(meetings) == 100 * math.comb(9_900, 3)
    assert meetings[len(meetings) - 1].first_deal == 30
    assert [meeting.entrants[0] for meeting in meetings[:3]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("challengers", "entrants", "players", "message"),
    [
        (0, 4, 2, "expected at least 1 challenger, got: 0; use --challengers"),
        (4, 4, 2, "expected at least 1 bots that are no challengers, got: 0"),
        (3, 4, 3, "expected at least 2 bots that are no challengers, got: 1"),
        (9, 4, 3, "expected at least 2 bots that are no challengers, got: 0"),
        (1, 9_000, 5, "expected at most"),
    ],
)
def test_what_cannot_be_is_refused(challengers: int, entrants: int, players: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Gauntlet(challengers=challengers).check(entrants, players)
