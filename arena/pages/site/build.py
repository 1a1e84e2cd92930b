"""Makes a database into a site, or brings a site up to date.

Laws:
1. What a page shows follows from the database, the logs and this version of arena: two sites of one database have the
   same bytes, and so have a site that grew and one that was made at once.
2. Each file is replaced in one step, and what a page needs is there before it: replays and parts first, then the pages
   of bots and games, then the tournament's, the first page last. So a kill leaves a site whose links work.
3. A tournament's page names all that it was made from. While that is the same, nothing of the tournament is read again.
4. Of a league only public logs are shown. They are found where its wing says (`Exhibits.page`).
5. What was removed from the database is taken out of the site. Nothing is removed that a site does not consist of.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import compression, errors, files, game_rows
from arena.pages.exhibits import Exhibits, open_exhibits
from arena.pages.site import promises, replays
from arena.pages.site.contexts import heading
from arena.pages.site.page_writer import PageWriter, is_page
from arena.pages.site.parts import ASSETS, remove_others, write_parts
from arena.pages.site.places import places_of
from arena.pages.site.tournament import INDEX, TournamentPages

_PARTS: Final = ("site-", "times-", "viewer-")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What site is wanted."""

    database: Path
    folder: Path
    title: str
    address: str = ""
    """Address of the site, if that is known: other sites take pictures for previews by whole addresses alone."""
    processes: int = 1
    replays: int | None = None
    """Number of a tournament's latest games of which replays are made; None means all."""
    seconds: float | None = None
    """After this time no more replays are begun; None means all that are wanted are made."""
    verify: bool = True
    """Whether finished tournaments are verified, each once while nothing of them changes."""


class SiteBuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    pages: int
    replays: int
    left: int
    """The number of replays that are wanted and not made yet, though the logs are there."""
    others: int
    faults: tuple[str, ...]


Count = Callable[[str, int], Callable[[], object]]
"""Says that so many of something are to be done, `replays` or `logs`; returns what is called after each."""


def build(wish: Wish, count: Count) -> SiteBuilt:
    """Makes a site, or brings it up to date.

    Raises:
        StoreError: The database cannot be read.
        OSError: The site cannot be written. What is there is whole.
    """
    with open_exhibits(wish.database) as reader:
        parts = write_parts(wish.folder)
        writer = PageWriter(wish.folder, parts, wish.title, wish.address)
        rows = reader.all()
        everything = [_reels(wish, reader, row) for row in rows]
        reels = [reel for wanted, _ in everything for reel in wanted]
        faults = _make(wish, reels, count)
        findings = _findings(wish, reader, rows, count)
        made = {row.id: frozenset(replays.made(wish.folder / row.id)) for row in rows}
        named = ((row, page.name if (page := reader.page(row.id)) else "") for row in rows)
        listed = [heading(row, reader.counted(row.id), name) for row, name in named]
        entered = _entered(reader)
        for row in reversed(rows):
            with reader.snapshot():
                last_moment = partial(_last_moment, wish, reader, row, made[row.id])
                pages = TournamentPages(
                    wish.database, wish.folder, reader, writer, row, made[row.id], entered[row.id], last_moment,
                    findings.get(row.id),
                )  # fmt: skip
                pages.write()
                if row is rows[0]:
                    pages.write_first(listed)
                pages.remove_old_pictures()
        if not rows:
            writer.page(INDEX, "nothing", [], dict)
    remove_gone(wish.folder, {row.id for row in rows})
    have = sum(reel.number in made[reel.tournament] for reel in reels)
    _remove_old_parts(wish.folder / ASSETS, parts.values())
    return SiteBuilt(
        pages=writer.written,
        replays=have,
        left=len(reels) - have - len(faults),
        others=sum(others for _, others in everything),
        faults=tuple(faults),
    )


def _reels(wish: Wish, reader: Exhibits, row: game_rows.Tournament) -> tuple[list[replays.Reel], int]:
    """Returns the replays of a tournament that are to be made, the latest first, and how many others could be.

    Those of a league whose log is not public any more are removed.
    """
    folder = wish.folder / row.id
    made, latest = replays.made(folder), _logs(wish, reader, row)
    for number in made.difference(number for number, _ in latest) if reader.page(row.id) else ():
        (folder / replays.name_of(number)).unlink(missing_ok=True)
    wanted = [game for game in latest[: wish.replays] if game[0] not in made]
    others = sum(number not in made for number, _ in latest) - len(wanted)
    return list(_filmed(wish, reader, row, wanted)), others


def _filmed(
    wish: Wish, reader: Exhibits, row: game_rows.Tournament, games: Sequence[tuple[int, str]]
) -> Iterator[replays.Reel]:
    if not games:
        return
    entrants = reader.entrants(row.id)
    hidden = () if reader.page(row.id) else places_of(row, entrants, wish.database).names
    for number, path in games:
        (game,) = reader.shown_games(row.id, number, number + 1)
        bots = [entrants[entrant] for entrant in game.entrants]
        names, displays = tuple(bot.name for bot in bots), tuple(bot.display_name for bot in bots)
        yield replays.Reel(number, path, str(wish.folder), row.id, names, displays, hidden)


def _last_moment(wish: Wish, reader: Exhibits, row: game_rows.Tournament, made: Collection[int]) -> bytes:
    drawn = [game for game in _logs(wish, reader, row) if game[0] in made]
    return next(map(replays.last_moment, _filmed(wish, reader, row, drawn[:1])), b"")


def _logs(wish: Wish, reader: Exhibits, row: game_rows.Tournament) -> list[tuple[int, str]]:
    """Returns the games whose logs are there and may be shown, the latest first, each with the path of its log."""
    page = reader.page(row.id)
    logs = page.logs if page else Path(row.logs)
    there = {name.removesuffix(compression.SUFFIX): f"{logs}/{name}" for name in _names(logs)}
    return [(number, there[log]) for number, log in reversed(reader.shown_logs(row.id).items()) if log in there]


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


def _findings(
    wish: Wish, reader: Exhibits, rows: Sequence[game_rows.Tournament], count: Count
) -> dict[str, promises.Findings | None]:
    """Returns what was found out about each finished tournament as it is now, and finds it out where that is wanted."""
    over = [row for row in rows if row.finished is not None and not reader.page(row.id)]
    found = {row.id: promises.kept(reader, row, wish.folder / row.id) for row in over}
    if wish.verify and (wanted := [row for row in over if found[row.id] is None]):
        advance = count("logs", sum(row.games for row in wanted))
        for row in wanted:
            found[row.id] = promises.check(reader, row, wish.folder / row.id, wish.processes, advance)
    return found


def _remove_old_parts(folder: Path, parts: Any) -> None:
    others = [path.name for path in folder.iterdir() if not path.name.startswith(_PARTS)]
    remove_others(folder, {*parts, *others})


_LAST: Final = "game.html"
"""A page that every tournament has, and no other folder of a site."""
_OURS: Final = re.compile(r"(index|games-\d+|bot-\d+)\.html|rating-[0-9a-f]+-(light|dark)\.svg|preview\.png")
_NAMED: Final = re.compile(rb'"([a-z0-9.-]+)"')
"""The name of a part, in what a replay begins with."""
_HEAD: Final = 300


def remove_gone(site: Path, tournaments: Collection[str]) -> None:
    """Removes the pages of all tournaments but these, and what no replay needs any more.

    Raises:
        OSError: Something cannot be removed.
    """
    gone = [folder for folder in _folders(site) if folder.name not in tournaments]
    for folder in gone:
        for path in folder.iterdir():
            if path.name == replays.FOLDER:
                shutil.rmtree(path)
            elif path.name == promises.FILE or _OURS.fullmatch(path.name):
                path.unlink()
        (folder / _LAST).unlink()  # after a kill the others are found by it
        if not any(folder.iterdir()):
            folder.rmdir()
    if gone:
        _remove_shared(site)


def _folders(site: Path) -> Iterator[Path]:
    """Yields the folders of tournaments: those with that page of ours."""
    for path in sorted(site.iterdir()):
        if path.name != ASSETS and path.is_dir() and not path.is_symlink() and is_page(path / _LAST):
            yield path


def _remove_shared(site: Path) -> None:
    """Removes what replays are drawn with, if none of those that are left needs it."""
    needed: set[bytes] = set()
    for path in site.glob(f"*/{replays.FOLDER}/*/*.js"):
        needed.update(_NAMED.findall(_head(path)))
    for path in (site / ASSETS).iterdir():
        if path.name.startswith(replays.SHARED) and path.name.encode() not in needed:
            path.unlink()


def _head(path: Path) -> bytes:
    with files.opened(path, "a replay", files.MOST_LOG, errors.ArenaError, links=False) as file:
        return next(file.chunks(), b"")[:_HEAD]
