"""Makes a database into a site, or brings a site up to date.

Laws:
1. What a page shows follows from the database, the logs and this version of arena: two sites of one database have the
   same bytes, and so have a site that grew and one that was made at once.
2. Each file is replaced in one step, and what a page needs is there before it: replays and parts first, then the pages
   of bots and games, then the tournament's, the first page last. So a kill leaves a site whose links work.
3. A tournament's page names all that it was made from. While that is the same, nothing of the tournament is read again.
4. Of a league only public logs are shown. They are found beside its database, where the service publishes them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.pages.site import promises, replays
from arena.pages.site.contexts import heading
from arena.pages.site.parts import ASSETS, remove_others, write_parts
from arena.pages.site.places import places_of
from arena.pages.site.press import Press
from arena.pages.site.removing import remove_gone
from arena.pages.site.tournament import INDEX, TournamentPages
from arena.record import compressed
from arena.store.exhibits import Exhibits, open_exhibits
from arena.store.league.records import LEAGUE
from arena.store.records import Tournament

_PARTS: Final = ("site-", "viewer-")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What site is wanted."""

    database: Path
    folder: Path
    """Where it is written."""
    title: str
    processes: int = 1
    """How many may work."""
    seconds: float | None = None
    """After this time no more replays are begun; None means all are made."""
    verify: bool = True
    """Whether finished tournaments are verified, each once."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    pages: int
    """How many pages were written."""
    replays: int
    """How many replays were made."""
    left: int
    """How many games have no replay yet, though their logs are there."""
    faults: tuple[str, ...]
    """Why some can have none."""


Count = Callable[[str, int], Callable[[], object]]
"""Says that so many of something are to be done, `replays` or `logs`; returns what is called after each."""


def build(wish: Wish, count: Count) -> Built:
    """Makes a site, or brings it up to date.

    Raises:
        StoreError: The database cannot be read.
        OSError: The site cannot be written. What is there is whole.
    """
    parts = write_parts(wish.folder)
    press = Press(wish.folder, parts, wish.title)
    with open_exhibits(wish.database) as reader:
        rows, seasons = reader.all(), reader.seasons()
        reels = [reel for row in rows for reel in _reels(wish, reader, row)]
        faults = _make(wish, reels, count)
        if wish.verify:
            _verify(wish, reader, rows, count)
        made = {row.id: frozenset(replays.made(wish.folder / row.id)) for row in rows}
        listed = [heading(row, seasons.get(row.id, "")) for row in rows]
        entered = _entered(reader)
        for row in reversed(rows):
            with reader.snapshot():
                name = seasons.get(row.id, "")
                pages = TournamentPages(
                    wish.database, wish.folder, reader, press, row, name, made[row.id], entered[row.id]
                )
                pages.write()
                if row is rows[0]:
                    pages.write_first(listed)
                pages.remove_old_pictures()
        if not rows:
            press.page(INDEX, "nothing", [], dict)
    remove_gone(wish.folder, {row.id for row in rows})
    have = sum(reel.number in made[reel.tournament] for reel in reels)
    _remove_old_parts(wish.folder / ASSETS, parts.values())
    return Built(pages=press.written, replays=have, left=len(reels) - have - len(faults), faults=tuple(faults))


def _reels(wish: Wish, reader: Exhibits, row: Tournament) -> Iterator[replays.Reel]:
    """Yields the replays of a tournament that can be made, the latest first. Those without a public log are removed."""
    is_league = row.settings.get("format") == LEAGUE
    logs = wish.database.parent / "published" / "logs" if is_league else Path(row.logs)
    there = {name.removesuffix(compressed.SUFFIX): f"{logs}/{name}" for name in _names(logs)}
    folder = wish.folder / row.id
    made = replays.made(folder)
    shown = reader.shown_logs(row.id)
    for number in made if is_league else ():
        if shown.get(number) not in there:
            (folder / replays.name_of(number)).unlink(missing_ok=True)
    wanted = [(number, there[log]) for number, log in reversed(shown.items()) if number not in made and log in there]
    if wanted:
        hidden = () if is_league else places_of(row, reader.entrants(row.id), wish.database).names
        for number, path in wanted:
            yield replays.Reel(number, path, str(wish.folder), row.id, hidden)


def _entered(reader: Exhibits) -> dict[str, str]:
    """Returns by tournament what differs if other bots were entered in it or before it."""
    digest, found = hashlib.sha256(), {}
    for id, entrants in reader.entered():
        digest.update(f"{id} {entrants}\n".encode())
        found[id] = digest.hexdigest()
    return found


def _names(folder: Path) -> list[str]:
    """Returns the names of what is in a folder, in order; of a log that is there in both forms the packed one last."""
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def _make(wish: Wish, reels: Sequence[replays.Reel], count: Count) -> list[str]:
    faults = []
    if reels:
        advance = count("replays", len(reels))
        for _, fault in replays.make_all(reels, len(reels), wish.processes, wish.seconds):
            if fault:
                faults.append(fault)
            advance()
    return faults


def _verify(wish: Wish, reader: Exhibits, rows: Sequence[Tournament], count: Count) -> None:
    wanted = [
        row
        for row in rows
        if row.finished is not None
        and row.settings.get("format") != LEAGUE
        and promises.kept(wish.folder / row.id, row) is None
    ]
    if wanted:
        advance = count("logs", sum(row.games for row in wanted))
        for row in wanted:
            promises.check(reader, row, wish.folder / row.id, wish.processes, advance)


def _remove_old_parts(folder: Path, parts: Any) -> None:
    others = [path.name for path in folder.iterdir() if not path.name.startswith(_PARTS)]
    remove_others(folder, {*parts, *others})
