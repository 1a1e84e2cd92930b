"""The command line as a whole: help, errors, exit codes, and match and verify from end to end."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forking import ARENA, environment, run

Arena = Callable[..., "subprocess.CompletedProcess[str]"]

SLEEPER = """\
import sys, time
sys.stdout = open("started", "w", buffering=1)
print("here")
time.sleep(600)
"""


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Runs `arena` in an empty folder."""
    return lambda *words, **more: run([*ARENA, *map(str, words)], cwd=tmp_path, env=environment() | more)


def test_help_lists_the_commands_and_imports_none(arena: Arena) -> None:
    done = arena("--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    assert "tournament" in done.stdout
    assert "Example:" in done.stdout
    imported = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert {"arena.cli", "click"} <= imported
    assert (
        imported & {"arena.core.commands.match", "arena.core.show", "msgspec", "rich", "zmq", "sqlite3", "trueskill"}
        == set()
    )


def test_version(arena: Arena) -> None:
    assert arena("--version").stdout.startswith("arena 0.")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["tournamnt"], 2, "Did you mean one of: 'tournament', 'tournaments'?"),
        (["match", "--tiem", "1+1", "random", "random"], 2, "--time"),
        (["match", "gredy", "random"], 2, "did you mean 'greedy'?"),
        (["match", "random", "random", "--time", "soon"], 2, "10+0.1 or 2/move, got: 'soon'"),
        (["match", "random"], 2, "expected 2 to 4 players"),
        (["match", "random", "random", "--logs", "/dev/null"], 2, "use --logs"),
        (["verify"], 2, "LOG|ID"),
        (["verify", "."], 2, "*.jsonl"),
        (["verify", "nowhere"], 2, "nowhere"),
    ],
)
def test_what_the_operator_can_mend_is_a_usage_error(arena: Arena, arguments: list[str], code: int, words: str) -> None:
    done = arena(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unexpected_exception_asks_for_a_report(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import arena.cli\narena.cli.OWN['match'] = arena.cli.Command('', 0, '', 'nowhere:at')\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = arena("match", PYTHONPATH=path)
    assert done.returncode == 70
    assert "please report" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in arena("match", PYTHONPATH=path, ARENA_DEBUG="1").stderr


def test_a_match_rotates_the_seats_and_its_logs_verify(arena: Arena, tmp_path: Path) -> None:
    done = arena("match", "greedy", "random", "--seed", "tea", "--json")
    assert done.returncode == 0, done.stderr
    games = json.loads(done.stdout)["games"]
    assert [game["bots"] for game in games] == [["greedy", "random"], ["random", "greedy"]]
    again = json.loads(arena("match", "greedy", "random", "--seed", "tea", "--json", "--logs", "others").stdout)
    assert [game["play_digest"] for game in again["games"]] == [game["play_digest"] for game in games]

    verified = arena("verify", "logs", "others", "--json")
    assert verified.returncode == 0, verified.stdout
    document = json.loads(verified.stdout)
    assert verified.stdout.startswith('{\n  "logs": [\n    {\n      "log": "logs/'), "indented, as every document is"
    assert document["failed"] == 0
    assert [row["draws_checked"] for row in document["logs"]] == [True] * 4


@pytest.mark.long
def test_the_last_bot_of_a_match_takes_the_seats_that_are_left(arena: Arena) -> None:
    done = arena("match", "greedy", "random", "--players", "3", "--json")
    assert {bot for game in json.loads(done.stdout)["games"] for bot in game["bots"]} == {
        "greedy", "random", "random#2",
    }  # fmt: skip
    refused = arena("match", "greedy", "random", "random", "--players", "2")
    assert "expected 2 bots or fewer for --players 2, got: 3" in refused.stderr


def test_a_match_for_people(arena: Arena) -> None:
    done = arena("match", "greedy", "random", "banzai", "--seed", "tea", "--ruleset", "basic")
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("1. ") and line.endswith(".jsonl") for line in lines[:3])
    assert lines[3].startswith("3 games: greedy won ")


@pytest.mark.long
def test_a_forfeit_says_where_the_bot_crashed_and_how_to_ask_it_again(arena: Arena, tmp_path: Path) -> None:
    """The bot's folder is not here, and its first game is over in its first turn."""
    nest = tmp_path / "a nest"
    assert arena("bot", "new", "moody").returncode == 0
    (tmp_path / "moody").rename(nest)
    bot = nest / "bot.py"
    source = bot.read_text(encoding="utf-8")
    bot.write_text(re.sub(r"( +)def decide\(.*:\n", r'\g<0>\1    print("well", flush=True)\n\1    1 / 0\n', source))
    done = arena("match", "./a nest", "greedy", "--ruleset", "basic")
    assert done.returncode == 0, done.stderr
    assert re.search(r": 1 turn, .*\.jsonl$", done.stdout, re.MULTILINE)
    assert re.search(r"words: File .*bot\.py\", line \d+, in decide\n.*words: ZeroDivision", done.stderr)
    files = re.findall(r"^  (?:log|its output|its messages): (\S+)$", done.stderr, re.MULTILINE)
    assert [Path(file).name.partition(".")[2] for file in files[:3]] == ["jsonl", "seat0.output", "seat0.transcript"]
    assert all((tmp_path / file).is_file() for file in files)
    [again, *_] = re.findall(r"^  ask it again: arena (.*)$", done.stderr, re.MULTILINE)
    asked = arena(*shlex.split(again))
    assert asked.returncode == 3, asked.stderr
    assert "would forfeit: it exited with status 1" in asked.stdout


def test_verify_says_where_a_log_departs(arena: Arena, tmp_path: Path) -> None:
    assert arena("match", "random", "random").returncode == 0
    good, bad = sorted(tmp_path.rglob("*.jsonl"))
    data = bytearray(bad.read_bytes())
    middle = data.index(b"\n", len(data) // 2) + 20
    data[middle] ^= 1
    bad.write_bytes(data)
    line = data[:middle].count(b"\n") + 1
    done = arena("verify", good, bad)
    assert done.returncode == 4
    first, second = done.stdout.splitlines()
    assert first.startswith("ok  ")
    assert second.startswith(f"FAILED  {bad}:{line}: ")
    assert "2 logs, 1 failed" in done.stderr


@pytest.mark.long
def test_verify_without_the_secret_checks_all_but_the_draws(arena: Arena, tmp_path: Path) -> None:
    assert arena("match", "random", "random").returncode == 0
    (secret,) = tmp_path.rglob("secret.json")
    secret.unlink()
    done = arena("verify", "logs")
    assert done.returncode == 0
    assert "deals: not checked, there is no secret.json yet" in done.stdout
    done = arena("verify", *map(str, tmp_path.rglob("*.jsonl")))
    assert done.stdout.count("draws not checked") == 2


@pytest.mark.quick(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_match_that_is_asked_to_stop_says_what_is_kept_and_leaves_no_bot(
    tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "sleeper"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "sleeper"\ncommand = ["{python}", "bot.py"]\n[limits]\nstart_ms = 600000\n'
    )
    (tmp_path / "arena.toml").write_text("[caps]\nstart_ms = 600000\n")
    (folder / "bot.py").write_text(SLEEPER)
    os.mkfifo(folder / "started")
    started = os.open(folder / "started", os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-m", "arena", "match", "./sleeper", "random"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        ready, _, _ = select.select([started, running.stderr], [], [])
        assert ready == [started], "the match ended before its bot was there"
        running.send_signal(number)
        _, stderr = running.communicate()
    assert os.read(started, 100) == b"here\n"
    assert os.read(started, 100) == b"", "nobody holds the other end: the bot has ended"
    os.close(started)
    assert running.returncode == 128 + number
    assert re.fullmatch(
        r"Interrupted: the logs of 0 of 2 games are kept in logs/match-\S+\. A match cannot be continued; to begin "
        r"another:\n  arena match \./sleeper random\n",
        stderr,
    ), stderr


@pytest.mark.long
def test_a_signal_that_is_ignored_from_outside_stays_ignored(tmp_path: Path) -> None:
    """As `nohup` and a shell's `&` have it."""
    script = f"trap '' INT HUP; {sys.executable} -m arena match random random --deals 20 & wait"
    with subprocess.Popen(["/bin/sh", "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, process_group=0) as running:
        assert running.stdout is not None
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        os.killpg(running.pid, signal.SIGHUP)
        output = running.stdout.read()
    assert b"40 games: random won" in output


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [((), {}, True), (("--no-color",), {}, False), ((), {"NO_COLOR": "1"}, False), ((), {"TERM": "dumb"}, False)],
)
def test_colour_only_where_it_is_wanted(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str], coloured: bool
) -> None:
    command = [sys.executable, "-m", "arena", *arguments, "match", "random", "random", "--seed", "tea"]
    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(command, cwd=tmp_path, env=plain | {"TERM": "xterm"} | environment, stdout=theirs) as running:
        os.close(theirs)
        output = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    assert running.returncode == 0
    assert "2 games: random won " in output
    assert "Kyoto" in output, "the last board is drawn"
    assert (" live " in output) is (environment.get("TERM") != "dumb"), "it is drawn while they play"
    colours = re.findall(r"\x1b\[(?:\d+;)*(?:3|4|9|10)\d[;m]", output)
    assert bool(colours) is coloured


def read_terminal(descriptor: int) -> bytes:
    """What was written to the terminal, or nothing once nobody holds its other end."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # how Linux says so
        return b""
