"""Lanes on a cluster of this machine: what a worker's machine or the tasks of others can do to them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from referee_kit import make_job

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

import dask.config

from arena.cluster import lane as lanes
from arena.cluster.engine import connected
from arena.link.bots import load_bot
from arena.referee.job import Job
from arena.referee.worker import attend, play
from arena.tournament.workers import NoFreeWorker


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "logs").mkdir()
    return replace(make_job(tmp_path / "logs", 2), bots=(load_bot("random"), load_bot("greedy")))


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Where workers of this machine have their folders."""
    (tmp_path / "scratch").mkdir()
    with dask.config.set({"temporary-directory": str(tmp_path / "scratch")}):
        yield tmp_path / "scratch"


@pytest.mark.long
def test_a_worker_whose_machine_fails_in_a_game_is_left_out_and_others_play_on(scratch: Path, job: Job) -> None:
    told: list[str] = []
    with connected("local:2", tell=told.append) as cluster:
        with cluster.lane() as bad:
            assert bad.submit(play, job).result(timeout=60).game == job.game
            (folder,) = scratch.glob("**/arena-*/game")
            shutil.rmtree(folder)
            with pytest.raises(lanes.WorkerLost, match="No such file"):
                bad.submit(play, job).result(timeout=60)
            assert bad.was_killed
            assert not bad.refused
        with cluster.lane() as good:
            assert good.name != bad.name
            assert good.submit(play, job).result(timeout=60).game == job.game
            with pytest.raises(NoFreeWorker, match="No such file"), cluster.lane():
                pass
    assert told == [
        f"the machine of worker {bad.name} failed in a game: [Errno 2] No such file or directory: '{folder}'"
    ]


@pytest.mark.long
def test_a_worker_that_is_busy_with_tasks_of_others_counts_against_no_game(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "LEASE_S", 2.0)
    with connected("local:1") as cluster:
        with cluster.lane() as lane:
            assert lane.submit(attend).result(timeout=60) is None
            other = lane._client.submit(time.sleep, 100, pure=False)
            with pytest.raises(lanes.WorkerLost, match="busy with tasks of others"):
                lane.submit(play, job).result(timeout=60)
            assert lane.refused
        with pytest.raises(NoFreeWorker, match="busy with tasks of others"), cluster.lane():
            pass
        assert not other.done()
