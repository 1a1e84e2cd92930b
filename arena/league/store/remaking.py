"""Makes ratings again after results were taken back, some games at a time: a season may have millions.

Laws:
1. A row says up to which game ratings are right again. Those from it on are replaced in order, one game after the
   other, by what follows from the results that count. When it has come to the last rated game there is no row any more,
   and each rating is what it would be if everything had been rated again at once.
2. A step is one transaction, with how far it has come. So a kill loses nothing, and nothing is done twice.
3. Until its turn comes a game has the ratings that were there before. Games that end meanwhile move them as always, and
   are rated again like all others. What is taken back meanwhile sends the row back, if it was further.
4. A version that joins meanwhile inherits the rating of that moment, as one that had joined before.
5. Ratings that are still to be replaced are not thinned out.
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
    longest: tuple[int, ...] = ()
    """The entrants whose longest decision is to be looked up again."""

    @property
    def left(self) -> int:
        """How many games are still to be rated again, or passed over."""
        return self.end - self.number


class Remaking:
    """The ratings of the open season that are made again."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    def state(self) -> Remade | None:
        """Returns how far it is; None if all ratings are right."""
        found = self._row()
        return None if found is None else found[1]

    def _row(self) -> tuple[str, Remade] | None:
        """Returns the season's tournament and how far it is. A season with such a row cannot be closed."""
        row = self._db.execute(
            "SELECT tournament, first, number, rated, longest FROM remaking JOIN tournaments ON id = tournament"
        ).fetchone()
        if row is None:
            return None
        tournament, first, number, end, longest = row
        return tournament, Remade(first, number, end, msgspec.json.decode(longest, type=tuple[int, ...]))

    def step(self, games: int = GAMES) -> bool:
        """Rates some games again, or looks up one entrant's longest decision. Returns whether more is left."""
        if self._row() is None:
            return False  # without a transaction: this is asked in each turn of the service's loop
        with databases.immediate(self._db):
            found = self._row()
            assert found is not None, "there is one writer"
            tournament, state = found
            end, longest = state.number, state.longest
            if longest:
                _look_up_longest(self._db, tournament, longest[0])
                longest = longest[1:]
            else:
                end = min(state.number + games, state.end)
                rating_history.rate_again(self._db, tournament, state.number, end)
            self._db.execute(
                "UPDATE remaking SET number = ?, longest = ? WHERE tournament = ?",
                (end, game_rows.canonical(longest), tournament),
            )
            if is_done := end == state.end and not longest:
                self._db.execute("DELETE FROM remaking WHERE tournament = ?", (tournament,))
            return not is_done


def _look_up_longest(connection: sqlite3.Connection, tournament: str, entrant: int) -> None:
    connection.execute(
        "UPDATE tallies SET max_ms = coalesce((SELECT max(max_ms) FROM meetings"
        " JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match"
        " AND status = 'done' AND counts JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant"
        " WHERE meetings.tournament = tallies.tournament AND meetings.entrant = tallies.entrant), 0)"
        " WHERE tournament = ? AND entrant = ?",
        (tournament, entrant),
    )


def make_again(connection: sqlite3.Connection, tournament: str, number: int, longest: Iterable[int]) -> None:
    """Has all ratings made again that a game or a later one has moved, in the caller's transaction.

    Of a game before the last mark of thinning more is made again: from the mark before it, for only there all ratings
    are known.

    Args:
        connection: The database.
        tournament: The season's tournament.
        number: The game.
        longest: The entrants whose longest decision is to be looked up again.
    """
    (rated,) = connection.execute("SELECT rated FROM tournaments WHERE id = ?", (tournament,)).fetchone()
    row = connection.execute(
        "SELECT first FROM rating_marks WHERE tournament = ? AND first <= ? AND number > ?",
        (tournament, number, number),
    ).fetchone()
    start = min(number if row is None else int(row[0]), rated)
    query = "SELECT longest FROM remaking WHERE tournament = ?"
    before = connection.execute(query, (tournament,)).fetchone()
    waiting = msgspec.json.decode(before[0], type=list[int]) if before else []
    connection.execute("UPDATE rating_marks SET entrant = 0 WHERE tournament = ? AND number > ?", (tournament, start))
    connection.execute(
        "INSERT INTO remaking (tournament, first, number, longest) VALUES (:tournament, :start, :start, :longest)"
        " ON CONFLICT DO UPDATE SET first = min(first, excluded.first), number = min(number, excluded.number),"
        " longest = excluded.longest",
        {"tournament": tournament, "start": start, "longest": game_rows.canonical(sorted({*waiting, *longest}))},
    )
