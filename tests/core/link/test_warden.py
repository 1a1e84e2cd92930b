"""The warden, as a process of its own with a pipe."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.link import warden

Process = subprocess.Popen[bytes]


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """A process in a group of its own."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Process]:
    command = [sys.executable, "-I", "-S", warden.__file__, str(tmp_path / "private")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:
        yield process
        process.send_signal(signal.SIGCONT)


def tell(guard: Process, orders: bytes) -> None:
    assert guard.stdin is not None
    guard.stdin.write(orders)


def end(guard: Process) -> None:
    """End the worker, so to speak; the warden has done all it does when this returns."""
    assert guard.stdin is not None
    guard.stdin.close()
    assert guard.wait(20) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_no_variables_are_told_from_none_yet() -> None:
    """A process has none for a moment whenever it starts a program.

    Run it also in a container of processes: `unshare --pid --fork --mount-proc`, where sessions have the number 0.
    """
    with subprocess.Popen(["/bin/sleep", "1000"], env={}) as process:
        while (told := warden.environment(process.pid)) is None:
            pass
        assert told == b""
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert warden.environment(process.pid) == b"", "it is dead"
    many = {"A": "b"} | {f"A{number}": "b" for number in range(20_000)}  # which take a while to be put in place
    for variables in [{"A": "b"}] * 50 + [many] * 20:  # of which some are caught at that moment
        with subprocess.Popen(["/bin/sleep", "1000"], env=variables) as process:
            told = warden.environment(process.pid)
            process.kill()
        assert told is None or told.startswith(b"A=b\0")


def test_what_is_left_dies_with_the_worker(guard: Process, sleeper: Process) -> None:
    tell(guard, b"+%d\n" % sleeper.pid)
    end(guard)
    assert sleeper.wait(20) == -signal.SIGKILL


def test_what_was_discarded_lives(guard: Process, sleeper: Process) -> None:
    tell(guard, b"+%d\n-%d\n" % (sleeper.pid, sleeper.pid))
    end(guard)
    assert sleeper.poll() is None


def test_a_group_is_killed_while_the_worker_lives(guard: Process, sleeper: Process) -> None:
    tell(guard, b"+%d\n!%d 50\n" % (sleeper.pid, sleeper.pid))
    assert sleeper.wait(20) == -signal.SIGKILL
    assert guard.poll() is None


def test_the_earlier_of_two_orders_counts(guard: Process, sleeper: Process) -> None:
    tell(guard, b"+%d\n!%d 10\n!%d 600000\n" % (sleeper.pid, sleeper.pid, sleeper.pid))
    assert sleeper.wait(20) == -signal.SIGKILL


def test_a_group_that_nobody_registered_is_nobodys(guard: Process, sleeper: Process) -> None:
    tell(guard, b"!%d 0\n" % sleeper.pid)
    end(guard)
    assert sleeper.poll() is None


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="needs pipes that can grow, which only Linux has")
def test_all_orders_are_read_before_anybody_is_killed(guard: Process, sleeper: Process) -> None:
    # Its number may be another's by the time when a slow warden gets to it.
    assert guard.stdin is not None
    fcntl.fcntl(guard.stdin.fileno(), fcntl.F_SETPIPE_SZ, 2**20)
    os.kill(guard.pid, signal.SIGSTOP)
    others = b"-999999999\n" * 20_000
    tell(guard, b"+%d\n!%d 0\n" % (sleeper.pid, sleeper.pid) + others + b"-%d\n" % sleeper.pid)
    os.kill(guard.pid, signal.SIGCONT)
    end(guard)
    assert sleeper.poll() is None


def test_empty_folders_are_removed_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build may leave a hundred thousand, and to move each first takes minutes."""
    for name in ("a/b", "a/c", "d"):
        (tmp_path / "left" / name).mkdir(parents=True)
    moved: list[str] = []
    rename = os.rename
    monkeypatch.setattr(os, "rename", lambda old, new: (moved.append(Path(old).name), rename(old, new)))
    warden.remove_tree(str(tmp_path / "left"))
    assert not (tmp_path / "left").exists()
    assert not moved
