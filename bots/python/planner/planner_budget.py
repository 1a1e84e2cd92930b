"""How long to think about a decision: by the clock, or by a count, which is the same on every machine."""

from time import perf_counter

SHARE = 0.6
"""Of the time that there is. The rest is for the journey of the messages and for what cannot be interrupted."""
RESERVE_MS = 6
"""What is kept in any case."""
MOST_MS = 2000
"""Beyond this, thinking gains too little."""


class Budget:
    """The time for one decision. It runs from when this is made: that should be when the request arrives."""

    def __init__(self, now=perf_counter):
        self._now = now
        self._begun = now()
        self._seconds = 0.0

    def grant(self, clock, increment_ms, decisions, share=SHARE):
        """Sets how much time there is.

        Args:
            clock: `request.clock`.
            increment_ms: What the bank gets after each decision.
            decisions: How many decisions are to come, this one included.
            share: Of the time that there is, to think.
        """
        limit = clock["limit_ms"]
        if clock["bank_ms"] is not None:
            limit = min(limit, clock["bank_ms"] / decisions + increment_ms)
        self._seconds = max(0.0, min(MOST_MS, share * limit, limit - RESERVE_MS)) / 1000

    def left(self, part=1.0):
        """Returns whether less than a part of the time has passed."""
        return self._now() - self._begun < part * self._seconds


class Count:
    """The same by a count: each time that somebody asks whether something is left, one of so many is used up."""

    def __init__(self, steps):
        self._steps = steps
        self._used = 0

    def grant(self, clock, increment_ms, decisions, share=SHARE):
        """Grants nothing: the count is granted already."""

    def left(self, part=1.0):
        """Returns whether less than a part was used up."""
        self._used += 1
        return self._used <= part * self._steps
