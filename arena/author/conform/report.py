"""What a check of a bot found: a verdict for each rule, and the level that the bot reaches. Pure data.

The verdicts:

=============  ======================================================================================================
ok             the bot keeps the rule
non_strict     it breaks a SHOULD of the specification, or what only the level Full asks
unimplemented  it does not play this: the rules are not among those of its manifest, or its answer to a decision was
               `{}`, or an `error` of its own and nothing else
failed         it breaks a MUST
=============  ======================================================================================================

A check that was not attempted has no verdict but a reason: something that it builds on has failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """What a check found."""

    OK = "ok"
    NON_STRICT = "non_strict"
    UNIMPLEMENTED = "unimplemented"
    FAILED = "failed"


class Grade(StrEnum):
    """Which level of section 13 a check belongs to."""

    CORE = "core"
    """A MUST."""
    FULL = "full"
    """A SHOULD, or good manners."""
    OPTIONAL = "optional"
    """Rules that a bot need not keep at all: those that its manifest does not name."""


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the dialogue that led to a verdict."""

    sender: str = msgspec.field(name="from")
    """`referee` or `bot`."""
    ms: float
    """When, counted from the start of the process."""
    size: int
    """Bytes of the frame."""
    hex: str
    """The frame; only its beginning if it is long."""
    decoded: str
    """Its content as JSON, cut off if it is long; or why it cannot be read."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What led to a verdict."""

    messages: tuple[Passed, ...]
    """The last messages that were sent and came, in order."""
    stderr: tuple[str, ...]
    """The last lines that the bot wrote to its standard output and error, control characters escaped."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the report: what is demanded of the bot."""

    id: str
    """`SECTION.NAME`, stable."""
    title: str
    """Demand in words that go on from the bot's name: "ignores fields that it does not know"."""
    spec: tuple[str, ...]
    """The numbers of the specification's rules (or sections, where a SHOULD has no number) that it is about."""
    level: Grade = Grade.CORE


class Result(Demand, frozen=True, kw_only=True):
    """The outcome of one check."""

    verdict: Verdict | None = None
    """None: not attempted."""
    detail: str = ""
    """Explanation: what was measured, or what was expected and what came, or why it was not attempted."""
    remedy: str = ""
    evidence: Evidence | None = None
    excuse: str | None = None
    """If the bot was late: what the machine did that it may be due to ("the machine did not let it run for 180 ms"), or
    nothing. None: it is not about time."""

    @property
    def section(self) -> str:
        """Returns the part of the report that it belongs to."""
        return self.id.partition(".")[0]


class BotReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of a bot found."""

    bot: str
    version: str
    rules: tuple[str, ...]
    level: Grade | None
    """The level that the bot reaches, `core` or `full`, or None for neither."""
    counts: dict[str, int]
    """Number of checks with each verdict, and `not_attempted`."""
    start_ms: float | None
    """From the start of the process to its `hello`."""
    max_ms: float | None
    """The time of the slowest decision."""
    memory_mib: int
    """The most memory that was seen."""
    seconds: float
    denied_ms: int = 0
    """Time for which the machine kept the bot's processes from running, as far as it was looked at."""
    own_ms: int = 0
    """Milliseconds spent waiting for its processes to start, answer and end, without `denied_ms`."""
    results: tuple[Result, ...]

    def reaches(self, level: Grade) -> bool:
        """Returns whether the bot keeps all that a level asks."""
        return self.level is Grade.FULL or self.level is level

    def hindering(self, level: Grade) -> list[Result]:
        """Returns the results that keep the bot from a level."""
        return [result for result in self.results if hinders(result, level)]


def level_of(results: Sequence[Result]) -> Grade | None:
    """Returns the level that a bot with these results reaches, or None.

    For Core every check of Core was attempted, nothing failed, and nothing is unimplemented that the manifest claims.
    For Full that holds for all checks, and nothing is `non_strict`.
    """
    due = [result for result in results if result.level is not Grade.OPTIONAL]
    core = (Verdict.OK, Verdict.NON_STRICT)
    if not due or any(result.verdict is Verdict.FAILED for result in due):
        return None
    if any(result.verdict not in core for result in due if result.level is Grade.CORE):
        return None
    return Grade.FULL if all(result.verdict is Verdict.OK for result in due) else Grade.CORE


def hinders(result: Result, level: Grade) -> bool:
    """Returns whether a result keeps a bot from a level.

    A check that was not attempted does not: what it waited for does.
    """
    if result.level is Grade.OPTIONAL or result.verdict in (Verdict.OK, None):
        return False
    if result.verdict is Verdict.FAILED or level is Grade.FULL:
        return True
    return result.verdict is Verdict.UNIMPLEMENTED and result.level is Grade.CORE


def count(results: Sequence[Result]) -> dict[str, int]:
    """Returns how many results there are of each verdict; every verdict is named."""
    found = Counter(result.verdict for result in results)
    return {**{verdict.value: found[verdict] for verdict in Verdict}, "not_attempted": found[None]}
