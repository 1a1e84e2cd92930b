"""The command `arena` as users call it, in a process and a folder of its own."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.forking import ARENA, ROOT, Command, environment, run

FAULTY = ROOT / "tests" / "faulty" / "bot.py"  # a bot that does as its first argument says, step by step

Run = Callable[..., subprocess.CompletedProcess[str]]
"""What the fixture `arena` is: `arena("match", "random", "greedy", code=0)`."""


def arena(folder: Path, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. It must exit with `code`; None: with whatever it likes."""
    done = run([*ARENA, *words], cwd=folder, env=environment())
    assert code in (None, done.returncode), done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a command in a process group of its own, as a shell does; it does not outlive the block."""
    with Command(
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
        time.sleep(0.005)


def timeless(document: dict[str, Any]) -> Any:
    """What must be equal of two tournaments with one seed."""
    rows = [{key: row[key] for key in row if not key.endswith("_ms")} for row in document["standings"]]
    return rows, document["crosstable"], document["settings"], document["tournament"]["commitment"]


def array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


def record(**properties: object) -> dict[str, object]:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
