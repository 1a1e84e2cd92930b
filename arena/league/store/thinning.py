"""Thins out old ratings: of each day a version keeps its last one. A season would else have two rows or more a game.

Laws:
1. A day ends at a *mark*: so many games were rated then. What is kept between two marks is the last row of each
   version, so that all ratings at a mark stay known exactly, and so does the rating that anybody has now.
2. Rows between the last mark and now are never touched: ratings go on from them. Nor is a row touched that is still to
   be made again (`arena.league.store.remaking`).
3. Rows go a few at a time, each time in one transaction that notes how far it has come.
"""

from __future__ import annotations

from arena.core.face import databases, stores


class Thinning:
    """The marks of all seasons, and the rows between them."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    def mark(self, at: str = "") -> int:
        """Ends the day of each season for which that is due: it was closed, or the last mark is of another day (UTC).

        Args:
            at: The moment that it is; empty: as the machine's clock says.

        Returns:
            How many marks were made.
        """
        with databases.immediate(self._db):
            return self._db.execute(
                "INSERT INTO rating_marks (tournament, number, first, at)"
                " SELECT tournaments.id, rated, coalesce(max(number), 0), :at FROM"
                " (SELECT tournament, opened, closed FROM seasons) AS season"
                " JOIN tournaments ON tournaments.id = season.tournament"
                " LEFT JOIN rating_marks ON rating_marks.tournament = tournaments.id"
                " GROUP BY tournaments.id HAVING rated > coalesce(max(number), 0)"
                " AND (closed IS NOT NULL OR substr(coalesce(max(at), opened), 1, 10) < substr(:at, 1, 10))",
                {"at": at or stores.now()},
            ).rowcount

    def step(self, rows: int) -> bool:
        """Removes some rows that are not needed, of some versions. Returns whether more may be left."""
        with databases.immediate(self._db):
            found = self._db.execute(
                "SELECT tournament, number, first, entrant, (SELECT count(*) FROM entrants"
                " WHERE entrants.tournament = rating_marks.tournament) FROM rating_marks"
                " WHERE entrant IS NOT NULL AND NOT EXISTS (SELECT 1 FROM remaking"
                " WHERE remaking.tournament = rating_marks.tournament AND remaking.number < rating_marks.number)"
                " ORDER BY tournament, number LIMIT 1"
            ).fetchone()
            if found is None:
                return False
            tournament, number, first, entrant, entrants = found
            left = rows
            for _ in range(rows):
                removed = self._thin(tournament, entrant, first, number, left)
                if removed == left:
                    break
                left -= removed
                entrant += 1
                if entrant >= entrants:
                    break
            self._db.execute(
                "UPDATE rating_marks SET entrant = ? WHERE tournament = ? AND number = ?",
                (entrant if entrant < entrants else None, tournament, number),
            )
            return True

    def _thin(self, tournament: str, entrant: int, first: int, end: int, limit: int) -> int:
        """Removes rows of an entrant from game `first` up to but not including game `end`, all but the last."""
        return self._db.execute(
            "DELETE FROM ratings WHERE rowid IN (SELECT rowid FROM ratings"
            " WHERE tournament = :tournament AND entrant = :entrant AND number >= :first"
            " AND number < (SELECT max(number) FROM ratings"
            " WHERE tournament = :tournament AND entrant = :entrant AND number < :end)"
            " ORDER BY number LIMIT :limit)",
            {"tournament": tournament, "entrant": entrant, "first": first, "end": end, "limit": limit},
        ).rowcount
