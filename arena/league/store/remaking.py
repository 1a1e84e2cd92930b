"""Makes ratings again after results were taken back, in the transaction that takes them back.

Afterwards each rating is what it would be if those results had never counted. To rate the 300,000 games of the largest
season again takes about 20 s; most matches that are struck are among its last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from arena.core.face import databases, rating_history

_GAMES: Final = 1_000
"""After how many games a sign of life is given."""


def rate_again(
    connection: databases.Connection,
    tournament: str,
    number: int,
    longest: Iterable[int],
    alive: Callable[[], object] = lambda: None,
) -> None:
    """Makes all ratings again that a game or a later one has moved, in the caller's transaction.

    Earlier versions kept only one rating a day of each version, and marked where days ended. Of such a day more is made
    again: from its beginning on, for only there all ratings are known.

    Args:
        longest: The entrants whose longest decision is to be looked up again.
        alive: Called again and again meanwhile.
    """
    start, rated = connection.execute(
        "SELECT coalesce((SELECT first FROM rating_marks WHERE tournament = id AND first <= :number"
        " AND number > :number), :number), rated FROM tournaments WHERE id = :tournament",
        {"tournament": tournament, "number": number},
    ).fetchone()
    for first in range(start, rated, _GAMES):
        rating_history.rate_again(connection, tournament, first, min(first + _GAMES, rated))
        alive()
    connection.executemany(
        "UPDATE tallies SET max_ms = coalesce((SELECT max(max_ms) FROM meetings"
        " JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match"
        " AND status = 'done' AND counts JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant"
        " WHERE meetings.tournament = tallies.tournament AND meetings.entrant = tallies.entrant), 0)"
        " WHERE tournament = ? AND entrant = ?",
        [(tournament, entrant) for entrant in longest],
    )


def finish(connection: databases.Connection) -> None:
    """Makes again what an earlier version was about to make again, a few games at a time."""
    query = "SELECT tournament, number, longest FROM remaking"
    for tournament, number, longest in connection.execute(query).fetchall():
        with databases.immediate(connection):
            rate_again(connection, tournament, number, msgspec.json.decode(longest, type=list[int]))
            connection.execute("DELETE FROM remaking WHERE tournament = ?", (tournament,))
