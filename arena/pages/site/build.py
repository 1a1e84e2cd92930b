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
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from arena import files
from arena.pages import plots
from arena.pages.site import contexts, promises, replays
from arena.pages.site.contexts import PAGE, Shown, heading
from arena.pages.site.parts import ASSETS, part, remove_others, write_parts
from arena.pages.site.press import Press
from arena.pages.site.tallies import BotTally, add_up
from arena.record import compressed
from arena.standings.report import report
from arena.store.exhibits import Exhibits, ShownGame, open_exhibits
from arena.store.league.records import LEAGUE
from arena.store.records import Entrant, Tournament
from arena.tournament.commands import refs_of, repeat_command, rerun_command
from arena.types import Payload

INDEX: Final = "index.html"
FORFEITS: Final = 20
"""How many last forfeits of a bot are told."""
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
        for row in reversed(rows):
            with reader.snapshot():
                pages = _Pages(wish, reader, press, row, seasons.get(row.id, ""), made[row.id])
                pages.write()
                if row is rows[0]:
                    pages.write_first(listed)
                pages.remove_old_pictures()
        if not rows:
            press.page(INDEX, "nothing", [], dict)
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
    for number, log in reversed(shown.items()):
        if number not in made and log in there:
            yield replays.Reel(number, there[log], str(wish.folder), row.id)


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


class _Pages:
    """The pages of a tournament."""

    def __init__(
        self, wish: Wish, reader: Exhibits, press: Press, row: Tournament, name: str, made: frozenset[int]
    ) -> None:
        self._wish = wish
        self._reader = reader
        self._press = press
        self._row = row
        self._name = name
        self._made = made
        self._folder = wish.folder / row.id
        self._head = heading(row, name)
        self._audit = promises.kept(wish.folder / row.id, row)
        self._members = reader.members(row.id) if name else {}
        logs = reader.shown_logs(row.id)
        self.facts = [
            [row.id, name, row.settings, row.status, row.finished, row.games, row.rated],
            [len(logs), hashlib.sha256(repr(sorted(made)).encode()).hexdigest()],
            promises.listed(self._audit),
            sorted(self._members.items()),
        ]
        """All that its pages are made from, or what changes with it."""

    def write(self) -> None:
        """Writes those of which something has changed."""
        name = f"{self._row.id}/{INDEX}"
        if self._press.is_current(name, self.facts):
            return
        self._write_games()
        by_number = {game.number: game for game in self._played}
        for entrant in self._shown.entrants:
            tally = self._shown.tallies.get(entrant.number) or BotTally()
            self._write_bot(entrant, [by_number[number] for number in tally.last])
        title = self._head["title"]
        self._press.page(f"{self._row.id}/game.html", "game", title, lambda: {"head": self._head})
        place = {"root": "../", "here": "", "all": []}
        self._press.page(name, "tournament", self.facts, lambda: self._context() | place)

    def write_first(self, listed: Sequence[Payload]) -> None:
        """Writes the first page of the site: this tournament, and a list of all."""
        place = {"root": "", "here": f"{self._row.id}/", "all": listed}
        self._press.page(INDEX, "tournament", [self.facts, listed], lambda: self._context() | place)

    def remove_old_pictures(self) -> None:
        """Removes pictures that no page shows any more."""
        if "_picture" in self.__dict__:
            for path in self._folder.glob("rating-*.svg"):
                if not path.name.startswith(f"{self._picture}-"):
                    path.unlink()

    def _context(self) -> Payload:
        last = contexts.games(self._shown, self._played[-contexts.LAST :])
        return {**contexts.tournament(self._shown), "picture": self._picture, "games": last}

    @cached_property
    def _played(self) -> list[ShownGame]:
        return self._reader.shown_games(self._row.id)

    @cached_property
    def _refs(self) -> list[str]:
        """How to name the bots on the command line, by entrant."""
        return refs_of([entrant.spec for entrant in self._reader.entrants(self._row.id)])

    @cached_property
    def _shown(self) -> Shown:
        row = self._row
        document, _ = report(self._reader, row.id)
        entrants = self._reader.entrants(row.id)
        command = ""
        if not self._name:
            command = repeat_command(row, self._refs, self._wish.database)
        return Shown(
            row=row,
            name=self._name,
            entrants=entrants,
            members=self._members,
            report=document,
            tallies=add_up(self._reader.shown_seats(row.id)),
            courses=self._reader.rating_courses(row.id, drawn(row), plots.POINTS),
            made=self._made,
            promises=promises.listed(self._audit),
            command=command,
            last=self._played[-1].number if self._played else -1,
        )

    def _write_games(self) -> None:
        pages: dict[int, list[ShownGame]] = {}
        for game in self._played:
            pages.setdefault(game.number // PAGE, []).append(game)
        names = {entrant.number: entrant.name for entrant in self._shown.entrants}
        for page, found in sorted(pages.items()):
            sat = sorted({entrant for game in found for entrant in game.entrants})
            facts = [
                [self._head["title"], page - 1 in pages, page + 1 in pages, [names[entrant] for entrant in sat]],
                [(game.number, game.number in self._made) for game in found],
            ]
            context = partial(self._games_context, page, found, [one for one in (page - 1, page + 1) if one in pages])
            self._press.page(f"{self._row.id}/games-{page}.html", "games", facts, context)

    def _games_context(self, page: int, found: Sequence[ShownGame], beside: Sequence[int]) -> Payload:
        return {"head": self._head, "games": contexts.games(self._shown, found), "page": page, "beside": beside}

    def _write_bot(self, entrant: Entrant, last: Sequence[ShownGame]) -> None:
        forfeits = self._reader.shown_forfeits(self._row.id, entrant.number, FORFEITS)
        versions = self._reader.versions_of(entrant.name, self._row.id)
        reruns = (
            {}
            if self._name
            else {
                one.number: rerun_command(one.game, self._refs[entrant.number], one.seat, self._wish.database)
                for one in forfeits
                if one.code != "start_failed"
            }
        )
        context = contexts.bot(self._shown, entrant, last, forfeits, {"versions": versions, "reruns": reruns})
        self._press.page(f"{self._row.id}/bot-{entrant.number}.html", "bot", context, lambda: context)

    @cached_property
    def _picture(self) -> str:
        """The name of the picture of the ratings, which is drawn unless it is there; empty if there is none."""
        shown = self._shown
        if not shown.courses:
            return ""
        courses = [
            plots.Course(row.bot, shown.courses.get(shown.named(row.bot).number, ())) for row in shown.report.standings
        ]
        digest = hashlib.sha256(msgspec.json.encode([_drawn_by(), courses])).hexdigest()[:12]
        name = f"rating-{digest}"
        if not (self._folder / f"{name}-dark.svg").exists():
            light = plots.courses_svg(courses)
            self._folder.mkdir(parents=True, exist_ok=True)
            files.write(self._folder / f"{name}-light.svg", light)
            files.write(self._folder / f"{name}-dark.svg", plots.darkened(light))
        return name


@cache
def _drawn_by() -> str:
    """Returns the program that draws, so that what another version drew is drawn again."""
    return part(Path(plots.__file__))


def drawn(row: Tournament) -> int:
    """Returns up to which game ratings are drawn: in a large tournament that goes on, not anew after every game."""
    if row.finished is not None:
        return row.rated
    step: int = 10 ** max(0, len(str(row.rated)) - 3)
    return row.rated // step * step
