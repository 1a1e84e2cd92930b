"""Real tournaments, as processes with real bots, that are killed, stopped, starved or robbed of their files."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.link.warden import children, environment
from tests.once_kit import check_sound, final, query
from tests.processes import eventually

ROOT: Final = Path(__file__).parents[2]
DEALS: Final = 20
GAMES: Final = 2 * DEALS
COMMAND: Final = (
    *(sys.executable, "-m", "arena", "tournament", "random", "greedy", "--deals", str(DEALS), "--seed", "durable"),
    *("--time", "60+5", "--each-game", "--concurrency", "2"),
)
_TOLD: Final = re.compile(r"^(\d{8}-\w+-\d{6}): ", re.MULTILINE)
_TIMES: Final = 4  # the part of `final` that holds times, which are another each time
PATIENCE_S: Final = 120


class Finding(msgspec.Struct, kw_only=True):
    """What came of some tournaments."""

    tried: int = 0
    ends: dict[str, int] = {}
    wrong: list[str] = []

    def count(self, end: str) -> None:
        self.tried += 1
        self.ends[end] = self.ends.get(end, 0) + 1


class Tournament:
    """One tournament in a folder of its own: run as often as one likes, with what it told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True)
        self.temporary = Path(tempfile.mkdtemp(prefix="d-"))  # elsewhere, since the path of a socket must be short
        self.errors = folder / "stderr"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, limit: tuple[int, int] | None = None, words: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Begins it or goes on with it, with `limit` on a resource."""
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])

        def limited() -> None:
            if limit is not None:
                resource.setrlimit(limit[0], (limit[1], limit[1]))

        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors, preexec_fn=limited,
                env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(self.temporary), "NO_COLOR": "1"},
            )  # fmt: skip
        return self.process

    def finish(self) -> int:
        """Goes on with it to its end; its exit code."""
        return self.start().wait(PATIENCE_S)

    @property
    def said(self) -> str:
        return self.errors.read_text(errors="replace")

    @property
    def told(self) -> list[str]:
        """The games that were announced, in all runs."""
        return _TOLD.findall(self.said)

    def check(self) -> None:
        """Whenever no run is going on: what was told is stored, and no bug has shown."""
        check_sound(self.folder, self.told, players=2)
        said = self.said
        for word in ("Traceback", "internal error", "bug"):
            assert word not in said, said[max(0, said.index(word) - 200) :][:600]

    def check_nothing_is_left(self) -> None:
        """After a run that was not disturbed."""
        left = [] if eventually(lambda: not self.left()) else self.left()
        assert not left, f"left: {left}"

    def left(self) -> list[str]:
        """What the runs have left: processes that have their temporary folder, and what lies in it."""
        mark = os.fsencode(f"TMPDIR={self.temporary}") + b"\0"
        pids = [name for name in os.listdir("/proc") if name.isdigit() and mark in environment(int(name))]
        files = [file.name for file in self.temporary.iterdir() if not _is_of_python(file)]
        return [*(f"process {pid}" for pid in pids), *files]

    def final(self) -> list[Any]:
        """All that must be the same at the end of every run."""
        parts = final(self.folder)
        return [*parts[:_TIMES], *parts[_TIMES + 1 :]]

    def by_role(self) -> dict[str, list[int]]:
        """The living processes of the run by what they are."""
        found: dict[str, list[int]] = {"coordinator": [], "worker": [], "warden": [], "bot": []}
        if self.process is None or self.process.poll() is not None:
            return found
        found["coordinator"] = [self.process.pid]
        for pid in children(self.process.pid):
            if "arena.core.tournament.workers" in _command(pid):
                found["worker"].append(pid)
                for below in children(pid):
                    found["warden" if "warden.py" in _command(below) else "bot"].append(below)
        return found


def _is_of_python(file: Path) -> bool:
    """Whether a file is one by which Python's `tempfile` tries a folder: a kill in that instant leaves it."""
    try:
        return len(file.name) == 8 and file.read_bytes() in (b"", b"blat")
    except OSError:  # a folder, or gone by now
        return False


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


@cache
def undisturbed() -> list[Any]:
    """Plays the tournament without disturbing it; what every other must end as."""
    with tempfile.TemporaryDirectory() as folder:
        tournament = Tournament(Path(folder) / "undisturbed")
        assert tournament.finish() == 0, tournament.said
        tournament.check()
        tournament.check_nothing_is_left()
        assert len(tournament.told) == GAMES
        shutil.rmtree(tournament.temporary)
        return tournament.final()


def storm(folder: Path, expected: list[Any] | None, roles: Sequence[str], kills: int, seed: int) -> Finding:
    """Kills processes of some roles at random instants, goes on until it has killed so many, then plays to the end.

    Without `expected` its results may differ: a bot that was killed has lost its game.
    """
    finding = Finding()
    tournament = Tournament(folder / f"storm-{'-'.join(roles)}-{seed}")
    dice = random.Random(seed)
    while finding.tried < kills:
        process = tournament.start()
        if dice.random() < 0.7:
            eventually(lambda p=process: tournament.by_role()["bot"] or p.poll() is not None)  # type: ignore[misc]
        while process.poll() is None and finding.tried < kills:
            time.sleep(dice.uniform(0.02, 0.3))
            role = dice.choice(roles)
            if victims := tournament.by_role()[role]:
                with suppress(ProcessLookupError):
                    os.kill(dice.choice(victims), signal.SIGKILL)
                    finding.count(role)
        if finding.tried >= kills:
            process.kill()
        status = process.wait(PATIENCE_S)
        _note(finding, tournament, status in (0, -signal.SIGKILL), f"it ended with {status}: {tournament.said[-500:]}")
        if status == 0:
            break
    return _to_the_end(finding, tournament, expected)


def stops(folder: Path, expected: list[Any], count: int, seed: int) -> Finding:
    """Stops coordinator, workers and wardens for a while, at random instants."""
    finding = Finding()
    tournament = Tournament(folder / f"stops-{seed}")
    dice = random.Random(seed)
    process = tournament.start()
    while process.poll() is None and finding.tried < count:
        time.sleep(dice.uniform(0.02, 0.3))
        role = dice.choice(["coordinator", "worker", "worker", "warden"])
        if victims := tournament.by_role()[role]:
            with suppress(ProcessLookupError):
                victim = dice.choice(victims)
                os.kill(victim, signal.SIGSTOP)
                time.sleep(dice.uniform(0.1, 1.0))
                os.kill(victim, signal.SIGCONT)
                finding.count(role)
    status = process.wait(PATIENCE_S)
    _note(finding, tournament, status == 0, f"it ended with {status}: {tournament.said[-500:]}")
    return _to_the_end(finding, tournament, expected)


def starve(folder: Path, expected: list[Any], kind: int, limits: Sequence[int]) -> Finding:
    """Runs with little of something. It must say so or play well; then it goes on with enough of it."""
    finding = Finding()
    for limit in limits:
        tournament = Tournament(folder / f"limit-{kind}-{limit}")
        status = tournament.start(limit=(kind, limit)).wait(PATIENCE_S)
        finding.count({0: "finished", 1: "stopped with a message"}.get(status, f"exit {status}"))
        if not (tournament.folder / "arena.db").exists():
            shutil.rmtree(tournament.temporary)
            continue  # Python itself did not start
        _note(finding, tournament, status in (0, 1), f"with {limit} it ended with {status}: {tournament.said[-500:]}")
        _to_the_end(finding, tournament, expected)
    return finding


def rob(folder: Path, expected: list[Any], name: str, take: Callable[[Path], object], told: str, kept: bool) -> Finding:
    """Takes something away in the middle. It must say what happened; what it says is kept must be there.

    Args:
        folder: Where it is played.
        expected: The undisturbed end.
        name: A name for it.
        take: Takes it away, given the tournament's folder.
        told: A part of what it must say; empty if it may play on.
        kept: Whether all that was told is kept.
    """
    finding = Finding()
    tournament = Tournament(folder / f"without-{name}")
    process = tournament.start()
    assert eventually(lambda: len(tournament.told) >= 3 or process.poll() is not None, PATIENCE_S)
    take(tournament.folder)
    status = process.wait(PATIENCE_S)
    finding.count("finished" if status == 0 else "stopped with a message" if status == 1 else f"exit {status}")
    _note(finding, tournament, status == (1 if told else 0), f"it ended with {status}: {tournament.said[-500:]}", kept)
    if told not in tournament.said:
        finding.wrong.append(f"it did not say {told!r}: {tournament.said[-500:]}")
    if kept:
        return _to_the_end(finding, tournament, expected)
    shutil.rmtree(tournament.temporary)
    return finding


def _note(finding: Finding, tournament: Tournament, is_right: bool, what: str, check: bool = True) -> None:
    try:
        assert is_right, what
        if check:
            tournament.check()
    except Exception as error:
        finding.wrong.append(_failure(tournament, error))


def _failure(tournament: Tournament, error: Exception) -> str:
    """What went wrong and where: most assertions have no message, and their folder is gone when this is read."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{tournament.folder.name}: {type(error).__name__} at {place.name}: {place.line}: {error}"[:800]


def _to_the_end(finding: Finding, tournament: Tournament, expected: list[Any] | None) -> Finding:
    """Goes on to the end, and compares."""
    try:
        if not query(tournament.folder, "SELECT 1 FROM sqlite_master WHERE name = 'tournaments'") or not query(
            tournament.folder, "SELECT 1 FROM tournaments WHERE status = 'finished'"
        ):
            assert tournament.finish() == 0, tournament.said[-500:]
        tournament.check()
        tournament.check_nothing_is_left()
        if expected is not None:
            assert tournament.final() == expected, "another end than undisturbed"
    except (AssertionError, sqlite3.Error) as error:
        finding.wrong.append(_failure(tournament, error))
    for used in (tournament.folder, tournament.temporary):
        shutil.rmtree(used, ignore_errors=True)
    return finding
