"""Checks a built bot as `arena bot check` does, confined as it will play."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from arena.author.conform.findings import Budget
from arena.author.conform.report import BotReport, Grade, Result
from arena.author.conform.runner import check_bot
from arena.core.face import Level, bot_manifests, confining, errors
from arena.league.store.records import StepReport, Verdict
from arena.league.submissions.steps.step_report import Stopwatch

_BUDGET: Final = Budget(total_ms=300_000)
"""A machine that plays other games meanwhile needs longer for all checks than the minute of `arena bot check`."""
_OWN_SHARE: Final = 0.5
"""A bot that all of this part of the time was spent waiting for is slow itself, however busy the machine is."""


def check(folder: Path, rules: str, level: Level) -> StepReport:
    """Checks a bot: it passes if it reaches the level Core in the league's game. What a bot should do is its author's.

    The `detail` of the report is that of `arena bot check --json`.
    """
    watch = Stopwatch("check")
    return watch.guarded(lambda: _check(watch, folder, rules, level))


def _check(watch: Stopwatch, folder: Path, rules: str, level: Level) -> StepReport:
    confining.require(level)
    try:
        spec = bot_manifests.load_bot(str(folder))
        watch.command_to_repeat = f"arena bot check {spec.name} --rules {rules} --level core --level {level}"
        if spec.rules and rules not in spec.rules:
            return watch.failed(
                f"expected a bot that plays {rules}, got: one whose manifest says {', '.join(spec.rules)}; "
                f"add {rules} to `rules`, or submit another bot"
            )
        confining.require(level, (spec,))
    except errors.BotError as error:
        return watch.failed(str(error).replace(f"{folder}/", ""))
    report = check_bot(spec, (rules,), _BUDGET, level=level)
    if verdict(report) is None:
        report = check_bot(spec, (rules,), _BUDGET, level=level)
    found = {"memory_mib": report.memory_mib, "detail": msgspec.to_builtins(report), "output": _words(report)}
    hindering = report.hindering(Grade.CORE)
    match verdict(report):
        case Verdict.PASSED:
            return watch.passed(**found)
        case Verdict.MACHINE:
            return watch.machine(_overload(hindering), **found)
        case _:
            own = [result for result in hindering if not result.excuse]
            return watch.failed(_finding(own) if own else _slow(report), **found)


def verdict(report: BotReport) -> Verdict | None:
    """Returns what a check says about a bot; None if nobody can say: it was late, and the machine had no part in it.

    A bot that was late because the machine did not let it run is checked again later, as a forfeit of that kind never
    counts against it. One that was late without that is checked once more: what cannot be measured may be the reason.
    """
    if report.reaches(Grade.CORE):
        return Verdict.PASSED
    hindering = report.hindering(Grade.CORE)
    if not hindering:  # the time for all checks together was over: the checks and the referee take their part of it
        return Verdict.FAILED if report.own_ms > _OWN_SHARE * _BUDGET.total_ms else Verdict.MACHINE
    if all(result.excuse for result in hindering):
        return Verdict.MACHINE
    return Verdict.FAILED if all(result.excuse is None for result in hindering) else None


def _finding(hindering: list[Result]) -> str:
    """Returns what keeps the bot from the level: the first result, and how many more there are."""
    first, *more = hindering
    said = first.detail or f"expected a bot that {first.title}, got: {first.verdict}"
    sentence = f"{first.id} ({', '.join(first.spec)}): {said}"
    sentence += f"; {first.remedy[:1].lower()}{first.remedy[1:].rstrip('.')}" if first.remedy else ""
    return f"{sentence} - and {len(more)} more, see the report" if more else sentence


def _slow(report: BotReport) -> str:
    """Returns what is said to the author of a bot that needs all the time for itself."""
    return (
        f"expected a bot that is through all checks in {_BUDGET.total_ms // 1000} s, got: one that was waited for "
        f"during {report.own_ms // 1000} s; let it start, answer and end faster"
    )


def _overload(hindering: list[Result]) -> str:
    """Returns what the machine did not give."""
    if not hindering:
        seconds = _BUDGET.total_ms // 1000
        return f"expected a machine that has time for all checks in {seconds} s, got: one that was overloaded"
    first = hindering[0]
    return f"expected a machine that lets the bot run, got: {first.excuse} - in {first.id}"


def _words(report: BotReport) -> bytes:
    """Returns the last words of the bot in the first check that did not go well."""
    evidence = (result.evidence for result in report.results if result.evidence is not None)
    return "\n".join(next((each.stderr for each in evidence if each.stderr), ())).encode()
