"""The command `arena` as users call it, in a process and a folder of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ARENA = (sys.executable, "-m", "arena")
FAULTY = ROOT / "tests" / "faulty" / "bot.py"  # a bot that does as its first argument says, step by step

Run = Callable[..., subprocess.CompletedProcess[str]]
"""What the fixture `arena` is: `arena("match", "random", "greedy", code=0)`."""


def environment() -> dict[str, str]:
    """That of this process; arena is that of this checkout, and paints nothing."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}


def arena(folder: Path, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. It must exit with `code`; None: with whatever it likes."""
    done = subprocess.run(
        [*ARENA, *words], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert code in (None, done.returncode), done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a command in a process group of its own, as a shell does; it does not outlive the block."""
    with subprocess.Popen(
        [*ARENA, *words], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def games_done(folder: Path) -> int:
    """How many games its database has; 0 if there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'arena.db'}?mode=ro", uri=True)) as connection:
            [(done,)] = connection.execute("SELECT count(*) FROM games WHERE status = 'done'").fetchall()
    except sqlite3.OperationalError:
        return 0
    return int(done)


def wait_for_games(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    """Waits until so many games are in the database, or the process has ended."""
    while process.poll() is None and games_done(folder) < count:
        pass


def timeless(document: dict[str, Any]) -> Any:
    """What must be equal of two tournaments with one seed."""
    rows = [{key: row[key] for key in row if not key.endswith("_ms")} for row in document["standings"]]
    return rows, document["crosstable"], document["settings"], document["tournament"]["commitment"]


def record(**properties: object) -> dict[str, object]:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
