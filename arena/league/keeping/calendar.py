"""Says what time it is for what is removed at its time: as this machine's clock says, while that can be believed.

Laws:
1. The league notes when it was alive, by the clock and by how long the machine has run, which nobody sets. A clock that
   is more than a day away from where that puts it is *in doubt*: it was set, or the machine was off.
2. While it is, the clock makes nothing older: what goes at its time goes by the earlier of the two. Games go on.
3. A doubt ends when the two agree again, or when the operator says that the clock is right; never by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena import files
from arena.errors import Refused, StoreError
from arena.league.keeping.retention import DAY_S
from arena.league.order_context import OrderContext
from arena.store.league import LeagueReader, LeagueStore
from arena.store.league.controls import Alive
from arena.types import Payload

NOTED_S: Final = 60.0
"""Seconds between two notes that the league is alive."""
KIND: Final = "clock"
"""The kind of the notice about a doubt."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_UPTIME: Final = Path("/proc/uptime")


def here() -> Alive:
    """Returns what this machine says now: its clock, which start of it this is, and how long it has run since then."""
    try:
        boot, up = (files.read_text(path, "a file of the kernel", 4096, StoreError) for path in (_BOOT, _UPTIME))
        return Alive(time.time(), boot.strip(), float(up.split()[0]))
    except (StoreError, ValueError, IndexError):  # no Linux, or a sandbox that hides it: then only the clock is known
        return Alive(time.time())


def expected(last: Alive, at: Alive) -> float:
    """Returns where the clock should be, as far as is known: at least where it was when the league was last alive."""
    is_same_run = at.boot != "" and at.boot == last.boot and at.uptime >= last.uptime
    return last.clock + (at.uptime - last.uptime if is_same_run else 0.0)


def doubt(store: LeagueReader) -> tuple[float, float] | None:
    """Returns what the clock says, and where it should be, if these are more than a day apart; else None."""
    last, at = store.controls.alive, here()
    due = at.clock if last is None else expected(last, at)
    return (at.clock, due) if abs(at.clock - due) > DAY_S else None


def now(store: LeagueReader) -> float:
    """Returns the time by which something may be removed, in seconds since 1970."""
    found = doubt(store)
    return time.time() if found is None else min(found)


def days_ago(store: LeagueReader, days: float) -> str:
    """Returns the same so many days ago, in UTC, to the second (ISO 8601)."""
    return text(now(store) - days * DAY_S)


def text(moment: float) -> str:
    """Returns a moment in UTC, to the second (ISO 8601)."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


class SignsOfLife:
    """Notes that the league is alive, and tells the operator if the clock is in doubt.

    Args:
        store: The league.
        folder: Where it is, for the command that the operator is told.
        tell: Called with a sentence when a doubt begins or ends.
    """

    def __init__(self, store: LeagueStore, folder: Path, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._tell = tell
        self._due = 0.0
        self._doubted = False

    def look(self) -> None:
        """Notes it, if the clock is believed and it is time for that."""
        if (now := time.monotonic()) < self._due:
            return
        self._due = now + NOTED_S
        found = doubt(self._store)
        if found is None:
            self._store.controls.set("alive", msgspec.to_builtins(here()))
            if self._doubted:
                self._tell("The clock is believed again")
        elif not self._doubted:
            clock, due = map(text, found)
            said = (
                f"expected a clock at {due} or up to a day later, by the league's last sign of life, got: {clock}. "
                "Nothing is removed for its age meanwhile. Set the clock, or if it is right, for instance because the "
                f"machine was off: `arena league trust-clock {self._folder}`"
            )
            self._tell(said)
            if all(notice.kind != KIND for notice in self._store.notices.of(None, unread=True)):
                self._store.notices.add(None, KIND, said)
        self._doubted = found is not None


def trust_clock(context: OrderContext) -> Payload:
    """Takes the operator's word that this machine's clock is right. The order says what they saw on it."""
    seen, at = context.number("seen"), here()
    if abs(at.clock - seen) > DAY_S:
        raise Refused(
            "clock",
            f"expected a clock that still says about {text(seen)}, got: {text(at.clock)}",
            "look at it, and say it again",
        )
    context.store.controls.set("alive", msgspec.to_builtins(at))
    return {"clock": text(at.clock)}
