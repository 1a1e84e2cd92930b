"""Keeps the time of one seat in one game, and says why a seat forfeits by time.

All figures whose names end in `_ns` are integer nanoseconds.
"""

from __future__ import annotations

from typing import Final

import msgspec

from arena.core.link.base import Cause
from arena.core.types import NS_PER_MS, Termination, TimeControl
from arena.core.wire.messages import RequestClock

FOREVER_NS: Final = 2**62
"""The limit of a decision without a limit of its own: then there is a bank, or the clock is off."""
DENIED_NS: Final = 10 * NS_PER_MS
"""CPU starvation below this, or below the share that follows if that is less, is normal and excuses no loss on time."""
DENIED_SHARE: Final = 10
"""A bot that was denied this fraction (1/n) of a decision's time, and gave no answer, may have lost by that."""
AWAKE_SHARE: Final = 2
"""The excuse needs a bot that ran, or was ready to run, for this fraction (1/n) of the time: none that slept."""


class Clock:
    """One seat's clock in one game; all figures in nanoseconds. One that is off measures, and gives time for ever.

    A decision may take several requests. It has one limit, which runs on over them, and one increment.
    """

    __slots__ = ("_bank_ns", "_guide_ms", "_increment_ns", "_left_ns", "_limit_ns", "total_ns")

    def __init__(self, control: TimeControl) -> None:
        is_limited = control.limit_ms is not None and control.off is not True
        self._left_ns = self._limit_ns = (control.limit_ms or 0) * NS_PER_MS if is_limited else FOREVER_NS
        self._guide_ms = control.limit_ms if control.off is True else None  # what bots are told where the clock is off
        self._bank_ns = None if control.bank_ms is None else control.bank_ms * NS_PER_MS
        self._increment_ns = control.increment_ms * NS_PER_MS
        self.total_ns = 0

    def limit_ns(self) -> int:
        """Returns the time for the next request: the smaller of what is left of the decision's limit and the bank."""
        return self._left_ns if self._bank_ns is None else min(self._left_ns, self._bank_ns)

    def told(self) -> RequestClock:
        """Returns what the next request says about the clock."""
        if self._guide_ms is not None:
            return RequestClock(self._guide_ms, None)
        bank_ms = None if self._bank_ns is None else self._bank_ns // NS_PER_MS
        return RequestClock(self.limit_ns() // NS_PER_MS, bank_ms)

    def begin(self) -> None:
        """Begins a decision: its whole limit is there."""
        self._left_ns = self._limit_ns

    def charge(self, used_ns: int, *, goes_on: bool = False) -> None:
        """Counts an answer that took `used_ns`. Adds the increment, unless the decision goes on."""
        self.total_ns += used_ns
        self._left_ns = max(0, self._left_ns - used_ns)
        if self._bank_ns is not None:
            self._bank_ns = max(0, self._bank_ns - used_ns) + (0 if goes_on else self._increment_ns)


class CpuClock:
    """What a seat may use of CPU time in one game, with all its processes. Give it the time that they used so far.

    Until the game begins it stands still.
    """

    __slots__ = ("_begun_ns", "_budget_ns")

    def __init__(self, budget_ms: int) -> None:
        self._budget_ns = budget_ms * NS_PER_MS
        self._begun_ns: int | None = None

    def begin(self, cpu_ns: int) -> None:
        """Begins the game: what was used before is not charged."""
        self._begun_ns = cpu_ns

    def left_ns(self, cpu_ns: int) -> int:
        """Returns what is left of the budget; below 0 if the seat has used more."""
        return self._budget_ns - self._used_ns(cpu_ns)

    def excess(self, cpu_ns: int) -> Cause | None:
        """Returns the cause of forfeit of a seat that has used more than its budget."""
        if self.left_ns(cpu_ns) >= 0:
            return None
        used_s = -(-self._used_ns(cpu_ns) // 10**7) / 100  # rounded up, so that it is never the budget
        detail = f"used {used_s:g} s of CPU; its budget is {self._budget_ns / 10**9:g} s"
        return Cause(Termination.TIMEOUT, detail, "§9-10")

    def _used_ns(self, cpu_ns: int) -> int:
        return 0 if self._begun_ns is None else cpu_ns - self._begun_ns


class CpuShare(msgspec.Struct, frozen=True):
    """What a bot got of the machine, all in nanoseconds."""

    denied_ns: int
    """Time for which it could have run, and was not given a core."""
    ran_ns: int
    """The CPU time of all its processes."""
    crowd_ns: int = 0
    """Part of that time in which it ran beside its busiest thread: so long it may have kept the referee from a core."""

    def since(self, before: CpuShare) -> CpuShare:
        """Returns what it got since an earlier moment."""
        return CpuShare(self.denied_ns - before.denied_ns, self.ran_ns - before.ran_ns, self.crowd_ns - before.crowd_ns)


def too_late(detail: str, time_ns: int, *, share: CpuShare | None, late_ns: int, over_ns: int | None = None) -> Cause:
    """Returns the cause of forfeit for a time loss, with the machine's share in it.

    A bot was kept from being in time if its answer would have come by the deadline without what it was denied, and
    without what the referee waited for a core before it read the answer. If no answer came, nobody knows how much it
    lacked: then a tenth of its time counts as enough. That the referee ran late is no excuse then, unless nothing else
    is known: a bot that sleeps must have no excuse. Nor is what the bot itself may have kept the referee from a core.

    Args:
        detail: What to say of the seat: "did not answer in time".
        share: What it got of the machine meanwhile; None if that is not known.
        late_ns: How long the referee was kept from a core since it last knew that there was no answer.
        over_ns: How long after its deadline its answer came, if it came.
    """
    denied_ns, crowd_ns = (0, 0) if share is None else (share.denied_ns, share.crowd_ns)
    late_ns = max(0, late_ns - crowd_ns)
    least_ns = min(DENIED_NS, time_ns // DENIED_SHARE)
    if over_ns is not None:
        is_excused = denied_ns + late_ns >= max(least_ns, over_ns)
    elif share is None:
        is_excused = late_ns > least_ns
    else:
        late_ns = 0
        is_awake = share.denied_ns + share.ran_ns >= time_ns // AWAKE_SHARE
        is_excused = is_awake and denied_ns >= time_ns // DENIED_SHARE
    denied_ms = denied_ns // NS_PER_MS
    excuse = ""
    if is_excused and denied_ns >= late_ns:
        excuse = f"the machine did not let it run for {denied_ms} ms"
    elif is_excused:
        excuse = "the machine was overloaded: the referee itself ran late"
    return Cause(Termination.TIMEOUT, detail, "§9-3", excuse=excuse, denied_ms=denied_ms)
