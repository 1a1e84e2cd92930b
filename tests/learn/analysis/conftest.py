"""Logged games to analyse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.core.record.log import Log, read_log


@pytest.fixture(scope="session")
def samurai(play_log: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Log:
    """A game of three, of the ruleset in which captured pieces are hidden."""
    return read_log(play_log(tmp_path_factory.mktemp("analysed") / "game.jsonl", seats=3, seed=4))
