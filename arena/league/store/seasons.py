"""Stores seasons. A season is a tournament that is open until the season is closed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from arena.core.face import Payload, databases, errors, game_rows, rating_history, stores, true_skill
from arena.league.record.season import Result
from arena.league.store import rows
from arena.league.store.changes import enter
from arena.league.store.matches import settle
from arena.league.store.records import FinalMatch, Season, SeasonFinal

_ALIVE_GAMES: Final = 5_000
"""After how many games a digest gives a sign of life."""


class Seasons:
    """The seasons of a league."""

    def __init__(self, connection: databases.Connection, games: stores.Store) -> None:
        self._db = connection
        self._games = games

    def open(
        self,
        name: str,
        tournament: game_rows.Tournament,
        *,
        starts: Mapping[int, true_skill.Rating] | None = None,
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
                (tournament.id, name, stores.now(), before[0] if before else ""),
            )
            self._db.execute("UPDATE versions SET entrant = NULL, first_game = 0")
            for version in rows.versions(self._db, "WHERE state = 'active' ORDER BY versions.id"):
                spec = (specs or {}).get(version.id)
                start = (starts or {}).get(version.id, true_skill.Rating())
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
            Refused: No season is open, it has a final, or games are running. Nothing has changed.
        """
        with databases.immediate(self._db):
            season = self._open_one()
            if season.final is not None:
                raise errors.Refused(
                    "final", f"expected a season without a final, got: that of {season.name} has begun"
                )
            self._check_quiet(season)
            self._take_out_planned(season)
            (match,) = self._db.execute(
                "SELECT coalesce(max(number) + 1, 0) FROM matches WHERE tournament = ?", (season.tournament,)
            ).fetchone()
            (game,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (season.tournament,)).fetchone()
            final = SeasonFinal(
                began=stores.now(),
                entrants=tuple(entrants),
                deals=deals,
                first_match=match,
                first_game=game,
                outcome=None if entrants else "not played",
                reason=reason,
            )
            self._set_final(season, final)
            return final

    def leave_final(self, entrants: Iterable[int]) -> None:
        """Notes who is out of the final. Who is once out does not come back.

        Raises:
            Refused: No final is being played.
        """
        with databases.immediate(self._db):
            season, final = self._playing_final()
            left = tuple(sorted({*final.left, *entrants}))
            self._set_final(season, msgspec.structs.replace(final, left=left))

    def end_final(self, outcome: Literal["settled", "not settled"], reason: str) -> None:
        """Ends the final: what was not begun of it goes.

        Raises:
            Refused: No final is being played.
        """
        with databases.immediate(self._db):
            season, final = self._playing_final()
            self._take_out_planned(season)
            self._set_final(season, msgspec.structs.replace(final, outcome=outcome, reason=reason))

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

    def close(
        self,
        standings: Payload,
        fits: Iterable[tuple[int, float, float | None, int]] = (),
        alive: Callable[[], object] = lambda: None,
    ) -> Season:
        """Closes the open season for ever: its standings are frozen, with a digest over all its results.

        Args:
            standings: The final standings.
            fits: What `Store.finish` takes.
            alive: As for `digest`.

        Raises:
            Refused: No season is open, games of it are running, its ratings are made again, or matches of it are not
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
            self._check_rated(season)
            self._games.finish(season.tournament, fits)
            self._db.execute(
                "UPDATE seasons SET closed = ?, standings = ?, digest = ? WHERE number = ?",
                (stores.now(), game_rows.canonical(standings), self.digest(season, alive), season.number),
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

    def _check_rated(self, season: Season) -> None:
        if self._db.execute("SELECT 1 FROM remaking WHERE tournament = ?", (season.tournament,)).fetchone():
            raise errors.Refused(
                "busy", "expected a season whose ratings are right, got: they are being made again", "wait"
            )

    def digest(self, season: Season, alive: Callable[[], object] = lambda: None) -> str:
        """Returns the SHA-256 (hex) over a season's results: the digest of the season before, then each line of them.

        Args:
            alive: As for `results`.
        """
        digest = hashlib.sha256(f"{season.digest_before}\n".encode())
        for line in self.results(season, alive):
            digest.update(line)
        return digest.hexdigest()

    def results(self, season: Season, alive: Callable[[], object] = lambda: None) -> Iterator[bytes]:
        """Yields the results of a season as lines of JSON, from its rows: one for each game, in order.

        Each has the number, the status, whether it counts, the entrants' names by seat, their ranks and the play
        digest. Of a season with a final there is a last line: the number of its first game, who began it, who left it,
        the most deals, and its outcome.

        Args:
            alive: Called after each some thousand games: millions take minutes.
        """
        names = {entrant.number: entrant.name for entrant in self._games.entrants(season.tournament)}
        for result in self._results("ORDER BY number", (season.tournament,), names):
            if result.number % _ALIVE_GAMES == 0:
                alive()
            yield f"{game_rows.canonical(result)}\n".encode()
        if season.final is not None:
            final = season.final
            line = {
                "final": final.first_game,
                "entrants": [names[entrant] for entrant in final.entrants],
                "left": [names[entrant] for entrant in final.left],
                "deals": final.deals,
                "outcome": final.outcome,
            }
            yield f"{game_rows.canonical(line)}\n".encode()

    def of_match(self, tournament: str, match: int, names: Mapping[int, str]) -> Iterator[Result]:
        """Yields the results of a match's games, in order.

        Args:
            tournament: The identifier of the season, which may be closed.
            match: The match's number.
            names: The versions of the season, by number.
        """
        return self._results("AND match = ? ORDER BY number", (tournament, match), names, "INDEXED BY games_by_match")

    def _results(
        self, rest: str, parameters: tuple[object, ...], names: Mapping[int, str], index: str = ""
    ) -> Iterator[Result]:
        found = self._db.execute(
            "SELECT games.number, status, counts, seating, play_digest,"
            " (SELECT json_group_array(rank) FROM (SELECT rank FROM seats WHERE game = games.id ORDER BY seat))"
            f" FROM games {index} WHERE tournament = ? {rest}",
            parameters,
        )
        for number, status, counts, seating, play_digest, ranks in found:
            is_done = status == "done"
            yield Result(
                number=number,
                status=status,
                counts=bool(counts),
                entrants=[names[entrant] for entrant in msgspec.json.decode(seating)],
                ranks=msgspec.json.decode(ranks) if is_done else [],
                play_digest=play_digest if is_done else None,
            )

    def _open_one(self) -> Season:
        season = self.current()
        if season is None:
            raise errors.Refused("no_season", "expected an open season, got: none")
        return season

    def _select(self, rest: str, *parameters: int) -> list[Season]:
        found = self._db.execute(
            f"SELECT number, tournament, name, opened, closed, standings, digest, digest_before, final"
            f" FROM seasons {rest}",
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
                final=final and msgspec.json.decode(final, type=SeasonFinal),
            )
            for number, tournament, name, opened, closed, standings, digest, before, final in found
        ]


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
