"""Tournaments of bots that travel, on workers that share no file, while workers and all others are killed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from tests.cluster_kit import Machines, coordinator, digests, standings, travelling_bots, until
from tests.command_kit import arena

GAMES = 600 if os.environ.get("ARENA_TEST_THOROUGH") else 18

pytestmark = [pytest.mark.long, pytest.mark.timeout(300 + 3 * GAMES)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The coordinator's folder, which no worker sees."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        (tmp_path / "away").mkdir()
        yield Machines(stack, tmp_path / "away", blind=True)


@pytest.fixture
def what(home: Path) -> tuple[str, ...]:
    deals = str(GAMES // 6)
    words = ("--deals", deals, "--seed", "x", "--time", "10m+1", "--json")
    return ("tournament", *travelling_bots(home / "bots"), "random", *words)


def logs(home: Path) -> int:
    return len(list(home.glob("b/*/*.jsonl")))


def check_equal(home: Path, what: tuple[str, ...]) -> None:
    """Checks that the tournament on the cluster is that of one machine, and that nothing is left of other attempts."""
    alone = arena(home, *what, "--db", "a.db", "--logs", "a")
    assert standings((home / "out").read_text()) == standings(alone.stdout)
    assert digests(home / "b") == digests(home / "a")
    assert len(digests(home / "b")) == GAMES
    arena(home, "verify", "b", "--db", "b.db")
    with closing(sqlite3.connect(home / "b.db")) as db:
        assert db.execute("SELECT count(*), count(DISTINCT number) FROM games WHERE status = 'done'").fetchone() == (
            GAMES,
            GAMES,
        )


@pytest.mark.thorough
def test_two_workers_are_killed_and_one_stalls_for_longer_than_dask_waits(
    machines: Machines, home: Path, what: tuple[str, ...]
) -> None:
    on = (*what, "--db", "b.db", "--logs", "b", "--cluster", machines.address)
    with coordinator(home, *on) as running:
        until(lambda: logs(home) > GAMES // 12)
        machines.workers["w0"].kill()
        until(lambda: logs(home) > GAMES // 6)
        machines.workers["w2"].send(signal.SIGSTOP)
        machines.start_worker("w3")
        until(lambda: logs(home) > GAMES // 3)
        machines.workers["w1"].kill()
        until(lambda: "worker w2 is gone" in (home / "err").read_text())
        machines.workers["w2"].send(signal.SIGCONT)
        assert running.wait(timeout=GAMES + 60) == 0, (home / "err").read_text()
    check_equal(home, what)
    told = (home / "err").read_text()
    assert "worker w0 is gone" in told
    assert "worker w1 is gone" in told
    built = [path.name for path in machines.workers["w2"].folder.glob("*/arena-bots/*") if len(path.name) == 64]
    assert built, "what its games needed came to it, before it was stopped"


def test_the_coordinator_and_the_scheduler_are_killed(machines: Machines, home: Path, what: tuple[str, ...]) -> None:
    on = (*what, "--db", "b.db", "--logs", "b", "--cluster", machines.address)
    moments = sorted(random.Random(os.urandom(8)).sample(range(1, GAMES // 2), 2))
    with coordinator(home, *on) as running:
        until(lambda: logs(home) >= moments[0], told=home / "err")
        running.kill()
    with coordinator(home, *on) as running:
        # What the first one left may be as many logs already: the second is at work once it says so.
        until(lambda: "Continuing" in (home / "err").read_text() and logs(home) >= moments[1], told=home / "err")
        machines.scheduler.kill()
        until(lambda: "the cluster's scheduler is gone" in (home / "err").read_text(), told=home / "err")
        machines.start_scheduler("scheduler2")
        machines.start_worker("w4")
        try:
            assert running.wait(timeout=GAMES + 60) == 0, (home / "err").read_text()
        except subprocess.TimeoutExpired:
            pytest.fail(f"killed after {moments} games: {(home / 'err').read_text()}")
    assert "the cluster's scheduler is back" in (home / "err").read_text()
    check_equal(home, what)
