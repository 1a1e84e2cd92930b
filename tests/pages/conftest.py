"""Games to make pages of: the example logs, and a game of every ruleset for every number of players."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser_kit import played
from golden.logs import FOLDER
from kit import Table

from arena.core.record.log import Log, read_log

EXAMPLES = sorted(FOLDER.glob("*.jsonl"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def log(request: pytest.FixtureRequest) -> Log:
    """Each of the example logs."""
    return read_log(request.param)


@pytest.fixture(scope="session")
def samurai() -> Log:
    return read_log(FOLDER / "samurai-standard.jsonl")


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Table], Log]:
    """Plays a game at random."""
    return lambda table: played(tmp_path, table.name, table.seats, table.ruleset)
