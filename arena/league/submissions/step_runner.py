"""Takes submitted versions through the steps: build, check, qualify.

Laws:
1. A step is done by a worker, from files alone. What came of it and the change that follows are one transaction. So a
   step that was cut short is done again, and leaves one report. First games that were finished are not played again.
2. A fault of the machine rejects nobody: the step is tried again, after a while that grows.
3. The worker does one thing at a time, and gives way to games: its priority is low if they have all cores. One that
   dies is the machine's fault until proven otherwise, and another is started with the next thing to do.
4. What was built can always be made again from its archive. What is missing is built again, before anything else is
   done (`arena.league.keeping.clearing`): at the start before games begin, later while others play.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager, ExitStack, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

import msgspec

from arena.core.face import Level, errors, lane_kit, machine_fault, processor_cores
from arena.league.keeping.clearing import LONGEST_REST_S, Lost
from arena.league.store import LeagueStore
from arena.league.store.records import Kind, StepReport, Verdict, Version
from arena.league.store.states import Actor, State
from arena.league.submissions.tools import LeagueTools

STEPS: Final[dict[State, tuple[Kind, State]]] = {
    State.BUILDING: ("build", State.CHECKING),
    State.CHECKING: ("check", State.QUALIFYING),
    State.QUALIFYING: ("qualify", State.ACTIVE),
}
"""Step that is done in each state, and the state after it."""
_PASSED: Final = {
    "build": "it is built",
    "check": "it keeps to the protocol",
    "qualify": "it played its first games without a forfeit",
}
LONGEST_S: Final = 7_200
"""Seconds after which a step is ended, whatever it does. A build and a check have shorter limits of their own, and a
game that was played is not played again."""
_LOOK_S: Final = 0.5  # seconds between two searches for a step to do
NICENESS: Final = 10
"""How far the worker stands back behind games that have all cores (`nice`)."""


class _Dropped(Exception):
    """Makes the worker end at once."""


class StepWorker(AbstractContextManager["StepWorker"]):
    """Does one thing after another in a worker. If an exception leaves the block, what runs is dropped."""

    def __init__(self, worker: lane_kit.Worker, niceness: int = NICENESS) -> None:
        """Takes what starts a worker, as an executor. None is started before there is something to do."""
        self._worker, self._niceness = worker, niceness
        self._stack = ExitStack()
        self._executor: Executor | None = None
        self._finished: SimpleQueue[Future[StepReport]] = SimpleQueue()
        self._began = 0.0
        self._kind: Kind = "build"
        self.busy = False
        """Whether something runs, or its result was not fetched."""

    def __exit__(self, *raised: object) -> bool | None:
        return self._stack.__exit__(*raised)  # type: ignore[arg-type]

    def start(self, kind: Kind, do: Callable[..., StepReport], *arguments: Any) -> None:
        """Begins something. It must be a function that can be sent to a worker, and nothing else may run.

        Raises:
            MachineFault: No worker could be started.
        """
        assert not self.busy
        try:
            with processor_cores.undisturbed():
                if self._executor is None:
                    self._executor = self._stack.enter_context(self._worker())
                    self._executor.submit(os.nice, self._niceness)
                self._executor.submit(do, *arguments).add_done_callback(self._finished.put)
        except (OSError, MemoryError, RuntimeError) as error:  # a broken executor is a RuntimeError
            self._dismiss()
            raise machine_fault("start a worker for a step", error) from error
        self.busy, self._began, self._kind = True, time.monotonic(), kind

    def fetch(self) -> StepReport | None:
        """Returns what came of it, or None if nothing runs or it is not over.

        A fault of the machine is a report, too: the worker ended, or had not what it needs, or was ended after too long
        a time. So is an error that is a bug of ours.
        """
        try:
            future = self._finished.get_nowait()
        except Empty:
            if not self.busy or time.monotonic() - self._began <= LONGEST_S:
                return None
            self.drop()
            text = f"expected the step to end within {LONGEST_S:,} s, got: one that goes on; it is ended"
            return _fault(self._kind, text)
        self.busy = False
        try:
            return future.result()
        except BrokenExecutor as error:
            self._dismiss()
            return _fault(self._kind, f"the worker of a step ended: {error}")
        except (OSError, MemoryError) as error:
            return _fault(self._kind, str(machine_fault("do a step", error)))
        except errors.ArenaError as error:
            return _fault(self._kind, str(error))
        except Exception as error:
            return _fault(self._kind, f"a step could not be done: {type(error).__name__}: {error}")

    def rest(self) -> None:
        """Ends the worker if nothing runs, so that no memory and no bot waits for the next thing to do."""
        if not self.busy:
            self._dismiss()

    def drop(self) -> None:
        """Ends the worker at once, whatever runs. What came of it is nothing."""
        with suppress(_Dropped), self._stack:
            raise _Dropped
        self._executor = None
        self._finished = SimpleQueue()
        self.busy = False

    def _dismiss(self) -> None:
        self._executor = None
        self._stack.close()


class StepRunner(msgspec.Struct, eq=False):
    """Sees to the versions that are submitted.

    Args:
        judge: Returns the report of a step as it is to be stored: what the step could not know may have failed.
    """

    store: LeagueStore
    step_worker: StepWorker
    tools: LeagueTools
    lost: Lost
    tell: Callable[[str], object]
    judge: Callable[[Version, StepReport], StepReport] = lambda version, report: report
    _at: Version | None = None
    """Whose step is being done."""
    _doing: str = ""
    _looked: float = 0.0
    _rests: dict[int, float] = {}
    """Backoff of each version: until when its step is not retried, after a fault of the machine."""
    machine_faults: int = 0
    """How many steps the machine could not do. A bot elsewhere that nobody serves is no fault of this machine."""
    _restores: bool = False
    """Whether what is being done is to build one of those again."""

    @property
    def busy(self) -> bool:
        """Whether a step is being done."""
        return self.step_worker.busy

    @property
    def doing(self) -> str:
        """Which step of which version is done, for people; empty if none."""
        return self._doing if self.step_worker.busy else ""

    def wants(self, *, only_lost: bool = False) -> bool:
        """Says whether there is a step to do now.

        Args:
            only_lost: Whether only what was lost is built again, and no submission goes on.
        """
        return not self.step_worker.busy and self._next(time.monotonic(), only_lost) is not None

    def waits(self) -> bool:
        """Says whether a version may play later: it is pending, or to be built again."""
        return bool(self.store.versions.pending() or self.lost.names)

    def untried(self) -> frozenset[int]:
        """Returns the versions that wait for their first try on this machine: none that it has failed before."""
        pending = self.store.versions.pending()
        return frozenset(one.id for one in pending if not one.attempts and one.level != Level.REMOTE)

    def look(self, *, may_start: bool = True, only_lost: bool = False) -> None:
        """Notes what came of a step, and begins the next one.

        Args:
            only_lost: Whether only what was lost is built again, and no submission goes on.
        """
        now = time.monotonic()
        if self.step_worker.busy:
            self._fetch()
        if self.step_worker.busy or not may_start or now < self._looked + _LOOK_S:
            return
        self._looked = now
        version = self._next(now, only_lost)
        if version is None:
            self.step_worker.rest()
        else:
            self._begin(version)

    def _next(self, now: float, only_lost: bool) -> Version | None:
        """Returns the version that something can be done for."""
        lost = self.lost.next(now)
        if lost is not None or only_lost:
            return lost
        pending = self.store.versions.pending()
        self._rests = {one.id: until for one in pending if (until := self._rests.get(one.id, now)) > now}
        return next((one for one in pending if one.id not in self._rests and one.id not in self.lost), None)

    def _begin(self, version: Version) -> None:
        kind: Kind = "build"
        self._restores = version.id in self.lost
        if not self._restores:
            if version.state is State.RECEIVED:
                version = self.store.versions.change(version.id, State.BUILDING, Actor.SERVICE, "its turn has come")
            kind = STEPS[version.state][0]
        try:
            do, arguments = self.tools.work(version, kind)
            self.step_worker.start(kind, do, *arguments)
        except (errors.ArenaError, OSError) as error:
            self._note(version, _fault(kind, str(error)))
            return
        self._at = version
        self._doing = f"{kind} of {version.name}"
        self.tell(f"{version.name}: {'building again' if self._restores else version.state}")

    def _fetch(self) -> None:
        version = self._at
        assert version is not None
        if (report := self.step_worker.fetch()) is not None:
            self._at = None
            self._looked = 0.0
            self._note(version, report)

    def _note(self, version: Version, report: StepReport) -> None:
        if self._restores:
            self._restored(version, report)
            return
        report = self.judge(version, report)
        step, following = STEPS[version.state]
        assert step == report.kind
        to = {Verdict.PASSED: following, Verdict.FAILED: State.REJECTED, Verdict.MACHINE: version.state}[report.verdict]
        reason = report.finding or _PASSED[report.kind]
        try:
            spec = self.tools.spec(version) if to is State.ACTIVE else None
            changed = self.store.versions.change(version.id, to, Actor.SERVICE, reason, report=report, spec=spec)
        except errors.Refused as error:  # it was taken out meanwhile
            self.tell(f"{version.name}: what came of the step {step} is dropped: {error}")
            return
        if report.verdict is Verdict.MACHINE:
            self._rest(changed)
        match changed.state:
            case State.ACTIVE:
                self.tell(f"{version.name} plays: {reason}")
            case version.state:
                self.tell(f"{version.name}: the {step} is tried again: {reason}")
            case State.REJECTED:
                self.tell(f"{version.name} is rejected: {reason}")

    def _restored(self, version: Version, report: StepReport) -> None:
        """Notes that a version was built again. One that cannot be built any more is suspended, or rejected."""
        self.lost.tried(version, again=report.verdict is Verdict.MACHINE)
        if report.verdict is Verdict.MACHINE:
            self._count_fault(version)
        if report.verdict is Verdict.FAILED:
            reason = f"it cannot be built any more: {report.finding}"
            to = State.SUSPENDED if version.state is State.ACTIVE else State.REJECTED
            try:
                self.store.versions.change(version.id, to, Actor.SERVICE, reason)
            except errors.Refused as error:  # it was taken out meanwhile
                self.tell(f"{version.name}: it is not {to}: {error}")
        again = "is built again" if report.verdict is Verdict.PASSED else f"could not be built again: {report.finding}"
        self.tell(f"{version.name} {again}")

    def _rest(self, version: Version) -> None:
        self._count_fault(version)
        self._rests[version.id] = time.monotonic() + min(2.0 ** (version.attempts + 1), LONGEST_REST_S)

    def _count_fault(self, version: Version) -> None:
        self.machine_faults += version.level != Level.REMOTE


def _fault(kind: Kind, text: str) -> StepReport:
    return StepReport(kind=kind, verdict=Verdict.MACHINE, finding=text, seconds=0.0)
