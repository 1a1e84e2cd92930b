"""Files that are no files, and a machine without descriptors: a clear error, at once, and nothing is overwritten."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.core.referee.transcript import Transcript
from tests import forking
from tests.forking import ARENA, ROOT, environment

LOGS = ROOT / "protocol" / "vectors" / "logs"


def run(folder: Path, *words: str, descriptors: int | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command, perhaps with few descriptors. It is killed if it blocks."""

    def limit() -> None:
        if descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        resource.setrlimit(
            resource.RLIMIT_AS, (4 * 2**30, resource.RLIM_INFINITY)
        )  # /dev/zero must not fill the machine

    return forking.run([*ARENA, *words], cwd=folder, env=environment(), preexec_fn=limit, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipe, an endless device and a bot that includes one."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.toml").write_text('name = "mine"\ncommand = ["true"]\ninclude = ["../pipe.jsonl"]\n')
    return tmp_path


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("verify pipe.jsonl", "FAILED  expected a game's log, got: a pipe, not a regular file - at 'pipe.jsonl'; give"),
        ("verify .", "FAILED  log: every log is whole"),
        ("replay pipe.jsonl", "Error: expected a game's log, got: a pipe, not a regular file - at 'pipe.jsonl'; give"),
        (
            "replay zero.jsonl",
            "Error: expected a game's log, got: a device, not a regular file - at 'zero.jsonl'; give",
        ),
        (
            "match ./bot ./bot",
            "Error: expected the file '../pipe.jsonl' of a bot, got: a pipe, not a regular file - at",
        ),
        ("board check pipe.jsonl", "Error: expected a board file, got: a pipe, not a regular file - at 'pipe.jsonl';"),
        ("match 'cmd:cat zero.jsonl' random", "Error: expected"),
        (
            "--config pipe.jsonl config",
            "Error: expected a TOML file, got: a pipe, not a regular file - at 'pipe.jsonl';",
        ),
    ],
)
def test_a_command_neither_waits_nor_fills_the_memory(folder: Path, words: str, said: str) -> None:
    done = run(folder, *words.replace("'", "").split())
    assert done.returncode in (1, 2, 4), done.stderr
    assert said in done.stdout + done.stderr


def test_too_few_descriptors_are_no_bug(folder: Path) -> None:
    shutil.copy(LOGS / "gardener-absent.jsonl", folder / "game.jsonl")
    assert run(folder, "verify", "game.jsonl").returncode == 0
    for descriptors in (8, 12):
        done = run(folder, "tournament", "random", "greedy", "--deals", "1", descriptors=descriptors)
        assert done.returncode == 1, (descriptors, done.stderr)
        error = done.stderr.splitlines()[-1]
        assert error.startswith("Error: expected "), done.stderr
        assert "too many open files" in error.lower() or "unable to open" in error
        assert "bug" not in done.stderr


def test_a_name_that_is_too_long_is_no_bug(folder: Path) -> None:
    done = run(folder, "verify", "x" * 300)
    assert done.returncode == 1
    assert "got: File name too long - at xxx" in done.stderr
    assert done.stderr.endswith("; give a shorter name\n")


def test_a_transcript_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("game.seat0.transcript", "game.seat0.transcript.part"):
        (tmp_path / name).symlink_to(victim)
    transcript = Transcript()
    transcript.add("bot", b"\xc0", 0)
    transcript.write(tmp_path / "game.seat0.transcript", 0)
    assert victim.read_text() == "mine"
    assert (tmp_path / "game.seat0.transcript").read_text().count("\n") == 1
