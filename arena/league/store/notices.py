"""Stores what authors and the operator should know: notices, and what came of the steps of a submission."""

from __future__ import annotations

from typing import Final

import msgspec

from arena.core.face import Payload, databases, game_rows, stores
from arena.league.store import rows
from arena.league.store.records import Notice, StepReport

NOTICES: Final = 20
"""How many notices a status holds."""
_COLUMNS: Final = ("kind", "attempt", "verdict", "output", "at")
MOST_OUTPUT: Final = 64 * 1024
"""Bytes of a step's output that are kept: the last ones."""


class Notices(rows.Part):
    """The notices of a league."""

    def add(self, whom: str | None, kind: str, text: str, version: int | None = None) -> None:
        """Adds a notice.

        Args:
            whom: The author; None stands for the operator.
            kind: One word for programs, such as `suspended`.
        """
        with databases.immediate(self._db):
            self._db.execute(
                "INSERT INTO notices (author, version, kind, text, at)"
                " VALUES ((SELECT id FROM authors WHERE name = ?), ?, ?, ?, ?)",
                (whom, version, kind, text, stores.now()),
            )

    def of(self, whom: str | None, *, unread: bool = False, limit: int = 100) -> list[Notice]:
        """Returns the notices for an author, or with None for the operator, the latest first."""
        found = self._db.execute(
            "SELECT notices.id, bots.name || '/' || versions.number, kind, text, at, read FROM notices"
            " LEFT JOIN versions ON versions.id = version LEFT JOIN bots ON bots.id = bot"
            " WHERE notices.author IS (SELECT id FROM authors WHERE name = ?) AND (read IS NULL OR NOT ?)"
            " ORDER BY notices.id DESC LIMIT ?",
            (whom, unread, limit),
        )
        return rows.read(Notice, found)

    def newest(self) -> dict[str, int]:
        """Returns by author the id of the newest notice."""
        found = self._db.execute(
            "SELECT name, newest FROM (SELECT author, max(id) AS newest FROM notices WHERE author IS NOT NULL"
            " GROUP BY author) JOIN authors ON authors.id = author"
        )
        return dict(found.fetchall())

    def mark_read(self, first: int, last: int) -> int:
        """Notes that the operator has read their notices from one id to another. Returns how many were new to them."""
        with databases.immediate(self._db):
            return self._db.execute(
                "UPDATE notices SET read = ? WHERE author IS NULL AND read IS NULL AND id BETWEEN ? AND ?",
                (stores.now(), first, last),
            ).rowcount

    def forget(self, before: str) -> None:
        """Removes notices from before a moment (UTC, ISO 8601).

        Those for the operator stay until they were read, and of those for an author the last ones, which a status
        shows.
        """
        with databases.immediate(self._db):
            # That an author has read one is never known. So the index by author, `read` and id finds the newer ones.
            self._db.execute(
                "DELETE FROM notices WHERE at < :before"
                " AND CASE WHEN author IS NULL THEN read IS NOT NULL ELSE :keep = (SELECT count(*) FROM (SELECT 1"
                " FROM notices AS newer WHERE newer.author = notices.author AND newer.read IS NULL"
                " AND newer.id > notices.id LIMIT :keep)) END",
                {"before": before, "keep": NOTICES},
            )


class Reports(rows.Part):
    """The reports of a league."""

    def add(self, version: int, report: StepReport) -> None:
        """Stores a report. One of the same step and attempt, which a kill had left without its change, is replaced."""
        with databases.immediate(self._db):
            self._db.execute(
                "INSERT OR REPLACE INTO reports (version, kind, attempt, verdict, report, output, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(version, report.kind, report.attempt, report.verdict, game_rows.canonical(found(report))),
                    *(report.output[-MOST_OUTPUT:], report.at or stores.now()),
                ),
            )

    def of(self, version: int) -> list[StepReport]:
        """Returns the reports of a version in the order in which they were stored."""
        query = "SELECT report, kind, attempt, verdict, output, at FROM reports WHERE version = ? ORDER BY rowid"
        return [
            msgspec.convert({**msgspec.json.decode(text), **dict(zip(_COLUMNS, row, strict=True))}, StepReport)
            for text, *row in self._db.execute(query, (version,))
        ]


def found(report: StepReport) -> Payload:
    """Returns what a step found out, without what the database has in columns."""
    document: Payload = msgspec.to_builtins(report)
    return {name: value for name, value in document.items() if name not in _COLUMNS}
