"""Says what came of a soak, for people: what was done to the league, and what came of each promise."""

from __future__ import annotations

import os
import platform
from typing import Final

from arena.core.text import plain
from tests.soak.judge import Finding
from tests.soak.soak import Outcome

SHOWN: Final = 5  # how many faults of a promise are named
_WIDTH: Final = 56
_KILLS: Final = {"service": "the service", "worker": "a worker", "door": "the door", "supervisor": "what keeps it open"}
_DISK: Final = {"little room": "too little room", "full disk": "none at all"}


def text(outcome: Outcome) -> str:
    """Returns the report. Its last line says whether everything holds."""
    scenario = outcome.scenario
    hostile = sum(bot.is_hostile for bot in scenario.bots)
    lines = [
        f"A league of {len(scenario.bots)} bots of {len(scenario.authors)} authors, {hostile} bots hostile: "
        f"{outcome.seconds:.0f} s at level {outcome.level}, seed {scenario.seed}",
        f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f}; "
        f"Python {platform.python_version()}",
        f"Killed with -9: {_counts(outcome, _KILLS)}",
        f"The disk: {_disk(outcome)}",
        f"Submissions that failed and were made again: {outcome.failed}. "
        f"Questions to the door: {outcome.asked} answered, {outcome.unanswered} not",
        f"The service said of itself: {_seen(outcome.states)}",
        "",
        *(line for finding in outcome.findings for line in _lines(finding)),
        "",
    ]
    wrong = [finding for finding in outcome.findings if not finding.ok]
    end = f"{len(wrong)} of {len(outcome.findings)} do not hold" if wrong else f"all {len(outcome.findings)} hold"
    return "\n".join([*lines, f"{'FAILED' if wrong else 'Passed'}: {end}; again with SEED={scenario.seed}"])


def _lines(finding: Finding) -> list[str]:
    lines = [f"{'ok  ' if finding.ok else 'FAIL'} {finding.promise:{_WIDTH}} {finding.seen}"]
    lines += [f"       {plain(wrong)[:600]}" for wrong in finding.wrong[:SHOWN]]
    rest = len(finding.wrong) - SHOWN
    return [*lines, f"       and {rest} more"] if rest > 0 else lines


def _counts(outcome: Outcome, names: dict[str, str]) -> str:
    return ", ".join(f"{name} {outcome.troubles.get(blow, 0)} times" for blow, name in names.items())


def _disk(outcome: Outcome) -> str:
    if not outcome.own_disk:
        return "not tried, since this machine gives no file system that could be filled"
    refused = f"; {outcome.refused} times the service could not start on it, and said so" if outcome.refused else ""
    return f"{_counts(outcome, _DISK)}; the service could not write {outcome.met_full_disk} times{refused}"


def _seen(states: dict[str, int]) -> str:
    return ", ".join(f"{state} {count}" for state, count in sorted(states.items())) or "nothing"
