"""Makes ratings again after results were taken back, some games at a time, so that others are played meanwhile.

Laws:
1. A row says up to which game ratings are right again. Those from it on are replaced in order, one game after the
   other, by what follows from the results that count. When it has come to the last rated game there is no row any more,
   and each rating is what it would be if everything had been rated again at once.
2. A step is one transaction, with how far it has come. So a kill loses nothing, and nothing is done twice.
3. Until its turn comes a game has the ratings that were there before. Games that end meanwhile move them as always, and
   are rated again like all others. What is taken back meanwhile sends the row back, if it was further.
4. A version that joins meanwhile inherits the rating of that moment, as one that had joined before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

import msgspec

from arena.core.face import databases, game_rows, rating_history

GAMES: Final = 250
"""How many games one step rates: about 0.1 s on a slow machine."""


class Remade(msgspec.Struct, frozen=True):
    """How far the ratings of a season are made again."""

    first: int
    """The game from which on they are made again."""
    number: int
    """The first game whose ratings are still those of before."""
    end: int
    """How many games of the season are rated."""

    @property
    def left(self) -> int:
        """How many games are still to be rated again, or passed over."""
        return self.end - self.number


class Remaking:
    """The ratings of the open season that are made again. A season of which some are cannot be closed."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    def state(self) -> Remade | None:
        """Returns how far it is; None if all ratings are right."""
        row = self._db.execute("SELECT first, number, rated FROM remaking JOIN tournaments ON id = tournament")
        return next((Remade(*found) for found in row.fetchall()), None)

    def step(self, games: int = GAMES) -> bool:
        """Rates some games again. Returns whether more are left."""
        if self.state() is None:
            return False  # without a transaction: this is asked in each turn of the service's loop
        with databases.immediate(self._db):
            tournament, number, end = self._db.execute(
                "SELECT tournament, number, rated FROM remaking JOIN tournaments ON id = tournament"
            ).fetchone()
            done = min(number + games, end)
            rating_history.rate_again(self._db, tournament, number, done)
            self._db.execute("UPDATE remaking SET number = ? WHERE tournament = ?", (done, tournament))
            if done < end:
                return True
            self._db.execute(
                "UPDATE tallies SET max_ms = coalesce((SELECT max(max_ms) FROM meetings"
                " JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match"
                " AND status = 'done' AND counts"
                " JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant"
                " WHERE meetings.tournament = tallies.tournament AND meetings.entrant = tallies.entrant), 0)"
                " WHERE tournament = :tournament AND entrant IN"
                " (SELECT value FROM remaking, json_each(longest) WHERE tournament = :tournament)",
                {"tournament": tournament},
            )
            self._db.execute("DELETE FROM remaking WHERE tournament = ?", (tournament,))
            return False


def make_again(connection: sqlite3.Connection, tournament: str, number: int, longest: Iterable[int]) -> None:
    """Has all ratings made again that a game or a later one has moved, in the caller's transaction.

    Earlier versions kept only one rating a day of each version, and marked where days ended. Of such a day more is made
    again: from its beginning on, for only there all ratings are known.

    Args:
        longest: The entrants whose longest decision is to be looked up again at the end.
    """
    connection.execute(
        "INSERT INTO remaking (tournament, first, number, longest)"
        " SELECT id, start, start, :longest FROM (SELECT id, min(rated, coalesce((SELECT first FROM rating_marks"
        " WHERE tournament = id AND first <= :number AND number > :number), :number)) AS start"
        " FROM tournaments WHERE id = :tournament) WHERE true"
        " ON CONFLICT DO UPDATE SET first = min(first, excluded.first), number = min(number, excluded.number),"
        " longest = (SELECT json_group_array(value) FROM"
        " (SELECT value FROM json_each(remaking.longest) UNION SELECT value FROM json_each(excluded.longest)))",
        {"tournament": tournament, "number": number, "longest": game_rows.canonical(sorted(longest))},
    )
