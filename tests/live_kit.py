"""What tests of the live view share: a logged game sent over the feed as if it were played, and its hidden tiles."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
from golden.logs import FOLDER

from arena.core.record.log import Header, Log, Record, read_log
from arena.core.referee.feed import Feed, Part
from arena.pages.live.scores import NOTHING, LiveStandings

SAMURAI = read_log(FOLDER / "samurai-standard.jsonl")


class Still(LiveStandings):
    """Standings that never change."""

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))
        self.scores = msgspec.structs.replace(NOTHING, title="a test", id="t", running=True)

    def read(self) -> bool:
        self._next = float("inf")
        return False


def parts(log: Log, size: int = 1, records: slice = slice(None)) -> Iterable[Part]:
    """A game as parts of so many records."""
    everything: list[Header | Record] = [log.header, *log.records][records]
    first = records.start or 0
    for at in range(0, len(everything), size):
        yield Part(log.header.game, first + at, everything[at : at + size])


def play_over(feed: Feed, log: Log, records: slice = slice(None)) -> None:
    """Sends records of a game as a worker would."""
    for record in [log.header, *log.records][records]:
        feed(record)
    while any(watcher._waiting for watcher in feed._watchers.values()):
        feed.flush()
        time.sleep(0.001)


def laid(records: Iterable[Record]) -> set[str]:
    """The symbols of the tiles that were laid openly in some records. A tile that moves leaves the tile `move`."""
    found = set()
    for record in records:
        for event in getattr(record, "events", ()):
            if event.data["event"] in ("placed", "moved"):
                found |= {f"T{event.data['seat']}{event.data['tile']}"}
            if event.data["event"] == "moved":
                found |= {f"T{event.data['seat']}move"}
    return found


def tiles(text: str) -> set[str]:
    """The symbols of tiles that a text names: `T0rice3`. Tiles lie on the board or in an open hand."""
    return set(re.findall(r'"(T\d[a-z]+\d?)"', text))
