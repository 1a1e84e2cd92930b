"""Forgets what a league needs no more of its orders and notices, by a rule: else every refused order stayed for ever.

Laws:
1. An order is not forgotten while its file is there: it would be obeyed once more.
2. The notices that a status shows stay: those that the operator has not read, and the last ones of each author.
3. Rows go a few at a time, so that games go on meanwhile.
"""

from __future__ import annotations

import time
from typing import Final

from arena.league.documents import NOTICES
from arena.league.folder import Folder
from arena.store.league import LeagueStore
from arena.store.store import days_ago

ORDER_DAYS: Final = 7
"""How long an order that was answered is known, with its answer."""
NOTICE_DAYS: Final = 30
"""How long a notice stays that no status shows."""
FORGET_S: Final = 3600.0
"""How often it is looked for what to forget."""
MOST_ROWS: Final = 500
"""How many rows of each kind are looked at before the service looks at everything else."""


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
        self._order: int | None = None
        """After which row orders are looked at next; None once all were."""
        self._notice: int | None = None
        """The same for notices."""

    def look(self) -> None:
        """Looks at some rows, if it is time for that, and forgets what is old of them."""
        now = time.monotonic()
        if self._order is None and self._notice is None:
            if now < self._due:
                return
            self._due = now + FORGET_S
            self._order = self._notice = 0
        if self._order is not None:
            waiting = [path.stem for path in self._folder.orders() if path.stem.isascii()]
            self._order = self._store.commands.forget(days_ago(ORDER_DAYS), waiting, self._order, MOST_ROWS)
        if self._notice is not None:
            self._notice = self._store.notices.forget(days_ago(NOTICE_DAYS), NOTICES, self._notice, MOST_ROWS)
