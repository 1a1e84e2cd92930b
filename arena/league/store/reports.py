"""Stores what came of the steps between a submission and its first rated game."""

from __future__ import annotations

from typing import Final

from arena.core.face import databases, game_rows, stores
from arena.league.store import rows
from arena.league.store.records import Report

MOST_OUTPUT: Final = 64 * 1024
"""Bytes of a step's output that are kept: the last ones."""


class Reports:
    """The reports of a league."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    def add(self, version: int, report: Report) -> None:
        """Stores a report. One of the same step and attempt, which a kill had left without its change, is replaced."""
        with databases.immediate(self._db):
            self._db.execute(
                "INSERT OR REPLACE INTO reports (version, kind, attempt, verdict, report, output, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(version, report.kind, report.attempt, report.verdict, game_rows.canonical(report.report)),
                    *(report.output[-MOST_OUTPUT:], report.at or stores.now()),
                ),
            )

    def of(self, version: int) -> list[Report]:
        """Returns the reports of a version in the order in which they were stored."""
        query = "SELECT kind, attempt, verdict, report, output, at FROM reports WHERE version = ? ORDER BY rowid"
        return rows.read(Report, self._db.execute(query, (version,)), "report")
