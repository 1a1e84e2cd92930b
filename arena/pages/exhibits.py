"""Reads what pages show of a tournament: its games, its seats, the course of its ratings, versions of a league.

Law: a game of a league's match is not there before the match is published, because its games share the deal. And
of a league nobody reads what a bot said beside its actions: neither the sentence of a forfeit nor last words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from arena.core.face import Payload, Reader, errors, files, game_rows, sql_views, stores
from arena.league.store.controls import FINAL_MATCHES

_SHOWN: Final = "games.tournament = ? AND games.status = 'done'"
_PUBLISHED: Final = (
    " AND (games.match IS NULL OR EXISTS (SELECT 1 FROM matches"
    " WHERE matches.tournament = games.tournament AND matches.number = games.match AND published IS NOT NULL))"
)


Outcome: TypeAlias = Literal["won", "drawn", "lost"]


def outcome_of(rank: int, *, shared: bool) -> Outcome:
    """Returns what a game was for a seat: only the first rank is won, and drawn if others share it."""
    return "lost" if rank > 1 else "drawn" if shared else "won"


class ShownSeat(msgspec.Struct, frozen=True):
    """What one entrant did in a game that may be shown."""

    number: int
    seat: int
    entrant: int
    rank: int
    shared: int
    """1 if a seat that does not play with it has the same rank, else 0."""
    decisions: int
    total_ms: float
    max_ms: float
    forfeit: str | None

    @property
    def outcome(self) -> Outcome:
        """Result of the game for this entrant."""
        return outcome_of(self.rank, shared=bool(self.shared))


class ShownGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game that may be shown."""

    game: str
    number: int
    finished: str
    """UTC (ISO 8601)."""
    termination: str
    turns: int
    seconds: float
    counts: bool
    entrants: tuple[int, ...]
    """By seat."""
    ranks: tuple[int, ...]
    forfeits: tuple[str | None, ...]
    """By seat the code."""
    scores: tuple[int | None, ...]
    leads: tuple[int | None, ...]
    """By seat its leads over all others, added up, if the game counts them."""
    shared: tuple[int, ...]
    """By seat 1 if one that does not play with it has the same rank, else 0."""


class ShownForfeit(msgspec.Struct, frozen=True, kw_only=True):
    """A forfeit with what may be told of it."""

    number: int
    game: str
    seat: int
    entrant: int
    code: str
    turn: int | None
    overloaded: bool
    sentence: str
    last_words: list[str]
    """What it wrote last to stderr; nothing in a league."""


class Version(msgspec.Struct, frozen=True):
    """A version of a bot that was an entrant."""

    tournament: str
    entrant: int
    name: str
    version: str
    digest: str


class Member(msgspec.Struct, frozen=True):
    """The version of a league's bot that is an entrant of a season."""

    author: str
    state: str
    level: str
    provisional: bool = False
    """Whether it has had too few matches for its rating to mean much."""


class Exhibits(Reader):
    """A reader for pages. Make one with `open_exhibits`."""

    @cached_property
    def _of_league(self) -> bool:
        return bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'seasons'").fetchone())

    @property
    def _shown(self) -> str:
        """Which games of a tournament may be shown."""
        return _SHOWN + _PUBLISHED if self._of_league else _SHOWN

    def all(self) -> list[game_rows.Tournament]:
        """Returns the tournaments in which a game is planned, the latest first."""
        open_ = " OR id IN (SELECT tournament FROM seasons)" if self._of_league else ""
        ids = self._db.execute(f"SELECT id FROM tournaments WHERE games > 0{open_} ORDER BY rowid DESC").fetchall()
        return [self.tournament(id) for (id,) in ids]

    def seasons(self) -> dict[str, str]:
        """Returns the names of a league's seasons by their tournaments; none if it is no league's database."""
        found = self._db.execute("SELECT tournament, name FROM seasons") if self._of_league else ()
        return dict(found)

    def published(self, document: str) -> Payload:
        """Returns what the service of a league has published, as `league` or `standings`; empty if it has not."""
        path = self.path.parent / "published" / f"{document}.json"
        if not self._of_league or not path.exists():
            return {}
        data = files.read(path, "what a league publishes", files.MOST_DOCUMENT, errors.StoreError, links=False)
        return msgspec.json.decode(data, type=Payload)

    def frozen(self, tournament: str) -> Payload | None:
        """Returns the final standings of a season; while its final is played, those that are published."""
        if (found := super().frozen(tournament)) is not None:
            return found
        told = self.published("standings")
        is_open = told.get("season") == self.seasons().get(tournament)
        return told if is_open and told.get("final") else None

    def course_of(self, tournament: str) -> list[object]:
        """Returns what differs whenever something else is shown of the games and the ratings of a tournament.

        The seats of a game that is done stay as they are, so its own row tells. Games can stop to count, ratings be
        computed again, and the old ones of a league are thinned out.
        """
        games = "SELECT count(*), total(counts), total(turns), max(finished) FROM games WHERE "
        ratings = "SELECT count(*), total(mu), total(sigma) FROM ratings WHERE tournament = ?"
        return [
            self._db.execute(games + self._shown, (tournament,)).fetchone(),
            self._db.execute(ratings, (tournament,)).fetchone(),
            self.tallies(tournament),
        ]

    def entered(self) -> list[tuple[str, int]]:
        """Returns the tournaments, the earliest first, each with the number of its entrants."""
        return self._db.execute(
            "SELECT id, (SELECT count(*) FROM entrants WHERE tournament = id) FROM tournaments ORDER BY rowid"
        ).fetchall()

    def shown_logs(self, tournament: str) -> dict[int, str]:
        """Returns the names of the logs of the games that may be shown, by the games' numbers in order."""
        query = f"SELECT number, log FROM games WHERE {self._shown} ORDER BY number"
        return {number: log for number, log in self._db.execute(query, (tournament,)) if log}

    def shown_seats(self, tournament: str) -> Iterator[ShownSeat]:
        """Yields the seats of all games that may be shown, in schedule order."""
        rows = self._db.execute(
            f"SELECT number, seat, entrant, rank, {sql_views.SHARED}, decisions, total_ms, max_ms, forfeit"
            f" FROM games JOIN seats ON seats.game = games.id WHERE {self._shown} ORDER BY number, seat",
            (tournament,),
        )
        return (ShownSeat(*row) for row in rows)

    def shown_games(self, tournament: str, first: int = 0, stop: int = 2**62) -> list[ShownGame]:
        """Returns the games that may be shown, of the numbers from `first` to before `stop`."""
        found: dict[int, tuple[tuple[Any, ...], list[tuple[Any, ...]]]] = {}
        rows = self._db.execute(
            "SELECT number, games.id, finished, termination, turns, seconds, counts, entrant, rank, forfeit, score,"
            f" margin, {sql_views.SHARED} FROM games JOIN seats ON seats.game = games.id"
            f" WHERE {self._shown} AND number >= ? AND number < ? ORDER BY number, seat",
            (tournament, first, stop),
        )
        for number, id, finished, termination, turns, seconds, counts, *seat in rows:
            about = (id, finished or "", termination, turns or 0, seconds or 0.0, bool(counts))
            found.setdefault(number, (about, []))[1].append(tuple(seat))
        names = ("game", "finished", "termination", "turns", "seconds", "counts")
        columns = ("entrants", "ranks", "forfeits", "scores", "leads", "shared")
        games = []
        for number, (about, seats) in found.items():
            told: dict[str, Any] = dict(zip(names, about, strict=True))
            told |= zip(columns, zip(*seats, strict=True), strict=True)
            games.append(ShownGame(number=number, **told))
        return games

    def shown_forfeits(self, tournament: str, entrant: int, limit: int) -> list[ShownForfeit]:
        """Returns the last forfeits of an entrant, the latest first."""
        rows = self._db.execute(
            "SELECT number, games.id, seat, forfeit, turn, overloaded, sentence, stderr, games.match"
            f" FROM games JOIN seats ON seats.game = games.id WHERE {self._shown} AND entrant = ?"
            " AND forfeit IS NOT NULL ORDER BY number DESC LIMIT ?",
            (tournament, entrant, limit),
        )
        return [
            ShownForfeit(
                number=number,
                game=game,
                seat=seat,
                entrant=entrant,
                code=code,
                turn=turn,
                overloaded=bool(overloaded),
                sentence=(sentence or "") if match is None else "",
                last_words=msgspec.json.decode(stderr or "[]", type=list[str]) if match is None else [],
            )
            for number, game, seat, code, turn, overloaded, sentence, stderr, match in rows
        ]

    def rating_courses(self, tournament: str, games: int, points: int) -> dict[int, list[tuple[int, float, float]]]:
        """Returns by entrant how its running rating moved in the first `games` games: game, mean and deviation.

        Of each of `points` equal parts of the games it has the last rating, if the entrant played in it.
        """
        courses: dict[int, list[tuple[int, float, float]]] = {}
        rows = self._db.execute(
            "SELECT entrant, max(number), mu, sigma FROM ratings WHERE tournament = ? AND number < ?"
            " GROUP BY entrant, number * ? / ? ORDER BY entrant, number",
            (tournament, games, points, max(games, 1)),
        )
        for entrant, number, mu, sigma in rows:
            courses.setdefault(entrant, []).append((number, mu, sigma))
        return courses

    def versions_of(self, name: str, tournament: str) -> list[Version]:
        """Returns where bots of this name were entered up to a tournament, the latest first.

        In a league these are all versions of the bot: the part of the name after the stroke does not count.
        """
        bot = name.partition("/")[0]
        rows = self._db.execute(
            "SELECT tournament, number, name, version, entrants.digest FROM entrants"
            " JOIN tournaments ON tournaments.id = tournament WHERE (name = ? OR substr(name, 1, ?) = ?)"
            " AND tournaments.rowid <= (SELECT rowid FROM tournaments WHERE id = ?)"
            " ORDER BY tournaments.rowid DESC, number DESC",
            (bot, len(bot) + 1, f"{bot}/", tournament),
        )
        return [Version(*row) for row in rows]

    def members(self, tournament: str) -> dict[int, Member]:
        """Returns the members of a league's season by entrant, of a closed one those that played to its end."""
        if frozen := super().frozen(tournament):
            numbers = {entrant.name: entrant.number for entrant in self.entrants(tournament)}
            return {
                numbers[item["name"]]: Member(
                    item.get("author", ""), "active", item.get("level", ""), bool(item.get("provisional"))
                )
                for item in frozen["items"]
                if item["name"] in numbers
            }
        if not self._of_league:
            return {}
        rows = self._db.execute(
            "SELECT entrant, authors.name, state, level, (SELECT coalesce(sum(matches), 0) FROM seat_counts"
            " WHERE seat_counts.tournament = ?1 AND seat_counts.entrant = versions.entrant)"
            " < coalesce((SELECT CAST(value AS INTEGER) FROM controls WHERE name = 'final_matches'), ?2)"
            " FROM versions JOIN bots ON bots.id = bot"
            " JOIN authors ON authors.id = author WHERE entrant IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM seasons WHERE tournament = ?1 AND closed IS NULL)",
            (tournament, FINAL_MATCHES),
        )
        return {
            entrant: Member(author, state, level, bool(provisional))
            for entrant, author, state, level, provisional in rows
        }


@contextmanager
def open_exhibits(path: Path) -> Iterator[Exhibits]:
    """Opens the database at `path` to show what is in it.

    Raises:
        StoreError: It is missing, or it is not a database of ours.
    """
    with stores.open_reader(path) as reader:
        yield exhibits_of(reader)


def exhibits_of(reader: Reader) -> Exhibits:
    """Returns what reads, from a database that is open, what is shown of it."""
    return Exhibits(reader._db, reader.path)
