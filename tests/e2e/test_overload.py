"""Real games on a core that others want: whose time losses are marked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "overload.py"

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs /proc")


@pytest.fixture
def _one_core() -> Iterator[None]:
    """All that this process starts has the same core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.usefixtures("_one_core")
def test_a_bot_without_a_core_has_an_excuse_and_one_that_sleeps_has_none() -> None:
    words = [
        sys.executable,
        str(BENCHMARK),
        "honest",
        "late",
        "dozing",
        "--loads",
        "3",
        "--losses",
        "1",
        "--games",
        "1",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[2:5]}
    assert {name: (row[4], row[5]) for name, row in rows.items()} == {
        "honest": ("1", "1"),
        "late": ("1", "0"),
        "dozing": ("1", "0"),
    }, done.stdout
