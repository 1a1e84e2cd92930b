"""A cluster whose scheduler ends, comes back, or is stopped; and workers that have another arena, or none."""

from __future__ import annotations

import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from command_kit import Run
from msgspec.structs import replace
from referee_kit import make_job

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from arena.cluster import connection, engine
from arena.cluster.engine import Cluster, connected
from arena.cluster.lane import Lane, WorkerLost
from arena.core.errors import MachineFault
from arena.core.link.bots import load_bot
from arena.core.referee.job import Job
from arena.core.tournament.workers import NoFreeWorker
from tests.cluster_kit import Machines, coordinator, until
from tests.command_kit import environment

BARE = "import sys; sys.modules['arena'] = None"
OLD = "import sys, types, arena; sys.modules['arena.core.resources'] = types.ModuleType('arena.core.resources')"


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        yield Machines(stack, tmp_path, workers=("w0",))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return replace(make_job(tmp_path, 2), bots=(load_bot("random"), load_bot("greedy")))


@contextmanager
def opened(cluster: Cluster, seconds: float = 60.0) -> Iterator[Lane]:
    """A lane, as soon as there is one."""
    end = time.monotonic() + seconds
    with ExitStack() as stack:
        while True:
            with suppress(NoFreeWorker):
                lane = stack.enter_context(cluster.lane())
                break
            assert time.monotonic() < end, "no lane was opened"
            time.sleep(0.1)
        yield lane


@pytest.mark.long(1)
@pytest.mark.parametrize("away", ["shortly", "longer than Dask waits"])
def test_lanes_are_opened_again_when_the_scheduler_is_back(
    machines: Machines, job: Job, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    told: list[str] = []
    if away != "shortly":
        monkeypatch.setattr(connection, "CONNECT_S", 2.0)
        monkeypatch.setattr(connection, "RECONNECT_S", 1.0)
    with connected(machines.address, tell=told.append) as cluster:
        with opened(cluster) as lane:
            machines.scheduler.kill()
            with pytest.raises(WorkerLost):
                lane.play([job])[0].result(timeout=60)
            assert lane.was_killed

        def is_gone() -> bool:
            with pytest.raises(NoFreeWorker, match="expected the cluster's scheduler"), cluster.lane():
                pass
            return "the cluster's scheduler is gone" in told

        until(is_gone)
        if away != "shortly":
            time.sleep(4)
        machines.start_scheduler("again")
        machines.start_worker("w1")
        with opened(cluster) as lane:
            assert lane.play([job])[0].result(timeout=60).game == job.game
            assert lane.played_by in {"w0", "w1"}
    assert told.count("the cluster's scheduler is gone") == 1
    assert "the cluster's scheduler is back" in told


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
def test_nobody_waits_for_a_scheduler_that_is_stopped(
    machines: Machines, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "ANSWER_S", 2.0)
    with connected(machines.address) as cluster:
        with opened(cluster) as lane:
            machines.scheduler.send(signal.SIGSTOP)
            with pytest.raises(WorkerLost, match="are gone"):
                lane.play([job])[0].result(timeout=60)
        with pytest.raises(NoFreeWorker, match="does not answer"), cluster.lane():
            pass
        machines.scheduler.send(signal.SIGCONT)
        with opened(cluster) as lane:
            assert lane.play([job])[0].result(timeout=60).game == job.game
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


@pytest.mark.thorough
def test_attempts_to_connect_leave_nothing_behind(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RECONNECT_S", 0.2)
    tries: list[int] = []
    real = connection.connect

    async def counted(*args: Any) -> Any:
        tries.append(len(list(Path("/proc/self/task").iterdir())))
        return await real(*args)

    monkeypatch.setattr(connection, "CONNECT_S", 2.0)
    monkeypatch.setattr(connection, "connect", counted)
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

                def error() -> MachineFault:
                    with pytest.raises(MachineFault) as raised, cluster.lane():
                        pass
                    return raised.value

                until(lambda: not isinstance(error(), NoFreeWorker))
                assert re.search(f"expected a worker that can play.*{why}.*install arena", str(error()))
        finally:
            worker.kill()


@pytest.mark.long
def test_a_tournament_ends_with_a_word_when_its_scheduler_stays_away(machines: Machines, tmp_path: Path) -> None:
    words = ("tournament", "random", "greedy", "--deals", "200", "--cluster", machines.address)
    with coordinator(tmp_path, *words, patience=1) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.scheduler.kill()
        assert running.wait(timeout=60) == 1
    told = (tmp_path / "err").read_text()
    assert "expected the cluster's scheduler, got: it is gone; start it." in told
    assert "Traceback" not in told
    assert "Exception" not in told


@pytest.mark.thorough
def test_a_tournament_whose_scheduler_is_stopped_can_be_stopped(machines: Machines, tmp_path: Path, arena: Run) -> None:
    words = ("tournament", "random", "greedy", "--deals", "200", "--cluster", machines.address)
    with coordinator(tmp_path, *words) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.scheduler.send(signal.SIGSTOP)
        arena("tournament", "stop", code=None)  # it may end before it answers
        running.wait(timeout=60)
    assert "Traceback" not in (tmp_path / "err").read_text()


@pytest.mark.thorough
def test_a_worker_that_comes_later_is_used_up_to_the_concurrency(
    machines: Machines, tmp_path: Path, arena: Run
) -> None:
    words = ("tournament", "random", "greedy", "--deals", "50", "--concurrency", "2", "--cluster", machines.address)
    with coordinator(tmp_path, *words) as running:
        until(lambda: len(list(tmp_path.glob("logs/*/*.jsonl"))) > 2)
        machines.start_worker("w1")
        assert running.wait(timeout=120) == 0, (tmp_path / "err").read_text()
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db:
        assert {worker for (worker,) in db.execute("SELECT DISTINCT worker FROM games")} == {"w0", "w1"}
    done = arena("tournament", "random", "greedy", "--cluster", "local:1", "--concurrency", "2", code=2)
    assert "say local:2" in done.stderr
