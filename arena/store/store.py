"""Stores tournaments and their results, each counted exactly once.

Laws:
1. What can be computed is not stored: a game gets its row at its first claim. First claims follow the schedule, so the
   rows are always the first games of the schedule.
2. A game is claimed before it is played. Its result is accepted only once and only from the last claim: a second
   delivery, or one of an earlier claim, is an error.
3. A result, its seats, its digests and the ratings that it moves are one transaction. The results move the ratings in
   schedule order: those of the finished games before the first unfinished one. Ratings belong to the tournament's pool.
4. Only one process opens the store to write (`database.locked`). So on resuming, every running game is dead.
5. Nothing is announced before the method that stores it has returned.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import StoreError
from arena.ratings.running import rate
from arena.store.database import check_current, connect, immediate, is_outdated, locked, migrate, trouble
from arena.store.reader import Reader
from arena.store.records import Claim, Entrant, PlannedGame, Pool, Tournament, canonical, game_id
from arena.types import GameResult, Termination


class Store(Reader):
    """An open database with this process as its only writer. Make one with `open_store`."""

    def create(self, tournament: Tournament, entrants: Iterable[Entrant]) -> None:
        """Stores a tournament with its entrants, but none of its games."""
        t = tournament
        with immediate(self._db):
            self._db.execute(
                "INSERT INTO tournaments (id, pool, created, settings, digest, seed, secret, commitment, logs, games)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    t.id,
                    self._pool(Pool.of(t.settings)),
                    t.created,
                    canonical(t.settings),
                    t.digest,
                    t.seed,
                    t.secret.hex(),
                    t.commitment,
                    t.logs,
                    t.games,
                ),
            )
            self._db.executemany(
                "INSERT INTO entrants (tournament, number, name, version, digest, spec) VALUES (?, ?, ?, ?, ?, ?)",
                ((t.id, e.number, e.name, e.version, e.digest, canonical(e.spec)) for e in entrants),
            )

    def contribute(self, tournament: str, beacon: str, entropy: Sequence[str | None]) -> None:
        """Stores what others than the organiser put into chance. It is fixed by that.

        Raises:
            StoreError: It is fixed already, or a game has been claimed.
        """
        with immediate(self._db):
            changed = self._db.execute(
                "UPDATE tournaments SET beacon = ?, entropy = ? WHERE id = ? AND entropy IS NULL"
                " AND NOT EXISTS (SELECT 1 FROM games WHERE tournament = tournaments.id)",
                (beacon, canonical(entropy), tournament),
            ).rowcount
            if changed != 1:
                raise StoreError(f"expected the chance of tournament {tournament} to be open, got: it is fixed")

    def resume(self, tournament: str) -> list[str]:
        """Gives back the games that were running when the last run ended, and returns their identifiers."""
        with immediate(self._db):
            where = "WHERE tournament = ? AND status = 'running'"
            dead = [row[0] for row in self._db.execute(f"SELECT id FROM games {where} ORDER BY number", (tournament,))]
            self._db.execute(f"UPDATE games SET status = 'planned' {where}", (tournament,))
        return dead

    def finish(self, tournament: str) -> None:
        """Closes a tournament whose games are all done and rated.

        Raises:
            StoreError: Some are not.
        """
        with immediate(self._db):
            self.check_done(tournament)
            self._db.execute(
                "UPDATE tournaments SET status = 'finished', finished = ? WHERE id = ?", (now(), tournament)
            )

    def claim(self, tournament: str, schedule: Callable[[int], PlannedGame], limit: int = 1) -> list[Claim]:
        """Claims games that follow each other in one block and that are claimed for the same time.

        They are the first that were given back, or else the first that were never claimed.

        Args:
            tournament: Which tournament.
            schedule: Returns the game at a place in the order.
            limit: The most games to claim.

        Returns:
            The claims in schedule order; none if every game is running or done.
        """
        with immediate(self._db):
            claims = self._given_back(tournament, schedule, limit) or self._never_claimed(tournament, schedule, limit)
            self._db.executemany(
                "UPDATE games SET status = 'running', attempt = ? WHERE id = ?",
                [(claim.attempt, claim.game) for claim in claims],
            )
        return claims

    def _given_back(self, tournament: str, schedule: Callable[[int], PlannedGame], limit: int) -> list[Claim]:
        """Returns claims of the first games that were given back."""
        claims: list[Claim] = []
        rows = self._db.execute(
            "SELECT id, number, deal, rotation, attempt + 1 FROM games"
            " WHERE tournament = ? AND status = 'planned' ORDER BY number LIMIT ?",
            (tournament, limit),
        )
        for game, number, deal, rotation, attempt in rows.fetchall():
            claim = Claim(
                game=game, tournament=tournament, number=number, deal=deal, rotation=rotation, attempt=attempt
            )
            if claims and not _continues(claims[-1], claim, schedule):
                break
            claims.append(claim)
        return claims

    def _never_claimed(self, tournament: str, schedule: Callable[[int], PlannedGame], limit: int) -> list[Claim]:
        """Inserts the next games' rows and returns claims of them."""
        (first,) = self._db.execute(
            "SELECT coalesce(max(number) + 1, 0) FROM games WHERE tournament = ?", (tournament,)
        ).fetchone()
        (games,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        planned: list[PlannedGame] = []
        for number in range(first, min(first + limit, games)):
            game = schedule(number)
            if planned and game.block != planned[0].block:
                break
            planned.append(game)
        self._db.executemany(
            "INSERT INTO games (id, tournament, number, pairing, deal, rotation) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (game_id(tournament, game.number), tournament, game.number, game.pairing, game.deal, game.rotation)
                for game in planned
            ],
        )
        return [
            Claim(
                game=game_id(tournament, game.number),
                tournament=tournament,
                number=game.number,
                deal=game.deal,
                rotation=game.rotation,
                attempt=1,
            )
            for game in planned
        ]

    def release(self, claim: Claim) -> None:
        """Gives a game back unplayed, for another claim."""
        with immediate(self._db):
            changed = self._db.execute(
                "UPDATE games SET status = 'planned' WHERE id = ? AND status = 'running' AND attempt = ?",
                (claim.game, claim.attempt),
            ).rowcount
            if changed != 1:
                raise self._void(claim)

    def record(self, claim: Claim, result: GameResult, entrants: Sequence[int], seconds: float) -> None:
        """Stores a result with everything that follows from it.

        Args:
            claim: What `claim` returned for the game.
            result: The game's result.
            entrants: The numbers of the entrants, by seat.
            seconds: What to add to the tournament's time.

        Raises:
            StoreError: The result is not of this claim, the claim is void, or the game was interrupted. Nothing has
                changed.
        """
        if result.game != claim.game or len(result.seats) != len(entrants):
            raise StoreError(
                f"expected the result of game {claim.game} with {len(entrants)} seats, "
                f"got: game {result.game} with {len(result.seats)}"
            )
        if result.termination is Termination.INTERRUPTED:
            raise StoreError(f"expected a result, got: game {claim.game} was interrupted, which is none")
        with immediate(self._db):
            changed = self._db.execute(
                "UPDATE games SET status = 'done', termination = ?, turns = ?, actions = ?, seconds = ?, log = ?,"
                " log_sha256 = ?, play_digest = ?, transcripts = ?"
                " WHERE id = ? AND status = 'running' AND attempt = ?",
                (
                    result.termination.value,
                    result.turns,
                    result.actions,
                    result.seconds,
                    result.log,
                    result.log_sha256,
                    result.play_digest,
                    canonical(result.transcripts),
                    claim.game,
                    claim.attempt,
                ),
            ).rowcount
            if changed != 1:
                raise self._void(claim)
            self._insert_seats(result, entrants)
            self._rate_prefix(claim.tournament)
            self._db.execute("UPDATE tournaments SET seconds = seconds + ? WHERE id = ?", (seconds, claim.tournament))

    def _void(self, claim: Claim) -> StoreError:
        row = self._db.execute("SELECT status, attempt FROM games WHERE id = ?", (claim.game,)).fetchone()
        got = f"{row[0]}, attempt {row[1]}" if row else "no such game"
        return StoreError(f"expected game {claim.game} to be running, attempt {claim.attempt}, got: {got}")

    def _insert_seats(self, result: GameResult, entrants: Sequence[int]) -> None:
        for number, (seat, entrant) in enumerate(zip(result.seats, entrants, strict=True)):
            forfeit = seat.forfeit
            self._db.execute(
                "INSERT INTO seats (game, seat, entrant, rank, decisions, total_ms, max_ms, forfeit, sentence, turn,"
                " stderr, overloaded, score) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(result.game, number, entrant, seat.rank, seat.decisions, seat.total_ms, seat.max_ms),
                    *((None,) * 5 if forfeit is None else (forfeit.code.value, forfeit.sentence, forfeit.turn)),
                    *(() if forfeit is None else (canonical(forfeit.stderr), int(forfeit.overloaded))),
                    seat.score,
                ),
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

    def _rate_prefix(self, tournament: str) -> None:
        """Rates the finished games that follow the last rated one without a gap."""
        query = "SELECT pool, rated FROM tournaments WHERE id = ?"
        pool, rated = self._db.execute(query, (tournament,)).fetchone()
        number = rated
        while seats := self._db.execute(
            "SELECT entrant, rank FROM seats JOIN games ON games.id = seats.game"
            " WHERE tournament = ? AND number = ? AND status = 'done' ORDER BY seat",
            (tournament, number),
        ).fetchall():
            before = [self._rating(tournament, entrant) for entrant, _ in seats]
            after = rate(before, tuple(rank for _, rank in seats))
            self._db.executemany(
                "INSERT INTO ratings (pool, tournament, entrant, number, mu, sigma) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (pool, tournament, entrant, number, rating.mu, rating.sigma)
                    for (entrant, _), rating in zip(seats, after, strict=True)
                ],
            )
            number += 1
        if number > rated:
            self._db.execute("UPDATE tournaments SET rated = ? WHERE id = ?", (number, tournament))


def _continues(one: Claim, other: Claim, schedule: Callable[[int], PlannedGame]) -> bool:
    """Tells whether a game follows another in the same block, both claimed for the same time."""
    return (
        other.number == one.number + 1
        and other.attempt == one.attempt
        and schedule(other.number).block == schedule(one.number).block
    )


def now() -> str:
    """Returns the time in UTC, to the second (ISO 8601)."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Opens the database at `path` as its only writer. Makes it, or brings it up to date, if needed.

    Raises:
        StoreError: It is in use, cannot be written, or is not a database of this version.
    """
    with locked(path), _connection(path, write=True) as connection:
        migrate(connection, path)
        check_current(connection, path)
        yield Store(connection, path)


@contextmanager
def open_reader(path: Path) -> Iterator[Reader]:
    """Opens the database at `path` to read, even while a tournament runs. Call `update` first.

    Raises:
        StoreError: It is missing, or is not a database of this version.
    """
    _check_there(path)
    with _connection(path, write=False) as connection:
        check_current(connection, path)
        yield Reader(connection, path)


def update(path: Path) -> None:
    """Brings a database of an earlier version up to date. One of this version is not changed.

    Raises:
        StoreError: It is missing, it is not a database of ours, or it must change and is in use.
    """
    _check_there(path)
    with _connection(path, write=False) as connection:
        outdated = is_outdated(connection)
    if outdated:
        with open_store(path):
            pass


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise StoreError(
            f"expected a database, got no such file - at {path}; `arena tournament` makes one, --db names another"
        )


@contextmanager
def _connection(path: Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    connection = connect(path, write=write)
    try:
        yield connection
    except sqlite3.Error as error:
        raise trouble(error, path) from error
    finally:
        connection.close()
