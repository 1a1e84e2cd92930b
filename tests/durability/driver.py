"""Plays instant tournaments that are disturbed at the n-th write, and says what came of each.

Usage: driver.py LIBRARY FOLDER TRIAL, with LIBRARY (`inject.c`, built) in LD_PRELOAD. TRIAL is a `Trial` as JSON; the
answer on stdout is an `Outcome` as JSON.

Each run is a process forked from this one. What it told through a pipe before it ended is the witness: it must be in
the database, each game once; and when the same tournament has gone on to its end, that must be an undisturbed run's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

from arena.core import remedies
from arena.core.errors import ArenaError, InternalError
from arena.core.store import rated, store
from arena.core.store.records import Claim, Played
from arena.core.store.store import Store
from arena.core.tournament import plan
from arena.core.tournament.runner import Scheduled
from arena.core.types import GameResult
from tests.once_kit import check_sound, final, play_all, query

KINDS = {"write": 1, "sync": 2, "truncate": 4, "unlink": 8}
FAULTS = {"count": 0, "kill": 1, "tear": 2, "fail": 3, "fail from": 4}
YEAR_S = 31_536_000

DONE, KILLED, STOPPED, WRONG = "finished", "killed", "stopped with a message", "wrong"
_BY_STATUS = {0: DONE, 1: STOPPED, 2: WRONG}


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried."""

    about: str = "calls"
    """"calls", "log" (damages the write-ahead log of a killed run), "clock"."""
    fault: str = "kill"
    """Of `FAULTS`; for the log "tear" or "flip"."""
    error: str = "EIO"
    kinds: tuple[str, ...] = tuple(KINDS)
    stride: int = 1
    """Every so many of the places are tried."""
    mutant: str = ""
    """Of `MUTANTS`: what is broken on purpose."""


class Outcome(msgspec.Struct, kw_only=True):
    """What came of it."""

    places: int
    """How many places there are for the fault."""
    tried: int = 0
    ends: dict[str, int] = {}
    """How many of the disturbed runs ended in which way."""
    wrong: list[str] = []
    """What must not be: by place what was found."""


class Driver:
    """The library, and a folder for tournaments."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.inject_seen.restype = ctypes.c_long
        self._library.inject_clock.argtypes = [ctypes.c_long]
        self._folder = folder

    def run(self, folder: Path, arm: Callable[[], object]) -> tuple[list[str], str, str]:
        """Plays in a process of its own: what it told, how it ended, and the message of its error."""
        reading, writing = os.pipe()
        errors_in, errors_out = os.pipe()
        child = os.fork()
        if child == 0:
            status = 2
            try:
                arm()
                play_all(folder, lambda game: os.write(writing, f"{game}\n".encode()))
                status = 0
            except BaseException as error:
                self._library.inject_disarm()
                known = isinstance(error, ArenaError) and not isinstance(error, InternalError)
                status = 1 if known or (isinstance(error, OSError) and error.errno in remedies.DISK) else 2
                os.write(errors_out, f"{type(error).__name__}: {error}".encode()[:2_000])
            finally:
                self._library.inject_disarm()
                os.write(writing, f"= {self._library.inject_seen()}\n".encode())
                os._exit(status)
        os.close(writing)
        os.close(errors_out)
        with os.fdopen(reading) as told, os.fdopen(errors_in) as said:
            lines, message = told.read().splitlines(), said.read()
        _, status = os.waitpid(child, 0)
        end = KILLED if os.WIFSIGNALED(status) else _BY_STATUS[os.WEXITSTATUS(status)]
        self.seen = int(lines.pop()[2:]) if lines and lines[-1].startswith("= ") else -1
        return lines, end, message

    def arm(self, folder: Path, trial: Trial, number: int, fault: str | None = None) -> None:
        kinds = sum(KINDS[kind] for kind in trial.kinds)
        self._library.inject_arm(
            os.fsencode(folder), kinds, ctypes.c_long(number), FAULTS[fault or trial.fault], getattr(errno, trial.error)
        )

    def fresh(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder

    def undisturbed(self, trial: Trial) -> object:
        """Returns what every tournament must end as. `seen` is then the number of calls that it makes."""
        folder = self.fresh("undisturbed")
        told, end, message = self.run(folder, lambda: self.arm(folder, trial, 0, "count"))
        assert end == DONE, message
        check_sound(folder, told, players=2)
        return final(folder)

    def try_calls(self, trial: Trial) -> Outcome:
        """Something happens at the n-th call of some kinds."""
        expected = self.undisturbed(trial)
        outcome = Outcome(places=self.seen)
        MUTANTS[trial.mutant]()
        for number in range(1, outcome.places + 1, trial.stride):
            folder = self.fresh(str(number))
            told, end, message = self.run(folder, lambda n=number, f=folder: self.arm(f, trial, n))  # type: ignore[misc]
            self.settle(outcome, number, folder, told, end, message, expected)
        return outcome

    def try_log(self, trial: Trial) -> Outcome:
        """The write-ahead log of a killed run is cut off, or a bit in it is flipped: what was before it must stand.

        It is killed before the log is copied into the database, as what was copied is on the disk in the log by then.
        """
        expected = self.undisturbed(trial)
        dice = random.Random(1)
        folder, whole = self.fresh("killed"), self._folder / "whole"
        _, end, _ = self.run(folder, lambda: self.arm(folder, trial, self.seen * 4 // 5, "kill"))
        assert end == KILLED
        log = (folder / "arena.db-wal").read_bytes()
        (folder / "arena.db-shm").unlink()
        folder.rename(whole)
        outcome = Outcome(places=len(log))
        for place in range(0, len(log), trial.stride):
            at = min(len(log) - 1, place + dice.randrange(trial.stride))
            shutil.copytree(whole, folder)
            flipped = log[:at] + bytes([log[at] ^ 1 << dice.randrange(8)]) + log[at + 1 :]
            (folder / "arena.db-wal").write_bytes(log[:at] if trial.fault == "tear" else flipped)
            self.settle(outcome, at, folder, [], KILLED, "", expected)
        return outcome

    def try_clock(self, trial: Trial) -> Outcome:
        """The wall clock jumps at every look, forth and back."""
        expected = self.undisturbed(trial)
        steps = (1, 60, 3_600, YEAR_S, 30 * YEAR_S)
        outcome = Outcome(places=len(steps))
        for step in steps:
            folder = self.fresh(str(step))
            told, end, message = self.run(folder, lambda s=step: self._library.inject_clock(s))  # type: ignore[misc]
            self.settle(outcome, step, folder, told, end, message, expected)
        return outcome

    def settle(
        self, outcome: Outcome, place: int, folder: Path, told: list[str], end: str, message: str, expected: object
    ) -> None:
        """Checks what a disturbed run has left, goes on with it, and checks the end."""
        outcome.tried += 1
        outcome.ends[end] = outcome.ends.get(end, 0) + 1
        try:
            assert end != WRONG, message
            if message.startswith("StoreError"):
                assert " - at " in message, message
            check_sound(folder, told, players=2)
            if not finished(folder):
                more, end, message = self.run(folder, lambda: self.arm(folder, Trial(), 0, "count"))
                assert end == DONE, f"it did not go on: {message}"
                check_sound(folder, told + more, players=2)
            assert final(folder) == expected, "another end than undisturbed"
        except Exception as error:
            outcome.wrong.append(f"{place}: {type(error).__name__}: {error}"[:300])
        shutil.rmtree(folder)


def finished(folder: Path) -> bool:
    known = query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'tournaments'")
    return bool(known and query(folder, "SELECT 1 FROM tournaments WHERE status = 'finished'"))


# Mutants: what must be caught.


def announce_before_the_commit() -> None:
    take, share = Scheduled.take, Scheduled.share
    late: list[tuple[Claim, GameResult]] = []

    def announce(self: Scheduled, claim: Claim, result: GameResult) -> Played:
        late.append((claim, result))
        return Played(self._schedule.game(claim.number), result)

    def store_late(self: Scheduled, lanes: int) -> int:
        """Is called before each claim."""
        while late:
            take(self, *late.pop(0))
        return share(self, lanes)

    Scheduled.take, Scheduled.share = announce, store_late  # type: ignore[method-assign]


def store_in_two_transactions() -> None:
    insert = Store._insert_seats

    def insert_seats(self: Store, *args: object) -> None:
        self._db.execute("COMMIT")
        self._db.execute("BEGIN IMMEDIATE")
        insert(self, *args)  # type: ignore[arg-type]

    Store._insert_seats = insert_seats  # type: ignore[assignment,method-assign]


def rate_without_the_prefix_rule() -> None:
    def rate_prefix(connection: sqlite3.Connection, tournament: str) -> None:
        (pool,) = connection.execute("SELECT pool FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        for number, game in connection.execute(
            "SELECT number, id FROM games WHERE tournament = ? AND status = 'done' AND NOT EXISTS (SELECT 1 FROM"
            " ratings WHERE ratings.tournament = games.tournament AND ratings.number = games.number)",
            (tournament,),
        ).fetchall():
            rated._rate(connection, pool, tournament, number, game)
            connection.execute("UPDATE tournaments SET rated = rated + 1 WHERE id = ?", (tournament,))

    store.rate_prefix = rate_prefix  # type: ignore[attr-defined]


MUTANTS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "announces before the commit": announce_before_the_commit,
    "stores status and result in two transactions": store_in_two_transactions,
    "rates without the prefix rule": rate_without_the_prefix_rule,
}


def main(library: Path, folder: Path, trial: Trial) -> None:
    driver = Driver(library, folder)
    plan.seed_secret = cache(plan.seed_secret)  # slow on purpose, and no matter here
    play_all(driver.fresh("first"), lambda game: None)  # imports all that the runs need, once for all
    tried = {"calls": driver.try_calls, "log": driver.try_log, "clock": driver.try_clock}[trial.about](trial)
    print(msgspec.json.encode(tried).decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), msgspec.json.decode(sys.argv[3], type=Trial))
