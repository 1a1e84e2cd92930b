"""Level fenced where there is nothing else: without user namespaces, as an ordinary user and as a container's root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from no_namespaces import are_refused, without_namespaces
from ordinary import ordinary

from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.types import Level
from arena.sandbox.levels import level_in_force

ROOT = Path(__file__).parents[3]
ARENA = (sys.executable, "-m", "arena")
BOTS = ("random", "greedy", "--ruleset", "basic", "--seed", "tea", "--deals", "1")

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(bool(level_in_force(Level.FENCED)), reason="this machine does not give level fenced")


@pytest.fixture
def run(work: Path) -> Run:

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "200"}
        done = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def alone() -> Callable[..., tuple[str, ...]]:
    """Makes a command one that is run where no user namespace can be had, by an ordinary user."""
    if not are_refused():
        pytest.skip("this machine does not give a way to refuse user namespaces")
    return lambda *words: tuple(ordinary(*without_namespaces(*words)))


def test_without_namespaces_isolated_is_refused_by_the_name_of_fenced_which_plays(
    run: Run, alone: Callable[..., tuple[str, ...]]
) -> None:
    arena = alone(*ARENA)
    refused = run(*arena, "match", *BOTS, "--level", "isolated", code=3)
    assert "expected a machine that gives level isolated" in refused.stderr
    assert "Level fenced can be had here: --level fenced needs no sandbox and no root" in refused.stderr
    document = json.loads(run(*arena, "match", *BOTS, "--level", "fenced", "--json").stdout)
    assert document["settings"]["level"] == "fenced"
    assert [game["termination"] for game in document["games"]] == ["finished"] * 2


@pytest.mark.long
def test_the_doctor_says_so_too(run: Run, alone: Callable[..., tuple[str, ...]]) -> None:
    told = run(*alone(*ARENA), "doctor").stdout
    assert "fenced: yes\nisolated: no, for the lack of seat, " in told
    assert told.splitlines()[-1].startswith("Level fenced can be had here")
    assert "FAILED fenced" not in told


def test_without_landlock_isolated_is_named(run: Run) -> None:
    """As in a sandbox like gVisor."""
    if level_in_force(Level.ISOLATED) or not are_refused():
        pytest.skip("this machine does not give level isolated, or no way to refuse Landlock")
    told = run(*without_namespaces("--landlock", *ARENA), "doctor", "--level", "fenced", code=3).stdout
    assert "FAILED fenced-landlock" in told
    assert "as in gVisor, level isolated may do" in told
    assert told.splitlines()[-1] == "Level isolated can be had here: --level isolated needs no Landlock"
    told = run(*without_namespaces("--landlock", *ARENA), "doctor").stdout
    assert "fenced: no, for the lack of fenced-landlock" in told
    assert "isolated: yes" in told


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's referee has other users' seats")
def test_the_root_of_a_container_has_a_user_for_each_seat(run: Run) -> None:
    """Without CAP_SYS_ADMIN and CAP_SYS_PTRACE, as Docker starts it: nothing can be mounted, and no process read."""
    if not are_refused():
        pytest.skip("this machine does not give a way to refuse user namespaces")
    arena = without_namespaces("--root", *ARENA)
    told = run(*arena, "doctor", "--level", "fenced").stdout
    user = next(line for line in told.splitlines() if "fenced-user" in line)
    assert int(user.split()[-1]) > 60_000, "a number that nobody has"
    document = json.loads(run(*arena, "match", *BOTS, "--level", "fenced", "--json").stdout)
    assert [game["termination"] for game in document["games"]] == ["finished"] * 2


@pytest.mark.long
def test_the_root_of_a_user_namespace_gives_up_its_capabilities(run: Run) -> None:
    words = ordinary("unshare", "-Ur", "--")
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not have a user namespace of its own")
    told = run(*words, *ARENA, "doctor", "--level", "fenced").stdout
    assert "ok     fenced-rights " in told


@pytest.mark.long
def test_a_child_of_a_bot_is_refused_with_a_sentence_that_names_the_level_for_it(run: Run, work: Path) -> None:
    folder = work / "pair"
    folder.mkdir(mode=0o755)
    bridge = "import sys; from arena.author.program import Program; Program(['sh'])"
    command = f'command = ["{{python+arena}}", "-c", "{bridge}"]\n'
    (folder / "bot.toml").write_text(f'name = "pair"\n{command}')
    told = run(*ARENA, "doctor", "--level", "fenced", "./pair", code=3).stdout
    assert "at level fenced a bot is one process: play this one at --level isolated" in told
    assert "at level fenced a bot has one process, no /proc and no folder to write to" in told


@pytest.mark.quick(1, 3)
@pytest.mark.parametrize("bot", ["random-js", "random-java", "random-go", "random-rust", "random-c", "shogun"])
def test_a_bot_of_each_language_plays(run: Run, bot: str) -> None:
    try:
        load_bot(bot)
    except BotError as error:  # it is not built, or its runtime is not on this machine
        pytest.skip(str(error))
    done = run(*ARENA, "match", bot, "random", "--deals", "1", "--level", "fenced", "--json")
    document = json.loads(done.stdout)
    assert [game["termination"] for game in document["games"]] == ["finished"] * 2
