"""The rules still make the golden games, line by line."""

from __future__ import annotations

import pytest
from golden.playthrough import CASES, lines, path_of


@pytest.mark.parametrize(("name", "ruleset", "seats"), CASES)
def test_the_golden_game_is_unchanged(name: str, ruleset: str, seats: int) -> None:
    golden = path_of(name, ruleset, seats).read_bytes().splitlines()
    for number, (now, then) in enumerate(zip(lines(name, ruleset, seats), golden, strict=True), start=1):
        assert now == then, f"line {number} differs; if that is meant, run: make golden"
