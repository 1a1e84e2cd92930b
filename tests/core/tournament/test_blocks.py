"""Which games share bot processes, and which bots are started before they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from referee_kit import make_job

from arena.core.store.records import PlannedGame
from arena.core.tournament.blocks import AHEAD_GAMES, Processes, block_of, started_ahead

GAME = PlannedGame(number=7, block=2, deal=3, rotation=1, entrants=(0, 1))


@pytest.mark.parametrize(
    ("processes", "same_block", "another_block", "again"),
    [("block", True, False, False), ("game", False, False, False), ("tournament", True, True, True)],
)
def test_who_shares_processes(processes: Processes, same_block: bool, another_block: bool, again: bool) -> None:
    """A game that is played again goes to bots that have not met its deal, unless processes are kept on purpose."""
    block = block_of(processes, GAME)
    assert (block_of(processes, replace(GAME, number=8, deal=4)) == block) == same_block
    assert (block_of(processes, replace(GAME, number=9, block=3)) == block) == another_block
    assert (block_of(processes, GAME, attempt=2) == block) == again


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_block_that_is_played_again_is_another_each_time(attempt: int) -> None:
    assert block_of("block", GAME, attempt) != block_of("block", GAME, attempt + 1)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("left", "started"), [(0, 4), (1, 4), (7, 3), (9, 1), (10, 0)])
def test_the_bots_of_the_next_block_are_started_one_by_one_in_the_last_games(
    tmp_path: Path, left: int, started: int
) -> None:
    """`left` games of the block follow."""
    this, other = (make_job(tmp_path, seats=4, block=block) for block in ("this", "other"))
    assert len(started_ahead(this, [*[this] * left, other]).ahead) == started
    assert started_ahead(this, [this] * AHEAD_GAMES).ahead == ()
