"""Answers what the matchmaker, and the rule of suspension, have to know."""

from __future__ import annotations

from itertools import groupby
from typing import Final

import msgspec

from arena.core.face import game_rows
from arena.league.store import rows
from arena.league.store.matches import PLAYING
from arena.league.store.records import HOUSE, Form, Version, VersionStanding

RECENT_MEETINGS: Final = 10
"""In how many of its last meetings it matters whom a version met. Matches that are planned together are a meeting."""
RECENT_GAMES: Final = 20
"""How many of its last games say whether a version is broken."""

# CROSS JOIN makes SQLite look up what belongs to each row, and not read all of a season.
_ACTIVE: Final = """SELECT entrant, versions.id, bots.name, versions.number, authors.name,
        coalesce((SELECT mu FROM ratings WHERE tournament = :tournament AND entrant = versions.entrant
            ORDER BY number DESC LIMIT 1), mu0),
        (SELECT json_group_object(players, matches) FROM seat_counts
            WHERE tournament = :tournament AND entrant = versions.entrant),
        (SELECT coalesce(max(match), -1) FROM meetings
            WHERE tournament = :tournament AND entrant = versions.entrant),
        coalesce((SELECT match FROM games WHERE tournament = :tournament AND number = first_game),
            (SELECT max(number) + 1 FROM matches WHERE tournament = :tournament), 0)
    FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = bots.author
    JOIN entrants ON entrants.tournament = :tournament AND entrants.number = versions.entrant
    WHERE state = 'active' ORDER BY entrant"""
"""Figures of each active version. `since` is how many matches there were before its first game."""
_PLAYING: Final = f"""SELECT entrant, count(DISTINCT together) FROM matches INDEXED BY matches_playing
    CROSS JOIN meetings ON meetings.tournament = matches.tournament AND meetings.match = matches.number
    WHERE matches.tournament = :tournament AND {PLAYING} GROUP BY entrant"""
"""By entrant its meetings that are being played."""
_OPPONENTS: Final = """SELECT mine.entrant, mine.match, other.entrant FROM versions
    CROSS JOIN meetings AS mine ON mine.tournament = :tournament AND mine.entrant = versions.entrant
        AND mine.match IN (SELECT match FROM meetings CROSS JOIN matches ON matches.tournament = meetings.tournament
            AND matches.number = meetings.match WHERE meetings.tournament = :tournament
            AND entrant = versions.entrant AND match = together ORDER BY match DESC LIMIT :recent)
    CROSS JOIN meetings AS other ON other.tournament = :tournament AND other.match = mine.match
        AND other.entrant <> mine.entrant
    WHERE state = 'active' ORDER BY mine.entrant, mine.match DESC, other.entrant"""
"""Of each active version whom it met in its last meetings, the latest first."""


class Facts(rows.Part):
    """What is known of the active versions in the open season."""

    def standing(self) -> list[VersionStanding]:
        """Returns the active versions, by entrant. None if no season is open.

        It asks for all of them at once: a league of thousands is looked at again and again.
        """
        tournament = rows.season(self._db)
        if tournament is None:
            return []
        names = {"tournament": tournament, "recent": RECENT_MEETINGS}
        playing = dict(self._db.execute(_PLAYING, names).fetchall())
        opponents: dict[int, list[tuple[int, ...]]] = {}
        for (entrant, _), met in groupby(self._db.execute(_OPPONENTS, names), key=lambda row: row[:2]):
            opponents.setdefault(entrant, []).append(tuple(other for _, _, other in met))
        return [
            VersionStanding(
                entrant=entrant,
                version=version,
                name=f"{bot}/{number}",
                author=None if author == HOUSE else author,
                mu=mu,
                matches=sum(seats.values()),
                last=max(last, since),
                waits_since=max(last + 1, since),
                seats=seats,
                met=tuple(reversed(opponents.get(entrant, ()))),
                playing=playing.get(entrant, 0),
            )
            for entrant, version, bot, number, author, mu, counts, last, since in self._db.execute(_ACTIVE, names)
            for seats in [msgspec.json.decode(counts, type=dict[int, int])]
        ]

    def form(self, version: Version, games: int = RECENT_GAMES) -> Form:
        """Returns how a version did in its last games since it is active: what may suspend it.

        A loss on time while the machine was overloaded is no forfeit here.
        """
        tournament = rows.season(self._db)
        if tournament is None or version.entrant is None:
            return Form(games=0, forfeits=(), in_a_row=0)
        found = self._db.execute(
            # A match has at least one game of a version, so no more matches than games need to be looked at.
            "SELECT games.id, figures"
            " FROM (SELECT match FROM meetings WHERE tournament = :tournament AND entrant = :entrant"
            " ORDER BY match DESC LIMIT :games + 64) AS own"
            " JOIN games ON games.tournament = :tournament AND games.match = own.match AND status = 'done'"
            " AND games.number >= :first JOIN seats ON seats.game = games.id AND seats.entrant = :entrant"
            " ORDER BY games.number DESC LIMIT :games",
            {"tournament": tournament, "entrant": version.entrant, "games": games, "first": version.first_game},
        ).fetchall()
        lost = [(game, game_rows.figures_of(figures).forfeit) for game, figures in found]
        own = [None if told is None or told.overloaded else (game, told) for game, told in lost]
        return Form(
            games=len(found),
            forfeits=tuple(one for one in own if one is not None),
            in_a_row=own.index(None) if None in own else len(own),
        )
