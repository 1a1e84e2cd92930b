"""Answers what the matchmaker, and the rule of suspension, have to know."""

from __future__ import annotations

from typing import Final

import msgspec

from arena.ratings.running import Rating
from arena.store.database import Connection
from arena.store.league import rows
from arena.store.league.matches import PLAYING, recent_meetings
from arena.store.league.records import Forfeited, Form, Standing, Version

RECENT_MATCHES: Final = 10
"""In how many of its last matches it matters whom a version met."""
RECENT_GAMES: Final = 20
"""How many of its last games say whether a version is broken."""


class Facts:
    """What is known of the active versions in the open season."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def standing(self) -> list[Standing]:
        """Returns the active versions, by entrant. None if no season is open."""
        tournament = rows.season(self._db)
        if tournament is None:
            return []
        active = rows.versions(self._db, "WHERE state = 'active' ORDER BY entrant")
        return [self._standing(tournament, version) for version in active]

    def _standing(self, tournament: str, version: Version) -> Standing:
        entrant = version.entrant
        assert entrant is not None
        mu, sigma = self._db.execute(
            "SELECT mu, sigma FROM (SELECT mu, sigma, number FROM ratings WHERE tournament = :tournament"
            " AND entrant = :entrant UNION ALL SELECT mu0, sigma0, -1 FROM entrants WHERE tournament = :tournament"
            " AND number = :entrant) ORDER BY number DESC LIMIT 1",
            {"tournament": tournament, "entrant": entrant},
        ).fetchone()
        seats = dict(
            self._db.execute(
                "SELECT players, matches FROM seat_counts WHERE tournament = ? AND entrant = ?", (tournament, entrant)
            ).fetchall()
        )
        last, playing = self._db.execute(
            "SELECT (SELECT max(match) FROM meetings WHERE tournament = :tournament AND entrant = :entrant),"
            " (SELECT count(*) FROM matches JOIN meetings ON meetings.tournament = matches.tournament"
            f" AND match = matches.number WHERE matches.tournament = :tournament AND entrant = :entrant AND {PLAYING})",
            {"tournament": tournament, "entrant": entrant},
        ).fetchone()
        form = self.form(version)
        return Standing(
            entrant=entrant,
            version=version.id,
            name=version.name,
            author=version.author,
            rating=Rating(mu, sigma),
            matches=sum(seats.values()),
            last_match=-1 if last is None else last,
            since_match=self._matches_before(tournament, version.first_game),
            seats=seats,
            opponents=tuple(recent_meetings(self._db, tournament, entrant, RECENT_MATCHES)),
            playing=playing,
            forfeits=len(form.forfeits),
            in_a_row=form.in_a_row,
        )

    def _matches_before(self, tournament: str, game: int) -> int:
        """Returns how many matches there were before a game."""
        (matches,) = self._db.execute(
            "SELECT coalesce((SELECT match FROM games WHERE tournament = :tournament AND number = :game),"
            " (SELECT max(number) + 1 FROM matches WHERE tournament = :tournament), 0)",
            {"tournament": tournament, "game": game},
        ).fetchone()
        return int(matches)

    def form(self, version: Version, games: int = RECENT_GAMES) -> Form:
        """Returns how a version did in its last games since it is active: what may suspend it.

        A loss on time while the machine was overloaded is no forfeit here.
        """
        tournament = rows.season(self._db)
        if tournament is None or version.entrant is None:
            return Form(games=0, forfeits=(), in_a_row=0)
        found = self._db.execute(
            # A match has at least one game of a version, so no more matches than games need to be looked at.
            "SELECT games.id, seat, turn, CASE WHEN overloaded THEN NULL ELSE forfeit END, sentence, stderr"
            " FROM (SELECT match FROM meetings WHERE tournament = :tournament AND entrant = :entrant"
            " ORDER BY match DESC LIMIT :games + 64) AS own"
            " JOIN games ON games.tournament = :tournament AND games.match = own.match AND status = 'done'"
            " AND games.number >= :first JOIN seats ON seats.game = games.id AND seats.entrant = :entrant"
            " ORDER BY games.number DESC LIMIT :games",
            {"tournament": tournament, "entrant": version.entrant, "games": games, "first": version.first_game},
        ).fetchall()
        in_a_row = next((place for place, row in enumerate(found) if row[3] is None), len(found))
        return Form(
            games=len(found),
            forfeits=tuple(
                Forfeited(
                    game=game,
                    seat=seat,
                    turn=turn,
                    code=code,
                    sentence=sentence,
                    stderr=msgspec.json.decode(stderr or "[]", type=list[str]),
                )
                for game, seat, turn, code, sentence, stderr in found
                if code is not None
            ),
            in_a_row=in_a_row,
        )
