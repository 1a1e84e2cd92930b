"""What must hold of a tournament's database, and ways to disturb whoever writes it."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from arena.core.errors import ArenaError
from arena.core.standings.closing import close
from arena.core.store import database
from arena.core.store.store import Store, open_store
from arena.core.tournament.formats.adaptive import Adaptive
from arena.core.tournament.formats.base import Format
from arena.core.tournament.formats.compare import Compare
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.knockout import Knockout
from arena.core.tournament.formats.ladder import Ladder
from arena.core.tournament.formats.round_robin import Gauntlet, RoundRobin
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.plan import Begun
from tests import instant

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
COORDINATOR = ROOT / "tests" / "core" / "e2e" / "coordinator.py"

EIGHT = ("ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal")
FORMATS: dict[str, Format] = {
    "round-robin": RoundRobin(deals=1),
    "gauntlet": Gauntlet(challengers=2, deals=2),
    "swiss": Swiss(rounds=4, deals=2),
    "knockout": Knockout(deals=2, third_place=True),
    "ladder": Ladder(matches=30),
    "adaptive": Adaptive(deals=1, budget=80),
    "compare": Compare(deals=2, max_deals=30),
    "extension": Extension(deals=3, extends="earlier", unchanged=(0, 1, 2, 3, 4, 5, 6), played=2),
}
KINDS = {
    "plain": instant.settings(("ann", "bob", "cid", "ann"), players=3, deals=5),
    **{f"{name}-2p": instant.settings(EIGHT, format=format) for name, format in FORMATS.items() if name != "compare"},
    "compare-2p": instant.settings(EIGHT[:2], format=FORMATS["compare"]),
    **{f"{name}-3p": instant.settings(EIGHT, players=3, format=format) for name, format in FORMATS.items()},
    "knockout-3p": instant.settings(EIGHT, players=3, format=Knockout(deals=2)),
}
"""Tournaments by name: one of each format with 2 and with 3 players at a table."""

SMALL = instant.settings(("ann", "bob"), deals=2)

Tell = Callable[[str], object]  # what a run tells of each game that counts


def play_all(folder: Path, tell: Tell) -> None:
    """One run of `SMALL`, from the beginning or from where the last one ended. The second game comes back first."""
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SMALL, folder / "logs")
        _backwards(store, begun, tell)
        for played in instant.runner(store, begun, SMALL, lanes=2).run():
            tell(played.result.game)
        close(store, begun.tournament)


def _backwards(store: Store, begun: Begun, tell: Tell) -> None:
    for claim in reversed(store.claim(begun.tournament.id, SMALL.schedule().game, 2)):
        game = SMALL.schedule().game(claim.number)
        store.record(claim, instant.play(instant.job(begun.tournament, SMALL, game)), game.entrants, 0)
        tell(claim.game)


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "arena.db")
    connection.execute("PRAGMA synchronous = OFF")
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def check_sound(folder: Path, told: list[str], players: int) -> None:
    """The invariants that hold whenever a run has ended, however it ended."""
    if not query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'games'"):
        assert not told
        return
    assert query(folder, "PRAGMA integrity_check") == [("ok",)]
    assert query(folder, "PRAGMA foreign_key_check") == []
    games = dict(query(folder, "SELECT id, status FROM games"))
    done = {game for game, status in games.items() if status == "done"}
    assert len(told) == len(set(told)), "a game was told twice"
    assert set(told) <= done, "a game was told and is not in the database"
    assert dict(query(folder, "SELECT game, count(*) FROM seats GROUP BY game")) == dict.fromkeys(done, players)
    for tournament, rated in query(folder, "SELECT id, rated FROM tournaments"):
        order = query(folder, f"SELECT number, status FROM games WHERE tournament = '{tournament}' ORDER BY number")
        assert [number for number, _ in order] == list(range(len(order))), "rows are not the first of the schedule"
        prefix = next((number for number, status in order if status != "done"), len(order))
        assert rated == prefix, "ratings are not those of the finished prefix"
        counted = query(folder, f"SELECT number, count(*) FROM ratings WHERE tournament = '{tournament}' GROUP BY 1")
        assert counted == [(number, players) for number in range(rated)]
    sums = "SELECT tournament, entrant, games, wins + draws, forfeits, round(total_ms) FROM tallies"
    assert query(folder, sums) == query(
        folder,
        "SELECT tournament, entrant, count(*), sum(rank = 1), count(forfeit), round(sum(total_ms)) FROM seats"
        " JOIN games ON id = game GROUP BY 1, 2 ORDER BY 1, 2",
    )
    assert query(folder, "SELECT tournament, deal, one, other, better, equal, worse FROM pairs") == query(
        folder,
        "SELECT tournament, deal, a.entrant, b.entrant, sum(a.rank < b.rank), sum(a.rank = b.rank),"
        " sum(a.rank > b.rank) FROM seats a JOIN seats b ON a.game = b.game AND a.entrant < b.entrant"
        " JOIN games ON id = a.game GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    )


def final(folder: Path) -> list[list[tuple[Any, ...]]]:
    """All that must be the same at the end of every run: no identifiers, times and attempts."""
    [(tournament, status)] = query(folder, "SELECT id, status FROM tournaments")
    assert status == "finished"
    for log, digest in query(folder, "SELECT log, log_sha256 FROM games"):
        assert hashlib.sha256((folder / "logs" / tournament / log).read_bytes()).hexdigest() == digest
    files = {file.name for file in (folder / "logs" / tournament).iterdir()}
    assert {"commitment.json", "secret.json"} <= files
    assert sum(file.endswith(".jsonl") for file in files) == len(query(folder, "SELECT id FROM games"))
    assert not any(file.endswith(".part") for file in files)
    return [
        query(folder, "SELECT number, title, deals, meetings, byes, first_game, games FROM rounds ORDER BY 1"),
        query(folder, "SELECT number, seating, deal, rotation, status, termination, play_digest FROM games ORDER BY 1"),
        query(folder, "SELECT number, seat, entrant, rank, forfeit FROM seats JOIN games ON id = game ORDER BY 1, 2"),
        query(folder, "SELECT entrant, number, mu, sigma FROM ratings ORDER BY 1, 2"),
        query(folder, "SELECT entrant, games, wins, draws, forfeits, decisions, total_ms, max_ms FROM tallies"),
        query(folder, "SELECT deal, one, other, better, equal, worse FROM pairs"),
        query(folder, "SELECT secret, rated, games, open FROM tournaments"),
        query(folder, "SELECT entrant, rating, half_width, rank FROM fits ORDER BY 1"),
    ]


class Faulty(database.Connection):
    """A connection on which something happens at the n-th statement."""

    fault: ClassVar[Callable[[], NoReturn] | None] = None
    at: ClassVar[int] = -1
    after: ClassVar[bool] = False
    count: ClassVar[int] = 0

    def _run(self, method: Callable[..., Any], *args: Any) -> Any:
        Faulty.count += 1
        due = Faulty.count == Faulty.at
        if due and not Faulty.after and Faulty.fault:
            Faulty.fault()
        done = method(*args)
        if due and Faulty.after and Faulty.fault:
            Faulty.fault()
        return done

    def execute(self, *args: Any) -> Any:
        return self._run(super().execute, *args)

    def executemany(self, *args: Any) -> Any:
        return self._run(super().executemany, *args)


def die() -> NoReturn:
    os._exit(9)


def interrupt() -> NoReturn:
    raise KeyboardInterrupt


def fail() -> NoReturn:
    raise sqlite3.OperationalError("disk I/O error")


def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets nothing wait for the disk, for tests in which nothing cuts the power."""
    monkeypatch.setattr(database, "_WRITER_SETTINGS", (*database._WRITER_SETTINGS, ("synchronous", "OFF", 0)))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def run_and_die(play: Callable[[Tell], object]) -> list[str]:
    """Plays in a process that dies at the fault; what it told before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            play(lambda game: os.write(writing, f"{game}\n".encode()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        games = told.read().split()
    os.waitpid(child, 0)
    return games


def run_and_fail(play: Callable[[Tell], object]) -> list[str]:
    """Plays in this process until the fault; what was told before."""
    games: list[str] = []
    with suppress(KeyboardInterrupt, ArenaError, sqlite3.Error):
        play(games.append)
    return games


def is_finished(folder: Path) -> bool:
    """Whether the folder's tournament is over: the same command would begin another."""
    known = query(folder, "SELECT 1 FROM sqlite_master WHERE name = 'tournaments'")
    return bool(known and query(folder, "SELECT 1 FROM tournaments WHERE status = 'finished'"))


def coordinator(folder: Path, name: str, concurrency: int, *deadly: int) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(COORDINATOR), str(folder), name, str(concurrency), *map(str, deadly)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def run_until(folder: Path, name: str, concurrency: int, lines: int, *deadly: int) -> tuple[list[str], int]:
    """Run the coordinator of a tournament of `KINDS` and kill it after so many games; what it told, and its status.

    Its workers hold the same pipe: that the pipe ends means that they have ended too.
    """
    with coordinator(folder, name, concurrency, *deadly) as process:
        assert process.stdout is not None
        told = [line.strip() for _, line in zip(range(lines), process.stdout, strict=False)]
        if len(told) == lines:
            process.send_signal(signal.SIGKILL)
        told += process.stdout.read().split()
        status = process.wait()
    return told, status
