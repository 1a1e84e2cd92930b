"""A league of two authors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.league.store import LeagueStore
from tests import league_kit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LeagueStore]:
    with league_kit.league(tmp_path, "anna", "bert") as store:
        yield store
