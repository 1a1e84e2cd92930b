"""Stores seasons. A season is a tournament that is open until the season is closed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from arena.errors import Refused
from arena.ratings.running import Rating
from arena.store.database import Connection, immediate
from arena.store.league import rows
from arena.store.league.changes import enter
from arena.store.league.matches import settle
from arena.store.league.records import Season
from arena.store.rated import rate_prefix
from arena.store.records import Tournament, canonical
from arena.store.store import now
from arena.types import Payload

if TYPE_CHECKING:
    from arena.store.store import Store


class Seasons:
    """The seasons of a league."""

    def __init__(self, connection: Connection, games: Store) -> None:
        self._db = connection
        self._games = games

    def open(
        self,
        name: str,
        tournament: Tournament,
        *,
        starts: Mapping[int, Rating] | None = None,
        specs: Mapping[int, Payload] | None = None,
    ) -> Season:
        """Opens a season. All active versions are its entrants, in the order in which they were received.

        Args:
            name: What people call it.
            tournament: Its tournament, which is stored by this: open, and without games.
            starts: By version's id the rating that it begins with; a new rating for the others.
            specs: By version's id what it is started with; its manifest for the others.

        Raises:
            Refused: A season is open, or there was one of that name.
        """
        with immediate(self._db):
            if (current := self.current()) is not None:
                raise Refused("season", f"expected no open season, got: {current.name}", "close it first")
            if any(season.name.lower() == name.lower() for season in self.all()):
                raise Refused("name_taken", f"expected a new name for a season, got: {name!r}, which was one before")
            if not tournament.open or tournament.games:
                raise Refused("season", "expected a tournament that is open and has no games, got another")
            self._games.create(tournament, ())
            before = self._db.execute("SELECT digest FROM seasons ORDER BY number DESC LIMIT 1").fetchone()
            self._db.execute(
                "INSERT INTO seasons (tournament, name, opened, digest_before) VALUES (?, ?, ?, ?)",
                (tournament.id, name, now(), before[0] if before else ""),
            )
            self._db.execute("UPDATE versions SET entrant = NULL, first_game = 0")
            for version in rows.versions(self._db, "WHERE state = 'active' ORDER BY versions.id"):
                spec = (specs or {}).get(version.id)
                start = (starts or {}).get(version.id, Rating())
                number = enter(self._db, self._games, tournament.id, version, spec, start)
                self._db.execute("UPDATE versions SET entrant = ? WHERE id = ?", (number, version.id))
            season = self.current()
            assert season is not None
            return season

    def current(self) -> Season | None:
        """Returns the open season, or None."""
        found = self._select("WHERE closed IS NULL")
        return found[0] if found else None

    def all(self) -> list[Season]:
        """Returns all seasons, the first first."""
        return self._select("ORDER BY number")

    def stop(self) -> None:
        """Takes all games of the open season that were not begun out of it, and plans no more. Running games finish.

        Raises:
            Refused: No season is open.
        """
        with immediate(self._db):
            season = self._open_one()
            self._db.execute(
                "UPDATE games SET status = 'void', reason = 'the season ended'"
                " WHERE tournament = ? AND status = 'planned'",
                (season.tournament,),
            )
            rate_prefix(self._db, season.tournament)
            settle(self._db, season.tournament)
            self._games.plan_no_more(season.tournament)

    def close(self, standings: Payload, fits: Iterable[tuple[int, float, float | None, int]] = ()) -> Season:
        """Closes the open season for ever: its standings are frozen, with a digest over all its results.

        Args:
            standings: The final standings.
            fits: What `Store.finish` takes.

        Raises:
            Refused: No season is open, or games of it are running. Let them finish, and close it then.
        """
        with immediate(self._db):
            season = self._open_one()
            self.stop()
            (running,) = self._db.execute(
                "SELECT count(*) FROM games WHERE tournament = ? AND status = 'running'", (season.tournament,)
            ).fetchone()
            if running:
                raise Refused("busy", f"expected a season without running games, got: {running}", "wait for their end")
            self._games.finish(season.tournament, fits)
            self._db.execute(
                "UPDATE seasons SET closed = ?, standings = ?, digest = ? WHERE number = ?",
                (now(), canonical(standings), self.digest(season), season.number),
            )
            return self._select("WHERE number = ?", season.number)[0]

    def digest(self, season: Season) -> str:
        """Returns the SHA-256 (hex) over a season's results, computed from its rows.

        Of each game in order it takes a line of JSON: number, status, whether it counts, the entrants' names by seat,
        their ranks and the play digest. The digest of the season before comes first.
        """
        digest = hashlib.sha256(f"{season.digest_before}\n".encode())
        names = {entrant.number: entrant.name for entrant in self._games.entrants(season.tournament)}
        found = self._db.execute(
            "SELECT games.number, status, counts, seating, play_digest,"
            " (SELECT json_group_array(rank) FROM (SELECT rank FROM seats WHERE game = games.id ORDER BY seat))"
            " FROM games WHERE tournament = ? ORDER BY number",
            (season.tournament,),
        )
        for number, status, counts, seating, play_digest, ranks in found:
            is_done = status == "done"
            line = {
                "number": number,
                "status": status,
                "counts": bool(counts),
                "entrants": [names[entrant] for entrant in msgspec.json.decode(seating)],
                "ranks": msgspec.json.decode(ranks) if is_done else [],
                "play_digest": play_digest if is_done else None,
            }
            digest.update(f"{canonical(line)}\n".encode())
        return digest.hexdigest()

    def _open_one(self) -> Season:
        season = self.current()
        if season is None:
            raise Refused("no_season", "expected an open season, got: none")
        return season

    def _select(self, rest: str, *parameters: int) -> list[Season]:
        found = self._db.execute(
            f"SELECT number, tournament, name, opened, closed, standings, digest, digest_before FROM seasons {rest}",
            parameters,
        ).fetchall()
        return [
            Season(
                number=number,
                tournament=tournament,
                name=name,
                opened=opened,
                closed=closed,
                standings=standings and msgspec.json.decode(standings),
                digest=digest,
                digest_before=before,
            )
            for number, tournament, name, opened, closed, standings, digest, before in found
        ]
