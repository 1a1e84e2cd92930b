"""What a check says about a bot that was late: on a machine that kept it from running, nothing against it."""

from __future__ import annotations

import pytest

from arena.author.conform.report import BotReport, Grade, Result
from arena.author.conform.report import Verdict as Found
from arena.league.store.records import Verdict
from arena.league.submissions.steps.check import verdict

DENIED = "the machine did not let it run for 90 ms"


def result(name: str, excuse: str | None = None, found: Found | None = Found.FAILED) -> Result:
    return Result(id=f"time.{name}", title="", spec=(), level=Grade.CORE, verdict=found, excuse=excuse)


def report(*results: Result, level: Grade | None = None, own_ms: int = 0) -> BotReport:
    return BotReport(
        bot="fox", version="", rules=("samurai",), level=level, counts={}, start_ms=1.0, max_ms=1.0, memory_mib=1,
        seconds=60.0, own_ms=own_ms, results=results,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (report(level=Grade.FULL), Verdict.PASSED),
        (report(result("limit", DENIED)), Verdict.MACHINE),
        (report(result("limit", DENIED), result("end", DENIED, Found.NON_STRICT)), Verdict.MACHINE),
        (report(result("limit", DENIED), result("frames")), None),
        (report(result("limit", "")), None),
        (report(result("frames")), Verdict.FAILED),
        (report(result("frames", None, Found.NON_STRICT), level=Grade.CORE), Verdict.PASSED),
        (report(result("frames", None, None), own_ms=60_000), Verdict.MACHINE),
        (report(result("frames", None, None), own_ms=200_000), Verdict.FAILED),
    ],
)
def test_only_what_the_machine_had_no_part_in_counts(found: BotReport, expected: Verdict | None) -> None:
    assert verdict(found) is expected
