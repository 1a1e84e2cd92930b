"""Takes a match's results back: they stay to be read, and count no more.

Law: what remains is what would be there if the match had not counted from the start: ratings are computed again from
its first game on, and sums without it.
"""

from __future__ import annotations

import msgspec

from arena.store.database import Connection
from arena.store.league.thinning import rewind
from arena.store.rated import rate_prefix
from arena.store.records import SeatRow, Tally

_SUMS = [name for name in Tally.__struct_fields__ if name not in ("entrant", "max_ms")]


def strike(connection: Connection, tournament: str, match: int, reason: str) -> None:
    """Makes the results of a match count no more, in the caller's transaction. No game of it may be running."""
    rows = connection.execute(
        "SELECT id, number, deal, counts FROM games WHERE tournament = ? AND match = ? AND status = 'done'"
        " ORDER BY number",
        (tournament, match),
    ).fetchall()
    counted = [row for row in rows if row[3]]
    for game, *_ in counted:
        _subtract(connection, tournament, game)
    connection.execute("UPDATE games SET counts = 0 WHERE tournament = ? AND match = ?", (tournament, match))
    connection.execute(
        "UPDATE matches SET rated = 0, reason = ? WHERE tournament = ? AND number = ?", (reason, tournament, match)
    )
    if not counted:
        return
    first, deal = counted[0][1], counted[0][2]
    for (entrant,) in connection.execute(
        "SELECT entrant FROM meetings WHERE tournament = ? AND match = ?", (tournament, match)
    ).fetchall():
        connection.execute(
            "UPDATE tallies SET max_ms = coalesce((SELECT max(max_ms) FROM meetings"
            " JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match"
            " AND status = 'done' AND counts JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant"
            " WHERE meetings.tournament = tallies.tournament AND meetings.entrant = tallies.entrant), 0)"
            " WHERE tournament = ? AND entrant = ?",
            (tournament, entrant),
        )
    connection.execute("DELETE FROM pairs WHERE tournament = ? AND deal = ?", (tournament, deal))
    rewind(connection, tournament, first)
    rate_prefix(connection, tournament)


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
