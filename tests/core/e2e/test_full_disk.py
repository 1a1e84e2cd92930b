"""A disk without room: said as what it is, nothing stored is lost, and the same command goes on when there is room."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ARENA = f"{sys.executable} -m arena"
TOURNAMENT = f"{ARENA} tournament random greedy --deals 20 --seed x"
MATCH = f"{ARENA} match random greedy --deals 2"


def run(script: str, folder: Path, *wrap: str, file_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a shell script; with `file_bytes`, no file can grow beyond that."""

    def limit() -> None:
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*wrap, "/bin/sh", "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        preexec_fn=limit, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    return done


def check_goes_on(stderr: str) -> None:
    [(left, of)] = re.findall(r"Continuing tournament \S+: (\d+) of (\d+) games left", stderr)
    assert 0 < int(left) < int(of) == 40


@pytest.mark.long
def test_a_tournament_whose_files_cannot_grow_goes_on_where_they_can(tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk, on every machine."""
    done = run(TOURNAMENT, tmp_path, file_bytes=420_000)
    assert done.returncode == 1
    assert "Error: expected a disk that can be read and written, got: disk I/O error - at arena.db; " in done.stderr
    again = run(TOURNAMENT, tmp_path)
    assert again.returncode == 0, again.stderr
    check_goes_on(again.stderr)
    assert run(f"{ARENA} verify logs", tmp_path).stderr == "40 logs, none failed\n"


def test_a_match_whose_log_cannot_be_written_says_so(tmp_path: Path) -> None:
    done = run(MATCH, tmp_path, file_bytes=8_000)
    assert done.returncode == 1
    assert re.fullmatch(
        r"Error: game match-\S+-000000 could not be played: \[Errno 27\] File too large\. The logs of the games before "
        r"it are kept: fix that and give the same command again\n",
        done.stderr,
    ), done.stderr


def test_a_table_that_cannot_be_printed_is_no_bug(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, a file that is always full")
    done = run(f"{ARENA} rules list > /dev/full", tmp_path)
    assert done.returncode == 1
    assert "expected to write to the disk, got: [Errno 28] No space left on device; make room" in done.stderr


@pytest.fixture
def disk(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a script on a disk of 700 KiB, which is there for that script alone."""
    for wrap in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        mount = f"mount -t tmpfs -o size=700k tmpfs {tmp_path} && cd {tmp_path}"
        try:
            if subprocess.run([*wrap, "/bin/sh", "-c", mount], capture_output=True, check=False).returncode == 0:
                return lambda script: run(f"{mount}\n{script}", tmp_path, *wrap)
        except FileNotFoundError:
            break
    return pytest.skip("needs the right to mount a small disk for a process")


@pytest.mark.long
def test_a_tournament_on_a_full_disk_goes_on_when_there_is_room(
    disk: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = disk(f"{TOURNAMENT}; echo ended with $?; mount -o remount,size=20m .; {TOURNAMENT} && {ARENA} verify logs")
    assert done.returncode == 0, done.stderr
    assert "ended with 1\n" in done.stdout
    assert done.stderr.count("Error: ") == 1
    assert re.search(r"Error: .*(room on the disk|No space left on device)", done.stderr)
    check_goes_on(done.stderr)
    assert done.stderr.endswith("40 logs, none failed\n")


def test_a_match_on_a_full_disk_says_so(disk: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    done = disk(f"head -c 690000 /dev/zero > fill; {MATCH}")
    assert done.returncode == 1
    assert "No space left on device. The logs of the games before it are kept" in done.stderr
