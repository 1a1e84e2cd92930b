"""Takes a season that is to end to its end: the games that run, then its final.

Laws:
1. Whatever it must know is in the database before it goes on, so that a kill between any two steps changes nothing.
2. The finalists are chosen when no game of the season runs any more. Nobody joins them later, and who was once
   suspended or retired does not come back.
3. Only one version of an author plays, their best: two could help each other. A bot of the house plays if it is among
   the best of all by its rating: it never takes the place of a version that may not play.
4. A finalist on its author's machine that nobody serves is waited for, for a while, and so is one that is to be built
   again. Then it is out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

from arena.league.matches import final_tables, finals
from arena.league.matches.planning import MATCHES_A_WORKER, MOST_UNRATED, seatings_of, spare
from arena.league.public import documents
from arena.league.settings import Settings
from arena.league.store import LeagueReader, LeagueStore
from arena.league.store.records import Match, Season, SeasonFinal, VersionStanding
from arena.league.store.states import State

ABSENT_S: Final = 600.0
"""How long the final waits for finalists that cannot play now, once there is nothing else to play."""


class Ending(msgspec.Struct, eq=False):
    """Ends the open season, once that is ordered.

    Args:
        absent: Returns the names of versions that cannot play now: remote ones that nobody serves, and those that
            are to be built again.
    """

    store: LeagueStore
    settings: Settings
    tell: Callable[[str], object] = lambda sentence: None
    absent: Callable[[], frozenset[str]] = frozenset
    _waits_since: float | None = None
    """Since when nothing can be played but for finalists that cannot play now."""
    _seen: tuple[object, ...] = ()
    _stage: finals.FinalStage | None = None
    """How far the final is, and of which matches and finalists that is true."""

    @property
    def plays(self) -> bool:
        """Whether a final is being played."""
        closing, final = self.store.controls.closing, self._final()
        return closing is not None and closing.final and final is not None and final.outcome is None

    def look(self, *, quiet: bool) -> bool:
        """Takes the season a step to its end; `quiet`: none of its games runs. Returns whether it can be closed."""
        closing, season = self.store.controls.closing, self.store.seasons.current()
        if closing is None or season is None or not quiet:
            return False
        if season.final is None:
            if not closing.final or not self.settings.season.final:
                return True
            if self._is_told():
                self._begin(season)
        elif season.final.outcome is None and not closing.final and self._is_told():
            self._end("not settled", "the operator ended it")
        final = self._final()
        return final is not None and final.outcome is not None

    def plan(self, workers: int) -> list[Match]:
        """Plans as many matches of the final as so many workers need, and returns them. Ends the final when it is over.

        Who is not active any more leaves it.
        """
        store, final = self.store, self._final()
        if not self.plays or final is None:
            return []
        if self._look_at().outcome is None and not self._take_leave(final):
            return []
        absent = self.absent()
        playing = store.matches.running()
        if absent and spare(store, absent, playing):
            playing = store.matches.running()
        missing = MATCHES_A_WORKER * workers - len(playing)
        if missing <= 0 or store.matches.games_waiting() >= MOST_UNRATED:
            return []
        stage = self._look_at()
        if stage.outcome is not None:
            if not playing and self._is_told():
                self._end(stage.outcome, stage.reason)
            return []
        gone = {entrant for entrant in final.playing if absent and self._name(entrant) in absent}
        tables = [table for table in stage.tables if not gone & {*table}]
        self._wait_for(gone, waits=bool(stage.tables) and not tables and not playing)
        planned: list[Match] = []
        for table in tables[:missing]:
            why = f"final, round {stage.round}"
            planned += store.matches.plan([seatings_of(table, stage.turn)], why, rated=True)
            if store.matches.games_waiting() >= MOST_UNRATED:
                break
        return planned

    def _begin(self, season: Season) -> None:
        """Chooses the finalists. If there are too few for a game there is no final."""
        store, settings = self.store, self.settings.season
        with store.transaction():
            chosen = finalists(store, settings.final, self.absent())
            least = min(final_tables.sizes(store, season))
            if len(chosen) < least:
                reason = f"expected at least {least} finalists of different authors, got: {len(chosen)}"
                store.seasons.begin_final((), settings.final_deals, reason)
                self.tell(f"The season {season.name} has no final: {reason}")
                return
            store.seasons.begin_final([one.entrant for one in chosen], settings.final_deals)
        self.tell(f"The final of {season.name} begins: {', '.join(one.name for one in chosen)}")

    def _end(self, outcome: str, reason: str) -> None:
        self.store.seasons.end_final("settled" if outcome == "settled" else "not settled", reason)
        self.tell(f"The final is over, {outcome}: {reason}")

    def _final(self) -> SeasonFinal | None:
        season = self.store.seasons.current()
        return None if season is None else season.final

    def _is_told(self) -> bool:
        """Returns whether all matches that are over are published: what is decided from them is told after them."""
        return not self.store.matches.over(1)

    def _take_leave(self, final: SeasonFinal) -> bool:
        """Notes who plays no more: suspended, retired, or replaced. Returns whether that is told."""
        gone = [entrant for entrant in final.playing if not self._is_active(entrant)]
        if gone and not self._is_told():
            return False
        if gone:
            self._leave(gone, "plays no more")
        return True

    def _is_active(self, entrant: int) -> bool:
        version = self.store.versions.of_entrant(entrant)
        return version is not None and version.state is State.ACTIVE

    def _name(self, entrant: int) -> str:
        version = self.store.versions.of_entrant(entrant)
        return "" if version is None else version.name

    def _wait_for(self, gone: set[int], *, waits: bool) -> None:
        """Waits a while for finalists that cannot play now. Then they are out."""
        if not waits:
            self._waits_since = None
            return
        now = time.monotonic()
        if self._waits_since is None:
            self._waits_since = now
        final = self._final()
        if final is not None and now >= self._waits_since + ABSENT_S and self._is_told():
            self._leave([entrant for entrant in final.playing if entrant in gone], "could not play any more")

    def _leave(self, entrants: list[int], why: str) -> None:
        self.store.seasons.leave_final(entrants)
        for entrant in entrants:
            self.tell(f"{self._name(entrant)} is out of the final: it {why}")

    def _look_at(self) -> finals.FinalStage:
        """Returns how far the final is. What follows from the same matches is computed once."""
        season = self.store.seasons.current()
        assert season is not None
        assert season.final is not None
        matches = self.store.seasons.final_matches(season)
        seen = (season.final, *matches)
        if self._stage is None or seen != self._seen:
            pairs = final_tables.pairs(self.store, season, matches)
            self._stage = finals.stage(final_tables.design(self.store, season), matches, pairs)
            self._seen = seen
        return self._stage


def finalists(store: LeagueReader, most: int, absent: frozenset[str] = frozenset()) -> list[VersionStanding]:
    """Returns who plays the final: the best of the standings, the best first, one of each author.

    Those with a provisional rating come after all others: after a match or two an average bot may stand anywhere.
    """
    standing = {one.name: one for one in store.facts.standing()}
    chosen: list[VersionStanding] = []
    authors = set()
    rows = (
        standing[item["name"]]
        for item in sorted(documents.standings(store)["items"], key=lambda item: bool(item["provisional"]))
    )
    for place, one in enumerate(row for row in rows if row.name not in absent):
        if one.author in authors or (one.author is None and place >= most):
            continue
        if one.author is not None:
            authors.add(one.author)
        chosen.append(one)
    return chosen[:most]
