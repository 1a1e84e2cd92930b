"""Forgets what a league needs no more of its orders and notices, by a rule: else every refused order stayed for ever.

Laws:
1. An order is not forgotten while its file is there: it would be obeyed once more.
2. What the operator has not read stays, and of each reader the notices that a status shows.
3. Rows go a few at a time, so that games go on meanwhile.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from arena.league.documents import NOTICES
from arena.league.folder import Folder
from arena.store.league import LeagueStore

ORDER_DAYS: Final = 7
"""How long an order that was answered is known, with its answer."""
NOTICE_DAYS: Final = 30
"""How long a notice stays, beside the last ones of each reader."""
FORGET_S: Final = 3600.0
"""How often it is looked for what to forget."""
MOST_ROWS: Final = 500
"""How many rows are removed before the service looks at everything else."""


class Forget:
    """Forgets orders that were answered long ago, and old notices.

    Args:
        store: The league.
        folder: Its folder.
    """

    def __init__(self, store: LeagueStore, folder: Folder) -> None:
        self._store = store
        self._folder = folder
        self._due = 0.0

    def look(self) -> None:
        """Forgets some, if it is time for that."""
        now = time.monotonic()
        if now < self._due:
            return
        waiting = [path.stem for path in self._folder.orders() if path.stem.isascii()]
        gone = self._store.commands.forget(_days_ago(ORDER_DAYS), waiting, MOST_ROWS)
        gone += self._store.notices.forget(_days_ago(NOTICE_DAYS), NOTICES, MOST_ROWS)
        if gone < MOST_ROWS:  # else there may be more, in the next turn
            self._due = now + FORGET_S


def _days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
