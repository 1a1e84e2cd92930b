"""A cluster whose scheduler ends, comes back, or is stopped; and workers that have another arena, or none."""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from command_kit import Run
from msgspec.structs import replace
from referee_kit import make_job

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from arena.cluster import lane as lanes
from arena.cluster import scheduler as connection
from arena.cluster.engine import Cluster, connected
from arena.cluster.lane import ClusterLane
from arena.errors import MachineFault
from arena.link.bots import load_bot
from arena.referee.worker import attend, play
from arena.tournament.workers import NoFreeWorker
from tests.cluster_kit import Machines, coordinator, until
from tests.command_kit import environment

FAULTY = Path(__file__).parents[1] / "faulty"
BARE = "import sys; sys.modules['arena'] = None"
OLD = "import sys, types, arena.cluster; sys.modules['arena.cluster.far'] = types.ModuleType('arena.cluster.far')"


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """A scheduler with one worker."""
    with ExitStack() as stack:
        yield Machines(stack, tmp_path, workers=("w0",))


@contextmanager
def opened(cluster: Cluster, seconds: float = 60.0) -> Iterator[ClusterLane]:
    """A lane that has answered, as soon as there is one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(NoFreeWorker, lanes.WorkerLost), cluster.lane() as lane:
            assert isinstance(lane, ClusterLane)
            lane.submit(attend).result()
            yield lane
            return
        time.sleep(0.1)
    pytest.fail("no lane was opened")


def begin_a_long_game(lane: ClusterLane, folder: Path) -> Future[Any]:
    bot = folder / "thinker"
    bot.mkdir()
    (bot / "bot.toml").write_text(
        f'name = "thinker"\ncommand = ["{{python}}", "{FAULTY / "bot.py"}", "ok,silent", "{folder}/mark"]\n'
    )
    return lane.submit(play, replace(make_job(folder, 2, time="500+0"), bots=(load_bot(str(bot)),) * 2))


@pytest.mark.long
@pytest.mark.parametrize("away", ["shortly", "longer than Dask waits"])
def test_lanes_are_heard_of_when_the_scheduler_is_back(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    told: list[str] = []
    if away != "shortly":
        monkeypatch.setattr(connection, "CONNECT_S", 2.0)
        monkeypatch.setattr(connection, "RECONNECT_S", 1.0)
    with connected(machines.address, tell=told.append) as cluster:
        with opened(cluster) as lane:
            machines.scheduler.kill()
            with pytest.raises(lanes.WorkerLost):
                lane.submit(play, replace(make_job(tmp_path, 2), bots=(load_bot("random"),) * 2)).result()
        if away != "shortly":
            time.sleep(4)
        with pytest.raises(NoFreeWorker, match="expected the cluster's scheduler"), cluster.lane():
            pass
        machines.start_scheduler("again")
        machines.start_worker("w1")
        beats: list[float] = []
        monkeypatch.setattr(ClusterLane, "hear", lambda lane: beats.append(time.monotonic()))
        with opened(cluster) as lane:
            before = len(beats)
            game = begin_a_long_game(lane, tmp_path)
            until(lambda: len(beats) >= before + 3)
            machines.workers["w0"].kill()
            assert not game.done()
    assert told.count("the cluster's scheduler is gone") == 1
    assert told[-1] == "the cluster's scheduler is back"


@pytest.mark.long
def test_a_cluster_whose_scheduler_is_gone_is_left_without_another_error(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 1.0)
    monkeypatch.setattr(connection, "RECONNECT_S", 1.0)
    with pytest.raises(LookupError, match="the real one"), connected(machines.address):  # noqa: PT012 - it must last
        machines.scheduler.kill()
        time.sleep(4)
        raise LookupError("the real one")


@pytest.mark.long
def test_nobody_waits_for_a_scheduler_that_is_stopped(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LEASE_S", 3.0)
    monkeypatch.setattr(connection, "ANSWER_S", 2.0)
    with connected(machines.address) as cluster:
        with opened(cluster) as lane:
            machines.scheduler.send(signal.SIGSTOP)
            with pytest.raises(lanes.WorkerLost, match="was not heard of"):
                lane.submit(attend).result()

        def is_said() -> bool:
            with pytest.raises(NoFreeWorker) as raised, cluster.lane():
                pass
            return "does not answer" in str(raised.value)

        until(is_said)
        with pytest.raises(MachineFault, match="does not answer"):
            cluster.workers()
        machines.scheduler.send(signal.SIGCONT)
        with opened(cluster):
            machines.scheduler.send(signal.SIGSTOP)  # whoever leaves now does not wait, either
    machines.scheduler.send(signal.SIGCONT)


def test_somebody_who_takes_the_connection_and_says_nothing_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 1.0)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(MachineFault, match=r"expected a Dask cluster with workers at .*, got: no answer for 1 s"),
        connected(f"tcp://127.0.0.1:{silent.getsockname()[1]}"),
    ):
        pass


@pytest.mark.long
def test_attempts_to_connect_leave_nothing_behind(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RECONNECT_S", 0.2)
    tries: list[int] = []
    real = connection.Scheduler.__init__

    def counted(self: connection.Scheduler, *args: Any, **kwargs: Any) -> None:
        tries.append(len(list(Path("/proc/self/task").iterdir())))
        real(self, *args, **kwargs)

    monkeypatch.setattr(connection.Scheduler, "__init__", counted)
    with connected(machines.address):
        machines.scheduler.kill()
        with socket.create_server(("127.0.0.1", int(machines.address.rpartition(":")[2]))):  # it never answers
            until(lambda: len(tries) >= 6)
    assert max(tries[3:]) <= tries[2]


@pytest.mark.long
@pytest.mark.parametrize(("there", "why"), [(BARE, "ModuleNotFoundError"), (OLD, "AttributeError")])
def test_workers_without_this_arena_end_it_with_the_reason(
    machines: Machines, tmp_path: Path, there: str, why: str
) -> None:
    machines.workers["w0"].kill()
    (tmp_path / "other").mkdir()
    program = f"{there}\nfrom distributed.cli.dask_worker import main\nmain()"
    words = ("--host", "127.0.0.1", "--no-dashboard", "--no-nanny", "--nthreads", "1", "--name", "other")
    with subprocess.Popen(
        [sys.executable, "-c", program, machines.address, *words],
        cwd=tmp_path / "other", env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as worker:  # fmt: skip
        try:
            with connected(machines.address) as cluster:
                until(lambda: list(cluster.workers().values()) == ["other"])
                with cluster.lane() as lane, pytest.raises(lanes.WorkerLost, match=why):
                    lane.submit(attend).result()
                with (
                    pytest.raises(
                        MachineFault, match=f"expected a worker that can play.*{why}.*install arena"
                    ) as raised,
                    cluster.lane(),
                ):
                    pass
                assert not isinstance(raised.value, NoFreeWorker)
        finally:
            worker.kill()


@pytest.mark.long
def test_a_tournament_ends_with_a_word_when_its_scheduler_stays_away(machines: Machines, tmp_path: Path) -> None:
    words = ("tournament", "random", "greedy", "--deals", "200", "--cluster", machines.address)
    with coordinator(tmp_path, *words, lease=6, patience=1) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.scheduler.kill()
        assert running.wait(timeout=60) == 1
    told = (tmp_path / "err").read_text()
    assert "expected the cluster's scheduler, got: it is gone; start it." in told
    assert "Traceback" not in told
    assert "Exception" not in told


@pytest.mark.long
def test_a_tournament_whose_scheduler_is_stopped_can_be_stopped(machines: Machines, tmp_path: Path, arena: Run) -> None:
    words = ("tournament", "random", "greedy", "--deals", "200", "--cluster", machines.address)
    with coordinator(tmp_path, *words, lease=3) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.scheduler.send(signal.SIGSTOP)
        until(lambda: "was not heard of" in (tmp_path / "err").read_text())
        arena("tournament", "stop", code=None)  # it may end before it answers
        running.wait(timeout=60)
    assert "Traceback" not in (tmp_path / "err").read_text()


@pytest.mark.long
def test_a_worker_that_comes_later_is_used_up_to_the_concurrency(
    machines: Machines, tmp_path: Path, arena: Run
) -> None:
    words = ("tournament", "random", "greedy", "--deals", "50", "--concurrency", "2", "--cluster", machines.address)
    with coordinator(tmp_path, *words, lease=6) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.start_worker("w1")
        assert running.wait(timeout=120) == 0, (tmp_path / "err").read_text()
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db:
        assert {worker for (worker,) in db.execute("SELECT DISTINCT worker FROM games")} == {"w0", "w1"}
    done = arena("tournament", "random", "greedy", "--cluster", "local:1", "--concurrency", "2", code=2)
    assert "say local:2" in done.stderr
