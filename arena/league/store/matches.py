"""Stores matches: one deal in its seatings, each seating a game of the season's tournament.

Laws:
1. Matches that are chosen together, and their games, are stored in one transaction. The games are `planned` from then
   on, and the store claims and records them like those of any tournament. Games of one seating are a block.
2. Each match has a deal of its own. So its secret can be revealed when the match is over.
3. A match is over when each of its games is done or void. One of which nothing was played is void, and counts for
   nobody as played.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import msgspec

from arena.core.face import chance, databases, errors, game_rows, rating_history, stores
from arena.league.record import rounds
from arena.league.store import lines, rows
from arena.league.store.records import Match, MatchGame
from arena.league.store.striking import rate_again, strike

PLAYING: Final = (
    "state = 'playing' AND EXISTS (SELECT 1 FROM games WHERE games.tournament = matches.tournament"
    " AND games.match = matches.number AND games.status IN ('planned', 'running'))"
)
"""Whether a match is not over yet, for a query over `matches`."""
_COLUMNS = [name for name in Match.__struct_fields__ if name not in ("entrants", "games")]


class Matches(rows.SeasonPart):
    """The matches of the open season."""

    def plan(self, matches: Sequence[Sequence[tuple[int, ...]]], why: str, rated: bool) -> list[Match]:
        """Stores matches of the same entrants with their games, each match on a deal of its own.

        Games of one rotation follow each other, so that they are a block: they share bot processes.

        Args:
            matches: Of each match the seatings, and of each of these the entrants by seat. All have the same entrants,
                and as many games.
            why: Why these meet, for people.
            rated: Whether the games count.

        Raises:
            Refused: No season is open, or a seat is not that of an active version.
            StoreError: The seatings are not those of one meeting.
        """
        seatings = [seating for match in matches for seating in match]
        entrants = sorted(seatings[0]) if seatings else []
        if not entrants or any(sorted(seating) != entrants for seating in seatings):
            raise errors.StoreError(f"expected seatings of the same entrants, got: {seatings}")
        if len(set(entrants)) != len(entrants):
            raise errors.StoreError(f"expected different entrants, got: {entrants}")
        if len({len(match) for match in matches}) != 1:
            raise errors.StoreError(f"expected as many games in each match, got: {[len(match) for match in matches]}")
        with databases.immediate(self._db):
            tournament = self._season()
            self._check_active(entrants)
            first = self.count()
            self._db.executemany(
                "INSERT INTO matches (tournament, number, players, deal, why, rated, planned, together)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (tournament, number, len(entrants), number, why, rated, stores.now(), first)
                    for number, _ in enumerate(matches, first)
                ],
            )
            self._add_games(tournament, first, matches, rated)
            self._add_meetings(tournament, range(first, first + len(matches)), entrants)
            planned = [self.get(number) for number, _ in enumerate(matches, first)]
            self._note_planned(tournament, planned)
            return planned

    def _note_planned(self, tournament: str, matches: Sequence[Match]) -> None:
        names = {entrant: self._games.name(tournament, entrant) for entrant in matches[0].entrants}
        for match in matches:
            line = rounds.Planned(
                match=match.number,
                games=[game.number for game in match.games],
                seats=[[names[entrant] for entrant in game.entrants] for game in match.games],
                rated=match.rated,
            )
            lines.note(self._db, tournament, line)

    def _add_games(
        self, tournament: str, first_match: int, matches: Sequence[Sequence[tuple[int, ...]]], rated: bool
    ) -> None:
        """Adds the games of matches, whose deals have the matches' numbers: rotation by rotation, deal by deal."""
        games = [
            (match, rotation, seating)
            for rotation, of_rotation in enumerate(zip(*matches, strict=True))
            for match, seating in enumerate(of_rotation, first_match)
        ]
        (first,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        self._db.execute("UPDATE tournaments SET games = games + ? WHERE id = ?", (len(games), tournament))
        self._db.executemany(
            "INSERT INTO games (id, tournament, number, deal, rotation, seating, match, counts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    game_rows.game_id(tournament, number),
                    tournament,
                    number,
                    match,
                    rotation,
                    game_rows.canonical(seating),
                    match,
                    rated,
                )
                for number, (match, rotation, seating) in enumerate(games, first)
            ],
        )

    def _add_meetings(self, tournament: str, matches: range, entrants: Sequence[int]) -> None:
        self._db.executemany(
            "INSERT INTO meetings (tournament, entrant, match) VALUES (?, ?, ?)",
            [(tournament, entrant, match) for entrant in entrants for match in matches],
        )
        self._db.executemany(
            "INSERT INTO seat_counts (tournament, entrant, players, matches) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET matches = matches + excluded.matches",
            [(tournament, entrant, len(entrants), len(matches)) for entrant in entrants],
        )

    def _check_active(self, entrants: Sequence[int]) -> None:
        if gone := self._not_active(entrants):
            raise errors.Refused("state", f"expected active versions in all seats, got: entrants {gone}, which are not")

    def _not_active(self, entrants: Sequence[int]) -> list[int]:
        """Returns those of these entrants that are not active versions."""
        query = "SELECT 1 FROM versions WHERE entrant = ? AND state = 'active'"
        return [entrant for entrant in entrants if self._db.execute(query, (entrant,)).fetchone() is None]

    def get(self, number: int) -> Match:
        """Returns a match of the open season. Raises Refused: there is none."""
        found = self._select("AND matches.number = ?", number)
        if not found:
            raise errors.Refused("unknown_match", f"expected a match of the season, got: number {number}")
        return found[0]

    def game(self, number: int) -> game_rows.PlannedGame:
        """Returns a game of the open season: what `Store.claim` takes as the schedule.

        Its block is the number of the first game of its rotation in the matches that were planned together.

        Raises:
            StoreError: There is none.
        """
        row = self._db.execute(
            "SELECT game.deal, game.rotation, seating, (SELECT number FROM games INDEXED BY games_by_match"
            " WHERE tournament = game.tournament AND match = together"
            " AND rotation = game.rotation) FROM games AS game JOIN matches"
            " ON matches.tournament = game.tournament AND matches.number = game.match"
            " WHERE game.tournament = ? AND game.number = ?",
            (self._season(), number),
        ).fetchone()
        if row is None:
            raise errors.StoreError(f"expected a game of the season, got: number {number}")
        deal, rotation, seating, block = row
        entrants = msgspec.json.decode(seating, type=tuple[int, ...])
        return game_rows.PlannedGame(number=number, block=block, deal=deal, rotation=rotation, entrants=entrants)

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
            raise errors.StoreError(f"expected a game of the season, got: number {game}")
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
        games = (game for match in self.running() for game in match.games)
        return sorted((game.number, game.worker or "", game.status in ("done", "void")) for game in games)

    def settled(self, first: int, end: int) -> list[Match]:
        """Returns the matches from number `first` up to but not including `end` that are over or void, in order."""
        return self._select("AND state <> 'playing' AND matches.number >= ? AND matches.number < ?", first, end)

    def over(self, limit: int = -1) -> list[Match]:
        """Returns the matches that are over or void, and whose logs are not published yet, in order.

        They are returned again until `publish` is called, so that a kill loses none.

        Args:
            limit: The most to return; -1 means all.
        """
        with databases.immediate(self._db):
            settle(self._db, self._season())
        return self._select("AND state <> 'playing' AND published IS NULL", index="matches_unpublished", limit=limit)

    def publish(self, number: int, logs: Mapping[str, str] | None = None) -> None:
        """Notes that the logs of a match are published, and with that what came of it and the secret of its deal.

        Args:
            logs: By game the SHA-256 (hex) of its public log.

        Raises:
            StoreError: The match is not over.
        """
        with databases.immediate(self._db):
            match = self.get(number)
            if match.state == "playing":
                raise errors.StoreError(f"expected a match that is over, got: number {number}")
            if match.published is not None:
                return
            self._db.execute(
                "UPDATE matches SET published = ? WHERE tournament = ? AND number = ?",
                (stores.now(), match.tournament, number),
            )
            self._db.executemany(
                "UPDATE games SET public_sha256 = ? WHERE tournament = ? AND match = ? AND id = ?",
                [(digest, match.tournament, number, game) for game, digest in (logs or {}).items()],
            )
            season = self._games.tournament(match.tournament)
            secret = chance.deal_secret(season.secret, match.deal, chance.mix(season.beacon)).hex()
            line = rounds.Over(
                match=number, secret=secret, games=over(self._db, match.games), reason=match.reason or ""
            )
            lines.note(self._db, match.tournament, line)

    def void(self, match: int, reason: str) -> None:
        """Takes the games of a match that were not begun out of the season.

        Results that it has stay, and running games finish. The caller voids the claims that it holds itself.
        """
        with databases.immediate(self._db):
            tournament = self._season()
            self._db.execute(
                "UPDATE games SET status = 'void', reason = ?"
                " WHERE tournament = ? AND match = ? AND status = 'planned'",
                (reason, tournament, match),
            )
            self._db.execute(
                "UPDATE matches SET reason = ? WHERE tournament = ? AND number = ?", (reason, tournament, match)
            )
            rating_history.rate_prefix(self._db, tournament)
            settle(self._db, tournament)

    def strike(
        self, numbers: Collection[int], reason: str, alive: Callable[[], object] = lambda: None
    ) -> list[Match | str]:
        """Plays matches again: their results count no more, and the same versions meet on new deals.

        Args:
            alive: Called again and again while ratings are made again, from the first game of these matches on.

        Returns:
            For each the new match, or why there is none.

        Raises:
            Refused: There is no such match, it is not over, or it does not count. Nothing has changed.
        """
        with databases.immediate(self._db):
            tournament = self._season()
            settle(self._db, tournament)
            for number in numbers:
                match = self.get(number)
                if match.state == "playing":
                    raise errors.Refused(
                        "busy", f"expected a match that is over, got: number {number}", "wait for its end"
                    )
                if not match.rated:
                    raise errors.Refused("state", f"expected a match that counts, got: number {number}")
            self._take_back(tournament, numbers, reason, alive)
            return [self._again(self.get(number), reason) for number in numbers]

    def strike_all(self, entrants: Collection[int], reason: str, alive: Callable[[], object] = lambda: None) -> int:
        """Takes back all results of entrants, those of games that run too. Nobody plays their matches again.

        Args:
            entrants: They play no more, so that none of their games is planned.
            alive: As for `strike`, and while there are many matches.

        Returns:
            How many matches these were.
        """
        with databases.immediate(self._db):
            tournament = self._season()
            settle(self._db, tournament)
            found = {
                number
                for entrant in entrants
                for (number,) in self._db.execute(
                    "SELECT match FROM meetings JOIN matches ON matches.tournament = meetings.tournament"
                    " AND number = match WHERE meetings.tournament = ? AND entrant = ? AND rated",
                    (tournament, entrant),
                )
            }
            self._take_back(tournament, sorted(found), reason, alive)
            return len(found)

    def _take_back(self, tournament: str, numbers: Collection[int], reason: str, alive: Callable[[], object]) -> None:
        """Makes matches count no more, notes that, and makes ratings again, in the caller's transaction."""
        first, entrants = math.inf, set[int]()
        for number in numbers:
            entrants |= {*self.get(number).entrants}
            first = min(first, strike(self._db, tournament, number, reason))
            lines.note(self._db, tournament, rounds.Struck(match=number, reason=reason))
            alive()
        if first < math.inf:
            rate_again(self._db, tournament, int(first), entrants, alive)

    def _again(self, match: Match, reason: str) -> Match | str:
        """Plans a match again, or returns why it is not played again."""
        if match.number < self._first_of_final():
            return "it is not played again, as the final of the season has begun"
        if self._not_active(match.entrants):
            return "it is not played again, as somebody of it plays no more"
        seatings = [game.entrants for game in match.games]
        return self.plan([seatings], f"match {match.number} again: {reason}", rated=True)[0]

    def _first_of_final(self) -> int:
        """Returns the first match that may be planned again: if the final has begun, the first of these."""
        query = "SELECT coalesce(json_extract(final, '$.first_match'), 0) FROM seasons WHERE closed IS NULL"
        return int(self._db.execute(query).fetchone()[0])

    def games_waiting(self) -> int:
        """Returns how many games are planned or running beyond those that are rated."""
        (count,) = self._db.execute("SELECT games - rated FROM tournaments WHERE id = ?", (self._season(),)).fetchone()
        return int(count)

    def _season(self) -> str:
        return rows.open_season(self._db)

    def _select(self, rest: str, *parameters: int, index: str = "", limit: int = -1) -> list[Match]:
        """Returns the matches of a query. Without the index's name SQLite would read all of the season."""
        tournament = self._season()
        by = f" INDEXED BY {index}" if index else ""
        found = self._db.execute(
            f"SELECT {', '.join(_COLUMNS)} FROM matches{by} WHERE tournament = ? {rest} ORDER BY number LIMIT ?",
            (tournament, *parameters, limit),
        ).fetchall()
        matches = []
        for row in found:
            values = dict(zip(_COLUMNS, row, strict=True))
            games = self._games_of(tournament, values["number"])
            values |= {"rated": bool(values["rated"]), "entrants": tuple(sorted(games[0].entrants)), "games": games}
            matches.append(Match(**values))
        return matches

    def _games_of(self, tournament: str, match: int) -> tuple[MatchGame, ...]:
        """Returns the games of a match. Without the index's name SQLite would read all games of the season in order."""
        found = self._db.execute(
            "SELECT id, number, rotation, seating, status, worker FROM games INDEXED BY games_by_match"
            " WHERE tournament = ? AND match = ? ORDER BY number",
            (tournament, match),
        )
        return tuple(rows.read(MatchGame, found, "entrants"))


def over(connection: databases.Connection, games: Sequence[MatchGame]) -> list[rounds.GameOver]:
    """Returns what came of the games of a match, with the SHA-256 of their public logs."""
    found = []
    for game in games:
        row = connection.execute("SELECT play_digest, public_sha256 FROM games WHERE id = ?", (game.game,)).fetchone()
        ranks = connection.execute("SELECT rank FROM seats WHERE game = ? ORDER BY seat", (game.game,)).fetchall()
        done = game.status == "done"
        found.append(
            rounds.GameOver(
                status="done" if done else "void",
                ranks=[rank for (rank,) in ranks] if done else [],
                play_digest=row[0] if done else None,
                log=row[1] if done else None,
            )
        )
    return found


def settle(connection: databases.Connection, tournament: str) -> None:
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
            ("over" if done else "void", stores.now(), tournament, number),
        )
        if not done:
            connection.execute(
                "UPDATE seat_counts SET matches = matches - 1 WHERE tournament = ? AND players = ? AND entrant IN"
                " (SELECT entrant FROM meetings WHERE tournament = seat_counts.tournament AND match = ?)",
                (tournament, players, number),
            )
            connection.execute("DELETE FROM meetings WHERE tournament = ? AND match = ?", (tournament, number))
