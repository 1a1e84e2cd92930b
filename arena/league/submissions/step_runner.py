"""Takes submitted versions through the steps: build, check, qualify.

Laws:
1. A step is done by a worker, from files alone. What came of it and the change that follows are one transaction. So a
   step that was cut short is done again, and leaves one report. First games that were finished are not played again.
2. A fault of the machine rejects nobody: the step is tried again, after a while that grows.
3. What was built can always be made again from its archive. What is missing is built again, before anything else is
   done (`arena.league.keeping.clearing`): at the start before games begin, later while others play.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from arena.core.face import Level, Payload, errors
from arena.league.keeping.clearing import LONGEST_REST_S, Lost
from arena.league.store import LeagueStore
from arena.league.store.records import Kind, Report, Version
from arena.league.store.states import Actor, State
from arena.league.submissions.step_worker import StepWorker
from arena.league.submissions.steps import StepReport, Verdict

STEPS: Final[dict[State, tuple[Kind, State]]] = {
    State.BUILDING: ("build", State.CHECKING),
    State.CHECKING: ("check", State.QUALIFYING),
    State.QUALIFYING: ("qualify", State.ACTIVE),
}
"""By state which step is done in it, and what comes after it."""
_PASSED: Final = {
    "build": "it is built",
    "check": "it keeps to the protocol",
    "qualify": "it played its first games without a forfeit",
}
LONGEST_S: Final = 7_200
"""Seconds after which a step is ended, whatever it does. A build and a check have shorter limits of their own, and a
game that was played is not played again."""
_LOOK_S: Final = 0.5
"""Seconds between two searches for a step to do."""


class Tools(Protocol):
    """What does a version's steps: functions of the version alone, for a worker."""

    def work(self, version: Version, kind: Kind) -> tuple[Callable[..., StepReport], tuple[Any, ...]]:
        """Returns what does a step, and its arguments."""

    def is_built(self, version: Version) -> bool:
        """Says whether what it is started from is there."""

    def spec(self, version: Version) -> Payload:
        """Returns what it is started with."""


class StepRunner:
    """Sees to the versions that are submitted.

    Args:
        step_worker: Where steps are done.
        tools: How.
        tell: Called with a sentence about each thing that was done.
        judge: Returns the report of a step as it is to be stored: what the step could not know may have failed.
    """

    def __init__(
        self,
        store: LeagueStore,
        step_worker: StepWorker[StepReport],
        tools: Tools,
        tell: Callable[[str], object],
        judge: Callable[[Version, StepReport], StepReport] = lambda version, report: report,
    ) -> None:
        self._judge = judge
        self._store = store
        self._step_worker = step_worker
        self._tools = tools
        self._tell = tell
        self._at: Version | None = None
        """Whose step is being done."""
        self._began = 0.0
        self._doing = ""
        self._looked = 0.0
        self._rests: dict[int, float] = {}
        """By version until when its step is not tried again, after a fault of the machine."""
        self.machine_faults = 0
        """How many steps the machine could not do. A bot elsewhere that nobody serves is no fault of this machine."""
        self._lost = Lost(store, tools.is_built)
        self._restores = False
        """Whether what is being done is to build one of those again."""

    @property
    def restores(self) -> bool:
        """Whether versions were lost at the start and not tried to build again: no game should begin."""
        return self._lost.untried_at_first

    @property
    def untried_again(self) -> bool:
        """Whether a version was lost and not tried to build again: who plays a final is not known before that."""
        return self._lost.untried

    @property
    def lost(self) -> frozenset[str]:
        """The names of versions that would play if their files were there: no game of theirs should be planned."""
        return self._lost.names

    @property
    def busy(self) -> bool:
        """Whether a step is being done."""
        return self._step_worker.busy

    @property
    def doing(self) -> str:
        """Which step of which version is done, for people; empty if none."""
        return self._doing if self._step_worker.busy else ""

    def wants(self, *, only_lost: bool = False) -> bool:
        """Says whether there is a step to do now.

        Args:
            only_lost: Whether only what was lost is built again, and no submission goes on.
        """
        return not self._step_worker.busy and self._next(time.monotonic(), only_lost) is not None

    def waits(self) -> bool:
        """Says whether a version may play later: it is pending, or to be built again."""
        return bool(self._store.versions.pending() or self._lost.names)

    def untried(self) -> frozenset[int]:
        """Returns the versions that wait for their first try on this machine: none that it has failed before."""
        pending = self._store.versions.pending()
        return frozenset(one.id for one in pending if not one.attempts and one.level != Level.REMOTE)

    def look(self, *, may_start: bool = True, only_lost: bool = False) -> None:
        """Notes what came of a step, and begins the next one.

        Args:
            may_start: Whether one may begin.
            only_lost: Whether only what was lost is built again, and no submission goes on.
        """
        now = time.monotonic()
        if self._step_worker.busy:
            self._fetch(now)
        if self._step_worker.busy or not may_start or now < self._looked + _LOOK_S:
            return
        self._looked = now
        version = self._next(now, only_lost)
        if version is None:
            self._step_worker.rest()
        else:
            self._begin(version)

    def _next(self, now: float, only_lost: bool) -> Version | None:
        """Returns the version that something can be done for."""
        lost = self._lost.next(now)
        if lost is not None or only_lost:
            return lost
        pending = self._store.versions.pending()
        self._rests = {one.id: until for one in pending if (until := self._rests.get(one.id, now)) > now}
        return next((one for one in pending if one.id not in self._rests and one.id not in self._lost), None)

    def _begin(self, version: Version) -> None:
        kind: Kind = "build"
        self._restores = version.id in self._lost
        if not self._restores:
            if version.state is State.RECEIVED:
                version = self._store.versions.change(version.id, State.BUILDING, Actor.SERVICE, "its turn has come")
            kind = STEPS[version.state][0]
        try:
            do, arguments = self._tools.work(version, kind)
            self._step_worker.start(do, *arguments)
        except (errors.ArenaError, OSError) as error:
            self._note(version, _fault(kind, str(error)))
            return
        self._at, self._began = version, time.monotonic()
        self._doing = f"{kind} of {version.name}"
        self._tell(f"{version.name}: {'building again' if self._restores else version.state}")

    def _fetch(self, now: float) -> None:
        version = self._at
        assert version is not None
        kind: Kind = "build" if self._restores else STEPS[version.state][0]
        try:
            report = self._step_worker.fetch()
        except errors.ArenaError as error:
            report = _fault(kind, str(error))
        if self._step_worker.busy and now - self._began > LONGEST_S:
            self._step_worker.drop()
            report = _fault(
                kind, f"expected the step to end within {LONGEST_S:,} s, got: one that goes on; it is ended"
            )
        if report is not None:
            self._at = None
            self._looked = 0.0
            self._note(version, report)

    def _note(self, version: Version, report: StepReport) -> None:
        if self._restores:
            self._restored(version, report)
            return
        report = self._judge(version, report)
        step, following = STEPS[version.state]
        assert step == report.kind
        stored = Report(
            kind=report.kind,
            attempt=version.attempts + 1,
            verdict=report.verdict.value,
            report=_document(report),
            output=report.output,
        )
        to = {
            Verdict.PASSED: following,
            Verdict.FAILED: State.REJECTED,
            Verdict.MACHINE: version.state,
        }[report.verdict]
        reason = report.finding or _PASSED[report.kind]
        try:
            spec = self._tools.spec(version) if to is State.ACTIVE else None
            changed = self._store.versions.change(version.id, to, Actor.SERVICE, reason, report=stored, spec=spec)
        except errors.Refused as error:  # it was taken out meanwhile
            self._tell(f"{version.name}: what came of the step {step} is dropped: {error}")
            return
        if report.verdict is Verdict.MACHINE:
            self._rest(changed)
        match changed.state:
            case State.ACTIVE:
                self._tell(f"{version.name} plays: {reason}")
            case version.state:
                self._tell(f"{version.name}: the {step} is tried again: {reason}")
            case State.REJECTED:
                self._tell(f"{version.name} is rejected: {reason}")

    def _restored(self, version: Version, report: StepReport) -> None:
        """Notes that a version was built again. One that cannot be built any more is suspended, or rejected."""
        self._lost.tried(version, again=report.verdict is Verdict.MACHINE)
        if report.verdict is Verdict.MACHINE:
            self._count_fault(version)
        if report.verdict is Verdict.FAILED:
            reason = f"it cannot be built any more: {report.finding}"
            to = State.SUSPENDED if version.state is State.ACTIVE else State.REJECTED
            try:
                self._store.versions.change(version.id, to, Actor.SERVICE, reason)
            except errors.Refused as error:  # it was taken out meanwhile
                self._tell(f"{version.name}: it is not {to}: {error}")
        again = "is built again" if report.verdict is Verdict.PASSED else f"could not be built again: {report.finding}"
        self._tell(f"{version.name} {again}")

    def _rest(self, version: Version) -> None:
        self._count_fault(version)
        self._rests[version.id] = time.monotonic() + min(2.0 ** (version.attempts + 1), LONGEST_REST_S)

    def _count_fault(self, version: Version) -> None:
        self.machine_faults += version.level != Level.REMOTE


def _document(report: StepReport) -> Payload:
    """Returns what a report says beside its verdict and its output, which are stored apart."""
    document: Payload = msgspec.to_builtins(report)
    return {key: value for key, value in document.items() if key not in ("kind", "verdict", "output")}


def _fault(kind: Kind, text: str) -> StepReport:
    return StepReport(kind=kind, verdict=Verdict.MACHINE, finding=text, seconds=0.0)
