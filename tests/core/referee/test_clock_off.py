"""A clock that is off: nobody loses by time, bots are told a guide, and the log can be checked all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from msgspec import UNSET
from referee_kit import first_legal, referee

from arena.core.record.log import ActionRecord, read_log
from arena.core.referee.clock import Clock
from arena.core.types import NS_PER_MS, TimeControl
from arena.core.wire.messages import Request
from tests.memory_link import MemoryBot, Reply, answer

ROOT = Path(__file__).parents[3]
DAY_MS = 24 * 3_600_000


def test_a_clock_that_is_off_gives_time_for_ever_and_tells_the_guide() -> None:
    clock = Clock(TimeControl.parse("off,5/move"))
    for _ in range(3):
        clock.begin()
        assert clock.limit_ns() > 1_000 * DAY_MS * NS_PER_MS
        assert (clock.told().limit_ms, clock.told().bank_ms) == (5_000, None)
        clock.charge(DAY_MS * NS_PER_MS)
    assert clock.total_ns == 3 * DAY_MS * NS_PER_MS, "it measures all the same"


def test_a_game_in_which_somebody_thinks_for_days_is_played_to_its_end(tmp_path: Path) -> None:
    """§9-11."""
    told: list[Request] = []

    def slow(request: Request) -> list[Reply]:
        told.append(request)
        return [answer(request, first_legal(request), after_ms=DAY_MS)]

    result, _ = referee(tmp_path, [MemoryBot(slow), MemoryBot(first_legal)], time="off")
    assert result.termination == "finished"
    assert {request.clock.limit_ms for request in told} == {2_000}
    log = read_log(tmp_path / result.log)
    assert log.header.settings.time == TimeControl(limit_ms=2_000, off=True)
    assert max(record.used_ns for record in log.records if isinstance(record, ActionRecord)) == DAY_MS * NS_PER_MS
    checker = [sys.executable, "-I", "-S", str(ROOT / "protocol" / "check_log.py"), str(tmp_path / result.log)]
    assert subprocess.run(checker, capture_output=True, check=False).returncode == 0


def test_other_settings_are_written_as_before() -> None:
    assert TimeControl.parse("10+0.1").off is UNSET
