"""What a comparison says to people. Its numbers come from `arena.core.standings.comparison`."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from arena.core.show.comparison import accepted, brief, ci_line, comparison_lines, junit

FOUND: dict[str, Any] = {
    "bots": ("shogun", "daimyo"), "tournaments": ("20261122-3a6b",), "deals": 120, "games": 240,
    "counts": ((0.0, 11), (0.25, 2), (0.5, 73), (0.75, 5), (1.0, 29)), "score": 0.5813, "interval": (0.499, 0.666),
    "one_look": (0.528, 0.635), "rating": 1.21, "e_plus": 37.4, "e_minus": 0.01, "needed": 40.0, "p": 0.053,
    "alpha": 0.05, "delta": 0.05, "verdict": "open", "more_deals": 10, "sprt": None, "forfeits": (0, 2),
    "max_deals": 120, "answered": False, "by": "wins", "lead": None, "wins": None,
}  # fmt: skip

LEAD = {
    "unit": "captured pieces", "most": 4, "level": 0.4, "mean": 0.826, "interval": (0.1, 1.5),
    "one_look": (0.5, 1.2), "deals": (70, 9, 41),
}  # fmt: skip
BY_MARGIN: dict[str, Any] = {
    "by": "margin", "rating": None, "verdict": "better", "e_plus": 41.0, "lead": LEAD,
    "wins": {"score": 0.5813, "interval": (0.499, 0.666), "verdict": "open"},
}  # fmt: skip


def lines(**changed: Any) -> list[str]:
    return list(comparison_lines({**FOUND, **changed}))


def test_all_that_is_known_in_five_lines() -> None:
    assert lines() == [
        "120 deals (240 games): daimyo forfeited 2",
        "shogun's share of a deal, and how many had it: 0 % 11, 25 % 2, 50 % 73, 75 % 5, 100 % 29",
        "shogun scores 58 % a deal (95 %: 49.9 % to 66.6 % at any look, 52.8 % to 63.5 % at this one alone),"
        " +1.2 rating points",
        "Evidence 37 : 1 that shogun is better; 40 : 1 is needed",
        "Open: neither is shown to be better; about 10 more deals like these would tell.",
    ]


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        ({"verdict": "better"}, "shogun is better than daimyo (an answer like this is wrong in 5 % of"),
        ({"verdict": "worse"}, "daimyo is better than shogun (an answer like this is wrong in 5 % of"),
        ({"verdict": "better", "alpha": 0.001}, "an answer like this is wrong in 0.1 % of comparisons at most"),
        ({"verdict": "level"}, "shogun and daimyo are level: the score is within 5 % of one half ("),
        ({"verdict": "level", "delta": 0.025}, "within 2.5 % of one half"),
        (BY_MARGIN | {"verdict": "level"}, "daimyo are level by captured pieces: the lead is within 0.4 of none ("),
        ({"more_deals": None}, "Open: neither is shown to be better."),
        ({"more_deals": 1}, "; about 1 more deal like these would tell."),
    ],
)
def test_the_last_line_is_the_answer(changed: dict[str, Any], answer: str) -> None:
    assert answer in lines(**changed)[-1]


def test_evidence_is_told_of_the_bot_that_it_speaks_for() -> None:
    assert "Evidence 12,345 : 1 that daimyo is better; 40 : 1 is needed" in lines(e_plus=0.001, e_minus=12345.4)
    assert "Evidence 1.8 : 1 that shogun is better; 40 : 1 is needed" in lines(e_plus=1.84)


def test_numbers_that_do_not_exist_are_left_out() -> None:
    score = lines(counts=((1.0, 9),), score=1.0, interval=(0.53, 1.0), one_look=None, rating=None)[2]
    assert score == "shogun scores 100 % a deal (95 %: 53.0 % to 100.0 % at any look)"


def test_before_the_first_deal_there_is_nothing_to_tell() -> None:
    assert lines(deals=0, games=1, forfeits=(0, 0)) == ["0 deals (1 game)"]


@pytest.mark.parametrize(
    ("log_ratio", "verdict", "text"),
    [
        (3.02, "H1", "log ratio 3.02 (-2.94 to 2.94): rather +50"),
        (-2.95, "H0", "log ratio -2.95 (-2.94 to 2.94): rather +0"),
        (None, "open", "log ratio not known yet (-2.94 to 2.94): open"),
    ],
)
def test_a_sequential_test_has_a_line_of_its_own(log_ratio: float | None, verdict: str, text: str) -> None:
    sprt = {"elo": (0.0, 50.0), "log_ratio": log_ratio, "bounds": (-2.944, 2.944), "verdict": verdict}
    assert lines(sprt=sprt)[-2] == f"SPRT of +0 and +50 Elo for shogun: {text}"


def test_names_cannot_draw_on_the_terminal() -> None:
    shown = "\n".join(lines(bots=("\x1b[31mred\x1b[0m", "two\nlines\r")))
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert len(shown.splitlines()) == 5
    assert r"\x1b[31mred\x1b[0m scores 58 % a deal" in shown
    assert r"two\nlines\r forfeited 2" in shown


def test_the_line_of_progress() -> None:
    assert brief("shogun", 0.5813, 1, 3.14, 40) == "shogun 58 % of 1 deal, evidence 3.1 : 1 of 40 : 1"
    assert brief("shogun", 0.5813, 120, 37.4, 40) == "shogun 58 % of 120 deals, evidence 37 : 1 of 40 : 1"
    by_margin = brief("shogun", 0.6, 1, 3.14, 40, (0.826, "captured pieces"))
    assert by_margin == "shogun +0.83 captured pieces in 1 deal, evidence 3.1 : 1 of 40 : 1"


def test_by_margins_the_lead_is_judged_and_wins_are_told_beside_it() -> None:
    assert lines(**BY_MARGIN)[1:] == [
        "shogun's lead is +0.83 captured pieces a game (95 %: +0.10 to +1.50 at any look, +0.50 to +1.20 at this one"
        " alone)",
        "It is ahead on 70 deals, level on 9, behind on 41",
        "By wins it is open: 58 % a deal (95 %: 49.9 % to 66.6 % at any look)",
        "Evidence 41 : 1 that shogun is better by captured pieces; 40 : 1 is needed",
        "shogun is better than daimyo by captured pieces (an answer like this is wrong in 5 % of comparisons at most).",
    ]


def test_by_wins_the_lead_is_told_after_the_score() -> None:
    assert lines(lead=LEAD)[3].startswith("shogun's lead is +0.83 captured pieces a game (")
    assert lines(lead=LEAD)[-1].startswith("Open: neither is shown to be better")


SPRT = {"elo": (0.0, 50.0), "log_ratio": 3.0, "bounds": (-2.944, 2.944)}


@pytest.mark.parametrize(
    ("changed", "is_accepted"),
    [
        ({"verdict": "better"}, True),
        ({"verdict": "level"}, True),
        ({"verdict": "worse"}, False),
        ({"verdict": "open"}, None),
        ({"verdict": "open", "sprt": SPRT | {"verdict": "H1"}}, True),
        ({"verdict": "better", "sprt": SPRT | {"verdict": "H0"}}, False),
        ({"verdict": "better", "sprt": SPRT | {"verdict": "open"}}, None),
    ],
)
def test_a_pipeline_accepts_what_is_shown_not_to_be_worse(changed: dict[str, Any], is_accepted: bool | None) -> None:
    found = {**FOUND, **changed}
    assert accepted(found) is is_accepted
    (suite,) = ElementTree.fromstring(junit(found))
    assert suite.get("failures") == ("0" if is_accepted else "1")
    assert (suite.find("testcase/failure") is None) is bool(is_accepted)
    assert ci_line(found)[0] == {True: "✅", False: "❌", None: "❔"}[is_accepted]


def test_the_line_for_a_pull_request() -> None:
    assert ci_line({**FOUND, "verdict": "better"}) == (
        "✅ `shogun` against `daimyo`: **better** after 120 deals, 58 % by wins (95 %: 49.9 % to 66.6 %)"
    )
    assert ci_line({**FOUND, **BY_MARGIN}) == (
        "✅ `shogun` against `daimyo`: **better** after 120 deals, +0.83 captured pieces a game (95 %: +0.10 to +1.50),"
        " 58 % by wins (95 %: 49.9 % to 66.6 %)"
    )
