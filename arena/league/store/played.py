"""Finds the games of versions: what their author wants to know of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias

import msgspec

from arena.core.face import Payload, sql_views
from arena.league.store import rows

Only: TypeAlias = Literal["won", "drawn", "lost", "forfeits"]
"""Which games are wanted. `forfeits` are those that the version lost by its own doing."""

_QUERY = f"""SELECT games.id AS game, games.match, games.finished, entrants.name AS version, seat,
        (SELECT json_group_array(name) FROM (SELECT name FROM seats AS others JOIN entrants AS met
            ON met.tournament = games.tournament AND met.number = others.entrant
            WHERE others.game = seats.game AND others.seat <> seats.seat ORDER BY others.seat)) AS opponents,
        rank, {sql_views.OUTCOME} AS outcome, score, forfeit, sentence, turn, overloaded, stderr AS last_words,
        games.turns, max_ms, counts AS rated, log, public_sha256,
        matches.published IS NOT NULL AS published
    FROM meetings
    JOIN entrants ON entrants.tournament = meetings.tournament AND entrants.number = meetings.entrant
    JOIN matches ON matches.tournament = meetings.tournament AND matches.number = meetings.match
    JOIN games ON games.tournament = meetings.tournament AND games.match = meetings.match AND games.status = 'done'
    JOIN seats ON seats.game = games.id AND seats.entrant = meetings.entrant
    WHERE meetings.tournament = :tournament"""


class EndedGame(msgspec.Struct, frozen=True):
    """A game that is over, and whose log may be there."""

    game: str
    """Its identifier: the log's name without its ending."""
    ended: float
    """When it ended, in seconds since 1970."""
    seats: int
    """The number of its seats, which have files of their own."""
    forfeit: bool = False
    """Whether somebody forfeited."""
    final: bool = False
    """Whether it belongs to a season's final."""


class NamedLog(msgspec.Struct, frozen=True):
    """The log of a game that was played."""

    tournament: str
    """The season's tournament."""
    folder: str
    game: str
    """The game's identifier: the log's name without its ending."""
    sha256: str
    """SHA-256 (hex) of the log, before it was compressed."""
    seats: int


class PlayedGames(rows.Part):
    """The games of a season that are done."""

    def of(
        self,
        tournament: str,
        *,
        names: Collection[str] | None = None,
        only: Only | None = None,
        matches: range | None = None,
        limit: int | None = None,
    ) -> Iterator[Payload]:
        """Yields a row for each seat of a version in each game, the latest game first.

        Args:
            names: The versions, such as `fox/3`; None means all.
            only: Which games of theirs; None means all.
            matches: In matches with these numbers; None means all.
            limit: The most rows; None means all.
        """
        where = ""
        parameters: dict[str, str | int | None] = {"tournament": tournament, "limit": -1 if limit is None else limit}
        if names is not None:
            where += " AND entrants.name IN (SELECT value FROM json_each(:names))"
            parameters["names"] = msgspec.json.encode(sorted(names)).decode()
        if matches is not None:
            where += " AND meetings.match >= :first AND meetings.match < :stop"
            parameters |= {"first": matches.start, "stop": matches.stop}
        if only == "forfeits":
            where += " AND forfeit IS NOT NULL"
        elif only is not None:
            where += f" AND {sql_views.OUTCOME} = :only"
            parameters["only"] = only
        cursor = self._db.execute(f"{_QUERY}{where} ORDER BY games.number DESC, seat LIMIT :limit", parameters)
        columns = [column[0] for column in cursor.description]
        for row in cursor:
            found = dict(zip(columns, row, strict=True))
            for name in ("opponents", "last_words"):
                found[name] = msgspec.json.decode(found[name] or "[]")
            for name in ("rated", "published", "overloaded"):
                found[name] = bool(found[name])
            yield found

    def ended(self) -> Iterator[EndedGame]:
        """Yields the games of all seasons that are done, in order. It reads some at a time, and holds nothing open.

        None of them ended before one that was planned before it: so what was played while the clock was back is not
        older than the rest when that is right again.
        """
        seasons = self._db.execute(
            "SELECT tournament, json_extract(final, '$.first_game') FROM seasons ORDER BY number"
        ).fetchall()
        latest = 0.0
        for tournament, first in seasons:
            last = -1
            while rows := self._db.execute(
                "SELECT number, id, strftime('%s', finished), json_array_length(seating), EXISTS (SELECT 1 FROM seats"
                " WHERE game = games.id AND forfeit IS NOT NULL) FROM games"
                " WHERE tournament = ? AND status = 'done' AND number > ? ORDER BY number LIMIT 500",
                (tournament, last),
            ).fetchall():
                last = rows[-1][0]
                for number, game, finished, seats, forfeit in rows:
                    latest = max(latest, float(finished))
                    yield EndedGame(game, latest, seats, bool(forfeit), first is not None and number >= first)

    def logs(self) -> Iterator[NamedLog]:
        """Yields the logs of all games that were played, in order. Some may be gone: they are not kept for ever."""
        for row in self._db.execute(
            "SELECT tournament, tournaments.logs, games.id, log_sha256, json_array_length(seating) FROM games"
            " JOIN tournaments ON tournaments.id = tournament WHERE games.status = 'done' ORDER BY tournament, number"
        ):
            yield NamedLog(*row)

    def counts(self, tournament: str) -> dict[str, int]:
        """Returns how many games of a season there are, by status."""
        query = "SELECT status, count(*) FROM games WHERE tournament = ? GROUP BY status"
        counts = dict(self._db.execute(query, (tournament,)).fetchall())
        return {status: counts.get(status, 0) for status in ("planned", "running", "done", "void")}
