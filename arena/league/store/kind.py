"""What the core asks of the seasons of a league, which are tournaments that no format plans (`arena.core.plugs`)."""

from __future__ import annotations

import os
from pathlib import Path
from sqlite3 import Connection


class Season:
    """Answers for the seasons in a database."""

    def words(self, db: Path | None) -> list[str]:
        """Returns the command that says how the league is: nothing plays a season again."""
        return ["league", "status", "." if db is None else os.path.relpath(db.absolute().parent)]

    def predecessors(self, db: Connection, tournament: str) -> dict[int, int]:
        """Returns by entrant that came later the one whose rating it began with.

        There are none of seasons that were closed before the refit took them into account.
        """
        links = db.execute(
            "SELECT one.number, other.number FROM versions JOIN bots ON bots.id = versions.bot"
            " JOIN versions AS before ON before.id = versions.predecessor"
            " JOIN entrants AS one ON one.tournament = :tournament AND one.name = bots.name || '/' || versions.number"
            " JOIN entrants AS other ON other.tournament = :tournament"
            " AND other.name = bots.name || '/' || before.number AND other.number < one.number"
            " WHERE EXISTS (SELECT 1 FROM seasons WHERE tournament = :tournament"
            " AND (closed IS NULL OR json_extract(standings, '$.method') IS NOT 'refit'))",
            {"tournament": tournament},
        )
        return dict(links.fetchall())

    def kept(self, db: Connection, tournament: str) -> str:
        """Returns why a season cannot be removed."""
        name = db.execute("SELECT name FROM seasons WHERE tournament = ?", (tournament,)).fetchone()
        return "" if name is None else f"the season {name[0]!r}; the results of seasons stay"


KIND = Season()
