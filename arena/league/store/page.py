"""A season's part of the pages (`arena.core.plugs.PagePart`).

Law: a game of a match is not there before the match is published, because its games share the deal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import Payload, databases, errors, files
from arena.league.store.controls import FINAL_MATCHES

_MEMBERS: Final = """SELECT entrant, authors.name, state, level, (SELECT coalesce(sum(matches), 0) FROM seat_counts
        WHERE seat_counts.tournament = ?1 AND seat_counts.entrant = versions.entrant)
        < coalesce((SELECT CAST(value AS INTEGER) FROM controls WHERE name = 'final_matches'), ?2)
    FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = author
    WHERE entrant IS NOT NULL AND EXISTS (SELECT 1 FROM seasons WHERE tournament = ?1 AND closed IS NULL)"""


class SeasonPage:
    """What pages show of a season.

    Args:
        published: The folder of what its league has published.
    """

    public = (
        "EXISTS (SELECT 1 FROM matches WHERE matches.tournament = games.tournament AND matches.number = games.match"
        " AND published IS NOT NULL)"
    )

    def __init__(self, db: databases.Connection, published: Path, tournament: str, name: str) -> None:
        self._db = db
        self._published = published
        self._tournament = tournament
        self.name = name
        self.logs = published / "logs"

    def _closed(self) -> Payload | None:
        query = "SELECT standings FROM seasons WHERE tournament = ? AND standings IS NOT NULL"
        row = self._db.execute(query, (self._tournament,)).fetchone()
        return row and msgspec.json.decode(row[0], type=Payload)

    def _document(self, name: str) -> Payload:
        """Returns a document that the service has published of this season; empty if it has not."""
        path = self._published / f"{name}.json"
        if not path.exists():
            return {}
        data = files.read(path, "what a league publishes", files.MOST_DOCUMENT, errors.StoreError, links=False)
        told = msgspec.json.decode(data, type=Payload)
        return told if told.get("season") == self.name else {}

    def members(self) -> dict[int, Payload]:
        """Returns the versions that play; of a closed season those that played to its end."""
        if closed := self._closed():
            query = "SELECT name, number FROM entrants WHERE tournament = ?"
            numbers = dict(self._db.execute(query, (self._tournament,)).fetchall())
            items = [item for item in closed["items"] if item["name"] in numbers]
            return {numbers[item["name"]]: {"state": "active", **item} for item in items}
        rows = self._db.execute(_MEMBERS, (self._tournament, FINAL_MATCHES))
        names = ("author", "state", "level")
        return {one: {**dict(zip(names, told, strict=True)), "provisional": bool(few)} for one, *told, few in rows}

    def standings(self) -> Payload | None:
        """Returns the final standings; while the final is played, those that are published."""
        if (closed := self._closed()) is not None:
            return closed
        told = self._document("standings")
        return told if told.get("final") else None

    def about(self) -> Payload:
        """Returns what the league says about itself, while this is its open season."""
        return self._document("league")
