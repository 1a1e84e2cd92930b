"""Reads from the database and changes nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from arena.core.errors import StoreError
from arena.core.plugs import PagePart
from arena.core.ratings.pairs import PairResult
from arena.core.ratings.running import Rating
from arena.core.record.published import COMMITMENT_FILE
from arena.core.store.database import Connection, snapshot
from arena.core.store.rated import rating_after
from arena.core.store.records import Entrant, GameRow, StoredRound, Tally, Tournament, figures_of
from arena.core.store.removal import PARTS, season_of
from arena.core.types import Forfeit, Payload, SeatResult

_TOURNAMENT = (
    "SELECT id, created, settings, digest, seed, secret, commitment, beacon, entropy, logs, games, open, rated,"
    " seconds, status, finished FROM tournaments"
)

_POOL = "(SELECT json_array(rules, rules_version, ruleset, options, digest) FROM pools WHERE pools.id = pool)"


def moved_with(database: Path, logs: str) -> str:
    """Returns the folder of a tournament's logs: where it was, or beside the database if both were moved together."""
    parts = Path(logs).parts
    beside = (Path(database.resolve().parent, *parts[-count:]) for count in range(1, len(parts)))
    there = (str(found) for found in beside if (found / COMMITMENT_FILE).is_file())
    return logs if Path(logs).exists() else next(there, logs)


class Reader:
    """An open database. Make one with `open_reader`."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._db = connection
        self.path = path

    def unfinished(self, digest: str) -> Tournament | None:
        """Returns the latest unfinished tournament with these settings, or None."""
        return self._tournament("WHERE digest = ? AND status = 'running' ORDER BY rowid DESC LIMIT 1", digest)

    def unfinished_ones(self, limit: int = 20) -> list[Tournament]:
        """Returns the latest unfinished tournaments, the latest first."""
        ids = self._db.execute(
            "SELECT id FROM tournaments WHERE status = 'running' ORDER BY rowid DESC LIMIT ?", (limit,)
        ).fetchall()
        return [self.tournament(id) for (id,) in ids]

    def finished_ones(self, rules: str, ruleset: str) -> Iterator[Tournament]:
        """Yields the finished tournaments of some rules and ruleset, the latest first."""
        ids = self._db.execute(
            "SELECT tournaments.id FROM tournaments JOIN pools ON pools.id = pool WHERE status = 'finished'"
            " AND rules = ? AND ruleset = ? ORDER BY tournaments.rowid DESC",
            (rules, ruleset),
        ).fetchall()
        for (id,) in ids:
            yield self.tournament(id)

    def finished(self, digest: str) -> Tournament | None:
        """Returns the latest finished tournament with these settings, or None."""
        return self._tournament("WHERE digest = ? AND status = 'finished' ORDER BY rowid DESC LIMIT 1", digest)

    def tournament(self, id: str | None = None, *, rules: str | None = None, ruleset: str | None = None) -> Tournament:
        """Returns the latest tournament that matches.

        Args:
            id: Its identifier; None means any.
            rules: The name of its rules; None means any.
            ruleset: The name of its ruleset; None means any.

        Raises:
            StoreError: None matches; the message names those that exist.
        """
        found = self._tournament(
            "WHERE id = coalesce(?, id) AND pool IN"
            " (SELECT id FROM pools WHERE rules = coalesce(?, rules) AND ruleset = coalesce(?, ruleset))"
            " ORDER BY rowid DESC LIMIT 1",
            *(id, rules, ruleset),
        )
        if found is None:
            wanted = " ".join(filter(None, ["a tournament", id and repr(id)]))
            if rules or ruleset:
                wanted += f" of {' '.join(filter(None, [rules, ruleset]))}"
            raise StoreError(f"expected {wanted}, got none - at {self.path}{self._known()}")
        return found

    def pool(self, tournament: str) -> list[Tournament]:
        """Returns the tournaments whose ratings are comparable with those of this one, itself too, oldest first.

        In others that tune, a bot's games are not those of one bot.
        """
        rows = self._db.execute(
            "SELECT id FROM tournaments WHERE pool = (SELECT pool FROM tournaments WHERE id = ?1)"
            " AND (id = ?1 OR json_extract(settings, '$.format') <> 'tune') ORDER BY rowid",
            (tournament,),
        )
        return [self.tournament(id) for (id,) in rows.fetchall()]

    def _known(self) -> str:
        """Returns the end of a message: which tournaments exist."""
        rows = self._db.execute(
            "SELECT tournaments.id, rules, ruleset FROM tournaments JOIN pools ON pools.id = pool"
            " ORDER BY tournaments.rowid DESC LIMIT 5"
        )
        known = ", ".join(f"{id} ({rules} {ruleset})" for id, rules, ruleset in rows)
        return f"; the latest are {known}" if known else ""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Makes all reads in the block see the same moment."""
        with snapshot(self._db):
            yield

    def has(self, tournament: str) -> bool:
        """Says whether there is such a tournament."""
        return self._tournament("WHERE id = ?", tournament) is not None

    def entrants(self, tournament: str) -> list[Entrant]:
        """Returns the entrants, by number."""
        rows = self._db.execute(
            "SELECT number, name, version, digest, spec, mu0, sigma0 FROM entrants WHERE tournament = ?"
            " ORDER BY number",
            (tournament,),
        )
        names = ("number", "name", "version", "digest")
        return [
            Entrant(**dict(zip(names, own, strict=True)), spec=msgspec.json.decode(spec), start=Rating(mu0, sigma0))
            for *own, spec, mu0, sigma0 in rows
        ]

    def name(self, tournament: str, entrant: int) -> str:
        """Returns the name of an entrant."""
        (name,) = self._db.execute(
            "SELECT name FROM entrants WHERE tournament = ? AND number = ?", (tournament, entrant)
        ).fetchone()
        return str(name)

    def predecessors(self, tournament: str) -> dict[int, int]:
        """Returns by entrant of a season the entrant whose rating it began with, of those that came later."""
        season = season_of(self._db, tournament)
        return {} if season is None else season.predecessors(self._db, tournament)

    def frozen(self, tournament: str) -> Payload | None:
        """Returns the final standings of a league's season that is closed, which nothing changes; None of all else."""
        season = season_of(self._db, tournament)
        return None if season is None else season.standings(self._db, tournament)

    def page(self, tournament: str) -> PagePart | None:
        """Returns the part that a wing has of a tournament's pages, if any."""
        season = season_of(self._db, tournament)
        return None if season is None else season.page(self._db, self.path, tournament)

    def ratings(self, tournament: str) -> list[Rating]:
        """Returns the rating of each entrant, by number, after the games that are rated."""
        rows = self._db.execute(
            "SELECT coalesce(mu, mu0), coalesce(sigma, sigma0) FROM entrants"
            " LEFT JOIN ratings ON ratings.tournament = entrants.tournament"
            " AND entrant = entrants.number AND ratings.number = (SELECT max(number) FROM ratings"
            " WHERE tournament = entrants.tournament AND entrant = entrants.number)"
            " WHERE entrants.tournament = ? ORDER BY entrants.number",
            (tournament,),
        )
        return [Rating(mu, sigma) for mu, sigma in rows]

    def tallies(self, tournament: str) -> list[Tally]:
        """Returns the sums of each entrant, by number."""
        rows = self._db.execute(
            f"SELECT {', '.join(Tally.__struct_fields__)} FROM tallies WHERE tournament = ?", (tournament,)
        )
        found = {row[0]: Tally(*row) for row in rows}
        (entrants,) = self._db.execute("SELECT count(*) FROM entrants WHERE tournament = ?", (tournament,)).fetchone()
        return [found.get(entrant, Tally(entrant)) for entrant in range(entrants)]

    def begun(self, tournament: str) -> Iterator[tuple[int, str, bool]]:
        """Yields the games that were claimed, in order.

        Yields:
            The number, the worker elsewhere that played it (empty if none did), and whether it is done or void.
        """
        rows = self._db.execute(
            "SELECT number, coalesce(worker, ''), status IN ('done', 'void') FROM games"
            " WHERE tournament = ? AND attempt > 0 ORDER BY number",
            (tournament,),
        )
        for number, worker, is_over in rows:
            yield number, worker, bool(is_over)

    def void_losses(self, tournament: str) -> tuple[int, dict[str, int]]:
        """Returns how many games were played and are void, and by entrant how many of these it had lost."""
        losses: Counter[str] = Counter()
        rows = self._db.execute(
            "SELECT bots, reason FROM v_void WHERE tournament = ? AND log IS NOT NULL", (tournament,)
        ).fetchall()
        for bots, reason in rows:  # the reason has a sentence for each loser, which begins with its seat
            losses.update(json.loads(bots)[int(seat)] for seat in re.findall(r"(?:^|; )seat ([0-9]{1,3}) ", reason))
        return len(rows), dict(losses)

    def struck(self, tournament: str) -> dict[int, str]:
        """Returns by number the games whose results were taken back: by whom, when and why, as JSON."""
        query = "SELECT number, struck FROM games WHERE tournament = ? AND struck IS NOT NULL ORDER BY number"
        return dict(self._db.execute(query, (tournament,)).fetchall())

    def paces(self, tournament: str) -> list[tuple[str, Tally]]:
        """Returns by worker of a cluster how fast each entrant was there. Games played here are no part."""
        rows = self._db.execute(
            "SELECT worker, entrant, count(*), sum(decisions), sum(total_ms) FROM games JOIN seats ON game = id"
            " WHERE tournament = ? AND status = 'done' AND worker IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
            (tournament,),
        )
        return [
            (worker, Tally(entrant, games=games, decisions=decisions, total_ms=total_ms))
            for worker, entrant, games, decisions, total_ms in rows
        ]

    def pairs(self, tournament: str, deals: range | None = None) -> Iterator[PairResult]:
        """Yields the sums of each pair of entrants that met, by deal: of these deals, or of all."""
        where, limits = ("", ()) if deals is None else (" AND deal >= ? AND deal < ?", (deals.start, deals.stop))
        rows = self._db.execute(
            f"SELECT deal, one, other, better, equal, worse, margin FROM pairs WHERE tournament = ?{where}",
            (tournament, *limits),
        )
        return (PairResult(*row) for row in rows)

    def rounds(self, tournament: str) -> list[StoredRound]:
        """Returns the rounds that were planned by results, in order; none if the schedule is computed."""
        names = ("number", "title", "deals", "first_game", "games", "meetings", "byes", "parameters")
        rows = self._db.execute(
            f"SELECT {', '.join(names)} FROM rounds WHERE tournament = ? ORDER BY number", (tournament,)
        )
        documents = ([*row[:5], *(msgspec.json.decode(text or "[]") for text in row[5:])] for row in rows)
        return [msgspec.convert(dict(zip(names, values, strict=True)), StoredRound) for values in documents]

    def rating_after(self, tournament: str, entrant: int, games: int) -> Rating:
        """Returns the rating of an entrant after the first `games` games of the schedule, which must be rated."""
        return rating_after(self._db, tournament, entrant, games)

    def done(self, tournament: str) -> int:
        """Returns how many games are done."""
        query = "SELECT count(*) FROM games WHERE tournament = ? AND status = 'done'"
        (count,) = self._db.execute(query, (tournament,)).fetchone()
        return int(count)

    def counted(self, tournament: str) -> tuple[int, int]:
        """Returns how many games count, and how many are over that do not: void, unrated, or taken back."""
        query = "SELECT status = 'done' AND counts, count(*) FROM games WHERE tournament = ?"
        over = dict(self._db.execute(f"{query} AND status IN ('done', 'void') GROUP BY 1", (tournament,)).fetchall())
        return over.get(1, 0), over.get(0, 0)

    def logs(self, tournament: str) -> list[str]:
        """Returns the names of the logs of the games that are done, in schedule order."""
        query = "SELECT log FROM games WHERE tournament = ? AND status = 'done' ORDER BY number"
        return [log for (log,) in self._db.execute(query, (tournament,))]

    def rated(self, tournament: str) -> int:
        """Returns how many games, in schedule order, have moved the ratings."""
        (count,) = self._db.execute("SELECT rated FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        return int(count)

    def check_done(self, tournament: str) -> None:
        """Checks that every game is done and rated.

        Raises:
            StoreError: Some are not, or more may be planned.
        """
        row = self.tournament(tournament)
        if row.rated != row.games or row.open:
            raise StoreError(
                f"expected every game of tournament {tournament} to be done and rated, got: {row.rated} of {row.games}"
            )

    def results(self, tournament: str) -> Iterator[tuple[int, tuple[int, ...], tuple[SeatResult, ...]]]:
        """Yields the deal, the entrants and the seats of each finished game that counts, in schedule order."""
        rows = self._db.execute(
            "SELECT number, deal, entrant, figures FROM games JOIN seats ON seats.game = games.id"
            " WHERE tournament = ? AND status = 'done' AND counts ORDER BY number, seat",
            (tournament,),
        )
        for (_, deal), sat in groupby(rows, key=lambda row: row[:2]):
            entrants, seats = zip(*((entrant, figures_of(figures)) for *_, entrant, figures in sat), strict=True)
            yield deal, entrants, seats

    def scores(self, tournament: str) -> Iterator[tuple[int, int, int]]:
        """Yields the deal, the entrant and the score of each seat of each finished game that counts and has scores."""
        return self._db.execute(
            "SELECT deal, entrant, score FROM games JOIN seats ON seats.game = games.id"
            " WHERE tournament = ? AND status = 'done' AND counts AND score IS NOT NULL",
            (tournament,),
        )

    def games(self, tournament: str) -> Iterator[GameRow]:
        """Yields each finished game, in schedule order."""
        rows = self._db.execute(
            "SELECT id, number, termination, play_digest, log_sha256, entrant, rank FROM games"
            " JOIN seats ON seats.game = games.id WHERE tournament = ? AND status = 'done' ORDER BY number, seat",
            (tournament,),
        )
        for (game, number, termination, digest, sha256), seats in groupby(rows, key=lambda row: row[:5]):
            sat = [row[5:] for row in seats]
            entrants, ranks = tuple(entrant for entrant, _ in sat), tuple(rank for _, rank in sat)
            yield GameRow(game, number, termination, digest, sha256, entrants, ranks)

    def is_over(self, tournament: str, number: int) -> bool:
        """Says whether a game has ended: it is done, or void."""
        query = "SELECT 1 FROM games WHERE tournament = ? AND number = ? AND status IN ('done', 'void')"
        return self._db.execute(query, (tournament, number)).fetchone() is not None

    def columns(self, table: str) -> tuple[list[str], list[str]]:
        """Returns the columns of a table of `PARTS`, and those of its primary key."""
        found = self._db.execute(f"PRAGMA table_info({table})").fetchall()
        key = sorted((place, name) for _, name, *_, place in found if place)
        return [name for _, name, *_ in found], [name for _, name in key]

    def rows(
        self, table: str, tournament: str, columns: Sequence[str], key: Sequence[str]
    ) -> Iterator[tuple[Any, ...]]:
        """Yields columns of all rows of a table of `PARTS` that belong to a tournament, ordered by the key.

        A pool is told by what it is, not by its number, which may be another in another database.
        """
        selected = ", ".join(_POOL if column == "pool" else column for column in columns)
        query = f"SELECT {selected} FROM {table} WHERE {PARTS[table]} ORDER BY {', '.join(key)}"
        yield from self._db.execute(query, (tournament,))

    def definitions(self) -> dict[str, tuple[str, str]]:
        """Returns the kind and the definition of each table, view, index and trigger, by name; not SQLite's own."""
        of_sqlite = "name GLOB 'sqlite_*' AND type IN ('table', 'index')"
        found = self._db.execute(f"SELECT name, type, sql FROM sqlite_master WHERE NOT ({of_sqlite}) ORDER BY 1")
        return {name: (kind, sql) for name, kind, sql in found}

    def damage(self) -> str:
        """Returns what SQLite finds wrong with the file, such as an index that lacks rows of its table; else "ok"."""
        return str(self._db.execute("PRAGMA integrity_check(1)").fetchone()[0])

    def forfeits(self, tournament: str) -> Iterator[tuple[int, Forfeit]]:
        """Yields every forfeit with the entrant whose it is, in schedule order; none of a game that was taken back."""
        rows = self._db.execute(
            "SELECT entrant, figures FROM games JOIN seats ON seats.game = games.id"
            " WHERE tournament = ? AND forfeit IS NOT NULL AND struck IS NULL ORDER BY number, seat",
            (tournament,),
        )
        for entrant, figures in rows:
            if forfeit := figures_of(figures).forfeit:
                yield entrant, forfeit

    def costs(self, tournament: str) -> dict[str, Counter[str]]:
        """Returns by entrant what its notes say that its games have cost; nobody whose notes say nothing."""
        found: dict[str, Counter[str]] = {}
        for name, key, count in self._db.execute(
            "SELECT name, key, sum(value) FROM games JOIN seats ON seats.game = games.id"
            " JOIN entrants ON entrants.tournament = games.tournament AND entrants.number = entrant,"
            " json_each(figures, '$.cost') WHERE games.tournament = ? AND struck IS NULL"
            " AND instr(figures, '\"cost\":') GROUP BY name, key",
            (tournament,),
        ):
            found.setdefault(name, Counter())[key] = count
        return found

    def numbers(self, tournament: str) -> set[str]:
        """Returns the names of the numbers that wings brought of the seats of its games."""
        rows = self._db.execute(
            "SELECT DISTINCT key FROM games JOIN seats ON seats.game = games.id, json_each(figures, '$.numbers')"
            " WHERE tournament = ? AND instr(figures, '\"numbers\":')",
            (tournament,),
        )
        return {str(name) for (name,) in rows}

    def _tournament(self, where: str, *parameters: str | None) -> Tournament | None:
        cursor = self._db.execute(f"{_TOURNAMENT} {where}", parameters)
        row = cursor.fetchone()
        if row is None:
            return None
        fields = dict(zip((column[0] for column in cursor.description), row, strict=True))
        fields["logs"] = moved_with(self.path, fields["logs"])
        fields["open"] = bool(fields["open"])
        fields["settings"] = msgspec.json.decode(fields["settings"])
        fields["secret"] = bytes.fromhex(fields["secret"])
        if fields["entropy"] is not None:
            fields["entropy"] = tuple(msgspec.json.decode(fields["entropy"]))
        return Tournament(**fields)
