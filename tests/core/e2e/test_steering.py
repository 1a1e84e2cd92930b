"""Orders from another terminal to a tournament that really runs: obeyed, answered, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_kit import arena
from tests.once_kit import check_sound, query

ENDLESS = ("random", "greedy", "--format", "ladder", "--seed", "steer", "--each-game")
PATIENCE_S = 60.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "arena", "tournament", *words]


def order(folder: Path, *words: str) -> str:
    return arena(folder, "tournament", *words).stdout


def done(folder: Path) -> int:
    [(count,)] = query(folder, "SELECT count(*) FROM games WHERE status = 'done'")
    return int(count)


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert process.poll() is None, "it ended"
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def wait_for_games(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: (folder / "arena.db").exists() and known(folder) and done(folder) >= number, process)


def known(folder: Path) -> bool:
    return bool(query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'v_games'"))


class Started:
    """Starts commands, and ends those that are left."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []

    def __call__(self, folder: Path, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(*words), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._processes.append(process)
        return process

    def end(self) -> None:
        for process in self._processes:
            process.terminate()
            process.communicate()


@pytest.fixture
def start() -> Iterator[Started]:
    started = Started()
    yield started
    started.end()


def check_stopped(folder: Path, process: subprocess.Popen[str]) -> str:
    """Checks that a command ended by an order, and lost nothing. Returns what it printed."""
    told, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert f"Stopped: {done(folder)} of" in told
    assert "To go on:\n  arena tournament random greedy --seed steer --format ladder" in told
    assert query(folder, "SELECT count(*) FROM games WHERE status = 'running'") == [(0,)]
    assert not list(folder.glob("arena.db-*")), "something was left beside the database"
    check_sound(folder, [], players=2)
    logs = {log.name for log in folder.glob("logs/*/*.jsonl")}
    assert logs == {log for (log,) in query(folder, "SELECT log FROM games WHERE status = 'done'")}
    return told


@pytest.mark.long
def test_a_tournament_obeys_and_loses_nothing(tmp_path: Path, start: Started) -> None:
    process = start(tmp_path, *ENDLESS, "--concurrency", "2")
    wait_for_games(tmp_path, 3, process)

    assert "and no other begins" in order(tmp_path, "pause")
    counts: list[int] = []

    def rests() -> bool:
        """No game has finished for a second, of which it has played many."""
        counts.append(done(tmp_path))
        return len(counts) > 20 and counts[-1] == counts[-21]

    wait_until(rests, process)
    assert order(tmp_path, "concurrency", "1") == "From now on 1 at a time.\n"
    assert done(tmp_path) == counts[-1], "it went on without being told"
    assert order(tmp_path, "resume") == "Resumed.\n"
    wait_for_games(tmp_path, counts[-1] + 3, process)

    assert order(tmp_path, "stop").startswith("Stopping: ")
    told = check_stopped(tmp_path, process)
    assert told.index("Paused: ") < told.index("From now on 1") < told.index("Resumed.") < told.index("Stopping: ")
    before = done(tmp_path)

    process = start(tmp_path, *ENDLESS, "--concurrency", "2")
    wait_for_games(tmp_path, before + 3, process)
    order(tmp_path, "stop")
    told = check_stopped(tmp_path, process)
    assert f"after {before} games" in told
    assert query(tmp_path, "SELECT count(*) FROM tournaments") == [(1,)]
    arena(tmp_path, "verify", "logs", "--db", "arena.db")


@pytest.mark.long(1)
@pytest.mark.parametrize(("playing", "ordering"), [("arena.db", "link.db"), ("link.db", "arena.db")])
def test_orders_find_a_database_by_any_of_its_names(
    tmp_path: Path, start: Started, playing: str, ordering: str
) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link.db").symlink_to(folder / "arena.db")
    (tmp_path / "arena.db").symlink_to("real/arena.db")
    process = start(tmp_path, *ENDLESS, "--db", playing, "--logs", "real/logs")
    wait_for_games(folder, 1, process)
    order(tmp_path, "pause", "--db", ordering)
    order(tmp_path, "stop", "--db", str(folder / "arena.db"))
    check_stopped(folder, process)


def test_an_order_that_nobody_takes_is_refused(tmp_path: Path) -> None:
    done = arena(tmp_path, "tournament", "pause", code=1)
    assert "expected a running tournament on arena.db, got none" in done.stderr
