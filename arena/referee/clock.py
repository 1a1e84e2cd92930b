"""A seat's running time: what is left of the bank, and what was used. The constant part is `TimeControl`."""

from __future__ import annotations

from arena.types import TimeControl

NS_PER_MS = 1_000_000
MARGIN_NS = 30 * NS_PER_MS
"""Added to every deadline for the way of the messages. What a seat uses of it is charged to its bank."""
FOREVER_NS = 2**62
"""The limit of a decision that has none of its own; there is a bank then."""


class Clock:
    """One seat's clock in one game; all figures in nanoseconds."""

    __slots__ = ("_bank_ns", "_increment_ns", "_limit_ns", "decisions", "max_ns", "total_ns")

    def __init__(self, control: TimeControl) -> None:
        self._limit_ns = FOREVER_NS if control.limit_ms is None else control.limit_ms * NS_PER_MS
        self._bank_ns = None if control.bank_ms is None else control.bank_ms * NS_PER_MS
        self._increment_ns = control.increment_ms * NS_PER_MS
        self.decisions = 0
        self.total_ns = 0
        self.max_ns = 0

    def limit_ns(self) -> int:
        """The time for the next decision: the smaller of the decision's limit and the bank."""
        return self._limit_ns if self._bank_ns is None else min(self._limit_ns, self._bank_ns)

    def bank_ms(self) -> int | None:
        """What is left of the bank, if there is one."""
        return None if self._bank_ns is None else self._bank_ns // NS_PER_MS

    def charge(self, used_ns: int) -> None:
        """Count a decision that took `used_ns`, and add the increment."""
        self.decisions += 1
        self.total_ns += used_ns
        self.max_ns = max(self.max_ns, used_ns)
        if self._bank_ns is not None:
            self._bank_ns = max(0, self._bank_ns - used_ns) + self._increment_ns
