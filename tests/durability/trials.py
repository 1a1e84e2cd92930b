"""What is tried, with what must come of it: the rows of docs/durability.md, and the tests."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from tests.durability import real
from tests.durability.driver import Outcome, Trial

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
MIB: Final = 2**20

Run: TypeAlias = Callable[[Path, bool], "Result"]
"""Tries it in a folder; the second argument says whether all places are tried, or a few."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a row."""

    places: str
    """Of how many, how many were tried."""
    ends: dict[str, int]
    wrong: list[str]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is tried."""

    name: str
    must: str
    """What must come of it."""
    run: Run
    short: bool = True
    """Whether it is tried in the ordinary tests too, at a few places."""
    is_mutant: bool = False
    """Whether something must be found wrong."""


# With the library that makes calls fail.


def build(folder: Path) -> Path:
    """Builds the library.

    Raises:
        OSError: There is no compiler.
        subprocess.CalledProcessError: It has no headers.
    """
    library = folder / "inject.so"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-o", library, HERE / "inject.c", "-ldl"],
        capture_output=True, check=True,
    )  # fmt: skip
    return library


def inject(folder: Path, whole: bool, *, trial: Trial, stride: int) -> Result:
    """Runs the driver; `stride` is for the ordinary tests."""
    library = build(folder)
    trial = msgspec.structs.replace(trial, stride=trial.stride if whole else stride)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    tournaments = folder / "tournaments"
    tournaments.mkdir()
    done = subprocess.run(
        [sys.executable, HERE / "driver.py", library, tournaments, msgspec.json.encode(trial).decode()],
        env={**os.environ, "PYTHONPATH": path, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    shutil.rmtree(tournaments)
    assert done.returncode == 0, done.stderr
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    return Result(places=f"{outcome.tried} of {outcome.places}", ends=outcome.ends, wrong=outcome.wrong)


def injected(few: int, **what: Any) -> Run:
    """`few` is the stride of the ordinary tests; that of the long ones is 1 if it is not given."""
    return partial(inject, trial=Trial(**what), stride=few)


# With real tournaments.


def played(few: int, many: int, play: Callable[[Path, list[Any], int], real.Finding]) -> Run:
    """`few` and `many` are how much is tried in the ordinary tests and in the long ones."""

    def run(folder: Path, whole: bool) -> Result:
        return result_of(play(folder, real.undisturbed(), many if whole else few))

    return run


def result_of(*findings: real.Finding) -> Result:
    ends: dict[str, int] = {}
    for finding in findings:
        for end, count in finding.ends.items():
            ends[end] = ends.get(end, 0) + count
    wrong = [what for finding in findings for what in finding.wrong]
    return Result(places=str(sum(finding.tried for finding in findings)), ends=ends, wrong=wrong)


def storms(folder: Path, expected: list[Any], kills: int) -> real.Finding:
    roles = ["coordinator", *["worker", "warden"] * 2]
    return real.storm(folder, expected, roles, kills, seed=kills)


def storms_of_bots(folder: Path, expected: list[Any], kills: int) -> real.Finding:
    return real.storm(folder, None, ["bot"], kills, seed=kills)


def stops(folder: Path, expected: list[Any], count: int) -> real.Finding:
    return real.stops(folder, expected, count, seed=count)


def starved(kind: int, limits: Sequence[int]) -> Run:
    """The ordinary tests try the limit in the middle."""

    def run(folder: Path, whole: bool) -> Result:
        middle = [limits[len(limits) // 2]]
        return result_of(real.starve(folder, real.undisturbed(), kind, limits if whole else middle))

    return run


def robbed(folder: Path, whole: bool) -> Result:
    """All that can be taken away, or the database only."""
    expected = real.undisturbed()
    chosen = TAKEN if whole else TAKEN[:2]
    return result_of(*(real.rob(folder, expected, *taken) for taken in chosen))


def _delete(folder: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        (folder / f"arena.db{suffix}").unlink(missing_ok=True)


def _rename(folder: Path) -> None:
    """It is renamed, and somebody gives it back its name when the tournament has ended."""
    moved = folder / "moved.db"
    (folder / "arena.db").rename(moved)
    real.eventually(lambda: not (folder / "arena.db-lock").exists(), 60)
    moved.rename(folder / "arena.db")


def _replace(folder: Path) -> None:
    other = folder / "other.db"
    other.write_bytes(b"")
    other.replace(folder / "arena.db")


def _delete_logs(folder: Path) -> None:
    for logs in (folder / "logs").iterdir():
        shutil.rmtree(logs, ignore_errors=True)


TAKEN: Final[Sequence[tuple[str, Callable[[Path], object], str, bool]]] = (
    ("the database", _delete, "it was deleted while it was in use", False),
    ("its name", _rename, "it was renamed", True),
    ("its place", _replace, "and another file put in its place", False),
    ("its log", lambda folder: (folder / "arena.db-wal").unlink(), "write-ahead log to stay beside it", True),
    ("the logs", _delete_logs, "could not be played", False),
    ("the lock file", lambda folder: (folder / "arena.db-lock").unlink(), "", True),
)
"""A name, what takes it away, what must be said, and whether all that was told is kept."""

ROWS: Final = (
    Row(
        name="killed at the n-th write, sync, truncation, unlink",
        must="announced games are stored once; it goes on to the same end",
        run=injected(31),
    ),
    Row(
        name="killed when the n-th write is half done",
        must="the same",
        run=injected(53, fault="tear", kinds=("write",)),
    ),
    *(
        Row(
            name=f"the n-th {what} fails with {error}",
            must="it says so and goes on to the same end, or plays on",
            run=injected(stride, fault="fail", kinds=kinds, error=error),
            short=stride > 0,
        )
        for what, kinds, error, stride in (
            ("write", ("write",), "EIO", 61),
            ("write", ("write",), "ENOSPC", 0),
            ("sync", ("sync",), "EIO", 5),
            ("truncation", ("truncate",), "EIO", 2),
            ("truncation", ("truncate",), "ENOSPC", 0),
            ("unlink", ("unlink",), "EIO", 3),
        )
    ),
    Row(
        name="the disk is full from the n-th write on",
        must="it says so, and goes on when there is room",
        run=injected(67, fault="fail from", kinds=("write", "truncate"), error="ENOSPC"),
    ),
    Row(
        name="the disk fails for good from the n-th call on",
        must="it says so, and goes on when the disk is well",
        run=injected(53, fault="fail from", error="EIO"),
        short=False,
    ),
    Row(
        name="the write-ahead log of a killed run ends at any byte",
        must="what was before it stands; it goes on to the same end",
        run=injected(51_013, about="log", fault="tear", stride=777),
    ),
    Row(
        name="a bit of that log is flipped",
        must="the same",
        run=injected(52_003, about="log", fault="flip", stride=777),
    ),
    Row(name="the wall clock jumps at every look, up to 30 years", must="the same end", run=injected(1, about="clock")),
    Row(
        name="kill -9 of coordinators, workers, wardens",
        must="announced games are stored once, the same end, at the end no process or folder is left",
        run=played(6, 50, storms),
    ),
    Row(
        name="kill -9 of bots",
        must="they forfeit; all games are accounted for, nothing is left",
        run=played(4, 20, storms_of_bots),
    ),
    Row(
        name="coordinator, workers, wardens stopped (SIGSTOP) for up to a second",
        must="the same end",
        run=played(4, 20, stops),
    ),
    Row(
        name="few descriptors (12 to 64)",
        must="it says so and rates nothing, or plays well; then it goes on to the same end",
        run=starved(resource.RLIMIT_NOFILE, (12, 16, 20, 24, 32, 48, 64)),
    ),
    Row(
        name="little memory (address space of 100 to 400 MiB)",
        must="the same",
        run=starved(resource.RLIMIT_AS, [size * MIB for size in (100, 150, 200, 300, 400)]),
        short=False,
    ),
    Row(
        name="files that may not grow (0 to 800 kB), as on a full disk",
        must="the same",
        run=starved(resource.RLIMIT_FSIZE, (0, 30_000, 200_000, 400_000, 800_000)),
        short=False,
    ),
    Row(
        name="database deleted, renamed, replaced, its log or lock deleted, logs deleted, while it runs",
        must="it says what happened and ends with exit 1 (but plays on without its lock file); what it says is kept is",
        run=robbed,
    ),
    *(
        Row(name=f"mutant: {mutant}", must="it is caught", run=injected(stride, mutant=mutant), is_mutant=True)
        for mutant, stride in (
            ("announces before the commit", 20),
            ("stores status and result in two transactions", 20),
            ("rates without the prefix rule", 90),
        )
    ),
)
