"""The table of hostile cases is whole, and its judge can tell a good outcome from a bad one."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from hostile.cases import CASES, LEVELS, Case, blocked, forfeit, may, unaffected
from hostile.judge import GROWTH_MIB, judge
from hostile.scenes import SCENES
from hostile.stage import Outcome

ROOT = Path(__file__).parents[2]
ATTACKS = Path(__file__).parent / "attacks"
LISTED = {"R": 14, "P": 27, "F": 7, "N": 4, "X": 10, "T": 9, "H": 15}
"""How many cases of each kind the list has that this table must cover: R15 and R16 belong to a league."""
STILL_OPEN = {("T1", "isolated"), ("X5", "isolated"), ("T7", "isolated"), ("H9", "isolated"), ("H9", "strict")}
"""What no sandbox can prevent there, in docs/safety.md by name."""
STILL_OPEN |= {
    ("T1", "fenced"),
    ("X5", "fenced"),
    ("T7", "fenced"),
    ("H9", "fenced"),
    ("F9", "fenced"),
    ("H12-name", "fenced"),
    ("H11-stat", "fenced"),
    ("R20", "fenced"),
    *(("H11-shared", level) for level in ("fenced", "isolated", "strict")),
}
HONEST = Outcome([], [], 2, [], 0, [], [], {"main": 90_000}, 1.0, 1.0, [])


def test_every_case_of_the_list_is_there_once() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    found = {case.id.partition("-")[0] for case in CASES}
    assert found >= {f"{kind}{number}" for kind, most in LISTED.items() for number in range(1, most + 1)}


def test_every_attack_and_every_scene_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ATTACKS), *sys.path])
    before = set(sys.modules)
    try:
        from bot import ATTACKS as found  # type: ignore[import-not-found]
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
    for case in CASES:
        assert bool(case.attack) != bool(case.shown_by)
        assert case.scene in SCENES
        assert {case.attack, case.opponent} - {""} <= set(found)
    used = {name for case in CASES for name in (case.attack, case.opponent)}
    assert set(found) - used <= {"thinker"}, "an attack that no case plays"


def test_what_a_case_points_to_exists() -> None:
    for case in CASES:
        if case.shown_by:
            path, _, name = case.shown_by.partition("::")
            wanted = rf"^def {name}\b" if path.endswith(".py") else re.escape(name)
            assert re.search(wanted, (ROOT / path).read_text(), re.MULTILINE), case.shown_by


def test_above_trusted_no_case_is_open_but_those_that_nobody_can_close() -> None:
    found = {(case.id, level) for case in CASES for level in LEVELS[1:] if case.expected(level).open}
    assert found == STILL_OPEN


def test_whatever_is_open_says_why() -> None:
    page = (ROOT / "docs" / "safety.md").read_text()
    for case in CASES:
        if case.trusted.open:
            assert case.trusted.open[1:] in page
            assert f"`{case.id}`" in page


@pytest.mark.parametrize(
    "outcome",
    [
        HONEST._replace(forfeits=["timeout"], sentences=["seat 0 was late"]),
        HONEST._replace(opened=["read /etc/shadow"], shut=3),
        HONEST._replace(),
        HONEST._replace(shut=3, harm=["the opponent forfeited"]),
        HONEST._replace(shut=3, left=["process 7 (sleep)"]),
        HONEST._replace(shut=3, peaks={"main": 90_000 + GROWTH_MIB * 1024}),
        HONEST._replace(shut=3, peaks={"main": 90_000, "worker": 90_000 + GROWTH_MIB * 1024}),
    ],
    ids=["forfeit", "open", "untried", "harm", "left", "growth", "growth of a part that honest bots do not have"],
)
def test_an_attack_that_should_be_blocked_is_found_where_it_is_not(outcome: Outcome) -> None:
    case = Case("X0", "tries", blocked(), blocked(), blocked(), attack="honest")
    assert judge(case, "trusted", HONEST._replace(shut=3), HONEST).ok
    assert not judge(case, "trusted", outcome, HONEST).ok


@pytest.mark.parametrize(
    "outcome",
    [
        HONEST,
        HONEST._replace(forfeits=["timeout"], sentences=["seat 0 was late"]),
        HONEST._replace(forfeits=["crashed", "timeout"], sentences=["it crashed", "it was late"]),
    ],
    ids=["none", "another", "both"],
)
def test_a_forfeit_that_should_come_is_missed_where_it_does_not(outcome: Outcome) -> None:
    case = Case("X0", "tries", forfeit("crashed"), forfeit("crashed"), forfeit("crashed"), attack="honest")
    assert judge(case, "trusted", HONEST._replace(forfeits=["crashed"] * 2, sentences=["it crashed"] * 2), HONEST).ok
    assert not judge(case, "trusted", outcome, HONEST).ok


def test_what_may_work_still_must_not_hurt_the_referee() -> None:
    case = Case("X0", "tries", may("why"), unaffected(), unaffected(), attack="honest")
    assert judge(case, "trusted", HONEST._replace(opened=["everything"]), HONEST).ok
    assert not judge(case, "trusted", HONEST._replace(harm=["the referee ended with status 70"]), HONEST).ok
    assert not judge(case, "trusted", HONEST._replace(left=["process 7"]), HONEST).ok
    assert not judge(case, "isolated", HONEST._replace(opened=["everything"]), HONEST).ok
