"""Stores matches: one deal in its seatings, each seating a game of the season's tournament.

Laws:
1. A match and its games are stored in one transaction, as they were chosen. The games are `planned` from then on, and
   the store claims and records them like those of any tournament.
2. Each match has a deal of its own. So its secret can be revealed when the match is over.
3. A match is over when each of its games is done or void. One of which nothing was played is void, and counts for
   nobody as played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from arena.errors import Refused, StoreError
from arena.store.database import Connection, immediate
from arena.store.league import rows
from arena.store.league.records import Match, MatchGame
from arena.store.league.striking import strike
from arena.store.rated import rate_prefix
from arena.store.records import PlannedGame, canonical, game_id
from arena.store.store import now

if TYPE_CHECKING:
    from arena.store.store import Store


PLAYING: Final = (
    "state = 'playing' AND EXISTS (SELECT 1 FROM games WHERE games.tournament = matches.tournament"
    " AND games.match = matches.number AND games.status IN ('planned', 'running'))"
)
"""Whether a match is not over yet, for a query over `matches`."""


class Matches:
    """The matches of the open season."""

    def __init__(self, connection: Connection, games: Store) -> None:
        self._db = connection
        self._games = games

    def plan(self, players: int, deal: int | None, seatings: Sequence[tuple[int, ...]], why: str, rated: bool) -> Match:
        """Stores a match with its games.

        Args:
            players: Seats of a game.
            deal: The number of its deal, which no other match of the season has; None means the match's own number.
            seatings: Of each game the entrants by seat. All games have the same entrants.
            why: Why these meet, for people.
            rated: Whether the games count.

        Raises:
            Refused: No season is open, or a seat is not that of an active version.
            StoreError: The seatings are not those of one meeting, or the deal was used.
        """
        entrants = sorted(seatings[0]) if seatings else []
        if not entrants or any(sorted(seating) != entrants for seating in seatings):
            raise StoreError(f"expected seatings of the same entrants, got: {list(seatings)}")
        if len(set(entrants)) != players:
            raise StoreError(f"expected {players} different entrants, got: {entrants}")
        with immediate(self._db):
            tournament = self._season()
            self._check_active(entrants)
            (number,) = self._db.execute(
                "SELECT coalesce(max(number), -1) + 1 FROM matches WHERE tournament = ?", (tournament,)
            ).fetchone()
            deal = int(number) if deal is None else deal
            used = "SELECT 1 FROM matches WHERE tournament = ? AND deal = ?"
            if self._db.execute(used, (tournament, deal)).fetchone():
                raise StoreError(f"expected a deal that no match of the season has, got: {deal}")
            self._db.execute(
                "INSERT INTO matches (tournament, number, players, deal, why, rated, planned)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (tournament, number, players, deal, why, rated, now()),
            )
            self._add_games(tournament, number, deal, seatings, rated)
            self._add_meeting(tournament, number, players, entrants)
            return self.get(number)

    def _add_games(
        self, tournament: str, match: int, deal: int, seatings: Sequence[tuple[int, ...]], rated: bool
    ) -> None:
        (first,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        self._db.execute("UPDATE tournaments SET games = games + ? WHERE id = ?", (len(seatings), tournament))
        self._db.executemany(
            "INSERT INTO games (id, tournament, number, deal, rotation, seating, match, counts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (game_id(tournament, number), tournament, number, deal, rotation, canonical(seating), match, rated)
                for rotation, (number, seating) in enumerate(enumerate(seatings, first))
            ],
        )

    def _add_meeting(self, tournament: str, match: int, players: int, entrants: Sequence[int]) -> None:
        self._db.executemany(
            "INSERT INTO meetings (tournament, entrant, match) VALUES (?, ?, ?)",
            [(tournament, entrant, match) for entrant in entrants],
        )
        self._db.executemany(
            "INSERT INTO seat_counts (tournament, entrant, players, matches) VALUES (?, ?, ?, 1)"
            " ON CONFLICT DO UPDATE SET matches = matches + 1",
            [(tournament, entrant, players) for entrant in entrants],
        )

    def _check_active(self, entrants: Sequence[int]) -> None:
        if gone := self._not_active(entrants):
            raise Refused("state", f"expected active versions in all seats, got: entrants {gone}, which are not")

    def _not_active(self, entrants: Sequence[int]) -> list[int]:
        """Returns those of these entrants that are not active versions."""
        query = "SELECT 1 FROM versions WHERE entrant = ? AND state = 'active'"
        return [entrant for entrant in entrants if self._db.execute(query, (entrant,)).fetchone() is None]

    def get(self, number: int) -> Match:
        """Returns a match of the open season.

        Raises:
            Refused: There is none.
        """
        found = self._select("AND matches.number = ?", number)
        if not found:
            raise Refused("unknown_match", f"expected a match of the season, got: number {number}")
        return found[0]

    def game(self, number: int) -> PlannedGame:
        """Returns a game of the open season: what `Store.claim` takes as the schedule.

        Raises:
            StoreError: There is none.
        """
        row = self._db.execute(
            "SELECT deal, rotation, seating FROM games WHERE tournament = ? AND number = ?", (self._season(), number)
        ).fetchone()
        if row is None:
            raise StoreError(f"expected a game of the season, got: number {number}")
        deal, rotation, seating = row
        entrants = msgspec.json.decode(seating, type=tuple[int, ...])
        return PlannedGame(number=number, block=number, deal=deal, rotation=rotation, entrants=entrants)

    def match_of(self, game: int) -> tuple[int, int]:
        """Returns of a game of the open season, by its number, the number of its match, and how many games that has.

        Raises:
            StoreError: There is none.
        """
        row = self._db.execute(
            "SELECT match, (SELECT count(*) FROM games AS other WHERE other.tournament = games.tournament"
            " AND other.match = games.match) FROM games WHERE tournament = ? AND number = ?",
            (self._season(), game),
        ).fetchone()
        if row is None:
            raise StoreError(f"expected a game of the season, got: number {game}")
        match, games = row
        return match, games

    def count(self) -> int:
        """Returns how many matches the open season has, and so the number of the next."""
        query = "SELECT coalesce(max(number), -1) + 1 FROM matches WHERE tournament = ?"
        (count,) = self._db.execute(query, (self._season(),)).fetchone()
        return int(count)

    def counts(self, game: int) -> bool:
        """Says whether a game of the open season, by its number, counts for ratings."""
        query = "SELECT counts FROM games WHERE tournament = ? AND number = ?"
        row = self._db.execute(query, (self._season(), game)).fetchone()
        return row is not None and bool(row[0])

    def running(self) -> list[Match]:
        """Returns the matches that are not over, in order."""
        return self._select(f"AND {PLAYING}", index="matches_playing")

    def begun(self) -> list[tuple[int, str, bool]]:
        """Returns the games of matches that are not over, in order.

        Returns:
            Of each the number, the worker elsewhere that played it (empty if none did), and whether it is done or
            void.
        """
        found = self._db.execute(
            "SELECT games.number, coalesce(worker, ''), status IN ('done', 'void')"
            " FROM matches INDEXED BY matches_playing CROSS JOIN games ON games.tournament = matches.tournament"
            f" AND games.match = matches.number WHERE matches.tournament = ? AND {PLAYING} ORDER BY games.number",
            (self._season(),),
        )
        return [(number, worker, bool(is_over)) for number, worker, is_over in found]

    def settled(self, first: int, end: int) -> list[Match]:
        """Returns the matches from number `first` up to but not including `end` that are over or void, in order."""
        return self._select("AND state <> 'playing' AND matches.number >= ? AND matches.number < ?", first, end)

    def over(self, limit: int = -1) -> list[Match]:
        """Returns the matches that are over or void, and whose logs are not published yet, in order.

        They are returned again until `publish` is called, so that a kill loses none.

        Args:
            limit: The most to return; -1 means all.
        """
        with immediate(self._db):
            settle(self._db, self._season())
        return self._select("AND state <> 'playing' AND published IS NULL", index="matches_unpublished", limit=limit)

    def publish(self, number: int, logs: Mapping[str, str] | None = None) -> None:
        """Notes that the logs and the deal's secret of a match are published.

        Args:
            number: The match's.
            logs: By game the SHA-256 (hex) of its public log.

        Raises:
            StoreError: The match is not over.
        """
        with immediate(self._db):
            changed = self._db.execute(
                "UPDATE matches SET published = coalesce(published, ?)"
                " WHERE tournament = ? AND number = ? AND state <> 'playing'",
                (now(), self._season(), number),
            ).rowcount
            if changed != 1:
                raise StoreError(f"expected a match that is over, got: number {number}")
            self._db.executemany(
                "UPDATE games SET public_sha256 = ? WHERE tournament = ? AND match = ? AND id = ?",
                [(digest, self._season(), number, game) for game, digest in (logs or {}).items()],
            )

    def void(self, match: int, reason: str) -> None:
        """Takes the games of a match that were not begun out of the season.

        Results that it has stay, and running games finish. The caller voids the claims that it holds itself.
        """
        with immediate(self._db):
            tournament = self._season()
            self._db.execute(
                "UPDATE games SET status = 'void', reason = ?"
                " WHERE tournament = ? AND match = ? AND status = 'planned'",
                (reason, tournament, match),
            )
            self._db.execute(
                "UPDATE matches SET reason = ? WHERE tournament = ? AND number = ?", (reason, tournament, match)
            )
            rate_prefix(self._db, tournament)
            settle(self._db, tournament)

    def strike(self, number: int, reason: str) -> Match | None:
        """Plays a match again: its results count no more, and the same versions meet on a new deal.

        Ratings are made again from its first game on by `Remaking.step`, which is to be called until nothing is left.

        Returns:
            The new match; None if one of them is not active any more, or the season is at its final, of which the match
            was no part.

        Raises:
            Refused: There is no such match, it is not over, or it does not count.
        """
        with immediate(self._db):
            settle(self._db, self._season())
            match = self.get(number)
            if match.state == "playing":
                raise Refused("busy", f"expected a match that is over, got: number {number}", "wait for its end")
            if not match.rated:
                raise Refused("state", f"expected a match that counts, got: number {number}")
            strike(self._db, match.tournament, number, reason)
            if self._not_active(match.entrants) or number < self._first_of_final():
                return None
            seatings = [game.entrants for game in match.games]
            return self.plan(match.players, None, seatings, f"match {number} again: {reason}", rated=True)

    def _first_of_final(self) -> int:
        """Returns the first match that may be planned again: if the final has begun, the first of these."""
        (first,) = self._db.execute(
            "SELECT coalesce(json_extract(final, '$.first_match'), 0) FROM seasons WHERE closed IS NULL"
        ).fetchone()
        return int(first)

    def recent_meetings(self, entrant: int, n: int) -> list[tuple[int, ...]]:
        """Returns whom an entrant met in its last matches, the latest first; those that are being played too."""
        return recent_meetings(self._db, self._season(), entrant, n)

    def games_waiting(self) -> int:
        """Returns how many games are planned or running beyond those that are rated."""
        (count,) = self._db.execute("SELECT games - rated FROM tournaments WHERE id = ?", (self._season(),)).fetchone()
        return int(count)

    def _season(self) -> str:
        tournament = rows.season(self._db)
        if tournament is None:
            raise Refused("no_season", "expected an open season, got: none", "open one: `arena league season open`")
        return tournament

    def _select(self, rest: str, *parameters: int, index: str = "", limit: int = -1) -> list[Match]:
        """Returns the matches of a query. Without the index's name SQLite would read all of the season."""
        tournament = self._season()
        by = f" INDEXED BY {index}" if index else ""
        found = self._db.execute(
            "SELECT number, players, deal, why, rated, state, reason, planned, published"
            f" FROM matches{by} WHERE tournament = ? {rest} ORDER BY number LIMIT ?",
            (tournament, *parameters, limit),
        ).fetchall()
        return [
            Match(
                tournament=tournament,
                number=number,
                players=players,
                deal=deal,
                why=why,
                rated=bool(rated),
                state=state,
                reason=reason,
                entrants=tuple(sorted(games[0].entrants)),
                games=games,
                planned=planned,
                published=published,
            )
            for number, players, deal, why, rated, state, reason, planned, published in found
            for games in [self._games_of(tournament, number)]
        ]

    def _games_of(self, tournament: str, match: int) -> tuple[MatchGame, ...]:
        """Returns the games of a match. Without the index's name SQLite would read all games of the season in order."""
        found = self._db.execute(
            "SELECT id, number, rotation, seating, status FROM games INDEXED BY games_by_match"
            " WHERE tournament = ? AND match = ? ORDER BY number",
            (tournament, match),
        ).fetchall()
        return tuple(
            MatchGame(
                game=game,
                number=number,
                rotation=rotation,
                entrants=msgspec.json.decode(seating, type=tuple[int, ...]),
                status=status,
            )
            for game, number, rotation, seating, status in found
        )


def settle(connection: Connection, tournament: str) -> None:
    """Notes which matches are over or void, in the caller's transaction."""
    found = connection.execute(
        "SELECT number, players, (SELECT sum(status = 'done') FROM games"
        " WHERE tournament = matches.tournament AND match = matches.number) FROM matches INDEXED BY matches_playing"
        f" WHERE tournament = ? AND state = 'playing' AND NOT ({PLAYING})",
        (tournament,),
    ).fetchall()
    for number, players, done in found:
        connection.execute(
            "UPDATE matches SET state = ?, settled = ? WHERE tournament = ? AND number = ?",
            ("over" if done else "void", now(), tournament, number),
        )
        if not done:
            connection.execute(
                "UPDATE seat_counts SET matches = matches - 1 WHERE tournament = ? AND players = ? AND entrant IN"
                " (SELECT entrant FROM meetings WHERE tournament = seat_counts.tournament AND match = ?)",
                (tournament, players, number),
            )
            connection.execute("DELETE FROM meetings WHERE tournament = ? AND match = ?", (tournament, number))


def recent_meetings(connection: Connection, tournament: str, entrant: int, n: int) -> list[tuple[int, ...]]:
    """Returns whom an entrant met in its last matches, the latest first."""
    found = connection.execute(
        "SELECT json_group_array(other.entrant) FROM"
        " (SELECT match FROM meetings WHERE tournament = :tournament AND entrant = :entrant"
        " ORDER BY match DESC LIMIT :n) AS own"
        " JOIN meetings AS other ON other.tournament = :tournament AND other.match = own.match"
        " AND other.entrant <> :entrant GROUP BY own.match ORDER BY own.match DESC",
        {"tournament": tournament, "entrant": entrant, "n": n},
    ).fetchall()
    return [msgspec.json.decode(others, type=tuple[int, ...]) for (others,) in found]
