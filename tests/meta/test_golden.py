"""Every ruleset has a golden playthrough for every number of players."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.rules import NAMES
from arena.rules.samurai.game import Samurai

GOLDEN = Path(__file__).parents[1] / "golden"
GAMES = {"samurai": Samurai}
CASES = [(name, ruleset, n) for name, game in GAMES.items() for ruleset in game.rulesets for n in game.seat_counts]


def test_every_game_is_looked_at() -> None:
    assert set(GAMES) == set(NAMES)


@pytest.mark.parametrize(("rules", "ruleset", "players"), CASES)
def test_every_ruleset_has_a_golden_playthrough(rules: str, ruleset: str, players: int) -> None:
    assert list((GOLDEN / rules).glob(f"{ruleset}-{players}p*.jsonl")), "run: make golden"
