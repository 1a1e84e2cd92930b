"""Stores tournaments and their results, each counted exactly once.

Laws:
1. What can be computed is not stored: a game gets its row at its first claim. First claims follow the schedule, so the
   rows are always the first games of the schedule. Rounds that depend on results are stored when they are planned.
2. A game is claimed before it is played. Its result is accepted only once and only from the last claim: a second
   delivery, or one of an earlier claim, is an error. So `record` is not idempotent, and a result counts exactly once.
3. A result, its seats, its digests, the sums that it adds to and the ratings that it moves are one transaction. The
   results move the ratings in schedule order: those of the games before the first that is neither done nor void.
   Ratings belong to the tournament's pool. A game that does not count, as one whose result was taken back, moves none
   and adds to no sum.
4. Only one process opens the store to write (`lock.locked`). So on resuming, nobody awaits a game that was running.
5. Nothing is announced before the method that stores it has returned.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import astuple

from arena.core import scratch
from arena.core.errors import StoreError
from arena.core.ratings.pairs import pairs_of
from arena.core.store import database
from arena.core.store.lock import locked
from arena.core.store.rated import is_counted, rate_again, rate_prefix
from arena.core.store.reader import Reader
from arena.core.store.records import (
    PLAYED,
    SUMMED,
    Claim,
    Entrant,
    PlannedGame,
    Pool,
    StoredRound,
    Tally,
    Tournament,
    canonical,
    game_id,
    played_values,
    teams_of,
)
from arena.core.store.removal import free_bytes, remove_rows
from arena.core.store.soundness import explaining
from arena.core.types import GameResult, SeatResult, Termination

_ADDED = ", ".join(f"{name} = {name} + excluded.{name}" for name in SUMMED)


class Store(Reader):
    """An open database with this process as its only writer. Make one with `open_store`."""

    def transaction(self) -> AbstractContextManager[None]:
        """Makes one transaction of all that the block does."""
        return database.immediate(self._db)

    def create(self, tournament: Tournament, entrants: Iterable[Entrant]) -> None:
        """Stores a tournament with its entrants, but none of its games."""
        t = tournament
        with database.immediate(self._db):
            self._db.execute(
                "INSERT INTO tournaments (id, pool, created, settings, digest, seed, secret, commitment, logs, games,"
                " open) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(t.id, self._pool(Pool.of(t.settings)), t.created, canonical(t.settings), t.digest, t.seed),
                    *(t.secret.hex(), t.commitment, t.logs, t.games, t.open),
                ),
            )
            self._enter(t.id, entrants)

    def _enter(self, tournament: str, entrants: Iterable[Entrant]) -> None:
        self._db.executemany(
            "INSERT INTO entrants (tournament, number, name, version, digest, spec, mu0, sigma0)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (tournament, e.number, e.name, e.version, e.digest, canonical(e.spec), e.start.mu, e.start.sigma)
                for e in entrants
            ),
        )

    def enter(self, tournament: str, entrant: Entrant) -> None:
        """Adds an entrant to a tournament that may plan more games.

        Raises:
            StoreError: No more games may be planned.
        """
        with database.immediate(self._db):
            self._check_open(tournament)
            self._enter(tournament, [entrant])

    def leave(self, tournament: str, entrant: int) -> None:
        """Notes that an entrant has left. Its results stay, and its games that were not begun become void."""
        with database.immediate(self._db):
            self._db.execute(
                "UPDATE entrants SET gone = coalesce(gone, ?) WHERE tournament = ? AND number = ?",
                (now(), tournament, entrant),
            )
            self._void_of_gone(tournament)

    def rejoin(self, tournament: str, entrant: int) -> None:
        """Notes that an entrant that had left is back, with the rating that it had."""
        with database.immediate(self._db):
            self._db.execute(
                "UPDATE entrants SET gone = NULL WHERE tournament = ? AND number = ?", (tournament, entrant)
            )

    def _void_of_gone(self, tournament: str) -> None:
        """Takes the games that were not begun, and in which somebody would play who is gone, out of the tournament."""
        # CROSS JOIN makes SQLite look up the few seats, and not read all entrants.
        changed = self._db.execute(
            "UPDATE games SET status = 'void', reason = 'an entrant left' WHERE tournament = ? AND status = 'planned'"
            " AND EXISTS (SELECT 1 FROM json_each(seating) CROSS JOIN entrants"
            " ON entrants.tournament = games.tournament AND entrants.number = value WHERE gone IS NOT NULL)",
            (tournament,),
        ).rowcount
        if changed:
            rate_prefix(self._db, tournament)

    def void(self, claim: Claim, reason: str, played: GameResult | None = None, seconds: float = 0.0) -> None:
        """Takes a claimed game out of the tournament: it has no result and never will. Ratings pass over it.

        Args:
            claim: What `claim` returned for the game.
            played: How it went, if it was played. What its log says is kept, and nobody's result.
            seconds: What to add to the tournament's time.

        Raises:
            StoreError: The claim is void, or the game has a result.
        """
        with database.immediate(self._db):
            changed = self._db.execute(
                "UPDATE games SET status = 'void', reason = ? WHERE id = ? AND status = 'running' AND attempt = ?",
                (reason, claim.game, claim.attempt),
            ).rowcount
            if changed != 1:
                raise self._void(claim)
            if played is not None:
                query = f"UPDATE games SET {PLAYED} WHERE id = ?"
                self._db.execute(query, (*played_values(claim, played, now()), claim.game))
            rate_prefix(self._db, claim.tournament)
            self._db.execute("UPDATE tournaments SET seconds = seconds + ? WHERE id = ?", (seconds, claim.tournament))

    def plan(self, tournament: str, round: StoredRound) -> None:
        """Stores the next round. Its games can be claimed from then on.

        Raises:
            StoreError: It does not follow the games that are planned, or no more may be planned.
        """
        with database.immediate(self._db):
            self._check_open(tournament)
            changed = self._db.execute(
                "UPDATE tournaments SET games = games + ? WHERE id = ? AND games = ?",
                (round.games, tournament, round.first_game),
            ).rowcount
            if changed != 1:
                raise StoreError(f"expected round {round.number} of tournament {tournament} to follow its games")
            self._db.execute(
                "INSERT INTO rounds (tournament, number, title, deals, meetings, byes, first_game, games,"
                " parameters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(tournament, round.number, round.title, round.deals, canonical(round.meetings)),
                    *(canonical(round.byes), round.first_game, round.games),
                    canonical(round.parameters) if round.parameters else None,
                ),
            )

    def plan_no_more(self, tournament: str) -> None:
        """Notes that all games of a tournament are planned."""
        with database.immediate(self._db):
            self._db.execute("UPDATE tournaments SET open = 0 WHERE id = ?", (tournament,))

    def _check_open(self, tournament: str) -> None:
        if not self.tournament(tournament).open:
            raise StoreError(f"expected tournament {tournament} to be open, got: all its games are planned")

    def remove(self, tournaments: Iterable[str]) -> int:
        """Removes tournaments with all their rows. Returns how many bytes of the file that leaves free for new rows."""
        before = free_bytes(self._db)
        with database.immediate(self._db):
            remove_rows(self._db, tournaments)
        return free_bytes(self._db) - before

    def vacuum(self) -> None:
        """Gives back to the disk what is free in the file. It takes as much room again meanwhile."""
        database.patiently(self._db, "VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def contribute(self, tournament: str, beacon: str, entropy: Sequence[str | None]) -> None:
        """Stores what others than the organiser put into chance. It is fixed by that.

        Raises:
            StoreError: It is fixed already, or a game has been claimed.
        """
        with database.immediate(self._db):
            changed = self._db.execute(
                "UPDATE tournaments SET beacon = ?, entropy = ? WHERE id = ? AND entropy IS NULL"
                " AND NOT EXISTS (SELECT 1 FROM games WHERE tournament = tournaments.id)",
                (beacon, canonical(entropy), tournament),
            ).rowcount
            if changed != 1:
                raise StoreError(f"expected the chance of tournament {tournament} to be open, got: it is fixed")

    def finish(self, tournament: str, fits: Iterable[tuple[int, float, float | None, int]] = ()) -> None:
        """Closes a tournament whose games are all done and rated. One that is closed only gets these ratings.

        Args:
            fits: Of each entrant its number, its rating by the refit, half of its interval's width, and its rank.

        Raises:
            StoreError: Some are not.
        """
        with database.immediate(self._db):
            self.check_done(tournament)
            self._db.execute("DELETE FROM fits WHERE tournament = ?", (tournament,))
            self._db.executemany(
                "INSERT INTO fits (tournament, entrant, rating, half_width, rank) VALUES (?, ?, ?, ?, ?)",
                [(tournament, *fit) for fit in fits],
            )
            self._db.execute(
                "UPDATE tournaments SET status = 'finished', finished = coalesce(finished, (SELECT max(?, created,"
                " ifnull(max(games.finished), '')) FROM games WHERE tournament = tournaments.id)) WHERE id = ?",
                (now(), tournament),  # the clock may have gone back
            )

    def claim(
        self,
        tournament: str,
        schedule: Callable[[int], PlannedGame],
        limit: int = 1,
        fits: Callable[[int], bool] = lambda number: True,
    ) -> list[Claim]:
        """Claims games that follow each other in one block and that are claimed for the same time.

        They are the first that were given back, or else the first that were never claimed.

        Args:
            schedule: Returns the game at a place in the order.
            fits: Whether a game, given by its number, may be claimed now. Others are passed over.

        Returns:
            The claims in schedule order; none if every game that may be claimed is running or done.
        """
        with database.immediate(self._db):
            while True:
                self._void_of_gone(tournament)
                claims = self._first_planned(tournament, schedule, limit, fits)
                if claims or not self._add_rows(tournament, schedule, limit):
                    break
            self._db.executemany(
                "UPDATE games SET status = 'running', attempt = ?, seating = ? WHERE id = ?",
                [(claim.attempt, seating(schedule(claim.number)), claim.game) for claim in claims],
            )
        return claims

    def _first_planned(
        self, tournament: str, schedule: Callable[[int], PlannedGame], limit: int, fits: Callable[[int], bool]
    ) -> list[Claim]:
        """Returns claims of the first games that have a row and are not begun."""
        claims: list[Claim] = []
        rows = self._db.execute(
            "SELECT id, number, deal, rotation, attempt + 1 FROM games"
            " WHERE tournament = ? AND status = 'planned' ORDER BY number",
            (tournament,),
        )
        for game, number, deal, rotation, attempt in rows:
            if len(claims) == limit:
                break
            if not fits(number):
                continue
            claim = Claim(
                game=game, tournament=tournament, number=number, deal=deal, rotation=rotation, attempt=attempt
            )
            if claims and not _continues(claims[-1], claim, schedule):
                break
            claims.append(claim)
        return claims

    def _add_rows(self, tournament: str, schedule: Callable[[int], PlannedGame], limit: int) -> int:
        """Gives the next games of one block their rows, and returns how many."""
        (first,) = self._db.execute(
            "SELECT coalesce(max(number) + 1, 0) FROM games WHERE tournament = ?", (tournament,)
        ).fetchone()
        (games,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        added: list[PlannedGame] = []
        for number in range(first, min(first + limit, games)):
            game = schedule(number)
            if added and game.block != added[0].block:
                break
            added.append(game)
        self._db.executemany(
            "INSERT INTO games (id, tournament, number, deal, rotation, seating) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (game_id(tournament, game.number), tournament, game.number, *(game.deal, game.rotation), seating(game))
                for game in added
            ],
        )
        return len(added)

    def release(self, claim: Claim) -> None:
        """Gives a game back unplayed, for another claim."""
        with database.immediate(self._db):
            changed = self._db.execute(
                "UPDATE games SET status = 'planned' WHERE id = ? AND status = 'running' AND attempt = ?",
                (claim.game, claim.attempt),
            ).rowcount
            if changed != 1:
                raise self._void(claim)

    def resume(self, tournament: str, logs: str | None = None) -> list[str]:
        """Gives back the games that ran when the last run ended. Returns their ids. `logs` says where logs are now."""
        where, of = "WHERE tournament = ? AND status = 'running'", (tournament,)
        with database.immediate(self._db):
            self._db.execute("UPDATE tournaments SET logs = coalesce(?, logs) WHERE id = ?", (logs, tournament))
            dead = self._db.execute(f"UPDATE games SET status = 'planned' {where} RETURNING id", of).fetchall()
        return sorted(id for (id,) in dead)

    def record(self, claim: Claim, result: GameResult, entrants: Sequence[int], seconds: float) -> None:
        """Stores a result with everything that follows from it.

        Args:
            claim: What `claim` returned for the game.
            entrants: The numbers of the entrants, by seat.
            seconds: What to add to the tournament's time.

        Raises:
            StoreError: The result is not of this claim, the claim is void, or the game was interrupted. Nothing has
                changed.
        """
        if result.game != claim.game or len(result.seats) != len(entrants):
            wanted = f"the result of game {claim.game} with {len(entrants)} seats"
            raise StoreError(f"expected {wanted}, got: game {result.game} with {len(result.seats)}")
        if result.termination is Termination.INTERRUPTED:
            raise StoreError(f"expected a result, got: game {claim.game} was interrupted, which is none")
        with database.immediate(self._db):
            changed = self._db.execute(
                f"UPDATE games SET status = 'done', termination = ?, {PLAYED}"
                " WHERE id = ? AND status = 'running' AND attempt = ?",
                (result.termination.value, *played_values(claim, result, now()), claim.game, claim.attempt),
            ).rowcount
            if changed != 1:
                raise self._void(claim)
            self._db.executemany(
                "INSERT INTO seats (game, seat, entrant, figures) VALUES (?, ?, ?, ?)",
                [
                    (result.game, number, entrant, canonical(seat))
                    for number, (seat, entrant) in enumerate(zip(result.seats, entrants, strict=True))
                ],
            )
            if is_counted(self._db, claim.game):
                self._add_up(claim.tournament, claim.deal, entrants, result.seats)
            rate_prefix(self._db, claim.tournament)
            self._db.execute("UPDATE tournaments SET seconds = seconds + ? WHERE id = ?", (seconds, claim.tournament))

    def _void(self, claim: Claim) -> StoreError:
        row = self._db.execute("SELECT status, attempt FROM games WHERE id = ?", (claim.game,)).fetchone()
        got = f"{row[0]}, attempt {row[1]}" if row else "no such game"
        return StoreError(f"expected game {claim.game} to be running, attempt {claim.attempt}, got: {got}")

    def strike(self, tournament: str, struck: Mapping[int, str]) -> bool:
        """Takes back results of a finished tournament: afterwards all but these count. Ratings and sums are made again.

        Args:
            struck: By number of a game by whom, when and why its result was taken back, as JSON.

        Returns:
            Whether that changed anything.
        """
        with database.immediate(self._db):
            if self.struck(tournament) == struck:
                return False
            for table in ("tallies", "pairs", "ratings"):
                self._db.execute(f"DELETE FROM {table} WHERE tournament = ?", (tournament,))
            anew = "UPDATE games SET counts = 1, struck = NULL WHERE tournament = ? AND struck IS NOT NULL"
            self._db.execute(anew, (tournament,))
            self._db.executemany(
                "UPDATE games SET counts = 0, struck = ? WHERE tournament = ? AND number = ? AND status = 'done'",
                [(told, tournament, number) for number, told in struck.items()],
            )
            for deal, entrants, seats in self.results(tournament):
                self._add_up(tournament, deal, entrants, seats)
            rate_again(self._db, tournament, 0, self.rated(tournament))
        return True

    def _add_up(self, tournament: str, deal: int, entrants: Sequence[int], seats: Sequence[SeatResult]) -> None:
        self._db.executemany(
            "INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            f" max_ms = max(max_ms, excluded.max_ms), {_ADDED}",
            [(tournament, *astuple(tally)) for tally in Tally.of_game(entrants, seats)],
        )
        margins = [seat.margin for seat in seats]
        pairs = pairs_of(deal, entrants, tuple(seat.rank for seat in seats), margins, teams_of(seats))
        self._db.executemany(
            "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " better = better + excluded.better, equal = equal + excluded.equal, worse = worse + excluded.worse,"
            " margin = margin + excluded.margin",
            [(tournament, *astuple(pair)) for pair in pairs],
        )

    def _pool(self, pool: Pool) -> int:
        """Returns the identifier of a pool, and makes the pool if it does not exist."""
        self._db.execute(
            "INSERT INTO pools (rules, rules_version, ruleset, options, digest) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (digest) DO NOTHING",
            (pool.rules, pool.rules_version, pool.ruleset, canonical(pool.options), pool.digest),
        )
        (id,) = self._db.execute("SELECT id FROM pools WHERE digest = ?", (pool.digest,)).fetchone()
        return int(id)


def _continues(one: Claim, other: Claim, schedule: Callable[[int], PlannedGame]) -> bool:
    """Tells whether a game follows another in the same block, both claimed for the same time."""
    return (
        other.number == one.number + 1
        and other.attempt == one.attempt
        and schedule(other.number).block == schedule(one.number).block
    )


def seating(game: PlannedGame) -> str:
    """Returns the seating of a game as the database holds it."""
    return canonical(game.entrants)


def days_ago(days: float) -> str:
    """Returns the time so many days ago, in UTC, to the second (ISO 8601)."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")


def now() -> str:
    """Returns the time in UTC, to the second (ISO 8601)."""
    return days_ago(0)


@contextmanager
def open_store(path: Path, tell: Callable[[str], object] | None = None) -> Iterator[Store]:
    """Opens the database at `path` as its only writer. Makes it, or brings it up to date, if needed.

    Args:
        tell: Called with a sentence when a transaction has to wait for another program.

    Raises:
        StoreError: It is in use, cannot be written, or is not a database of this version.
    """
    with locked(path) as held, _connection(path, write=True) as connection:
        connection.held = held
        connection.tell = tell or connection.tell
        database.migrate(connection, path)
        database.check_current(connection, path)
        yield Store(connection, path)


@contextmanager
def open_reader(path: Path) -> Iterator[Reader]:
    """Opens the database at `path` to read, even while a tournament runs. Of an earlier version it reads a new copy.

    What was read is used within the block: an error there may be due to a database that was altered.

    Raises:
        StoreError: It is missing, is not a database of this version, or something else has altered it.
    """
    if not path.is_file():
        raise StoreError(
            f"expected a database, got no such file - at {path}; `arena tournament` makes one, --db names another"
        )
    with ExitStack() as held:
        connection = held.enter_context(_connection(path, write=False))
        if database.is_outdated(connection):  # whoever only reads changes no file: an older arena may still use it
            copy = held.enter_context(scratch.folder("arena-old-")) / "copy.db"
            database.copy_database(path, copy)
            with _connection(copy, write=True, of=path) as writer:
                database.migrate(writer, path)
            connection = held.enter_context(_connection(copy, write=False, of=path))
        database.check_current(connection, path)
        yield Reader(connection, path)


@contextmanager
def _connection(path: Path, *, write: bool, of: Path | None = None) -> Iterator[database.Connection]:
    """Opens a database, or a copy `of` one: errors name that."""
    connection = database.connect(path, write=write)
    try:
        with explaining(connection, of or path):
            yield connection
    except sqlite3.Error as error:
        raise database.trouble(error, of or path) from error
    finally:
        connection.close()
