"""The bridge as a process: programs in awk, sh and Perl play over it, and those that fail are not left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from tests.command_kit import arena
from tests.processes import eventually, is_alive

ROOT = Path(__file__).parents[3]
PATIENCE_MS = 20_000  # how long anything may take on a busy machine; nothing here waits for it to pass

AWK = r"""
# Takes the first legal play of each request of Samurai.
/"type":"request"/ {
    legal = substr($0, index($0, "\"legal\":"))
    if (/"kind":"hand"/) {
        split(substr(legal, index(legal, "\"of\":[") + 6), tile, ",")
        play = "{\"hand\":[" tile[1] "," tile[2] "," tile[3] "," tile[4] "," tile[5] "]}"
    } else {
        match(legal, /\{"[^}]*\]\}/)
        play = substr(legal, RSTART, RLENGTH)
        while (match(play, /\[[^]]*\]/)) {  # of each list its first value
            value = substr(play, RSTART + 1, RLENGTH - 2)
            sub(/,.*/, "", value)
            play = substr(play, 1, RSTART - 1) value substr(play, RSTART + RLENGTH)
        }
    }
    print "{\"action\":{\"plays\":[" play "]}}"
    fflush()
}
"""
SHELL = r"""
while read -r line; do
    case $line in
        *'"type":"request"'*) echo '{"action":{"plays":[]},"note":"'"$greeting"'"}' ;;
        *'"type":"game_start"'*) greeting=hello; echo "the program sees a game" >&2 ;;
        *'"type":"game_over"'*) echo "the program sees its end" >&2 ;;
    esac
done
echo "the program says goodbye" >&2
"""


class Referee:
    """The other end of the bridge, driven by hand."""

    def __init__(self, folder: Path, *words: str, want: str = "view,legal") -> None:
        endpoint = f"ipc://{folder}/socket"
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.linger = 0
        self.socket.rcvtimeo = PATIENCE_MS
        self.socket.bind(endpoint)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", "bot", "bridge", "--name", "it", "--version", "3", "--want", want,
             "--", *words],
            cwd=folder, env={**os.environ, "ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": "secret"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.bot = b""

    def hear(self) -> dict[str, Any]:
        self.bot, frame = self.socket.recv_multipart()
        message = msgpack.unpackb(frame)
        assert isinstance(message, dict)
        return message

    def say(self, type_: str, **fields: object) -> None:
        self.socket.send_multipart([self.bot, msgpack.packb({"type": type_, **fields})])

    def start(self) -> dict[str, Any]:
        """The session up to the first request; returns the `hello`."""
        hello = self.hear()
        self.say("welcome", protocol="1.0", max_frame=65536, max_note=1024)
        self.say("game_start", game=1, bot_seed=1)
        assert self.hear() == {"type": "ready", "game": 1}
        return hello

    def ask(self, number: int = 1, **fields: object) -> None:
        self.say("request", id=number, kind="turn", clock={"limit_ms": 1000, "bank_ms": None}, **fields)

    def end(self) -> tuple[int, str]:
        """Wait for the bridge's end: its status, and what it and the program wrote to standard error."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE_MS / 1000)
        assert stdout == b""
        return self.process.returncode, stderr.decode()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self.socket.close()
        self.context.term()


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[Callable[..., Referee]]:
    """Starts a bridge over a program, and is its referee."""
    made: list[Referee] = []

    def start(*words: str, **options: str) -> Referee:
        made.append(Referee(tmp_path, *words, **options))
        return made[-1]

    yield start
    for each in made:
        each.close()


def test_a_session(referee: Callable[..., Referee]) -> None:
    bot = referee("sh", "-c", SHELL, want="events")
    assert bot.start() == {
        "type": "hello", "token": "secret", "protocol": "1.0", "name": "it", "version": "3", "want": ["events"],
    }  # fmt: skip
    for number in (1, 2):
        bot.ask(number)
        answer = {"type": "action", "id": number, "action": {"plays": []}, "note": "hello"}
        assert bot.hear() == answer
    bot.say("a_later_message")
    bot.say("game_over", game=1, termination="finished", ranks=[1, 2], forfeits=[])
    bot.say("goodbye", reason="no more games")
    status, stderr = bot.end()
    assert status == 0
    lines = {"the program sees a game", "the program sees its end", "the program says goodbye"}
    assert set(stderr.splitlines()) == lines


def test_a_complaint_of_the_referee_ends_it(referee: Callable[..., Referee]) -> None:
    bot = referee("sh", "-c", SHELL)
    bot.start()
    bot.say("error", code="timeout", message="too slow")
    status, stderr = bot.end()
    assert status == 1
    assert {"referee: timeout: too slow", "the program says goodbye"} <= set(stderr.splitlines())


def test_a_request_larger_than_a_pipe(referee: Callable[..., Referee]) -> None:
    bot = referee(sys.executable, "-c", "import sys\nfor line in sys.stdin:\n"
                  "    if 'request' in line: print('{\"action\":{\"n\":%d}}' % len(line), flush=True)")  # fmt: skip
    bot.start()
    bot.ask(view={"long": "x" * 500_000})
    assert bot.hear()["action"]["n"] > 500_000


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ('echo \'{"action":{"x":0.5}}\'; read -r x', 1, "got: float - at $.action.x"),
        ("echo thinking; read -r x", 1, "line 1 of the program's output, for request 1: expected"),
        ("echo '{\"action\":{}}'; echo thinking; read -r x", 1, "line 2 of the program's output: expected no line"),
        ("head -c 70000 /dev/zero; read -r x", 1, "expected at most 65536 bytes"),
        ("exit 3", 3, "expected the program to play until its input ends, got: it exited with status 3"),
        ("exit 0", 1, "got: it exited with status 0"),
        ("kill -9 $$", 137, "got: it was killed by signal 9"),
        ("exec >&-; while read -r x; do :; done; exit 5", 5, "got: it exited with status 5"),
    ],
)
def test_a_program_that_fails(referee: Callable[..., Referee], script: str, status: int, words: str) -> None:
    bot = referee("sh", "-c", f"read -r start; read -r request; {script}")
    bot.start()
    bot.ask()
    ended, stderr = bot.end()
    assert ended == status, stderr
    assert words in stderr
    assert "Traceback" not in stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ("while read -r x; do :; done; exit 4", 4, "expected the program to end with status 0 when its input ends"),
        ("while :; do read -r x; done", 1, "got: it ran on for 0.7 s, and was killed"),
    ],
)
def test_a_program_that_does_not_end_well(
    referee: Callable[..., Referee], script: str, status: int, words: str
) -> None:
    """§4.4-6."""
    bot = referee("sh", "-c", script)
    bot.start()
    bot.say("goodbye", reason="")
    ended, stderr = bot.end()
    assert ended == status
    assert words in stderr


def pid_of(bot: Referee, folder: Path) -> int:
    """The program's process; it says so before anything else."""
    bot.start()
    bot.ask()
    deadline = time.monotonic_ns() + PATIENCE_MS * 10**6
    while not (text := (folder / "pid").read_text() if (folder / "pid").exists() else ""):
        assert time.monotonic_ns() < deadline
        time.sleep(0.005)
    return int(text)


def test_nothing_is_left_when_the_connection_is_lost(referee: Callable[..., Referee], tmp_path: Path) -> None:
    bot = referee("sh", "-c", "echo $$ > pid; exec sleep 600")
    pid = pid_of(bot, tmp_path)
    bot.socket.close()
    status, stderr = bot.end()
    assert status == 1
    assert "the connection is lost" in stderr
    assert eventually(lambda: not is_alive(pid))


def test_nothing_is_left_when_the_bridge_is_ended(referee: Callable[..., Referee], tmp_path: Path) -> None:
    bot = referee("sh", "-c", "echo $$ > pid; exec sleep 600")
    pid = pid_of(bot, tmp_path)
    bot.process.terminate()
    assert bot.end() == (128 + signal.SIGTERM, "")
    assert eventually(lambda: not is_alive(pid))


def test_program_and_bridge_are_one_process_group(referee: Callable[..., Referee], tmp_path: Path) -> None:
    """So the referee, which kills the group, kills both."""
    bot = referee("sh", "-c", "echo $$ > pid; exec sleep 600")
    assert os.getpgid(pid_of(bot, tmp_path)) == bot.process.pid


@pytest.mark.parametrize(
    ("words", "environment", "code", "message"),
    [
        (["--", "cat"], {}, 2, "expected the variable 'ARENA_ENDPOINT', which a referee sets"),
        (["--", "no-such-program"], {"ARENA_ENDPOINT": "ipc://x", "ARENA_TOKEN": ""}, 2, "got: 'no-such-program'"),
        (["--want", "legl", "cat"], {}, 2, "expected view, events, legal to want, got: 'legl' (did you mean 'legal'?)"),
        ([], {}, 2, "COMMAND"),
    ],
)
def test_a_call_that_cannot_be_used(words: list[str], environment: dict[str, str], code: int, message: str) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    done = subprocess.run(
        [sys.executable, "-m", "arena", "bot", "bridge", *words],
        env={**clean, **environment}, capture_output=True, text=True, check=False, timeout=PATIENCE_MS / 1000,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def play(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Play a match, verify its games, and return their outcomes."""
    arena(folder, "match", *words)
    arena(folder, "verify", "logs")
    logs = sorted((folder / "logs").rglob("*.jsonl"))
    return [json.loads(log.read_text().splitlines()[-1]) for log in logs]


def test_a_bot_in_awk(needs: Callable[..., None], tmp_path: Path) -> None:
    needs("awk")
    (tmp_path / "bot.awk").write_text(AWK)
    # mawk reads ahead, until it is told not to.
    options = "-W interactive" if "mawk" in os.path.realpath(str(shutil.which("awk"))) else ""
    bot = f"cmd:{sys.executable} -m arena bot bridge --want legal -- awk {options} -f bot.awk"
    outcomes = play(tmp_path, bot, "greedy", "--seed", "awk")
    assert [outcome["termination"] for outcome in outcomes] == ["finished"] * 2


@pytest.mark.long
@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_the_bot_in_perl(needs: Callable[..., None], tmp_path: Path, rules: str) -> None:
    """It plays to the end, and the same whenever the same deal is played."""
    needs("perl")
    words = ("random-perl", "random-perl", "--seed", "perl", "--rules", rules)
    outcomes = play(tmp_path, *words)
    assert [outcome["termination"] for outcome in outcomes] == ["finished"] * 2
    (tmp_path / "again").mkdir()
    again = play(tmp_path / "again", *words)
    assert [outcome["play_digest"] for outcome in again] == [outcome["play_digest"] for outcome in outcomes]
