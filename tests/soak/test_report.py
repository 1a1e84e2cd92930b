"""The report of a soak: its last line and what is wrong, for people."""

from __future__ import annotations

from tests.soak import report
from tests.soak.judge import Finding
from tests.soak.scenario import draw
from tests.soak.soak import Outcome


def outcome(*findings: Finding, own_disk: bool = True) -> Outcome:
    return Outcome(
        scenario=draw(7, 60), level="isolated", seconds=70.0, findings=findings, own_disk=own_disk,
        troubles={"service": 2, "full disk": 1}, failed=3, asked=9, unanswered=1, refused=0,
        met_full_disk=4, states={"playing": 5},
    )  # fmt: skip


def test_the_report_ends_with_the_verdict_and_names_what_is_wrong() -> None:
    right = Finding(promise="all is well", seen="9 games")
    wrong = Finding(promise="nothing is lost", seen="9 games", wrong=tuple(f"g{number} \x1b[2J" for number in range(7)))
    lines = report.text(outcome(right)).splitlines()
    assert lines[-1] == "Passed: all 1 hold; again with SEED=7"
    assert "the service 2 times" in lines[2]
    assert "none at all 1 times; the service could not write 4 times" in lines[3]
    text = report.text(outcome(right, wrong))
    assert text.splitlines()[-1] == "FAILED: 1 of 2 do not hold; again with SEED=7"
    assert "FAIL nothing is lost" in text
    assert "and 2 more" in text
    assert "\x1b" not in text


def test_a_disk_that_could_not_be_filled_is_said() -> None:
    assert "not tried" in report.text(outcome(own_disk=False)).splitlines()[3]
