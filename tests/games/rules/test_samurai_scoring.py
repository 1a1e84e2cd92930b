"""Who has won at Samurai: both ways to compare, and the ranks of those who forfeited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from kit import samurai
from msgspec.structs import replace

from arena.core.rules.seats import rank
from arena.core.types import Ranks
from arena.games.samurai.captures import COMPARISONS, Comparison, by_leaders, by_majorities
from arena.games.samurai.state import Triple
from tests.games.rules.samurai_positions import position, put, tiles

ALONE = ((3, 0, 0), (2, 2, 2), (0, 2, 2))
"""The first leads one caste, the second none, but has more of the castes that he does not lead."""


def ranks_of(captured: Sequence[Triple], forfeited: Sequence[Sequence[int]], compared: Comparison) -> Ranks:
    return rank([compared(captured, seat) for seat in range(len(captured))], forfeited)


@pytest.mark.parametrize("scoring", COMPARISONS)
def test_worked_case_3(scoring: str) -> None:
    """Green leads rice, red leads buddha, castle is tied; three other pieces each; red has more in all."""
    captured = ((1, 3, 2), (4, 2, 1), (0, 1, 2))
    assert by_leaders(captured, 0) == (1, 3, 6)
    assert by_leaders(captured, 1) == (1, 3, 7)
    assert by_leaders(captured, 2) == (0, 3, 3)
    assert ranks_of(captured, (), COMPARISONS[scoring]) == (2, 1, 3)


@pytest.mark.parametrize(
    ("captured", "ranks"),
    [
        (((3, 3, 0), (0, 0, 5)), (1, 2)),  # most leader tokens
        (((5, 0, 1), (0, 6, 1)), (2, 1)),  # one token each, equal others: most in all
        (((2, 0, 0), (0, 2, 0)), (1, 1)),  # all equal: shared
        (((1, 1, 1), (1, 1, 1)), (1, 1)),  # no tokens
        (((2, 1, 1), (2, 1, 1), (1, 1, 1)), (1, 1, 3)),  # no tokens: most in all, shared, then the third
        (((0, 0, 0), (0, 0, 0)), (1, 1)),
        (ALONE, (1, 2, 3)),  # one token beats all that the others have
        (((2, 2, 2), (0, 1, 1)), (1, 2)),  # three tokens, and nothing beside them
    ],
)
def test_leaders(captured: Any, ranks: tuple[int, ...]) -> None:
    assert ranks_of(captured, (), by_leaders) == ranks


@pytest.mark.parametrize(
    ("captured", "ranks"),
    [
        (ALONE, (3, 1, 2)),  # one caste led is no majority: most of the others
        (((3, 3, 0), (2, 2, 9), (1, 1, 9)), (1, 2, 3)),  # two led win, whatever the others have
        (((5, 0, 1), (0, 6, 1)), (2, 1)),  # one led each, equal others: most in all
        (((2, 0, 0), (0, 2, 0)), (1, 1)),
        (((0, 0, 0), (0, 0, 0)), (1, 1)),
    ],
)
def test_two_majorities(captured: Any, ranks: tuple[int, ...]) -> None:
    assert ranks_of(captured, (), by_majorities) == ranks


def test_three_castes_led_count_as_two() -> None:
    assert by_majorities(((2, 2, 2), (0, 1, 1)), 0) == (1, 0, 6)
    assert by_majorities(((2, 2, 1), (0, 1, 1)), 0) == (1, 1, 5)


@pytest.mark.parametrize(("scoring", "ranks"), [("leaders", (1, 2, 3)), ("two_majorities", (3, 1, 2))])
def test_the_option_decides_who_has_won(scoring: str, ranks: tuple[int, ...]) -> None:
    rules: Any = samurai(3, scoring=scoring)
    state = replace(position(rules, {0: tiles("rice2"), 1: b"", 2: b""}), captured=ALONE)
    assert rules.outcome(rules.apply(state, 0, put("rice2", rules.tables.land[0]))).ranks == ranks
