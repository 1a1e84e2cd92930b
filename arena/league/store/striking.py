"""Takes results back: matches count no more, and ratings are made as if they had never counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import msgspec

from arena.core.face import databases, game_rows, rating_history


def strike(connection: databases.Connection, tournament: str, match: int, reason: str) -> float:
    """Makes the results of a match count no more, in the caller's transaction, and those of its games that run.

    What remains is what would be there if the match had not counted from the start, but for later ratings and longest
    decisions (`rate_again`).

    Returns:
        The number of its first game that counted; infinity if none did.
    """
    done = connection.execute(
        "SELECT id, number, deal, counts FROM games INDEXED BY games_by_match"
        " WHERE tournament = ? AND match = ? AND status = 'done' ORDER BY number",
        (tournament, match),
    ).fetchall()
    counted = [row for row in done if row[3]]
    for game, number, *_ in counted:
        _subtract(connection, tournament, game)
        connection.execute(
            "DELETE FROM ratings WHERE tournament = ? AND number = ?"
            " AND entrant IN (SELECT entrant FROM seats WHERE game = ?)",
            (tournament, number, game),
        )
    connection.execute("UPDATE games SET counts = 0 WHERE tournament = ? AND match = ?", (tournament, match))
    connection.execute(
        "UPDATE matches SET rated = 0, reason = ? WHERE tournament = ? AND number = ?", (reason, tournament, match)
    )
    if not counted:
        return math.inf
    first, deal = counted[0][1], counted[0][2]
    connection.execute("DELETE FROM pairs WHERE tournament = ? AND deal = ?", (tournament, deal))
    return int(first)


def _subtract(connection: databases.Connection, tournament: str, game: str) -> None:
    """Takes a game out of the sums."""
    sat = connection.execute("SELECT entrant, figures FROM seats WHERE game = ? ORDER BY seat", (game,)).fetchall()
    entrants = [entrant for entrant, _ in sat]
    for tally in game_rows.Tally.of_game(entrants, [game_rows.figures_of(figures) for _, figures in sat]):
        connection.execute(
            f"UPDATE tallies SET {', '.join(f'{name} = {name} - :{name}' for name in game_rows.SUMMED)}"
            " WHERE tournament = :tournament AND entrant = :entrant",
            {**msgspec.structs.asdict(tally), "tournament": tournament},
        )


def rate_again(
    connection: databases.Connection, tournament: str, number: int, entrants: Iterable[int], alive: Callable[[], object]
) -> None:
    """Makes all ratings again that a game or a later one has moved, in the caller's transaction.

    Afterwards each is what it would be if what was taken back had never counted. To rate the 300,000 games of the
    largest season again takes about 7 s; most matches that are struck are among its last.

    Earlier versions kept only one rating a day of each version, and marked where days ended. Of such a day more is made
    again: from its beginning on, for only there all ratings are known.

    Args:
        entrants: Those whose longest decision is to be looked up again.
        alive: Called again and again meanwhile.
    """
    start, rated = connection.execute(
        "SELECT coalesce((SELECT first FROM rating_marks WHERE tournament = id AND first <= :number"
        " AND number > :number), :number), rated FROM tournaments WHERE id = :tournament",
        {"tournament": tournament, "number": number},
    ).fetchone()
    rating_history.rate_again(connection, tournament, start, rated, alive)
    connection.executemany(
        "UPDATE tallies SET max_ms = coalesce((SELECT max(max_ms) FROM meetings"
        " JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match"
        " AND status = 'done' AND counts JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant"
        " WHERE meetings.tournament = tallies.tournament AND meetings.entrant = tallies.entrant), 0)"
        " WHERE tournament = ? AND entrant = ?",
        [(tournament, entrant) for entrant in entrants],
    )


def finish_rating(connection: databases.Connection) -> None:
    """Makes again what an earlier version was about to make again, a few games at a time."""
    query = "SELECT tournament, number, longest FROM remaking"
    for tournament, number, longest in connection.execute(query).fetchall():
        with databases.immediate(connection):
            rate_again(connection, tournament, number, msgspec.json.decode(longest, type=list[int]), lambda: None)
            connection.execute("DELETE FROM remaking WHERE tournament = ?", (tournament,))
