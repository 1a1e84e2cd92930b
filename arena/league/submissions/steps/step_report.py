"""What all steps return, and how faults of the machine become reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import msgspec

from arena.core.face import Payload, errors

Kind: TypeAlias = Literal["build", "check", "qualify"]
LONGEST_FINDING: Final = 2_000


class Verdict(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    """By the bot: its author has to change it."""
    MACHINE = "machine"
    """The machine could not do it. It is not the bot's fault: try again."""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step."""

    kind: Kind
    verdict: Verdict
    finding: str = ""
    """What was expected, what was got, and what to do; empty if it passed. It may quote the bot: escape it."""
    seconds: float
    """How long it took."""
    memory_mib: int = 0
    """The most memory of the bot's processes that was seen."""
    output: bytes = b""
    """The last of what the bot's processes printed, as it was: escape it before it is shown."""
    detail: Payload = {}
    """What else the step found, as plain values."""
    tree_digest: str = ""
    """After a build: SHA-256 (hex) over the files that it left."""
    command_to_repeat: str = ""
    """What the author types to see the same on their machine."""


class Stopwatch:
    """Makes reports of one step, each with the time since it began."""

    def __init__(self, kind: Kind) -> None:
        """Begins to measure."""
        self.command_to_repeat = ""
        self._kind: Kind = kind
        self._began = time.monotonic()

    def passed(self, **found: object) -> StepReport:
        """Returns the report of a step that passed."""
        return self._report(Verdict.PASSED, "", found)

    def failed(self, finding: str, **found: object) -> StepReport:
        """Returns the report of a step that the bot failed."""
        return self._report(Verdict.FAILED, finding, found)

    def machine(self, finding: str, **found: object) -> StepReport:
        """Returns the report of a step that the machine could not do."""
        return self._report(Verdict.MACHINE, finding, found)

    def guarded(self, step: Callable[[], StepReport]) -> StepReport:
        """Does a step, and returns its report, or that of the machine's fault that ended it."""
        try:
            return step()
        except (errors.MachineFault, errors.LevelError, OSError, MemoryError) as error:
            return self.machine(str(error) or type(error).__name__)

    def _report(self, verdict: Verdict, finding: str, found: dict[str, object]) -> StepReport:
        report = StepReport(
            kind=self._kind, verdict=verdict, finding=finding[:LONGEST_FINDING],
            seconds=round(time.monotonic() - self._began, 3), command_to_repeat=self.command_to_repeat,
        )  # fmt: skip
        return msgspec.structs.replace(report, **found)
