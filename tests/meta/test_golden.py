"""Every ruleset has a golden playthrough for every number of players."""

from __future__ import annotations

import pytest
from golden.playthrough import CASES, FOLDER, path_of

from arena.core.catalogue import names


def test_every_game_is_looked_at() -> None:
    assert {name for name, _, _ in CASES} == set(names())


@pytest.mark.parametrize(("rules", "ruleset", "players"), CASES)
def test_every_ruleset_has_a_golden_playthrough(rules: str, ruleset: str, players: int) -> None:
    assert path_of(rules, ruleset, players).is_file(), "run: make golden"


def test_every_playthrough_is_of_a_ruleset() -> None:
    assert {path_of(*case) for case in CASES} == set(FOLDER.rglob("*.jsonl"))
