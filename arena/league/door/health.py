"""Says how the door is: files in its own folder, for the league's operator and for whoever plays remote bots.

`door/health.json` is written every few seconds, and `door/remote.json` at each change as well. A door that is closed
removes them, and one that was killed leaves them to grow old.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from arena.core.face import errors, files
from arena.league.door.relay import PRESENCE, STALE_S

if TYPE_CHECKING:
    from arena.league.door.remote_bots import Presence

HEALTH: Final = "door/health.json"
ADDRESS: Final = "door/authors"
"""The file with the address that authors use, as it was told last."""
EACH_S: Final = 10.0
"""Seconds between two writings of the files."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How an open door is. Counts are since it was opened, or opened again."""

    pid: int
    since: str
    """When it was opened; UTC (ISO 8601)."""
    at: str
    """When this was written."""
    falls: int
    """Number of its falls since `arena league open` was given."""
    connections: int
    messages: int
    """Requests of authors, and messages of remote bots."""
    refused: dict[str, int]
    """Number of refused requests by code."""
    turned_away: int
    """Requests without a token that is known."""
    closed: dict[str, int]
    """Connections that were closed: `endless`, `idle`, or too `many` of a key."""
    remote: int
    """Remote bots that are served."""
    memory_bytes: int
    """The most memory that the process has had."""


def address(folder: Path) -> str | None:
    """Returns the address for authors; None if the door is not open."""
    path = folder / ADDRESS
    if health(folder) is None or not path.exists():
        return None
    return files.read_text(path, "the address of a door", files.MIB, errors.StoreError)


def health(folder: Path) -> Health | None:
    """Returns how the door of a league is; None if it is not open."""
    path = folder / HEALTH
    try:
        if time.time() - path.stat().st_mtime > STALE_S:
            return None
        return msgspec.json.decode(
            files.read(path, "the state of the door", files.MIB, errors.InternalError), type=Health
        )
    except (OSError, errors.InternalError, msgspec.DecodeError):
        return None


class DoorFiles:
    """Counts what happens at a door, and writes the files."""

    def __init__(self, folder: Path, clock: Callable[[], float], falls: int) -> None:
        """Takes the league's folder, the time in seconds, and how often the door fell over before."""
        self._folder = folder
        self._clock = clock
        self._falls = falls
        self._since = _now()
        self._shown = b""
        """Content of the list of remote bots as it was written last."""
        self._written: float | None = None
        self.messages = 0
        self.turned_away = 0
        self.refused: Counter[str] = Counter()

    def look(self, presence: Mapping[str, Presence], connections: int, closed: Mapping[str, int]) -> None:
        """Writes the files, if it is time for that."""
        now = self._clock()
        due = self._written is None or now - self._written > EACH_S
        self.show(presence, again=due)
        with suppress(OSError):  # a full disk; it is tried again
            if due:
                self._written = now
                state = self._state(len(presence), connections, closed)
                files.write(self._folder / HEALTH, msgspec.json.encode(state))

    def show(self, presence: Mapping[str, Presence], *, again: bool = False) -> None:
        """Writes the list of remote bots, if it has changed or is to be written again."""
        document = msgspec.json.encode(presence, order="sorted")
        if document != self._shown or (presence and again):
            with suppress(OSError):
                files.write(self._folder / PRESENCE, document)
                self._shown = document

    def end(self) -> None:
        """Removes the files: the door is closed."""
        for name in (PRESENCE, HEALTH):
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)

    def _state(self, remote: int, connections: int, closed: Mapping[str, int]) -> Health:
        return Health(
            pid=os.getpid(), since=self._since, at=_now(), falls=self._falls, connections=connections,
            messages=self.messages, refused=dict(self.refused), turned_away=self.turned_away, closed=dict(closed),
            remote=remote, memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
