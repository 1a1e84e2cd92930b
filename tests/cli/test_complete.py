"""Completion as the shells ask for it: by an environment variable, and in bash by the Tab key on a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.cli import COMMANDS

BREAKS = " \t\n\"'><=;|&(:"  # what bash has in COMP_WORDBREAKS unless it is changed
PROGRAM = Path(sys.executable).parent / "arena"
HEAVY = {"rich", "zmq", "numpy", "networkx", "trueskill", "sqlite_utils", "multiprocessing"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bot, and a database with two tournaments and three games."""
    (tmp_path / "grebes").mkdir()
    (tmp_path / "grebes" / "bot.toml").write_text('name = "grebe"\ncommand = ["sh"]\n')
    for name in ("arena.db", "other.db"):
        make_database(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_database(path: Path) -> None:
    """Makes only what completion reads: the columns that the store has, too."""
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE pools (id INTEGER, rules TEXT, ruleset TEXT)")
        db.execute("CREATE TABLE tournaments (id TEXT, pool INTEGER, status TEXT)")
        db.execute("CREATE TABLE games (id TEXT, termination TEXT, status TEXT)")
        db.execute("INSERT INTO pools VALUES (1, 'samurai', 'standard')")
        stem = path.stem
        db.executemany("INSERT INTO tournaments VALUES (?, 1, 'finished')", [(f"{stem}-1",), (f"{stem}-2",)])
        db.execute("CREATE TABLE entrants (name TEXT)")
        db.executemany("INSERT INTO entrants VALUES (?)", [("zoe",), ("ann",), ("zoe",)])
        rows = [(f"{stem}-1-0", "done"), (f"{stem}-1-1", "done"), (f"{stem}-1-2", "running")]
        db.executemany("INSERT INTO games VALUES (?, 'finished', ?)", rows)
    db.close()


def ask(shell: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arena"],
        env={**os.environ, "_ARENA_COMPLETE": f"{shell}_complete", **variables}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def proposed(line: str, breaks: str = BREAKS) -> list[str]:
    """What bash is told for a line, whose end is where the cursor is."""
    done = ask("bash", COMP_LINE=line, COMP_WORDBREAKS=breaks)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def words(line: str, breaks: str = BREAKS) -> list[str]:
    return [item.removeprefix("plain,") for item in proposed(line, breaks) if item.startswith("plain,")]


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("arena ", list(COMMANDS)),
        ("arena tourna", ["tournament", "tournaments"]),
        ("arena 'matc", ["match"]),
        ("arena bot bu", ["build"]),
        ("arena tournament --rac", ["--race-window"]),
        ("arena tournament pau", ["pause"]),
        ("arena tournament greedy pau", []),
        ("arena match shog", ["shogun"]),
        ("arena bot check ban", ["banzai"]),
        ("arena match greedy --rules ", ["gardener", "samurai"]),
        ("arena rules show g", ["gardener"]),
        ("arena match --rules gardener --ruleset ", ["draft", "race", "young"]),
        ("arena match --ruleset c", ["classic"]),
        ("arena rules check gardener --ruleset r", ["race"]),
        ("arena match --board ja", ["japan"]),
        ("arena match --rule setu", ["setup="]),
        ("arena match --rules gardener --rule se", ["seize="]),
        ("arena match --rule setup=", ["draft", "random"]),
        ("arena match --rule setup=r", ["random"]),
        ("arena standings --tournament ", ["arena-2", "arena-1"]),
        ("arena standings --tournament arena-1", ["arena-1"]),
        ("arena standings --db other.db --tournament ", ["other-2", "other-1"]),
        ("arena standings --db nowhere.db --tournament ", []),
        ("arena tournament --extend arena-1", ["arena-1"]),
        ("arena tournaments show ", ["arena-2", "arena-1"]),
        ("arena tournaments remove arena-1 arena-2", ["arena-2"]),
        ("arena games --tournament arena-2", ["arena-2"]),
        ("arena games --bot z", ["zoe"]),
        ("arena games --against ", ["ann", "zoe"]),
        ("arena completion ", ["bash", "zsh", "fish"]),
        ("arena config matc", ["match"]),
        ("arena config bot ch", ["check"]),
        ("arena config match ", []),
        ("arena match --rules chess --ruleset ", []),
        ("arena match --rule 'unended", []),
    ],
)
def test_what_can_be_typed_is_proposed(line: str, expected: list[str]) -> None:
    assert words(line) == expected


def test_bots_are_bundled_ones_and_folders() -> None:
    found = proposed("arena tournament gre")
    assert {"plain,greedy", "plain,greedy-c", "dir,gre"} <= set(found)
    assert "plain,random" not in found
    assert proposed("arena tournament ./gre") == ["dir,./gre"]


def test_bash_that_does_not_break_words_gets_them_whole() -> None:
    assert words("arena match --rule setup=r", " \t\n") == ["setup=random"]


def test_the_database_and_the_game_may_be_those_of_the_file(here: Path) -> None:
    (here / "arena.toml").write_text('[defaults]\ndb = "other.db"\nrules = "gardener"\n')
    assert words("arena standings --tournament ") == ["other-2", "other-1"]
    assert words("arena match --ruleset ") == ["draft", "race", "young"]
    (here / "arena.toml").write_text("[[[")
    assert words("arena match --ruleset ") == []
    assert words("arena match --rules ") == ["gardener", "samurai"]


def test_a_database_that_is_none_proposes_nothing(here: Path) -> None:
    (here / "arena.db").write_text("not a database, and longer than the header of one would have to be " * 3)
    assert words("arena standings --tournament ") == []


@pytest.mark.parametrize("command", ["replay", "verify", "bot rerun"])
def test_games_are_proposed_from_the_database_beside_files(command: str) -> None:
    line = f"arena {command} --db arena.db arena-1"
    assert proposed(line) == ["plain,arena-1-1", "plain,arena-1-0", "file,arena-1"]


@pytest.mark.parametrize(
    ("shell", "variables", "expected"),
    [
        ("zsh", {"COMP_WORDS": "arena match shog", "COMP_CWORD": "2"}, ["plain", "shogun", "_", "dir", "shog", "_"]),
        ("fish", {"COMP_WORDS": "arena match shog", "COMP_CWORD": "shog"}, ["plain,shogun", "dir,shog"]),
        ("bash", {}, []),
        ("zsh", {}, []),
    ],
)
def test_each_shell_is_answered_in_its_form(shell: str, variables: dict[str, str], expected: list[str]) -> None:
    done = ask(shell, **variables)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, expected, "")


@pytest.mark.parametrize(
    "line", ["arena ", "arena tournament g", "arena standings --tournament a", "arena match --ruleset "]
)
def test_nothing_heavy_is_imported(line: str) -> None:
    done = ask("bash", COMP_LINE=line, COMP_WORDBREAKS=BREAKS, PYTHONPROFILEIMPORTTIME="1")
    imported = {row.rsplit("|", 1)[1].strip().split(".")[0] for row in done.stderr.splitlines() if "|" in row}
    assert "click" in imported
    assert imported & HEAVY == set()


@pytest.mark.parametrize(
    ("shell", "file", "line"),
    [
        ("bash", ".bashrc", 'eval "$(arena completion bash)"'),
        ("zsh", ".zshrc", 'eval "$(arena completion zsh)"'),
        ("fish", "config.fish", "arena completion fish | source"),
    ],
)
def test_the_script_begins_with_the_line_for_the_shells_file(shell: str, file: str, line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arena", "completion", shell], capture_output=True, text=True, check=True
    )
    first, rest = done.stdout.split("\n", 1)
    assert first.startswith("#")
    assert file in first
    assert first.endswith(line)
    assert f"_ARENA_COMPLETE={shell}_complete" in rest


# Bash itself


@pytest.fixture
def tab(needs: Callable[..., None], here: Path) -> Iterator[Callable[[str, str], str]]:
    """Types keys into an interactive bash that has the script; returns what it shows until a text is there."""
    needs("bash")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "ready> "}
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"], env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    ) as shell:  # fmt: skip
        os.close(theirs)

        def keys(typed: str, until: str) -> str:
            os.write(ours, typed.encode())
            text = ""
            while not re.search(until, text):
                assert select.select([ours], [], [], 60)[0], text
                text += os.read(ours, 65_536).decode(errors="replace")
            return text

        keys("", "ready> ")
        keys('bind "set bell-style none"; eval "$(arena completion bash)"; echo loaded=$?\n', "loaded=0")
        yield keys
        shell.kill()
    os.close(ours)


def test_the_tab_key_completes_in_bash(tab: Callable[[str, str], str]) -> None:
    tab("arena compl\tfis\t| head -1\n", "# To have it in every shell, add to .*config.fish")
    tab("arena match --rule setup=ran\t", "setup=random ")
    tab("\x15arena bot check ./greb\t", r"\./grebes/")
