"""Real games on a core that others want: whose time losses are marked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.core.catalogue import make_settings
from arena.core.link.bots import BotSpec
from arena.core.link.pool import worker_pool
from arena.core.referee.job import Job
from arena.core.referee.worker import play
from arena.core.types import Termination

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "overload.py"

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs /proc")


@pytest.mark.long
@pytest.mark.usefixtures("one_core")
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
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[2:4]}
    assert {name: (row[4], row[5]) for name, row in rows.items()} == {"honest": ("1", "1"), "late": ("1", "0")}, (
        done.stdout
    )


def test_a_bot_that_uses_up_its_cpu_time_is_ended_long_before_its_deadline(tmp_path: Path) -> None:
    burner = BotSpec(
        name="burner", version="1", command=(sys.executable, "bot.py", "honest"),
        folder=str(BENCHMARK.parent / "burner"), digest="0" * 64, start_ms=60_000,
    )  # fmt: skip
    settings = make_settings("samurai", 2, time="3600/move", cpu="500ms")
    job = Job(
        game="cpu-0", tournament=None, settings=settings, bots=(burner, burner), deal=0, rotation=0,
        secret=b"s" * 32, logs=str(tmp_path),
    )  # fmt: skip
    try:
        result = play(job)
    finally:
        worker_pool().shutdown()
    forfeits = [seat.forfeit for seat in result.seats if seat.forfeit is not None]
    assert forfeits
    for forfeit in forfeits:
        assert (forfeit.code, forfeit.rule, forfeit.overloaded) == (Termination.TIMEOUT, "§9-10", False)
        assert re.search(r"used 0\.[5-9]\d* s of CPU; its budget is 0\.5 s", forfeit.sentence)
