"""Who sits where in the benchmark of fairness, and who is given a win."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from arena.core.catalogue import game, names
from arena.core.types import Payload, Ranks


@pytest.fixture
def fairness(benchmark_module: Callable[[str], Any]) -> Any:
    return benchmark_module("fairness")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rotation_gives_every_bot_what_a_seat_is_worth(
    fairness: Any, monkeypatch: pytest.MonkeyPatch, players: int
) -> None:
    def first_seat_wins(table: Any, deal: int, bots: Iterable[int], seed: str) -> Ranks:
        return (1, *[2] * (players - 1))

    monkeypatch.setattr(fairness, "play", first_seat_wins)
    table = fairness.Table("samurai", "standard", players, rotated=False)
    assert fairness.some_shares(table, range(2)) == [(1.0, *[0.0] * (players - 1))] * 2
    table = fairness.Table("samurai", "standard", players, rotated=True)
    for shares in fairness.some_shares(table, range(4)):
        assert shares == pytest.approx([1 / players] * players)


def test_a_bot_keeps_its_wins_wherever_it_sits_and_shares_them(fairness: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def bots_0_and_2_win(table: Any, deal: int, bots: Iterable[int], seed: str) -> Ranks:
        return tuple(3 if bot == 1 else 1 for bot in bots)

    monkeypatch.setattr(fairness, "play", bots_0_and_2_win)
    table = fairness.Table("samurai", "standard", 3, rotated=True)
    assert fairness.shares(table, 5) == pytest.approx((0.5, 0.0, 0.5))


def test_everything_there_is_is_measured(fairness: Any) -> None:
    cases = [
        (name, each, seats) for name in names() for each in game(name).rulesets for seats in game(name).seat_counts
    ]
    assert list(fairness.tables(None, None, None)) == cases
    assert list(fairness.tables("gardener", "young", 5)) == [("gardener", "young", 5)]
    assert not list(fairness.tables("samurai", "young", None))


@pytest.mark.parametrize(("rules", "ruleset"), [("samurai", "basic"), ("gardener", "race")])
def test_a_real_game_is_the_same_whenever_it_is_played(fairness: Any, rules: str, ruleset: str) -> None:
    table = fairness.Table(rules, ruleset, 3, rotated=False)
    first, again, other = (fairness.play(table, 3, (0, 1, 2), seed) for seed in ("a", "a", "b"))
    assert first == again
    assert len(other) == 3


def test_who_comes_too_late_in_a_race_decides_again(fairness: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All grab the first card that lies there: of three, one decides once, one twice and one three times."""
    asked: list[int] = []

    def first_card(player: Any, course: Any, decision: Any) -> Payload:
        if decision.race and course.turn == 1:
            asked.append(decision.seat)
        legal = course.rules.legal(course.state, decision.seat)
        return course.rules.write_action(legal[:1])

    monkeypatch.setattr(fairness.Player, "decide", first_card)
    orders = set()
    for seed in "abcdef":
        asked.clear()
        fairness.play(fairness.Table("gardener", "race", 3, rotated=False), 3, (0, 1, 2), seed)
        assert sorted(map(asked.count, range(3))) == [1, 2, 3]
        orders.add(tuple(asked))
    assert len(orders) > 1, "chance never changed who was first"
