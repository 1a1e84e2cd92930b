"""What programs find at each level is what docs/bots.md says, in C, Python, Node and Java."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from found import FOUND, MACHINE
from ordinary import ordinary

from arena.core.link.bots import load_bot

BOXED = Path(__file__).parents[2] / "boxed"
PROGRAMS = {
    "python": ("{python}", "found.py"),
    "c": ("./found",),
    "node": ("node", "found.js"),
    "java": ("java", "-Xshare:auto", "-cp", ".", "Found"),
}
BUILDS = {"c": ("cc", "-O1", "-pthread", "-o", "found", "found.c"), "java": ("javac", "Found.java")}
LEVELS = ("trusted", "fenced", "isolated", "strict")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """The programs, built, where every user can read them."""
    made = Path(tempfile.mkdtemp(dir="/tmp", prefix="arena-found-"))
    shutil.copytree(BOXED / "found", made, dirs_exist_ok=True)
    with sqlite3.connect(made / "book.db") as book:
        book.execute("CREATE TABLE book (move)")
        book.execute("INSERT INTO book VALUES (1)")
    for command in BUILDS.values():
        if shutil.which(command[0]):
            subprocess.run(command, cwd=made, check=True)
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def found(folder: Path, level: str, *command: str) -> dict[str, set[str]]:
    """The values that a program printed for each thing."""
    words = [sys.executable, str(BOXED / "start.py"), level, *command]
    memory = load_bot(f"cmd:{sys.executable}").memory_mib
    # At `strict` control groups are root's.
    words = [*words, str(memory)] if level == "strict" else ordinary(*words, str(memory))
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and "expected" in done.stderr and level != "trusted":
        pytest.skip(f"needs level {level}: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    values: dict[str, set[str]] = {}
    for line in json.loads(done.stdout)["output"].splitlines():
        key, _, value = line.partition(" ")
        values.setdefault(key, set()).add(value)
    return values


@pytest.mark.quick(5, 4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("language", PROGRAMS)
def test_programs_find_what_the_guide_says(language: str, level: str, folder: Path, needs: Callable[..., None]) -> None:
    needs(*{"c": ("cc",), "node": ("node",), "java": ("java", "javac")}.get(language, ()))
    values = found(folder, level, *PROGRAMS[language])
    assert len(values) > 5, values
    for key, seen in values.items():
        expected = FOUND[key].at(level)
        if expected != MACHINE:
            assert seen == {expected.strip("`")}, key
        elif level != "trusted" and FOUND[key].trusted == MACHINE:
            assert seen == found(folder, "trusted", *PROGRAMS[language])[key], key


def test_each_thing_is_looked_for(folder: Path, needs: Callable[..., None]) -> None:
    needs("cc", "node", "java", "javac")
    seen = set().union(*(found(folder, "trusted", *command) for command in PROGRAMS.values()))
    assert seen == set(FOUND)
