"""Says what time it is for what is removed at its time: as this machine's clock says, while that can be believed.

Laws:
1. The league notes when it was alive, by the clock and by how long the machine has run, which nobody sets. A clock that
   is more than a day away from where that puts it is *in doubt*: it was set, or the machine was off.
2. While it is, the clock makes nothing older: what goes at its time goes by the earlier of the two. Games go on.
3. A doubt ends when the two agree again, or when the operator says that the clock is right; never by itself. What was
   written while the clock was back is not old when it is right again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.core.face import Payload, errors, files
from arena.league.folder import Folder
from arena.league.keeping.retention import DAY_S, QUALIFYING
from arena.league.order_context import OrderContext
from arena.league.store import LeagueReader, LeagueStore
from arena.league.store.controls import Alive

NOTED_S: Final = 60.0
"""Seconds between two notes that the league is alive."""
KIND: Final = "clock"
"""The kind of the notice about a doubt."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_UPTIME: Final = Path("/proc/uptime")


def here() -> Alive:
    """Returns what this machine says now: its clock, which start of it this is, and how long it has run since then."""
    try:
        boot, up = (files.read_text(path, "a file of the kernel", 4096, errors.StoreError) for path in (_BOOT, _UPTIME))
        return Alive(time.time(), boot.strip(), float(up.split()[0]))
    except (errors.StoreError, ValueError, IndexError):  # no Linux, or hidden by a sandbox: only the clock is known
        return Alive(time.time())


def expected(last: Alive, at: Alive) -> float:
    """Returns where the clock should be, as far as is known: at least where it was when the league was last alive."""
    is_same_run = at.boot != "" and at.boot == last.boot and at.uptime >= last.uptime
    return last.clock + (at.uptime - last.uptime if is_same_run else 0.0)


def clocks(store: LeagueReader) -> tuple[float, float]:
    """Returns what the clock says, and where it should be. It is in doubt if these are more than a day apart."""
    last, at = store.controls.alive, here()
    return at.clock, at.clock if last is None else expected(last, at)


def now(store: LeagueReader) -> float:
    """Returns the time by which something may be removed, in seconds since 1970."""
    clock, due = clocks(store)
    return clock if abs(clock - due) <= DAY_S else min(clock, due)


def days_ago(store: LeagueReader, days: float) -> str:
    """Returns the same so many days ago, in UTC, to the second (ISO 8601)."""
    return text(now(store) - days * DAY_S)


def text(moment: float) -> str:
    """Returns a moment in UTC, to the second (ISO 8601)."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


class SignsOfLife:
    """Notes that the league is alive, and tells the operator if the clock is in doubt.

    Args:
        tell: Called with a sentence when a doubt begins or ends.
    """

    def __init__(self, store: LeagueStore, folder: Folder, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._tell = tell
        self._due = 0.0
        self._doubted = False

    def look(self) -> None:
        """Notes it, if the clock is believed and it is time for that."""
        if (moment := time.monotonic()) < self._due and not self._doubted:
            return
        self._due = moment + NOTED_S
        clock, due = clocks(self._store)
        last = self._store.controls.alive
        if abs(clock - due) <= DAY_S:
            if last is not None and last.back:
                self._begin_anew()
            self._set(here())
            if self._doubted:
                self._tell("The clock is believed again")
            self._doubted = False
            return
        if last is not None and clock < due and not last.back:
            self._set(replace(last, back=True))
        if not self._doubted:
            self._doubted = True
            said = (
                f"expected a clock at {text(due)} or up to a day later, by the league's last sign of life, got: "
                f"{text(clock)}. Nothing is removed for its age meanwhile. Set the clock, or if it is right, for "
                f"instance because the machine was off: `arena league trust-clock {self._folder.path}`"
            )
            self._tell(said)
            if all(notice.kind != KIND for notice in self._store.notices.of(None, unread=True)):
                self._store.notices.add(None, KIND, said)

    def _set(self, alive: Alive) -> None:
        self._store.set_control("alive", alive)

    def _begin_anew(self) -> None:
        """Lets the time of all files begin anew: some were written while the clock was back, and seem old."""
        league = self._folder
        for folder in (league.answers, league.inbox, league.incoming, league.submissions, league.logs / QUALIFYING):
            for path in folder.glob("*"):
                with suppress(FileNotFoundError):
                    os.utime(path, follow_symlinks=False)


def trust_clock(context: OrderContext) -> Payload:
    """Takes the operator's word that this machine's clock is right. The order says what they saw on it, in minutes."""
    seen, at = 60 * context.number("minute"), here()
    if abs(at.clock - seen) > DAY_S:
        raise errors.Refused(
            "clock",
            f"expected a clock that still says about {text(seen)}, got: {text(at.clock)}",
            "look at it, and say it again",
        )
    context.store.set_control("alive", at)
    return {"clock": text(at.clock)}
