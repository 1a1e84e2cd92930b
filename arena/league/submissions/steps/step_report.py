"""Makes the reports of steps, those of the machine's faults too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

from arena.core.face import errors
from arena.league.store.records import Kind, StepReport, Verdict

LONGEST_FINDING: Final = 2_000


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
