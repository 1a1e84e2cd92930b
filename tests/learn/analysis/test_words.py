"""What an analysis found, in words: a report, and remarks in a replay and on a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.commands.stepping import Stepper
from arena.core.record.log import Log
from arena.core.show.replay import Replay
from arena.learn.analysis.analyse import Analysis, Judged
from arena.learn.analysis.judges import Judge
from arena.learn.analysis.trials import Trials
from arena.learn.analysis.words import AnalysisWords
from arena.pages.game_page import game_page

SEAT = 1


@pytest.fixture(scope="module")
def found(samurai: Log) -> Analysis:
    """An analysis in which the third decision from the end is marked, and the one after it is as the judge's."""
    trials = Trials(samurai, SEAT, Judge(name="random"))
    decisions = [
        Judged(
            line=question.line, turn=question.turn, kind=question.decision.kind,
            played=trials.rules.write_action(question.plays), other=trials.several(index)[0],
            chance_before=0.5, chance_after=0.4 if index % 2 else 0.0, cost=0.2, low=-0.3, high=0.7, trials=8,
            proven=False,
        )
        for index, question in enumerate(trials.questions)
    ]  # fmt: skip
    decisions[-3] = replace(decisions[-3], cost=1.5, low=0.9, high=2.1, trials=80, proven=True)
    decisions[-2] = replace(decisions[-2], other=None)
    return Analysis(
        game="g1", seat=SEAT, bot="random", judge="daimyo", unit="captured pieces", decisions=tuple(decisions)
    )


@pytest.fixture
def report(samurai: Log, found: Analysis) -> AnalysisWords:
    return AnalysisWords(samurai, found)


def test_the_heading_says_what_was_looked_at(report: AnalysisWords, found: Analysis) -> None:
    count = len(found.decisions)
    assert [line.plain for line in report.heading(200)] == [
        f"random (seat 1) in game g1: {count} decisions, judged by daimyo in {8 * (count - 1) + 80} trials"
    ]


def test_what_there_was_no_time_for_is_said(samurai: Log, found: Analysis) -> None:
    [_, told] = AnalysisWords(samurai, replace(found, skipped=7)).heading(200)
    assert told.plain == "There was no time to look at 7 more decisions; --budget gives it."


def test_the_costly_decision_is_told_with_what_was_better(report: AnalysisWords, found: Analysis) -> None:
    told = [line.plain for line in report.costly(200)]
    assert told[0] == "What cost most:"
    assert told[1] == (
        f"1. Turn {found.marks[0].turn}, turn: cost a lead of 1.5 captured pieces (95 %: 0.9 to 2.1); "
        "chance to be first 50 % → 0 %"
    )
    assert told[2].startswith("   played: ")
    assert told[3].startswith("   better: ")
    assert "places" in told[2]


def test_nothing_costly_is_said_too(samurai: Log, found: Analysis) -> None:
    none = replace(found, decisions=tuple(replace(one, proven=False) for one in found.decisions))
    assert "No decision is shown to have cost anything" in " ".join(
        line.plain.replace("\n", " ") for line in AnalysisWords(samurai, none).costly(80)
    )


def test_without_a_margin_costs_are_chances(samurai: Log, found: Analysis) -> None:
    [_, told, *_] = [line.plain for line in AnalysisWords(samurai, replace(found, unit=None)).costly(200)]
    assert "cost 150 % of the chance to be first" in told


def test_a_replay_has_the_remarks_on_their_decisions(samurai: Log, report: AnalysisWords, found: Analysis) -> None:
    remarks = report.remarks()
    shown = Replay(samurai, None, remarks)
    costly = [index for index in range(len(shown.frames)) if shown.is_mistake(index)]
    assert [shown.frames[index].line for index in costly] == [found.marks[0].line]
    text = "\n".join(line.plain for line in shown.draw(costly[0], 100))
    assert "cost a lead of 1.5 captured pieces (95 %: 0.9 to 2.1)" in text
    assert re.search(r"[▁▄]\[▁\][▁▄]", text), "the curve, at this decision"


def test_other_eyes_do_not_see_them(samurai: Log, report: AnalysisWords) -> None:
    remarks = report.remarks()
    assert all(frame.remark is None for frame in Replay(samurai, 0, remarks).frames)
    assert any(frame.remark is not None for frame in Replay(samurai, SEAT, remarks).frames)


def test_a_key_goes_to_the_costly_decision(samurai: Log, report: AnalysisWords) -> None:
    steps = Stepper([Path(samurai.source)], 0, None, report.remarks())
    steps.press("f")
    assert "cost a lead of 1.5 captured pieces" in " ".join(line.plain for line in steps.draw(100, 40))
    steps.press("f")
    assert "no forfeit or costly decision after this" in steps.draw(100, 40)[-1].plain


def test_remarks_stay_when_the_eyes_change(samurai: Log, report: AnalysisWords) -> None:
    steps = Stepper([Path(samurai.source)], 0, None, report.remarks())
    steps.press("1")
    steps.press("f")
    assert "cost a lead of 1.5 captured pieces" in " ".join(line.plain for line in steps.draw(100, 40))


def test_a_page_has_the_curve_and_the_mark(samurai: Log, report: AnalysisWords, found: Analysis) -> None:
    page = game_page(samurai, None, report.remarks())
    data = json.loads(re.findall(r'id="arena-data">(.*?)</script>', page)[0])
    judged = [frame for frame in data["frames"] if "p" in frame]
    assert len(judged) == len(found.decisions)
    assert {frame["s"] for frame in judged} == {SEAT}
    [marked] = [frame for frame in data["frames"] if "k" in frame.get("m", "")]
    assert "cost a lead of 1.5 captured pieces" in data["strings"][marked["w"]["r"][0]]
    assert all("r" not in words for frame in judged for eye, words in frame.get("x", {}).items() if eye in "02")
