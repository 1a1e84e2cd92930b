"""The bots are as strong as `bots/README.md` says, on few games that are always the same."""

from __future__ import annotations

import pytest
from kit import Table

from arena.core.catalogue import game
from tests.bots.games import BANZAI, GREEDY, RANDOM, share_won


@pytest.mark.quick(2, 2)
@pytest.mark.parametrize("ruleset", game("samurai").rulesets)
@pytest.mark.parametrize("bot", [GREEDY, BANZAI])
def test_beats_random_at_samurai(bot, ruleset):
    assert share_won(bot, RANDOM, Table("samurai", ruleset, 2), deals=10) > 0.8


@pytest.mark.quick(2, 2)
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("bot", [GREEDY, BANZAI])
def test_is_far_ahead_of_several_randoms_at_samurai(bot, seats):
    assert share_won(bot, RANDOM, Table("samurai", "standard", seats), deals=3) > 0.8


def test_greedy_beats_banzai():
    assert share_won(GREEDY, BANZAI, Table("samurai", "standard", 2), deals=15) > 0.7


@pytest.mark.quick(2, 2)
@pytest.mark.parametrize("seats", game("gardener").seat_counts)
@pytest.mark.parametrize("ruleset", game("gardener").rulesets)
def test_greedy_beats_random_at_gardener(ruleset, seats):
    assert share_won(GREEDY, RANDOM, Table("gardener", ruleset, seats), deals=1) > 0.8
