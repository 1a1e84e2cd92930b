"""A fork of the server is to the tests what a new process is: see `tests/forking.py`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.forking import ARENA, Command, environment, run


def test_a_fork_does_what_a_new_process_does(tmp_path: Path) -> None:
    played = ("match", "random", "greedy", "--seed", "tea", "--format", "csv")
    for words in (["--version"], ["rules", "lis"], ["config"], ["rules", "show", "samurai", "--json"], played):
        forked, new = (
            run([*ARENA, *words], cwd=tmp_path, env=environment() | more) for more in ({}, {"PYTHONHASHSEED": "1"})
        )
        assert (forked.returncode, forked.stdout, forked.stderr) == (new.returncode, new.stdout, new.stderr), words


def test_only_an_environment_of_its_own_starts_a_new_process(tmp_path: Path) -> None:
    for more, is_new in (({"ARENA_SAYS": "x" * 60_000}, False), ({"LC_ALL": "C"}, True)):
        words = [*ARENA, "standings"]
        with Command(words, cwd=tmp_path, env=environment() | more, stderr=subprocess.PIPE, text=True) as process:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            process.communicate()
        assert (b"tests.forking" in line, process.returncode) == (not is_new, 1)
