"""Writes the pages of one tournament, those of which something has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.face import Payload, files, game_rows, places, repeating, standings_reports, value_types
from arena.pages import plots
from arena.pages.exhibits import Exhibits, Member, ShownGame
from arena.pages.parts import read_part
from arena.pages.site import contexts, promises
from arena.pages.site.contexts import PAGE, Shown, heading
from arena.pages.site.page_writer import PageWriter
from arena.pages.site.places import places_of, refs_by_name

INDEX: Final = "index.html"
FORFEITS: Final = 10
PREVIEW: Final = "preview.png"


class TournamentPages:
    """The pages of a tournament."""

    def __init__(
        self,
        database: Path,
        site: Path,
        reader: Exhibits,
        writer: PageWriter,
        row: game_rows.Tournament,
        made: frozenset[int],
        entered: str,
        last_moment: Callable[[], bytes],
        findings: promises.Findings | None,
    ) -> None:
        """Looks at what there is.

        Args:
            made: The numbers of the games that have a replay.
            entered: What differs if other bots were entered in this tournament or an earlier one.
            last_moment: Draws the end of the last game that has a replay; empty if none has.
            findings: What was found out about it as it is now, if anything was.
        """
        self._database = database
        self._reader = reader
        self._writer = writer
        self._row = row
        part = reader.page(row.id)
        self._name = name = part.name if part else ""
        self._made = made
        self._last_moment = last_moment
        self._folder = site / row.id
        self._head = heading(row, reader.counted(row.id), name)
        self._findings = findings
        self._members = msgspec.convert(part.members() if part else {}, dict[int, Member])
        face = part.about() if part else {}
        self._face = {key: face.get(key) for key in contexts.FACE} if face else {}
        self._standings = part.standings() if part else None
        final = self._standings and self._standings.get("final")
        self.facts = [
            [row.id, name, row.settings, row.finished, row.rated, row.beacon, self._head],
            [(other.id, reader.course_of(other.id)) for other in promises.sources_of(reader, row)],
            entered,
            hashlib.sha256(repr(sorted(made)).encode()).hexdigest(),
            findings,
            sorted(self._members.items()),
            [self._face, final],
        ]
        """All that its pages are made from, or what changes with it."""

    def write(self) -> None:
        """Writes those of which something has changed."""
        name = f"{self._row.id}/{INDEX}"
        if self._writer.is_current(name, self.facts):
            return
        self._write_games()
        by_number = {game.number: game for game in self._played}
        for entrant in self._shown.entrants:
            tally = self._shown.tallies.get(entrant.number) or contexts.BotTally()
            self._write_bot(entrant, [by_number[number] for number in tally.last()])
        facts = [self._head, max(by_number, default=0), self._preview]
        context = {"head": self._head, "last": facts[1], "preview": self._preview}
        self._writer.page(f"{self._row.id}/game.html", "game", facts, lambda: context)
        place = {"root": "../", "here": "", "all": []}
        self._writer.page(name, "tournament", self.facts, lambda: self._context() | place)

    def write_first(self, listed: Sequence[Payload]) -> None:
        """Writes the first page of the site: this tournament, and a list of all."""
        place = {"root": "", "here": f"{self._row.id}/", "all": listed}
        self._writer.page(INDEX, "tournament", [self.facts, listed], lambda: self._context() | place)

    def remove_old_pictures(self) -> None:
        """Removes pictures that no page shows any more."""
        if "_picture" in self.__dict__:
            for path in self._folder.glob("rating-*.svg"):
                if not path.name.startswith(f"{self._picture}-"):
                    path.unlink()

    def _context(self) -> Payload:
        last = contexts.games(self._shown, self._played[-contexts.LAST :])
        told = {"picture": self._picture, "games": last, "measure": contexts.measure(self._shown)}
        return {**contexts.tournament(self._shown), **told, "preview": self._preview}

    @cached_property
    def _played(self) -> list[ShownGame]:
        return self._reader.shown_games(self._row.id)

    @cached_property
    def _refs(self) -> list[str]:
        return refs_by_name(self._reader.entrants(self._row.id))

    @cached_property
    def _places(self) -> places.Places:
        if self._name:  # of a league no word is read that could name one
            return places.Places(())
        return places_of(self._row, self._reader.entrants(self._row.id), self._database)

    @cached_property
    def _shown(self) -> Shown:
        row = self._row
        document, _ = standings_reports.report(self._reader, row.id, crosstable=True)
        entrants = self._reader.entrants(row.id)
        command = ""
        if not self._name:
            command = repeating.repeat_command(row, self._refs, None)
        together = value_types.is_cooperative(row.settings["game"].get("teams"))
        return Shown(
            row=row,
            is_league=bool(self._name),
            head=self._head,
            entrants=entrants,
            members=self._members,
            report=document,
            tallies=contexts.add_up(self._played),
            courses={} if together else self._reader.rating_courses(row.id, drawn(row), plots.POINTS),
            made=self._made,
            promises=promises.listed(self._findings),
            checked=None if self._findings is None else self._findings.found,
            command=command,
            last=self._played[-1].number if self._played else -1,
            frozen=self._standings,
            face=self._face,
        )

    def _write_games(self) -> None:
        pages: dict[int, list[ShownGame]] = {}
        for game in self._played:
            pages.setdefault(game.number // PAGE, []).append(game)
        if not pages:  # links lead there before the first game, too
            pages[0] = []
        names = {entrant.number: entrant.name for entrant in self._shown.entrants}
        for page, found in sorted(pages.items()):
            sat = sorted({entrant for game in found for entrant in game.entrants})
            facts = [
                [
                    self._head["title"],
                    self._preview,
                    page - 1 in pages,
                    page + 1 in pages,
                    [names[entrant] for entrant in sat],
                ],
                [(game, game.number in self._made) for game in found],
            ]
            context = partial(self._games_context, page, found, [one for one in (page - 1, page + 1) if one in pages])
            self._writer.page(f"{self._row.id}/games-{page}.html", "games", facts, context)

    def _games_context(self, page: int, found: Sequence[ShownGame], beside: Sequence[int]) -> Payload:
        games, told = contexts.games(self._shown, found), contexts.measure(self._shown)
        about = {"head": self._head, "league": self._shown.is_league, "page": page, "beside": beside}
        about["preview"] = self._preview
        return {**about, "games": games, "measure": told}

    def _write_bot(self, entrant: game_rows.Entrant, last: Sequence[ShownGame]) -> None:
        shown, hide = self._reader.shown_forfeits(self._row.id, entrant.number, FORFEITS), self._places.hide
        forfeits = [
            replace(one, forfeit=replace(told, sentence=hide(told.sentence), stderr=tuple(map(hide, told.stderr))))
            for one, told in ((one, one.forfeit) for one in shown)
        ]
        versions = self._reader.versions_of(entrant.name, self._row.id)
        reruns = (
            {}
            if self._name
            else {
                one.number: repeating.rerun_command(one.game, self._refs[entrant.number], one.forfeit.seat, None)
                for one in forfeits
                if one.forfeit.code != "start_failed"
            }
        )
        more = {"versions": versions, "reruns": reruns, "preview": self._preview}
        context = contexts.bot(self._shown, entrant, last, forfeits, more)
        self._writer.page(f"{self._row.id}/bot-{entrant.number}.html", "bot", context, lambda: context)

    @cached_property
    def _preview(self) -> str:
        """The name of the picture that other sites show of these pages; empty if none can be drawn."""
        path = self._folder / PREVIEW
        if not (drawn := self._last_moment()):
            path.unlink(missing_ok=True)
            return ""
        self._folder.mkdir(parents=True, exist_ok=True)
        files.write(path, drawn)
        return PREVIEW

    @cached_property
    def _picture(self) -> str:
        """The name of the picture of the ratings, or of what is tuned; empty if there is none.

        It is drawn unless it is there.
        """
        shown = self._shown
        if not shown.courses:
            return ""
        courses = [
            plots.RatingCurve(row.bot, shown.courses.get(shown.named(row.bot).number, ()))
            for row in shown.report.standings[: contexts.DRAWN]
        ]
        digest = hashlib.sha256(msgspec.json.encode([_drawn_by(), shown.tuned or courses])).hexdigest()[:12]
        name = f"rating-{digest}"
        if not (self._folder / f"{name}-dark.svg").exists():
            light = plots.tuned_svg(shown.tuned) if shown.tuned else plots.courses_svg(courses)
            self._folder.mkdir(parents=True, exist_ok=True)
            files.write(self._folder / f"{name}-light.svg", light)
            files.write(self._folder / f"{name}-dark.svg", plots.darkened(light))
        return name


@cache
def _drawn_by() -> str:
    """Returns the program that draws, so that what another version drew is drawn again."""
    return read_part(Path(plots.__file__))


def drawn(row: game_rows.Tournament) -> int:
    """Returns up to which game ratings are drawn: in a large tournament that goes on, not anew after every game."""
    if row.finished is not None:
        return row.rated
    step: int = 10 ** max(0, len(str(row.rated)) - 3)
    return row.rated // step * step
