"""Reads what pages show of a tournament: its games, its seats, the course of its ratings, versions of a league.

Law: where a wing has its part of the pages (`arena.core.plugs.PagePart`), it says which games may be seen, and nobody
reads what a bot said beside its actions: neither the sentence of a forfeit nor last words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.face import Reader, game_rows, plugs, stores, value_types

_SHOWN: Final = "games.tournament = ? AND games.status = 'done'"


class ShownGame(msgspec.Struct, frozen=True):
    """A game that may be shown."""

    game: str
    number: int
    finished: str
    termination: str
    turns: int
    seconds: float
    counts: bool
    entrants: tuple[int, ...]
    seats: tuple[value_types.SeatResult, ...]
    """Results of the seats; in a league without the words of forfeits."""


class ShownForfeit(msgspec.Struct, frozen=True):
    """A forfeit that may be shown."""

    number: int
    game: str
    forfeit: value_types.Forfeit
    """In a league without words."""


def _seat(figures: str, hidden: bool) -> value_types.SeatResult:
    """Reads what a seat did, without what its forfeit says in words if those are hidden."""
    seat = game_rows.figures_of(figures)
    if not hidden or seat.forfeit is None:
        return seat
    return replace(seat, forfeit=replace(seat.forfeit, sentence="", stderr=()))


def number_texts(did: value_types.SeatResult) -> list[str]:
    """Returns numbers of a seat that wings brought, with title and unit; that of a wing not loaded by its name."""
    numbers, known = did.numbers or {}, plugs.known_numbers() if did.numbers else {}
    told = [(known.get(name, plugs.Number(name, "", "")), value) for name, value in numbers.items()]
    return [f"{one.title} {value:,} {one.unit}".rstrip() for one, value in told if one.on_pages]


class EnteredVersion(msgspec.Struct, frozen=True):
    """A version of a bot that was an entrant."""

    tournament: str
    entrant: int
    name: str
    version: str
    digest: str


class Member(msgspec.Struct, frozen=True):
    """The version of a league's bot that is an entrant of a season."""

    author: str = ""
    state: str = ""
    level: str = ""
    provisional: bool = False
    """Whether it has had too few matches for its rating to mean much."""


class Exhibits(Reader):
    """A reader for pages. Make one with `open_exhibits`."""

    def _shown(self, tournament: str) -> str:
        """Returns the condition of games of a tournament that may be shown."""
        page = self.page(tournament)
        return _SHOWN if page is None else f"{_SHOWN} AND ({page.public})"

    def all(self) -> list[game_rows.Tournament]:
        """Returns the tournaments in which a game is planned, and those of wings, the latest first."""
        ids = self._db.execute("SELECT id FROM tournaments ORDER BY rowid DESC").fetchall()
        return [row for (id,) in ids if (row := self.tournament(id)).games or self.page(id)]

    def course_of(self, tournament: str) -> list[object]:
        """Returns what differs whenever something else is shown of the games and the ratings of a tournament.

        The seats of a game that is done stay as they are, so its own row tells. Games can stop to count, ratings be
        computed again, and the old ones of a league are thinned out.
        """
        games = "SELECT count(*), total(counts), total(turns), max(finished) FROM games WHERE "
        ratings = "SELECT count(*), total(mu), total(sigma) FROM ratings WHERE tournament = ?"
        return [
            self._db.execute(games + self._shown(tournament), (tournament,)).fetchone(),
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
        query = f"SELECT number, log FROM games WHERE {self._shown(tournament)} ORDER BY number"
        return {number: log for number, log in self._db.execute(query, (tournament,)) if log}

    def shown_games(self, tournament: str, first: int = 0, stop: int = 2**62) -> list[ShownGame]:
        """Returns the games that may be shown, of the numbers from `first` to before `stop`."""
        rows = self._db.execute(
            "SELECT games.id, number, finished, termination, turns, seconds, counts, entrant, figures"
            " FROM games JOIN seats ON seats.game = games.id"
            f" WHERE {self._shown(tournament)} AND number >= ? AND number < ? ORDER BY number, seat",
            (tournament, first, stop),
        )
        games, hidden = [], self.page(tournament) is not None
        for (game, number, finished, end, turns, seconds, counts), sat in groupby(rows, key=lambda row: row[:7]):
            entrants, seats = zip(*((entrant, _seat(text, hidden)) for *_, entrant, text in sat), strict=True)
            about = (game, number, finished or "", end, turns or 0, seconds or 0.0, bool(counts))
            games.append(ShownGame(*about, entrants, seats))
        return games

    def shown_forfeits(self, tournament: str, entrant: int, limit: int) -> list[ShownForfeit]:
        """Returns the last forfeits of an entrant, the latest first."""
        rows = self._db.execute(
            "SELECT number, games.id, figures FROM games JOIN seats ON seats.game = games.id"
            f" WHERE {self._shown(tournament)} AND entrant = ? AND forfeit IS NOT NULL ORDER BY number DESC LIMIT ?",
            (tournament, entrant, limit),
        )
        hidden = self.page(tournament) is not None
        found = ((number, game, _seat(figures, hidden).forfeit) for number, game, figures in rows)
        return [ShownForfeit(number, game, forfeit) for number, game, forfeit in found if forfeit is not None]

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

    def versions_of(self, name: str, tournament: str) -> list[EnteredVersion]:
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
        return [EnteredVersion(*row) for row in rows]


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
