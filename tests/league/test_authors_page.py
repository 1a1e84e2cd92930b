"""docs/league-authors.md has the limits as they are."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from arena.league.door.limits import LIMITS, MOST_BOTS, MOST_WAITING
from arena.league.settings import Limits

PAGE = (Path(__file__).parents[2] / "docs" / "league-authors.md").read_text(encoding="utf-8")
ROWS = {found[1]: found[2] for found in re.finditer(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)}


def test_the_limits_of_a_league_are_its_defaults() -> None:
    for name, number in msgspec.structs.asdict(Limits()).items():
        assert ROWS[name].startswith(f"{number:,} | "), name


def test_the_limits_of_a_key_are_those_of_the_door() -> None:
    assert {*ROWS} == {*LIMITS, *Limits.__struct_fields__}
    for name, limit in LIMITS.items():
        said, numbers = ROWS[name], re.findall(r"[\d,]*\d", limit.what)
        assert [number for number in re.findall(r"[\d,]*\d", said) if number in numbers] == numbers, name


def test_the_numbers_at_a_time_are_those_of_the_door() -> None:
    assert f"serve {MOST_BOTS} bots at a time, and {MOST_WAITING} of their orders may wait" in PAGE
