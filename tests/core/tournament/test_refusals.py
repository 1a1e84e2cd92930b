"""A worker of a cluster that cannot begin a game proves nothing about it, however often that happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.core.errors import ArenaError
from arena.core.referee.job import Job
from arena.core.store.store import open_store
from arena.core.tournament.runner import MAX_KILLS
from arena.core.tournament.workers import Remote
from arena.core.types import GameResult
from tests import instant

SETTINGS = instant.settings(("ann", "bob"), deals=4)


class Lost(Remote):
    """A worker of a cluster that is lost with its first game."""

    was_killed = True

    def __init__(self, *, refused: bool) -> None:
        self.refused = refused

    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        games: list[Future[GameResult]] = [Future() for _ in jobs]
        for game in games:
            game.set_exception(BrokenExecutor("it is lost"))
        return games


def played(folder: Path, *, refused: bool) -> int:
    """How many games are played when workers are lost one after another before one is good."""
    left = iter(range(10 * MAX_KILLS))

    @contextmanager
    def worker() -> Iterator[Executor]:
        number = next(left, None)
        yield instant.InlineExecutor() if number is None else Lost(refused=refused)

    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SETTINGS, folder / "logs")
        return len(list(instant.runner(store, begun, SETTINGS, worker=worker, lanes=1).run()))


def test_workers_that_refuse_a_game_do_not_count_against_it(tmp_path: Path) -> None:
    assert played(tmp_path, refused=True) == 8


def test_workers_that_are_killed_in_it_do(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match=f"was killed in its worker process {MAX_KILLS} times"):
        played(tmp_path, refused=False)
