"""Kuhn poker keeps the laws of a game, and pays as it should."""

from __future__ import annotations

import pytest
from kuhn_poker import OVER, KuhnPoker, State

from arena.core.face import testing


def test_it_keeps_the_laws_of_a_game() -> None:
    testing.check_game(KuhnPoker, games=50)


@pytest.mark.parametrize(
    ("cards", "moves", "chips"),
    [
        (("K", "J"), ("check", "check"), (1, -1)),
        (("J", "Q"), ("check", "check"), (-1, 1)),
        (("J", "K"), ("bet", "fold"), (1, -1)),
        (("Q", "K"), ("bet", "call"), (-2, 2)),
        (("K", "J"), ("check", "bet", "fold"), (-1, 1)),
        (("K", "J"), ("check", "bet", "call"), (2, -2)),
    ],
)
def test_it_pays(cards: tuple[str, ...], moves: tuple[str, ...], chips: tuple[int, ...]) -> None:
    rules = KuhnPoker(2, {})
    outcome = rules.outcome(State(cards, moves))
    assert outcome is not None
    assert outcome.scores == chips
    assert outcome.ranks == ((1, 2) if chips[0] > 0 else (2, 1))


def test_there_are_five_ways_to_its_end() -> None:
    def ends(state: State) -> set[tuple[str, ...]]:
        owed = rules.pending(state)
        if not owed:
            return {state.moves}
        seat = owed[0].seat
        return {end for play in rules.legal(state, seat) for end in ends(rules.apply(state, seat, play))}

    rules = KuhnPoker(2, {})
    assert ends(State(("J", "Q"))) == set(OVER)
