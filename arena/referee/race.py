"""Who was first, where seats compete for something. Nothing here waits or sends; the referee tells what happened.

A seat's race time is the time that it has spent itself: from the moment when its request left to the moment when its
answer arrived, added up over its requests if it came too late and was asked again. So neither the order in which
requests are sent nor the referee's own work favours anybody.
"""

from __future__ import annotations

from arena.types import Seat


class Race:
    """One race. All times in nanoseconds."""

    def __init__(self, window_ns: int) -> None:
        """Claims whose race times lie within `window_ns` of the fastest are as fast as it."""
        self._window_ns = window_ns
        self._used: dict[Seat, int] = {}
        """Race time before the current request."""
        self._zero: dict[Seat, int] = {}
        """By seat that is asked: the moment at which its race time would have been 0."""
        self._claims: dict[Seat, int] = {}
        """By seat that has answered and has not been served: its race time."""

    def ask(self, seat: Seat, sent_ns: int) -> None:
        """The seat was sent a request."""
        self._zero[seat] = sent_ns - self._used.get(seat, 0)

    def answer(self, seat: Seat, at_ns: int) -> None:
        """The seat's answer arrived."""
        self._used[seat] = self._claims[seat] = at_ns - self._zero.pop(seat)

    def leave(self, seat: Seat) -> None:
        """The seat failed, and will not answer."""
        del self._zero[seat]

    @property
    def claimed(self) -> bool:
        """Whether somebody has answered and has not been served."""
        return bool(self._claims)

    def settled_ns(self) -> int | None:
        """The last moment at which an answer can be as fast as the fastest claim, or None if there is no claim."""
        if not self._claims:
            return None
        last = min(self._claims.values()) + self._window_ns
        return max((zero + last for zero in self._zero.values()), default=0)

    def serve(self) -> list[Seat]:
        """The seats with the fastest claim, ascending: several if they are tied. Call it after `settled_ns`."""
        last = min(self._claims.values()) + self._window_ns
        first = sorted(seat for seat, time in self._claims.items() if time <= last)
        for seat in first:
            del self._claims[seat]
        return first
