"""What one key may ask of the door, and how often. Pure: the time is an argument, in seconds.

A limit is a bucket: it holds `burst` units, and `rate` a second flow in. What is asked for is taken out of it, and
refused if there is not enough.
"""

from __future__ import annotations

from math import ceil
from typing import Final

import msgspec

from arena.league.door.messages import MAX_ARCHIVE
from arena.league.door.refusals import Refusal

MIB: Final = 2**20
ARCHIVE_MIB: Final = 16
"""MiB of a bot's archive, unless `archive_mib` in `[limits]` says another number ..."""
MOST_ARCHIVE_MIB: Final = MAX_ARCHIVE >> 20  # ... and the most that it may say


class Limit(msgspec.Struct, frozen=True):
    """A limit on what one key may ask for."""

    rate: float
    """Units a second."""
    burst: float
    """Units at once."""
    what: str


LIMITS: Final = {
    "requests": Limit(5, 20, "5 requests a second, 20 at once"),
    "plays": Limit(50, 200, "50 requests of a seat a second, 200 at once"),
    "uploads": Limit(MIB, 2 * 16 * MIB, "1 MiB of archives a second, 32 MiB at once"),
    "logs": Limit(10e6 / 60, 10e6, "10 MB of logs and reports a minute"),
    "frames": Limit(500, 2_000, "500 frames of bots a second, 2,000 at once"),
    "handshakes": Limit(1, 30, "1 WebSocket a second, 30 at once"),
    "orders": Limit(60 / 3_600, 60, "60 orders an hour"),  # each is a row of the league for ever, and a synced write
}
"""Rate limits by name, as errors give it in `limit`."""
MOST_BOTS: Final = 4
"""Limit of remote bots that one author serves at a time."""
MOST_WAITING: Final = 8
"""Limit of orders of one author that wait for the league's answer."""
MOST_OPEN: Final = 16
"""Limit of requests and WebSockets of one author in progress."""
MOST_SAID: Final = MIB // 4
"""Bytes of what an author says in a seat."""
_DAY_S: Final = 86_400
UPLOAD_S: Final = 86_400
"""Seconds for which an upload is kept that nothing is added to."""


def orders_of(submissions: int) -> Limit:
    """Returns the limit of orders of a key whose author may submit so many versions in 24 hours.

    How many submissions there may be is the league's to say, and it counts them. So the door refuses none that the
    league would take: there are 60 orders an hour beside them.

    >>> orders_of(10).burst, round(orders_of(10).rate * 86_400)
    (70, 1450)
    """
    limit = LIMITS["orders"]
    what = f"{limit.what}, and {submissions} a day"
    return Limit(limit.rate + submissions / _DAY_S, limit.burst + submissions, what) if submissions else limit


class Bucket:
    """What is left of one limit.

    >>> bucket = Bucket(Limit(rate=2, burst=3, what="requests"), now=0)
    >>> [bucket.take(1, now=0) for _ in range(4)]
    [0.0, 0.0, 0.0, 0.5]
    >>> bucket.take(1, now=0.5)
    0.0
    """

    def __init__(self, limit: Limit, now: float) -> None:
        self._limit = limit
        self._left = limit.burst
        self._at = now

    def take(self, units: float, now: float) -> float:
        """Takes units out. Returns 0, or in how many seconds there are enough; then nothing was taken."""
        self._left = min(self._limit.burst, self._left + max(0.0, now - self._at) * self._limit.rate)
        self._at = max(self._at, now)
        if units <= self._left:
            self._left -= units
            return 0.0
        return (units - self._left) / self._limit.rate

    def change(self, limit: Limit) -> None:
        """Has another limit from now on. What is missing stays missing."""
        self._left += limit.burst - self._limit.burst
        self._limit = limit

    def is_full(self, now: float) -> bool:
        """Tells whether nothing is missing, so that the bucket can be forgotten."""
        return self._left + (now - self._at) * self._limit.rate >= self._limit.burst


class Usage:
    """What all keys have used. It remembers a bucket only while something is missing from it."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def take(self, key: str, name: str, units: float, now: float, limit: Limit | None = None) -> None:
        """Takes units of the limit of this name.

        Args:
            key: Whose.
            name: The limit's name.
            units: How many.
            now: The time in seconds.
            limit: The limit of this key; None means that of `LIMITS`. What is missing from the bucket stays missing
                if it is another than before.

        Raises:
            Refusal: `too_many`: there is not enough. It says when there will be.
        """
        limit = limit or LIMITS[name]
        bucket = self._buckets.get((key, name))
        if bucket is None:
            bucket = self._buckets[key, name] = Bucket(limit, now)
        bucket.change(limit)
        wait_s = bucket.take(units, now)
        if wait_s:
            seconds = ceil(wait_s)
            raise Refusal(
                "too_many", f"expected at most {limit.what}, got: more", f"try again in {seconds} s", limit=name,
                retry_after_s=seconds,
            )  # fmt: skip

    def forget(self, now: float) -> None:
        """Forgets full buckets. Call it now and then."""
        self._buckets = {at: bucket for at, bucket in self._buckets.items() if not bucket.is_full(now)}

    def __len__(self) -> int:
        return len(self._buckets)
