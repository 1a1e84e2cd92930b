"""Stores seasons. A season is a tournament that is open until the season is closed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core.face import (
    Payload,
    databases,
    errors,
    files,
    game_rows,
    rating_history,
    record_files,
    stores,
    true_skill,
)
from arena.league.record import rounds
from arena.league.store import lines, rows
from arena.league.store.authors import Authors
from arena.league.store.changes import enter
from arena.league.store.controls import FINAL_MATCHES
from arena.league.store.matches import settle
from arena.league.store.records import FinalMatch, Season, SeasonFinal

_MEMBERS: Final = """SELECT entrant, authors.name, state, level, (SELECT coalesce(sum(matches), 0) FROM seat_counts
        WHERE seat_counts.tournament = ?1 AND seat_counts.entrant = versions.entrant)
        < coalesce((SELECT CAST(value AS INTEGER) FROM controls WHERE name = 'final_matches'), ?2)
    FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = author
    WHERE entrant IS NOT NULL AND EXISTS (SELECT 1 FROM seasons WHERE tournament = ?1 AND closed IS NULL)"""


class Seasons(rows.SeasonPart):
    """The seasons of a league."""

    def open(
        self, name: str, tournament: game_rows.Tournament, *, starts: Mapping[int, true_skill.Rating] | None = None
    ) -> Season:
        """Opens a season. All active versions are its entrants, in the order in which they were received.

        Args:
            tournament: Its tournament, which is stored by this: open, and without games.
            starts: By version's id the rating that it begins with; a new rating for the others.

        Raises:
            Refused: A season is open, or there was one of that name.
        """
        with databases.immediate(self._db):
            if (current := self.current()) is not None:
                raise errors.Refused("season", f"expected no open season, got: {current.name}", "close it first")
            if any(season.name.lower() == name.lower() for season in self.all()):
                raise errors.Refused(
                    "name_taken", f"expected a new name for a season, got: {name!r}, which was one before"
                )
            if not tournament.open or tournament.games:
                raise errors.Refused("season", "expected a tournament that is open and has no games, got another")
            self._games.create(tournament, ())
            before = self._db.execute("SELECT digest FROM seasons ORDER BY number DESC LIMIT 1").fetchone()
            self._db.execute(
                "INSERT INTO seasons (tournament, name, opened, digest_before) VALUES (?, ?, ?, ?)",
                (tournament.id, name, tournament.created, before[0] if before else ""),
            )
            told = record_files.sha256_of(lines.commitment_of(tournament, tournament.created))
            lines.note(
                self._db,
                tournament.id,
                rounds.Opened(at=tournament.created, tournament=tournament.id, season=name, commitment_sha256=told),
            )
            self._db.execute("UPDATE versions SET entrant = NULL, first_game = 0")
            for version in rows.versions(self._db, "WHERE state = 'active' ORDER BY versions.id"):
                start = (starts or {}).get(version.id, true_skill.Rating())
                number = enter(self._db, self._games, tournament.id, version, None, start)
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
        """Takes games that were not begun out of the open season, which plans no more. Raises Refused: none is open."""
        with databases.immediate(self._db):
            season = self._open_one()
            self._take_out_planned(season)
            self._games.plan_no_more(season.tournament)

    def _take_out_planned(self, season: Season) -> None:
        self._db.execute(
            "UPDATE games SET status = 'void', reason = 'the season ended' WHERE tournament = ? AND status = 'planned'",
            (season.tournament,),
        )
        rating_history.rate_prefix(self._db, season.tournament)
        settle(self._db, season.tournament)

    def begin_final(self, entrants: Sequence[int], deals: int, reason: str = "") -> SeasonFinal:
        """Begins the final of the open season: games that were not begun go, and all further matches belong to it.

        Args:
            entrants: Who plays it, the best first; nobody if it is not played.
            deals: The most deals that it may take.
            reason: Why it is not played.

        Raises:
            Refused: No season is open, it has a final, or games are running or not published. Nothing has changed.
        """
        with databases.immediate(self._db):
            season = self._open_one()
            if season.final is not None:
                raise errors.Refused(
                    "final", f"expected a season without a final, got: that of {season.name} has begun"
                )
            self._check_quiet(season)
            self._check_published(season)
            self._take_out_planned(season)
            (match,) = self._db.execute(
                "SELECT coalesce(max(number) + 1, 0) FROM matches WHERE tournament = ?", (season.tournament,)
            ).fetchone()
            (game,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (season.tournament,)).fetchone()
            final = SeasonFinal(
                began=stores.now(), entrants=tuple(entrants), deals=deals, first_match=match, first_game=game,
                outcome=None if entrants else "not played", reason=reason,
            )  # fmt: skip
            self._set_final(season, final)
            line = rounds.FinalBegun(entrants=self._names(season, entrants), deals=deals, reason=reason)
            lines.note(self._db, season.tournament, line)
            return final

    def leave_final(self, entrants: Iterable[int]) -> None:
        """Notes who is out of the final. Who is once out does not come back.

        Raises:
            Refused: No final is being played, or matches that are over are not published yet.
        """
        with databases.immediate(self._db):
            season, final = self._playing_final()
            self._check_published(season)
            gone = sorted({*entrants} - {*final.left})
            self._set_final(season, msgspec.structs.replace(final, left=tuple(sorted([*final.left, *gone]))))
            lines.note(self._db, season.tournament, rounds.Left(entrants=self._names(season, gone)))

    def end_final(self, outcome: Literal["settled", "not settled"], reason: str) -> None:
        """Ends the final: what was not begun of it goes.

        Raises:
            Refused: No final is being played, or matches that are over are not published yet.
        """
        with databases.immediate(self._db):
            season, final = self._playing_final()
            self._check_published(season)
            self._take_out_planned(season)
            self._set_final(season, msgspec.structs.replace(final, outcome=outcome, reason=reason))
            lines.note(self._db, season.tournament, rounds.Decided(outcome=outcome, reason=reason))

    def _names(self, season: Season, entrants: Iterable[int]) -> list[str]:
        return [self._games.name(season.tournament, entrant) for entrant in entrants]

    def _playing_final(self) -> tuple[Season, SeasonFinal]:
        season = self._open_one()
        if season.final is None or season.final.outcome is not None:
            raise errors.Refused("final", f"expected a final of season {season.name} that is being played, got: none")
        return season, season.final

    def _set_final(self, season: Season, final: SeasonFinal) -> None:
        self._db.execute("UPDATE seasons SET final = ? WHERE number = ?", (game_rows.canonical(final), season.number))

    def final_matches(self, season: Season) -> list[FinalMatch]:
        """Returns the matches of a season's final, in order. Those that were struck are left out."""
        if season.final is None:
            return []
        found = self._db.execute(
            "SELECT deal, (SELECT seating FROM games WHERE tournament = matches.tournament AND match = matches.number"
            " LIMIT 1), (SELECT json_array(sum(status IN ('planned', 'running')), sum(status = 'done' AND counts),"
            " count(*)) FROM games WHERE tournament = matches.tournament AND match = matches.number)"
            " FROM matches WHERE tournament = ? AND number >= ? AND rated ORDER BY number",
            (season.tournament, season.final.first_match),
        )
        matches = []
        for deal, seating, counts in found:
            waiting, done, games = msgspec.json.decode(counts, type=tuple[int, int, int])
            table = tuple(sorted(msgspec.json.decode(seating, type=tuple[int, ...])))
            matches.append(FinalMatch(deal=deal, table=table, over=not waiting, whole=done == games))
        return matches

    def close(self, standings: Payload, fits: Iterable[tuple[int, float, float | None, int]] = ()) -> Season:
        """Closes the open season for ever: its standings are frozen, and the hash of its last line is its digest.

        The line has pseudonyms of authors, and the row their names.

        Args:
            fits: What `Store.finish` takes.

        Raises:
            Refused: No season is open, games of it are running, or matches of it are not
                published, which nobody would ever do later. Let that be finished, and close it then.
        """
        with databases.immediate(self._db):
            season = self._open_one()
            if season.final is not None and season.final.outcome is None:
                raise errors.Refused(
                    "final", f"expected the final of {season.name} to be over, got: it is being played"
                )
            self.stop()
            self._check_quiet(season)
            self._check_published(season)
            self._games.finish(season.tournament, fits)
            recorded = rounds.renamed(standings, Authors(self._db).pseudonyms())
            line = rounds.Closed(at=max(stores.now(), season.opened), standings=recorded)  # a clock may go back
            lines.note(self._db, season.tournament, line)
            self._db.execute(
                "UPDATE seasons SET closed = ?, standings = ?, digest = ? WHERE number = ?",
                (line.at, game_rows.canonical(standings), self.head(season).sha256, season.number),
            )
            return self._select("WHERE number = ?", season.number)[0]

    def _check_quiet(self, season: Season) -> None:
        (running,) = self._db.execute(
            "SELECT count(*) FROM games WHERE tournament = ? AND status = 'running'", (season.tournament,)
        ).fetchone()
        if running:
            raise errors.Refused(
                "busy", f"expected a season without running games, got: {running}", "wait for their end"
            )

    def _check_published(self, season: Season) -> None:
        (count,) = self._db.execute(
            "SELECT count(*) FROM matches INDEXED BY matches_unpublished"
            " WHERE tournament = ? AND state <> 'playing' AND published IS NULL",
            (season.tournament,),
        ).fetchone()
        if count:
            raise errors.Refused(
                "unpublished", f"expected a season whose matches are published, got: {count} that are not"
            )

    def head(self, season: Season) -> rounds.Head:
        """Returns how many lines a season has, and the hash of the last."""
        return lines.head_of(self._db, season.tournament)

    def lines(self, season: Season, first: int = 0, end: int = 2**62) -> Iterator[bytes]:
        """Yields the lines of a season from number `first` up to but not including `end`."""
        return lines.of_season(self._db, season.tournament, first, end)

    def _open_one(self) -> Season:
        season = self.current()
        if season is None:
            raise errors.Refused("no_season", "expected an open season, got: none")
        return season

    def _select(self, rest: str, *parameters: int) -> list[Season]:
        query = f"SELECT {', '.join(Season.__struct_fields__)} FROM seasons {rest}"
        return rows.read(Season, self._db.execute(query, parameters), "standings", "final")


class SeasonPage:
    """A season's part of the pages (`arena.core.plugs.PagePart`).

    Law: a game of a match is not there before the match is published, because its games share the deal.

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
        playing = self._db.execute(_MEMBERS, (self._tournament, FINAL_MATCHES))
        names = ("author", "state", "level")
        return {one: {**dict(zip(names, told, strict=True)), "provisional": bool(few)} for one, *told, few in playing}

    def standings(self) -> Payload | None:
        """Returns the final standings; while the final is played, those that are published."""
        if (closed := self._closed()) is not None:
            return closed
        told = self._document("standings")
        return told if told.get("final") else None

    def about(self) -> Payload:
        """Returns what the league says about itself, while this is its open season."""
        return self._document("league")


class OfSeasons:
    """What the core asks of seasons, as of tournaments that no format plans (`arena.core.plugs.Season`)."""

    def words(self, db: Path | None) -> list[str]:
        """Returns the command that says how the league is: nothing plays a season again."""
        return ["league", "status", "." if db is None else os.path.relpath(db.absolute().parent)]

    def predecessors(self, db: databases.Connection, tournament: str) -> dict[int, int]:
        """Returns by entrant that came later the one whose rating it began with.

        There are none of seasons that were closed before the refit took them into account.
        """
        links = db.execute(
            "SELECT one.number, other.number FROM versions JOIN bots ON bots.id = versions.bot"
            " JOIN versions AS before ON before.id = versions.predecessor"
            " JOIN entrants AS one ON one.tournament = :tournament AND one.name = bots.name || '/' || versions.number"
            " JOIN entrants AS other ON other.tournament = :tournament"
            " AND other.name = bots.name || '/' || before.number AND other.number < one.number"
            " WHERE EXISTS (SELECT 1 FROM seasons WHERE tournament = :tournament"
            " AND (closed IS NULL OR json_extract(standings, '$.method') IS NOT 'refit'))",
            {"tournament": tournament},
        )
        return dict(links.fetchall())

    def standings(self, db: databases.Connection, tournament: str) -> Payload | None:
        """Returns the final standings of a season that is closed."""
        row = db.execute("SELECT standings FROM seasons WHERE tournament = ?", (tournament,)).fetchone()
        return msgspec.json.decode(row[0], type=Payload) if row is not None and row[0] is not None else None

    def kept(self, db: databases.Connection, tournament: str) -> str:
        """Returns why a season cannot be removed."""
        name = db.execute("SELECT name FROM seasons WHERE tournament = ?", (tournament,)).fetchone()
        return "" if name is None else f"the season {name[0]!r}; the results of seasons stay"

    def page(self, db: databases.Connection, path: Path, tournament: str) -> SeasonPage | None:
        """Returns what pages show of a season."""
        name = db.execute("SELECT name FROM seasons WHERE tournament = ?", (tournament,)).fetchone()
        return None if name is None else SeasonPage(db, path.parent / rounds.PUBLISHED, tournament, name[0])
