"""Levels, and what people and machines are shown of a report."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from arena.author.conform.render import junit, report_lines, summary, verdict_lines
from arena.author.conform.report import BotReport, Evidence, Grade, Passed, Result, Verdict, count, hinders, level_of

OK, LOOSE, LACKING, FAILED = Verdict
EVIL = "\x1b[31m\u202e<evil>&\x00"


def result(verdict: Verdict | None, level: Grade = Grade.CORE, id: str = "session.id") -> Result:
    evidence = None
    if verdict not in (OK, None) and level is not Grade.OPTIONAL:
        message = Passed(sender="bot", ms=1.5, size=3, hex="81a0 c0", decoded='{"type":' + "x" * 400)
        evidence = Evidence(messages=(message,), stderr=(EVIL, "second line", "長い" * 60))
    return Result(
        id=id, title="repeats the number", spec=("§8.6-1", "§6-1"), level=level, verdict=verdict, detail=EVIL,
        remedy="Copy it.", evidence=evidence,
    )  # fmt: skip


def report(*results: Result) -> BotReport:
    return BotReport(
        bot="evil\x1b", version="1", rules=("samurai",), level=level_of(results), counts=count(results), start_ms=42.0,
        max_ms=None, memory_mib=17, seconds=1.25, results=results,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("results", "level"),
    [
        ([result(OK), result(OK, Grade.FULL)], Grade.FULL),
        ([result(OK), result(LACKING, Grade.OPTIONAL)], Grade.FULL),
        ([result(OK), result(LOOSE, Grade.FULL)], Grade.CORE),
        ([result(LOOSE), result(OK, Grade.FULL)], Grade.CORE),
        ([result(OK), result(None, Grade.FULL)], Grade.CORE),
        ([result(OK), result(None)], None),
        ([result(OK), result(LACKING)], None),
        ([result(OK), result(FAILED)], None),
        ([result(OK), result(FAILED, Grade.FULL)], None),
        ([], None),
    ],
)
def test_the_level_is_what_the_results_allow(results: list[Result], level: Grade | None) -> None:
    assert level_of(results) is level


def test_full_includes_core() -> None:
    full = report(result(OK))
    core = report(result(LOOSE))
    assert full.reaches(Grade.CORE)
    assert full.reaches(Grade.FULL)
    assert core.reaches(Grade.CORE)
    assert not core.reaches(Grade.FULL)
    assert not report(result(FAILED)).reaches(Grade.CORE)


def test_every_verdict_is_counted() -> None:
    assert count([result(OK), result(OK), result(None)]) == {
        "ok": 2, "non_strict": 0, "unimplemented": 0, "failed": 0, "not_attempted": 1,
    }  # fmt: skip


EVERY = report(*(result(verdict, id=f"session.{n}") for n, verdict in enumerate((OK, LOOSE, LACKING, FAILED, None))))


@pytest.mark.parametrize("width", [40, 80, 1_000])
def test_a_report_fits_its_terminal_and_holds_nothing_that_steers_it(width: int) -> None:
    for line in report_lines(EVERY, width):
        assert line.plain.isprintable()
        assert line.cell_len <= min(width, 100)


def test_a_report_says_what_is_wrong_what_came_and_what_to_fix() -> None:
    text = "\n".join(line.plain for line in report_lines(EVERY, 80))
    assert "  failed         §8.6-1 +1   repeats the number\n" in text
    assert "failed session.3: repeats the number (§8.6-1, §6-1)" in text
    assert "  To fix it: Copy it." in text
    assert "  At 1.5 ms the bot sent 3 bytes:" in text
    assert "    second line" in text
    assert summary(EVERY) == (
        "evil\\x1b does not reach level core: 1 ok, 1 non_strict, 1 unimplemented, 1 failed, 1 not attempted, "
        "in 1.2 s. Measured: start-up 42 ms, 17 MiB of memory."
    )


def test_what_was_not_attempted_is_a_line_for_each_reason() -> None:
    left = [replace(result(None), detail=reason) for reason in ("a failed", "b failed", "a failed")]
    text = "\n".join(line.plain for line in report_lines(report(result(OK), *left), 80))
    assert "  not attempted              2 checks: a failed\n" in text
    assert "  not attempted  §8.6-1 +1   repeats the number: b failed\n" in text


def test_of_several_bots_each_has_a_line() -> None:
    lines = [line.plain for line in verdict_lines([report(result(OK)), report(result(FAILED))], Grade.CORE)]
    assert lines == ["evil\\x1b  passed  level full", "evil\\x1b  failed  no level"]


def test_what_hinders_a_level() -> None:
    assert [hinders(result(verdict), Grade.CORE) for verdict in Verdict] == [False, False, True, True]
    assert [hinders(result(verdict), Grade.FULL) for verdict in Verdict] == [False, True, True, True]
    assert not hinders(result(LACKING, Grade.OPTIONAL), Grade.FULL)
    assert not hinders(result(None), Grade.FULL)


def test_junit_counts_failures_of_the_demanded_level_and_is_well_formed() -> None:
    for level, failures in ((Grade.CORE, "2"), (Grade.FULL, "3")):
        root = ElementTree.fromstring(junit([EVERY], level).encode())
        (suite,) = root
        for element in (root, suite):
            assert [element.get(name) for name in ("tests", "failures", "skipped", "errors")] == [
                "5",
                failures,
                "1",
                "0",
            ]
        assert suite.get("name") == "evil\\x1b"
        assert len(suite.findall("testcase/failure")) == int(failures)
    (failure, *_) = suite.findall("testcase/failure")
    assert "Copy it." in (failure.text or "")


def test_a_game_that_a_manifest_claims_can_have_any_name() -> None:
    claimed = report(*(result(None, Grade.OPTIONAL, id=f"{EVIL}{n}.rules") for n in range(2)))
    assert all(line.plain.isprintable() for line in report_lines(claimed, 80))
    assert "&lt;evil&gt;" in junit([claimed], Grade.CORE)
    ElementTree.fromstring(junit([claimed], Grade.CORE).encode())
