"""Checks a built bot as `arena bot check` does, confined as it will play."""

from __future__ import annotations

from pathlib import Path

import msgspec

from arena.conform.report import BotReport, Level, Result, hinders
from arena.conform.runner import check_bot
from arena.errors import BotError
from arena.league.steps.base import StepReport, Stopwatch
from arena.link.bots import BotSpec, load_bot
from arena.link.sandbox.binds import needs, toolchains
from arena.link.sandbox.doctor import require
from arena.parcels.base import LABEL
from arena.text import plain
from arena.types import Level as Confinement


def check(folder: Path, rules: str, level: Confinement) -> StepReport:
    """Checks a bot: it passes if it reaches the level Full in the league's game. One that does not is checked twice.

    Args:
        folder: The bot's folder.
        rules: The league's game.
        level: How far its processes are confined.

    Returns:
        The report. `detail` is that of `arena bot check --json`.
    """
    watch = Stopwatch("check")
    return watch.guarded(lambda: _check(watch, folder, rules, level))


def _check(watch: Stopwatch, folder: Path, rules: str, level: Confinement) -> StepReport:
    require(level)
    try:
        spec = load_bot(str(folder))
        watch.command_to_repeat = f"arena bot check {spec.name} --rules {rules} --level full --level {level}"
        if spec.rules and rules not in spec.rules:
            return watch.failed(
                f"expected a bot that plays {rules}, got: one whose manifest says {', '.join(spec.rules)}; "
                f"add {rules} to `rules`, or submit another bot"
            )
        require(level, (spec,))
        if level is not Confinement.TRUSTED:
            _check_sight(spec, folder)
    except BotError as error:
        return watch.failed(str(error).replace(f"{folder}/", ""))
    report = check_bot(spec, (rules,), level=level)
    if not report.reaches(Level.FULL):  # a busy machine can be the reason, for once
        report = check_bot(spec, (rules,), level=level)
    found = {"memory_mib": report.memory_mib, "detail": msgspec.to_builtins(report), "output": _words(report)}
    if report.reaches(Level.FULL):
        return watch.passed(**found)
    hindering = [result for result in report.results if hinders(result, Level.FULL)]
    return watch.failed(_finding(hindering), **found)


def _check_sight(spec: BotSpec, folder: Path) -> None:
    """Checks that a bot would see nothing but its own files and the league's programs.

    What a bot sees is computed from its command, and follows `#!` lines and links. They may name the files of others.

    Raises:
        BotError: It would see more. Show the message to the author.
    """
    own = next((each for each in (folder, *folder.parents) if (each / LABEL).exists()), folder).resolve()
    trees = [own, *map(Path, toolchains().trees)]
    for seen in needs(spec).trees:
        if not any(Path(seen).is_relative_to(tree) or Path(seen).resolve().is_relative_to(tree) for tree in trees):
            raise BotError(
                f"{spec.name}: expected a bot that needs its own files and the league's programs, got: {plain(seen)}; "
                "bring it along"
            )


def _finding(hindering: list[Result]) -> str:
    """Returns what keeps the bot from the level: the first result, and how many more there are."""
    if not hindering:
        return "expected all checks to be attempted, got: some that could not be; the report says which"
    first, *more = hindering
    sentence = f"expected a bot that {first.title} ({', '.join(first.spec)}), got: {first.detail or first.verdict}"
    sentence += f"; {first.remedy}" if first.remedy else ""
    return f"{sentence} - and {len(more)} more, see the report" if more else sentence


def _words(report: BotReport) -> bytes:
    """Returns the last words of the bot in the first check that did not go well."""
    evidence = (result.evidence for result in report.results if result.evidence is not None)
    return "\n".join(next((each.stderr for each in evidence if each.stderr), ())).encode()
