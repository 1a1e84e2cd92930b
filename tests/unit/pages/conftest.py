"""Games to make pages of: the example logs, and a game of every ruleset for every number of players."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from golden.logs import FOLDER, player
from kit import Table
from referee_kit import make_job

from arena.games import rules_of
from arena.link.memory import MemoryBot, MemoryLink
from arena.record.log import Log, read_log
from arena.referee.game import Game

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

    def play(table: Table) -> Log:
        bots = [MemoryBot(player(seat, notes=True)) for seat in range(table.seats)]
        job = make_job(tmp_path, table.seats, rules=table.name, ruleset=table.ruleset)
        return read_log(tmp_path / Game(job, rules_of(job.settings), MemoryLink(bots)).play().log)

    return play
