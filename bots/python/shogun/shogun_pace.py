"""How long to think: a share of what the clock allows, because the clock also counts what a bot does not control."""

from time import perf_counter

SHARE = 0.72
"""Of a decision's limit, to think: the rest is for the journey of the messages and for a busy machine."""
TILES_A_TURN = 1.5
"""How many tiles a seat plays in a turn, on average."""
SPARE_TURNS = 3
"""How many more turns than expected the bank shall last."""


def seconds(clock, increment_ms, tiles, share=SHARE):
    """Returns how long to think about a turn.

    Args:
        clock: That of the request.
        increment_ms: What the bank gains after each decision.
        tiles: How many tiles the seat has not yet played.
        share: Of a decision's limit, to think.
    """
    limit_ms = clock["limit_ms"]
    if clock["bank_ms"] is not None:
        turns = tiles / TILES_A_TURN + SPARE_TURNS
        limit_ms = min(limit_ms, clock["bank_ms"] / turns + increment_ms)
    return share * limit_ms / 1000


class Stopwatch:
    """The share of a time that is spent, counted from when the watch was made."""

    def __init__(self, now=perf_counter):
        self._now = now
        self._begun = now()

    def spent(self, seconds):
        """From 0 to 1 as the time goes by, then more."""
        return (self._now() - self._begun) / seconds
