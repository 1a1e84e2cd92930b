"""Tournaments on a cluster: real schedulers, workers and bots, some of which are killed or stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from command_kit import Run
from msgspec.structs import replace
from referee_kit import make_job

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from arena.cluster import lane as lanes
from arena.cluster.engine import connected
from arena.link.bots import load_bot
from arena.referee.worker import attend, play
from arena.tournament.workers import NoFreeWorker

BOTS = ("random", "greedy", "banzai")


@contextmanager
def dask(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Dask's command line in a folder of its own."""
    folder.mkdir()
    command = [sys.executable, "-m", "dask", *arguments]
    with (
        (folder / "output").open("wb") as output,
        subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, start_new_session=True) as process,
    ):
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


class Workers:
    """A scheduler and three workers that share no folder."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        at = ("--host", "127.0.0.1", "--no-dashboard")
        self.scheduler = stack.enter_context(dask("scheduler", *at, "--port", str(port), folder=folder / "scheduler"))
        own = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--local-directory", ".")
        self.processes = [
            stack.enter_context(
                dask("worker", self.address, *at, *own, "--name", f"w{number}", folder=folder / f"w{number}")
            )
            for number in range(3)
        ]


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with ExitStack() as stack:
        yield Workers(stack, tmp_path)


def standings(text: str) -> list[tuple[str, float]]:
    return [(row["bot"], row["rating"]) for row in json.loads(text)["standings"]]


def digests(folder: Path) -> dict[int, str]:
    """The play digest of each game, by its number."""
    return {
        int(path.stem[-6:]): json.loads(path.read_text().splitlines()[-1])["play_digest"]
        for path in folder.glob("*/*.jsonl")
    }


def until(condition: object, seconds: float = 30.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.long
def test_a_tournament_on_workers_of_which_one_is_killed_is_that_of_one_machine(
    arena: Run, workers: Workers, tmp_path: Path
) -> None:
    what = ("tournament", *BOTS, "--deals", "12", "--seed", "x", "--json")
    alone = arena(*what, "--db", "a.db", "--logs", "a")
    until(lambda: "Registered" in (tmp_path / "w2/output").read_text())
    command = [sys.executable, "-m", "arena", *what, "--db", "b.db", "--logs", "b", "--cluster", workers.address]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until(lambda: len(list(tmp_path.glob("b/*/*.jsonl"))) > 10)
        workers.processes[0].kill()
        output, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert standings(output) == standings(alone.stdout)
    assert digests(tmp_path / "b") == digests(tmp_path / "a")
    (log,) = (tmp_path / "b").iterdir()
    assert arena("verify", str(log), "--db", "b.db").returncode == 0


@pytest.mark.long
def test_a_coordinator_that_is_killed_leaves_no_player_and_goes_on_when_its_leases_are_over(
    arena: Run, workers: Workers, tmp_path: Path
) -> None:
    what = ("tournament", *BOTS, "--deals", "12", "--seed", "x", "--json")
    alone = arena(*what, "--db", "a.db", "--logs", "a")
    until(lambda: "Registered" in (tmp_path / "w2/output").read_text())
    again = (*what, "--db", "b.db", "--logs", "b", "--cluster", workers.address)
    command = [sys.executable, "-m", "arena", *again]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        until(lambda: len(list(tmp_path.glob("b/*/*.jsonl"))) > 10)
        folders = list(tmp_path.glob("w*/**/arena-*"))
        assert len(folders) == 3
        running.kill()
    until(lambda: not any(str(folder) in text for text in command_lines() for folder in folders), 40)
    went_on = arena(*again)
    assert "Workers of the last run may still play" in went_on.stderr
    assert standings(went_on.stdout) == standings(alone.stdout)
    assert digests(tmp_path / "b") == digests(tmp_path / "a")


def command_lines() -> Iterator[str]:
    """Those of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace")


def test_a_worker_that_stalls_past_its_lease_is_given_up_and_what_it_did_is_dropped(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "LEASE_S", 3.0)
    logs = tmp_path / "logs"
    logs.mkdir()
    bots = (load_bot("random"), load_bot("greedy"))
    jobs = [replace(make_job(logs, 2), game=f"test-{deal:06d}", deal=deal, bots=bots) for deal in range(3)]
    with connected(workers.address) as cluster, ExitStack() as stack:
        until(lambda: len(cluster.workers()) == 3)
        mine = [stack.enter_context(cluster.lane()) for _ in range(3)]
        with pytest.raises(NoFreeWorker):
            stack.enter_context(cluster.lane())
        assert [lane.submit(attend).result() for lane in mine] == [None] * 3
        stalled = mine[0]
        process = next(p for number, p in enumerate(workers.processes) if f"w{number}" == stalled.name)
        os.kill(process.pid, signal.SIGSTOP)
        lost = stalled.submit(play, jobs[0])
        others = [lane.submit(play, job) for lane, job in zip(mine[1:], jobs[1:], strict=True)]
        assert {future.result(timeout=60).game for future in others} == {"test-000001", "test-000002"}
        with pytest.raises(lanes.WorkerLost, match="was not heard of"):
            lost.result(timeout=60)
        assert stalled.was_killed
        assert mine[1].submit(play, jobs[0]).result(timeout=60).game == "test-000000"
        before = {path.name: path.stat().st_mtime_ns for path in logs.iterdir()}
        os.kill(process.pid, signal.SIGCONT)
        stalled.shutdown()
        time.sleep(1)
        assert {path.name: path.stat().st_mtime_ns for path in logs.iterdir()} == before


FAULTY = Path(__file__).parents[1] / "faulty"
PROGRAM = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from msgspec.structs import replace
from referee_kit import make_job
from arena.cluster.engine import connected
from arena.link.bots import load_bot
from arena.referee.worker import play

def main():
    bots = (load_bot({bot!r}),) * 2
    with connected({address!r}) as cluster, cluster.lane() as lane:
        lane.submit(play, replace(make_job(Path({logs!r}), 2, time="500+0"), bots=bots))
        time.sleep({stay})

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("ended", ["the coordinator is killed", "the worker is killed", "the lane is left"])
def test_whoever_ends_amid_a_game_no_bot_is_left(workers: Workers, tmp_path: Path, ended: str) -> None:
    bot = tmp_path / "thinker"
    bot.mkdir()
    (bot / "bot.toml").write_text(
        f'name = "thinker"\ncommand = ["{{python}}", "{FAULTY / "bot.py"}", "ok,silent", "{tmp_path}/mark"]\n'
    )
    stay = 3 if ended == "the lane is left" else 1000
    program = PROGRAM.format(
        tests=str(FAULTY.parent), bot=str(bot), address=workers.address, logs=str(tmp_path), stay=stay
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
        try:
            until(lambda: sum(f"{tmp_path}/mark" in line for line in command_lines()) == 2)
            if ended == "the coordinator is killed":
                running.kill()
            elif ended == "the worker is killed":
                for process in workers.processes:
                    process.kill()
            until(lambda: not any(f"{tmp_path}/mark" in line for line in command_lines()))
            until(lambda: not any(f"{tmp_path}/w" in line and "cluster.player" in line for line in command_lines()))
        finally:
            running.kill()
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_scheduler_that_ends_ends_the_lanes(workers: Workers, tmp_path: Path) -> None:
    bots = (load_bot("random"), load_bot("greedy"))
    job = replace(make_job(tmp_path, 2), bots=bots)
    with connected(workers.address) as cluster, cluster.lane() as lane:
        assert lane.submit(attend).result() is None
        workers.scheduler.kill()
        workers.scheduler.wait()
        with pytest.raises(lanes.WorkerLost):
            lane.submit(play, job).result(timeout=60)
    assert list(tmp_path.glob("*.jsonl")) == []
