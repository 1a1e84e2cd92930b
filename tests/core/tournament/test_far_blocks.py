"""What a lane on a cluster gets at a time: games of one block, for about a minute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import StoreError
from arena.core.referee.job import Job
from arena.core.store.records import Claim
from arena.core.store.store import Store, open_store
from arena.core.tournament.lanes import BLOCK_S, MOST_GAMES
from arena.core.tournament.workers import Remote
from arena.core.types import GameResult
from tests import instant

SETTINGS = instant.settings(("ann", "bob", "cid"), deals=45)
GAMES = SETTINGS.schedule().total


class Far(Remote):
    """Plays blocks at once. A game lasts some seconds, it says; and every so many games it is lost."""

    was_killed = True

    def __init__(self, blocks: list[list[str]], seconds: float, good: Iterator[int], lost: int) -> None:
        self._blocks = blocks
        self._seconds = seconds
        self._good = good
        self._lost = lost

    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        self._blocks.append([job.block for job in jobs])
        self.played_by = f"w{len(self._blocks) % 2}"
        games: list[Future[GameResult]] = [Future() for _ in jobs]
        is_lost = False
        for job, game in zip(jobs, games, strict=True):
            is_lost = is_lost or next(self._good) % self._lost == self._lost - 1
            if is_lost:
                game.set_exception(BrokenExecutor("it is lost"))
            else:
                game.set_result(replace(instant.play(job), seconds=self._seconds))
        return games


def played(folder: Path, seconds: float, lost: int = 10 * GAMES) -> list[list[str]]:
    """The blocks of a tournament on two lanes, all of whose games are played once."""
    blocks: list[list[str]] = []
    good = count()

    @contextmanager
    def worker() -> Iterator[Far]:
        yield Far(blocks, seconds, good, lost)

    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SETTINGS, folder / "logs")
        results = list(instant.runner(store, begun, SETTINGS, worker=worker, lanes=2).run())
        over = list(store.begun(begun.tournament.id))
    assert sorted(each.game.number for each in results) == list(range(GAMES))
    assert [number for number, _, is_over in over if is_over] == list(range(GAMES))
    assert {worker for _, worker, _ in over} == {"w0", "w1"}
    return blocks


def test_a_block_lasts_about_a_minute(tmp_path: Path) -> None:
    sizes = [len(block) for block in played(tmp_path, seconds=BLOCK_S / 4)]
    assert sizes[0] == 1, "nothing is known of the games"
    assert max(sizes) in (3, 4)


@pytest.mark.parametrize("lost", [10 * GAMES, 17])
def test_quick_games_are_sent_together_and_those_of_two_blocks_are_not(tmp_path: Path, lost: int) -> None:
    blocks = played(tmp_path, seconds=0.1, lost=lost)
    assert max(map(len, blocks)) == MOST_GAMES
    assert all(len(set(block)) == 1 for block in blocks)


def test_the_results_of_a_block_are_stored_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of what a result costs is its transaction. What was not announced is played again."""
    real, calls = Store.record, count()
    told: list[int] = []

    def fails_once(store: Store, claim: Claim, *rest: Any) -> None:
        if claim.number >= GAMES // 2 and next(calls) == 2:
            raise StoreError("the disk is full")
        real(store, claim, *rest)

    @contextmanager
    def worker() -> Iterator[Far]:
        yield Far([], 0.1, count(), 10 * GAMES)

    monkeypatch.setattr(Store, "record", fails_once)
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, SETTINGS, tmp_path / "logs")
        transactions: list[str] = []
        store._db.set_trace_callback(
            lambda statement: transactions.append(statement) if "COMMIT" in statement else None
        )
        with pytest.raises(StoreError, match="disk is full"):
            told.extend(
                each.game.number for each in instant.runner(store, begun, SETTINGS, worker=worker, lanes=1).run()
            )
    with open_store(tmp_path / "arena.db") as store:
        done = store.done(begun.tournament.id)
        assert 0 < done == len(told) < GAMES
        assert len(transactions) < done / 2
        begun = instant.start(store, SETTINGS, tmp_path / "logs")
        again = [each.game.number for each in instant.runner(store, begun, SETTINGS, worker=worker, lanes=1).run()]
        assert len(again) == GAMES - done
        assert store.tournament().rated == GAMES
