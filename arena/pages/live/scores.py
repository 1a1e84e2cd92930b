"""Standings as they move, read from a database that somebody else writes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.face import (
    Reader,
    errors,
    game_rows,
    locks,
    plain,
    ranking_tables,
    standings_reports,
    standings_texts,
    stores,
    value_types,
)

MOST_ROWS: Final = 100
SHARE: Final = 10
"""Reading the standings takes at most this fraction (1/n) of the time."""
LEAST_S: Final = 1.0
"""The database is read at most so often."""


class Scores(msgspec.Struct, frozen=True):
    """How a tournament or a season stands."""

    title: str
    id: str
    done: int
    """Number of games that are over at this moment."""
    games: int | None
    """Number of its games; None if it has no end, or nobody knows yet."""
    finished: bool
    running: bool
    """Whether somebody writes the database now."""
    ranks: list[str]
    """Ranks by row as in other standings: `2=` if others share it."""
    rows: list[ranking_tables.Standing]
    """Rows. Where all play together, `rating` and `half_width` are those of the mean score."""
    left_out: int
    cooperative: bool = False
    """Whether all play together: then nobody wins, and scores are compared."""
    rated: int = 0
    """After how many games `rows` are: they take longer to compute than a game may last."""


NOTHING: Final = Scores("", "", 0, None, finished=False, running=False, ranks=[], rows=[], left_out=0)
"""Before anything is played."""


def after(scores: Scores) -> str:
    """Returns after how many games the rows are, where that is not all."""
    return f", standings after {scores.rated}" if scores.rows and scores.rated < scores.done else ""


class LiveStandings:
    """Reads the standings of the latest tournament, or of one.

    Args:
        database: Where they are; it may not be there yet.
        which: Returns which tournament; None means the latest at the time.
        title: What is played, where the tournament does not say it well.
        endless: Whether it is a season, which has no number of games.
    """

    def __init__(
        self,
        database: Path,
        which: Callable[[Reader], str | None] = lambda reader: None,
        *,
        title: str = "",
        endless: bool = False,
    ) -> None:
        self._database = database
        self._which = which
        self._title = title
        self._endless = endless
        self.scores = NOTHING
        self._done = 0
        """Number of its own games that were over when the standings were read."""
        self.error = ""
        """Why they could not be read the last time. It names files of this machine."""
        self.is_there = False
        """Whether there was a database the last time: a watch may begin before what it watches."""
        self._next = self._next_rows = 0.0

    def due(self, now: float) -> bool:
        """Returns whether it is time to read them again."""
        return now >= self._next

    def read(self) -> bool:
        """Reads how many games are over, and the standings if it is time. Returns whether something has changed."""
        before = self.scores, self.error
        self.is_there = self._database.exists()
        try:
            running = locks.is_written_to(self._database)
            with stores.open_reader(self._database) as reader:
                self.scores = self._read(reader, running=running)
            self.error = ""
        except errors.ArenaError as error:
            self.error = plain(str(error))
        self._next = time.monotonic() + LEAST_S
        return (self.scores, self.error) != before

    def _read(self, reader: Reader, *, running: bool) -> Scores:
        began, before = time.monotonic(), self.scores
        row = reader.tournament(self._which(reader))
        finished = row.status == "finished"
        told = before.id, before.finished, before.running
        if began < self._next_rows and (row.id, finished, running) == told:  # at an end they are read at once
            done = before.rated + reader.done(row.id) - self._done
            return replace(before, done=done, games=self._games(row))
        self._done = reader.done(row.id)
        document, row = standings_reports.report(reader, row.id)
        self._next_rows = time.monotonic() + SHARE * (time.monotonic() - began)
        ranks = standings_texts.rank_texts([standing.rank for standing in document.standings])
        cooperative = value_types.is_cooperative(row.settings["game"].get("teams"))
        rows = [replace(standing, bot=plain(standing.bot)) for standing in document.standings[:MOST_ROWS]]
        if cooperative:
            rows = [replace(row, rating=row.mean_score, half_width=row.score_half_width) for row in rows]
        return Scores(
            title=(self._title or plain(standings_texts.subject_text(row.settings))) + self._final(reader, row),
            id=row.id,
            done=document.games,
            rated=document.games,
            games=self._games(row),
            finished=row.status == "finished",
            running=running,
            ranks=ranks[:MOST_ROWS],
            rows=rows,
            left_out=max(0, len(ranks) - MOST_ROWS),
            cooperative=cooperative,
        )

    def _final(self, reader: Reader, row: game_rows.Tournament) -> str:
        """Returns what is said of a season's final while it is played."""
        page = reader.page(row.id) if self._endless else None
        final = ((page.standings() if page else None) or {}).get("final")
        if not final or final["outcome"]:
            return ""
        return f": the final, {final['deals']:,} of at most {final['most_deals']:,} deals"

    def _games(self, row: game_rows.Tournament) -> int | None:
        return None if self._endless else row.games
