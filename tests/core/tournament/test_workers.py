"""A worker process: what is submitted is done in order, whatever goes wrong with one thing."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena.core.errors import MachineFault, ReplayMismatch
from arena.core.tournament import workers
from arena.core.tournament.workers import Readers, local_worker, quota

SEEN: list[int] = []


def note(number: int) -> list[int]:
    SEEN.append(number)
    return SEEN


def refuse() -> None:
    raise MachineFault("there is no room")


def refuse_strangely() -> None:
    raise ReplayMismatch("game.jsonl", 3, "it is another one")  # its pickle cannot be read


def test_it_does_what_is_submitted_in_order_and_goes_on_after_what_fails() -> None:
    with local_worker() as worker:
        numbers = [worker.submit(note, number) for number in range(20)]
        refused, strange = worker.submit(refuse), worker.submit(refuse_strangely)
        unsendable, unreturnable = worker.submit(lambda: None), worker.submit(threading.Lock)
        assert worker.submit(note, 20).result() == list(range(21))
        assert [len(future.result()) for future in numbers] == list(range(1, 21))
        with pytest.raises(MachineFault, match="there is no room") as caught:
            refused.result()
        assert "test_workers.py" in "".join(caught.value.__notes__), "where it was raised is said"
        with pytest.raises(RuntimeError, match=r"ReplayMismatch: .*it is another one"):
            strange.result()
        for future in (unsendable, unreturnable):
            assert "pickle" in str(future.exception())
    with pytest.raises(BrokenExecutor):
        worker.submit(note, 21)


def test_one_without_anything_to_do_is_no_process() -> None:
    with local_worker() as worker:
        assert worker._process is None  # type: ignore[attr-defined]


def test_ctrl_c_ends_no_reader_while_it_starts() -> None:
    with Readers(1) as pool:
        answer = pool.submit(os.getpid)
        [starting] = multiprocessing.active_children()
        assert starting.pid is not None
        os.kill(starting.pid, signal.SIGINT)
        assert answer.result() == starting.pid


def test_it_ends_without_a_word_when_what_started_it_is_killed() -> None:
    program = (
        "import os, signal, time; from arena.core.tournament.workers import local_worker\n"
        "with local_worker() as worker:\n"
        "    worker.submit(os.getpid).result()\n"
        "    worker.submit(time.sleep, 60)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # It waits for the end of the output, which the worker has too.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=30)
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("line", "files", "cores"),
    [
        ("0::/a/b", {"a/b/cpu.max": "max 100000"}, math.inf),
        ("0::/a/b", {"a/b/cpu.max": "250000 100000"}, 2.5),
        ("0::/a/b", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, 0.5),
        ("0::/", {"cpu.max": "200000 100000"}, 2.0),
        ("0::/gone/in/the/container", {"cpu.max": "200000 100000"}, 2.0),
        ("3:cpu,x:/a", {"cpu,x/a/cpu.cfs_quota_us": "-1", "cpu,x/a/cpu.cfs_period_us": "100000"}, math.inf),
        ("3:cpu,x:/a\n0::/", {"cpu,x/cpu.cfs_quota_us": "300000", "cpu,x/cpu.cfs_period_us": "100000"}, 3.0),
        ("2:cpuset:/a", {"cpuset/a/cpu.max": "1 100000"}, math.inf),
        ("0::/a", {"a/cpu.max": "nonsense", "cpu.max": "1 0"}, math.inf),
    ],
)  # fmt: skip
def test_the_quota_of_the_control_group_counts(tmp_path: Path, line: str, files: dict[str, str], cores: float) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "own").write_text(f"{line}\n")
    assert quota(tmp_path / "own", tmp_path) == cores
    assert quota(tmp_path / "none", tmp_path) == math.inf


def test_by_default_a_game_is_played_on_each_whole_core(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workers, "quota", lambda: math.inf)
    monkeypatch.setattr(workers, "_processors", lambda: range(9))
    monkeypatch.setattr(workers, "_CPUS", tmp_path)
    assert workers.games_at_a_time() == 9, "no machine says there which of them are threads of one core"
    for n in range(8):
        (tmp_path / f"cpu{n}/topology").mkdir(parents=True)
        (tmp_path / f"cpu{n}/topology/thread_siblings_list").write_text(f"{n % 4},{n % 4 + 4}\n")
    assert [workers.games_at_a_time(each=each) for each in (1, 2, 3, 6)] == [5, 2, 1, 1]
    assert workers.games_at_a_time(7, 2) == 7


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "random", "greedy", "--commit", "--concurrency", "3"),
        ("tournament", "random", "greedy", "--commit", "--cluster", "local:3"),
        ("compare", "random", "greedy", "--concurrency", "3"),
        pytest.param(("tune", "greedy", "--concurrency", "3"), marks=pytest.mark.wing("learn")),
        pytest.param(("league", "run", "cup", "--concurrency", "3"), marks=pytest.mark.wing("league")),
    ],
)
def test_more_games_than_cores_are_played_only_if_that_is_meant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], quiet: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "quota", lambda: 2.5)
    monkeypatch.setattr(workers, "_processors", lambda: range(8))
    assert workers.cores() == {"available": 2, "affinity": 8, "quota": 2.5, "games_at_a_time": 2}
    done = CliRunner().invoke(cli, [*words, *quiet])
    assert done.exit_code == 2
    assert (
        f"expected at most 2 games at a time, for as many cores as this process may use, got: 3 - at {words[-2]}"
        in " ".join(done.stderr.split())
    )
    assert not list(tmp_path.iterdir())
    if words[-2] != "--cluster":
        forced = CliRunner().invoke(cli, [*words, *quiet, "--force-concurrency", "--players", "99"])
        assert "at a time, for as many" not in forced.stderr
