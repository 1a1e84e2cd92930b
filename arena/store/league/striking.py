"""Takes a match's results back: they stay to be read, and count no more.

Law: what remains is what would be there if the match had not counted from the start: sums at once, and ratings and the
longest decisions once they are made again (`arena.store.league.remaking`). This takes no longer in a longer season.
"""

from __future__ import annotations

import msgspec

from arena.store.database import Connection
from arena.store.league.remaking import make_again
from arena.store.records import SeatRow, Tally

_SUMS = [name for name in Tally.__struct_fields__ if name not in ("entrant", "max_ms")]


def strike(connection: Connection, tournament: str, match: int, reason: str) -> None:
    """Makes the results of a match count no more, in the caller's transaction. No game of it may be running."""
    rows = connection.execute(
        "SELECT id, number, deal, counts FROM games INDEXED BY games_by_match"
        " WHERE tournament = ? AND match = ? AND status = 'done' ORDER BY number",
        (tournament, match),
    ).fetchall()
    counted = [row for row in rows if row[3]]
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
        return
    first, deal = counted[0][1], counted[0][2]
    connection.execute("DELETE FROM pairs WHERE tournament = ? AND deal = ?", (tournament, deal))
    make_again(connection, tournament, first, _longest_here(connection, tournament, match))


def _longest_here(connection: Connection, tournament: str, match: int) -> list[int]:
    """Returns the entrants whose longest decision was in a match: what theirs is now takes long to find."""
    found = connection.execute(
        "SELECT DISTINCT seats.entrant FROM games INDEXED BY games_by_match JOIN seats ON game = id"
        " JOIN tallies ON tallies.tournament = games.tournament AND tallies.entrant = seats.entrant"
        " WHERE games.tournament = ? AND games.match = ? AND seats.max_ms >= tallies.max_ms",
        (tournament, match),
    )
    return [entrant for (entrant,) in found]


def _subtract(connection: Connection, tournament: str, game: str) -> None:
    """Takes a game out of the sums."""
    seats = [
        SeatRow(*row)
        for row in connection.execute(
            "SELECT entrant, rank, decisions, total_ms, max_ms, forfeit, score, off_turn_cpu_ms FROM seats"
            " WHERE game = ? ORDER BY seat",
            (game,),
        ).fetchall()
    ]
    for seat in seats:
        tally = msgspec.structs.asdict(Tally.of(seat.entrant, seat, seats))
        connection.execute(
            f"UPDATE tallies SET {', '.join(f'{name} = {name} - :{name}' for name in _SUMS)}"
            " WHERE tournament = :tournament AND entrant = :entrant",
            {**tally, "tournament": tournament},
        )
