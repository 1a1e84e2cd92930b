"""All checks, in the order in which they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.conform.checks import end, limits, sequences, session, start, tolerance
from arena.conform.checks.decisions import checks_of
from arena.conform.registry import Check
from arena.conform.report import Level, Result, Verdict
from arena.games import names

_FIRST: Final = ("start", "frames", "session")
_LAST: Final = ("sequences", "tolerance", "time", "resources", "end")


def sections() -> tuple[str, ...]:
    """Returns the parts of a report, in its order."""
    return (*_FIRST, *names(), *_LAST)


def checks(rules: Sequence[str]) -> list[Check]:
    """The checks of a bot that plays some rules. What watches over all dialogues, and what is last, too."""
    found = [*start.CHECKS, *session.CHECKS]
    for name in rules:
        found += checks_of(name)
    found += [*start.LATER, *sequences.CHECKS, *tolerance.CHECKS, *limits.CHECKS, *end.CHECKS, *limits.LAST]
    return found


def unclaimed(rules: Sequence[str], claimed: Sequence[str]) -> list[Result]:
    """What is said of the games that are not checked, and of those that do not exist."""
    results = [
        _unclaimed(name, f"plays {name}", "bot.toml does not name it in `rules`")
        for name in names()
        if claimed and name not in claimed and name not in rules
    ]
    return results + [
        _unclaimed(name, "is claimed in bot.toml", f"there is no such game; expected some of {', '.join(names())}")
        for name in claimed
        if name not in names()
    ]


def _unclaimed(name: str, title: str, detail: str) -> Result:
    return Result(
        id=f"{name}.rules",
        title=title,
        spec=("§8.3",),
        level=Level.OPTIONAL,
        verdict=Verdict.UNIMPLEMENTED,
        detail=detail,
    )
