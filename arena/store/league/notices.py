"""Stores what authors and the operator should know."""

from __future__ import annotations

from arena.store.database import Connection, immediate
from arena.store.league.records import Notice
from arena.store.store import now


class Notices:
    """The notices of a league."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, whom: str | None, kind: str, text: str, version: int | None = None) -> None:
        """Adds a notice.

        Args:
            whom: The author; None stands for the operator.
            kind: One word for programs, such as `suspended`.
            text: A sentence or two for people.
            version: The id of the version that it is about.
        """
        with immediate(self._db):
            self._db.execute(
                "INSERT INTO notices (author, version, kind, text, at)"
                " VALUES ((SELECT id FROM authors WHERE name = ?), ?, ?, ?, ?)",
                (whom, version, kind, text, now()),
            )

    def of(self, whom: str | None, *, unread: bool = False, limit: int = 100) -> list[Notice]:
        """Returns the notices for an author, or with None for the operator, the latest first."""
        rows = self._db.execute(
            "SELECT notices.id, authors.name, bots.name || '/' || versions.number, kind, text, at, read FROM notices"
            " LEFT JOIN authors ON authors.id = notices.author LEFT JOIN versions ON versions.id = version"
            " LEFT JOIN bots ON bots.id = bot"
            " WHERE notices.author IS (SELECT id FROM authors WHERE name = ?) AND (read IS NULL OR NOT ?)"
            " ORDER BY notices.id DESC LIMIT ?",
            (whom, unread, limit),
        )
        return [
            Notice(id=id, whom=name, version=version, kind=kind, text=text, at=at, read=read)
            for id, name, version, kind, text, at, read in rows.fetchall()
        ]

    def mark_read(self, first: int, last: int) -> int:
        """Notes that the operator has read their notices from one id to another. Returns how many were new to them."""
        with immediate(self._db):
            return self._db.execute(
                "UPDATE notices SET read = ? WHERE author IS NULL AND read IS NULL AND id BETWEEN ? AND ?",
                (now(), first, last),
            ).rowcount

    def forget(self, before: str, keep: int, limit: int) -> int:
        """Removes notices from before a moment (UTC, ISO 8601), at most so many, and returns how many.

        The last ones for each reader stay, `keep` of them, and those for the operator until they were read.
        """
        with immediate(self._db):
            readers = [None, *(id for (id,) in self._db.execute("SELECT id FROM authors").fetchall())]
            left = limit
            for reader in readers:
                left -= self._db.execute(
                    "DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE author IS :reader AND at < :before"
                    " AND (author IS NOT NULL OR read IS NOT NULL) AND id <= coalesce((SELECT id FROM notices"
                    " WHERE author IS :reader ORDER BY id DESC LIMIT 1 OFFSET :keep), 0) LIMIT :limit)",
                    {"reader": reader, "before": before, "keep": keep, "limit": left},
                ).rowcount
            return limit - left
