"""Who has a game, and for how long.

Laws:
1. A game on a worker elsewhere has a lease, from before it is sent there. Whoever plays the tournament renews it while
   the worker is heard of. A game without a lease is played beside the writer, and ends with it.
2. A lease says when a game is certainly not played any more. It gives no right to a result: only the last claim does.
3. Only the clock of this machine is read. It may have been set meanwhile: a lease is never longer than `LONGEST_S`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from arena.store.database import Connection, immediate
from arena.store.reader import Reader
from arena.store.records import Claim

LONGEST_S: Final = 3600.0
"""No lease is longer. One that ends later than that was made by a clock that was wrong: it is over."""

_HELD: Final = "id = ? AND status = 'running' AND attempt = ?"


class Leases(Reader):
    """The part of a store that knows leases."""

    def __init__(self, connection: Connection, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Takes what a reader takes, and the clock: seconds since 1970 (UTC)."""
        super().__init__(connection, path)
        self._clock = clock

    def lease(self, claims: Iterable[Claim], worker: str, seconds: float) -> None:
        """Notes that a worker elsewhere gets these games, for so long. Claims that are void are passed over."""
        until = self._clock() + min(seconds, LONGEST_S)
        with immediate(self._db):
            self._db.executemany(
                f"UPDATE games SET worker = ?, lease_until = ? WHERE {_HELD}",
                [(worker, until, claim.game, claim.attempt) for claim in claims],
            )

    def renew(self, claims: Iterable[Claim], seconds: float) -> None:
        """Prolongs the leases of these games: from now on they last so long. Claims that are void are passed over."""
        until = self._clock() + min(seconds, LONGEST_S)
        with immediate(self._db):
            self._db.executemany(
                f"UPDATE games SET lease_until = ? WHERE {_HELD} AND lease_until IS NOT NULL",
                [(until, claim.game, claim.attempt) for claim in claims],
            )

    def begun(self, tournament: str) -> Iterator[tuple[int, str, bool]]:
        """Yields the games that were claimed, in order.

        Yields:
            The number, the worker elsewhere that had it last (empty if none had), and whether it is done or void.
        """
        rows = self._db.execute(
            "SELECT number, coalesce(worker, ''), status IN ('done', 'void') FROM games"
            " WHERE tournament = ? AND attempt > 0 ORDER BY number",
            (tournament,),
        )
        for number, worker, is_over in rows:
            yield number, worker, bool(is_over)

    def leased(self, tournament: str) -> tuple[int, float]:
        """Returns how many games workers elsewhere may still play, and the seconds until all these leases are over."""
        now = self._clock()
        count, last = self._db.execute(
            "SELECT count(*), max(lease_until) FROM games"
            " WHERE tournament = ? AND status = 'running' AND lease_until > ? AND lease_until <= ?",
            (tournament, now, now + LONGEST_S),
        ).fetchone()
        return int(count), max(0.0, last - now) if count else 0.0

    def resume(self, tournament: str, *, leased: bool = False) -> list[str]:
        """Gives back the games that were running when the last run ended, and returns their identifiers.

        Args:
            tournament: Which tournament.
            leased: Whether also those with a lease that is not over: when nobody awaits their results any more. Else
                they stay until it is over, see `leased`.
        """
        now = self._clock()
        where = (
            "WHERE tournament = ? AND status = 'running'"
            " AND (? OR lease_until IS NULL OR lease_until <= ? OR lease_until > ?)"
        )
        values = (tournament, leased, now, now + LONGEST_S)
        with immediate(self._db):
            dead = [row[0] for row in self._db.execute(f"SELECT id FROM games {where} ORDER BY number", values)]
            self._db.execute(f"UPDATE games SET status = 'planned' {where}", values)
        return dead
