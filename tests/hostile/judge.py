"""Says whether the outcome of a case is the one that has to come at a level."""

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

from hostile.cases import Case
from hostile.stage import SLOWED, Outcome

GROWTH_MIB: Final = 16  # what an attacker may make the referee grow by
KIB_PER_MIB: Final = 1024


class Verdict(NamedTuple):
    """A row of the table."""

    case: Case
    level: str
    ok: bool
    expected: str
    happened: str
    left: str
    growth_mib: float | None
    seconds: float | None
    may_differ: bool = False
    """It may be otherwise on a machine with less to do: nothing was opened or left, but a program was slow, or grew, or
    a time was measured as too long."""

    def as_json(self) -> dict[str, Any]:
        return self._asdict() | {"case": self.case.id}


def judge(case: Case, level: str, outcome: Outcome | None, honest: Outcome) -> Verdict:
    """Compares an outcome with the expected one; `honest` is that of two honest bots. None is for a test elsewhere."""
    expected = case.expected(level)
    if outcome is None:
        return Verdict(case, level, True, expected.text, case.shown_by.rpartition("::")[2], "", None, None)
    growth = grown_mib(outcome, honest)
    wrong = []
    if outcome.harm and not expected.unless_harm:
        wrong += outcome.harm
    if outcome.left and not expected.unless_left:
        wrong.append(f"{len(outcome.left)} left")
    if growth >= GROWTH_MIB:
        wrong.append(f"the referee grew by {growth:.0f} MiB")
    codes = set(outcome.forfeits)
    if not expected.open:
        if outcome.opened:
            wrong.append("open: " + "; ".join(outcome.opened)[:300])
        if codes - expected.codes:
            wrong.append("forfeit (" + ", ".join(sorted(codes - expected.codes)) + "): " + outcome.sentences[0])
        if not codes and not expected.plays_on and not outcome.harm:
            wrong.append("no forfeit")
        if not codes and expected.tried and not outcome.shut and not outcome.opened and not outcome.harm:
            wrong.append("it tried nothing")
    return Verdict(
        case,
        level,
        not wrong,
        expected.text,
        "; ".join(wrong) or summary(outcome),
        f"{len(outcome.left)} left: {outcome.left[0]}" if outcome.left else "",
        growth,
        outcome.seconds,
        may_differ=not outcome.left and all(found.startswith(SLOWED) for found in outcome.opened),
    )


def skipped(case: Case, level: str, reason: str) -> Verdict:
    """A case that could not be tried. With ARENA_TEST_STRICT=1 that is as bad as a wrong outcome."""
    ok = not os.environ.get("ARENA_TEST_STRICT")
    return Verdict(case, level, ok, case.expected(level).text, f"skipped: {reason}", "", None, None)


def summary(outcome: Outcome) -> str:
    """What happened, in a few words."""
    words = []
    if outcome.opened:
        words.append(f"open: {len(outcome.opened)}")
    if outcome.forfeits:
        words.append("forfeit (" + ", ".join(sorted(set(outcome.forfeits))) + ")")
    if outcome.shut:
        words.append(f"blocked: {outcome.shut}")
    return "; ".join((words or ["unaffected"]) + outcome.harm + outcome.facts)


def grown_mib(outcome: Outcome, honest: Outcome) -> float:
    """How much more memory the referee's processes took than with honest bots, at worst."""
    most = max(honest.peaks.values(), default=0)
    grown = [peak - honest.peaks.get(part, most) for part, peak in outcome.peaks.items()]
    return max(grown, default=0) / KIB_PER_MIB
