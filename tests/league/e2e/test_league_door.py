"""A league that is elsewhere, by the commands that its authors type. The league itself is played by the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import zstandard
from click.testing import CliRunner

from arena.author.archives import check
from arena.author.conform.render import report_lines
from arena.author.conform.report import BotReport, Grade, Result, Verdict
from arena.cli import cli
from arena.core.record.compressed import compress
from arena.core.resources import bots_folder
from arena.league.door.tokens import write_token
from tests.command_kit import arena
from tests.door_kit import League, answering
from tests.ports import free_port


class Elsewhere:
    """A league whose door is open, and an author's folder."""

    def __init__(self, folder: Path) -> None:
        self.league = League(folder / "cup")
        (folder / "cup/league.toml").write_text("")
        self.home = folder / "anna"
        self.home.mkdir()
        write_token(self.home / "anna.token", self.league.author("anna"))
        bind = f"127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "arena", "league", "open", str(folder / "cup"), "--bind", bind]
        self.door = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.door.stdout is not None
        self.at = self.door.stdout.readline().strip()

    def arena(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the author's folder."""
        return arena(self.home, *words, "--at", self.at, "--token", "anna.token", code=None)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    elsewhere = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    yield elsewhere
    elsewhere.door.terminate()
    elsewhere.door.communicate(timeout=60)  # its output ends when the process below it has ended, too
    assert elsewhere.door.returncode == 128 + 15


def test_a_bundled_bot_is_submitted_and_followed(elsewhere: Elsewhere) -> None:
    league = elsewhere.league
    version = {"version": "random/1", "bot": "random", "state": "active", "level": "isolated", "rating": 12.5}
    league.publish("authors/anna/status.json", {"versions": [version], "notices": [{"at": "now", "text": "hi\x1b[2J"}]})
    with answering(league, "submit", {"version": "random/1", "before": 2}):
        done = elsewhere.arena("league", "submit", "random", "--wait")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["random/1 is received; 2 versions before it", "random/1: active"]
    (order,) = [order for order in league.orders() if order["arguments"].get("bot") == "random"]
    contents = check(league.folder / "incoming" / f"{order['id']}.tar.zst")
    assert contents.digest == order["arguments"]["digest"]
    assert (bots_folder() / "python/random/bot.toml").read_text().count(contents.manifest.name)


def test_a_version_that_is_rejected_is_the_exit_code(elsewhere: Elsewhere) -> None:
    league = elsewhere.league
    league.publish(
        "authors/anna/status.json", {"versions": [{"version": "greedy/1", "bot": "greedy", "state": "rejected"}]}
    )
    with answering(league, "submit", {"version": "greedy/1", "before": 0}):
        done = elsewhere.arena("league", "submit", "greedy", "--wait")
    assert done.returncode == 3
    assert "arena league report greedy/1" in done.stderr


def test_what_is_published_is_shown_and_nothing_hidden_in_it(elsewhere: Elsewhere) -> None:
    league = elsewhere.league
    version = {"version": "fox/1", "bot": "fox", "state": "suspended", "level": "remote"}
    league.publish("authors/anna/status.json", {"versions": [version], "notices": [{"at": "now", "text": "hi\x1b[2J"}]})
    done = elsewhere.arena("league", "status")
    assert "fox/1" in done.stdout
    assert "uncontrolled" in done.stdout
    assert "\x1b" not in done.stdout
    assert json.loads(elsewhere.arena("league", "status", "--json").stdout)["versions"] == [version]
    games = [{"game": f"g{n}", "bot": "fox", "version": "fox/1", "lost": n == 1, "forfeit": None} for n in range(3)]
    league.publish("authors/anna/games-1.json", {"games": games})
    shown = json.loads(elsewhere.arena("league", "games", "--lost", "--json").stdout)
    assert shown == {"games": [games[1]]}
    row = {"rank": 1, "name": "fox/1", "level": "remote", "games": 1, "rating": 25.0, "mu": 25.0}
    league.publish("standings.json", {"season": "spring", "items": [row | {"mu": "\x1b"}]})
    done = elsewhere.arena("league", "standings")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Error: expected a document of a league, got: " in done.stderr
    league.publish("standings.json", {"season": "spring", "items": [row]})
    done = elsewhere.arena("league", "standings")
    assert done.returncode == 0, done.stderr
    assert "uncontrolled" in done.stdout


def report(kind: str, **fields: object) -> dict[str, object]:
    """A report as a league publishes it."""
    return {
        "version": "fox/1",
        "state": "rejected",
        "kind": kind,
        "attempt": 1,
        "seconds": 4.06,
        "output": "",
        **fields,
    }


def test_a_report_shows_the_step_that_failed_as_the_check_at_home_does(elsewhere: Elsewhere) -> None:
    league = elsewhere.league
    built = report(
        "build", verdict="passed", detail={"bytes": 4_096, "removed": 1, "folder": "ab"}, output="cc\nld\x1b"
    )
    league.publish("reports/anna/fox/1/build.json", built)
    brief = ["build of fox/1: passed, in 4.1 s", "The rest: --verbose"]
    assert elsewhere.arena("league", "report", "fox/1").stdout.splitlines() == brief
    assert elsewhere.arena("league", "report", "fox/1", "--verbose").stdout.splitlines() == [
        "build of fox/1: passed, in 4.1 s",
        "What was built takes 4,096 bytes; 1 file removed.",
        *("It wrote:", "  cc", "  ld\\x1b"),
    ]
    late = Result(id="time.limit", title="keeps a limit", spec=("§9-3",), level=Grade.CORE, verdict=Verdict.FAILED,
                  detail="expected an action within 100 ms, got: one after 300 ms", remedy="Stop in time.")  # fmt: skip
    found = BotReport(
        bot="fox", version="1", rules=("samurai",), level=None, counts={"failed": 1}, start_ms=80, max_ms=300,
        memory_mib=9, seconds=4.0, results=(late,),
    )  # fmt: skip
    at_home = " ".join(str(line) for line in report_lines(found, 80)).split()
    failed = report(
        "check", verdict="failed", finding="time.limit: late", detail=msgspec.to_builtins(found), output="x"
    )
    league.publish("reports/anna/fox/1/check.json", failed)
    done = elsewhere.arena("league", "report", "fox/1", "--verbose")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["check of fox/1: failed, in 4.1 s", "time.limit: late", ""]
    assert lines[-1] == "build of fox/1: passed, in 4.1 s"
    assert " ".join(lines[3:-1]).split() == at_home
    assert "{'" not in done.stdout
    league.publish("authors/anna/status.json", {"versions": [{"version": "fox/1", "bot": "fox"}], "notices": []})
    newest = elsewhere.arena("league", "report", "fox").stdout.splitlines()
    assert newest == [*lines[:2], "  | x", "The rest: --verbose", lines[-1]], "what failed, the last words, what to do"
    assert elsewhere.arena("league", "report", "fox/1", "build").stdout.startswith("build of fox/1")
    document = json.loads(elsewhere.arena("league", "report", "fox/1", "--json").stdout)
    assert document == {"version": "fox/1", "state": "rejected", "reports": json.loads(json.dumps([built, failed]))}
    league.publish("authors/anna/status.json", {"versions": [{"version": "fox/1", "bot": "fox", "state": "checking"}]})
    waits = elsewhere.arena("league", "report", "fox/1", "qualify").stderr
    assert "fox/1 is checking: the qualify of it has not come to its end yet." in waits
    league.publish("reports/anna/fox/1/build.json", built | {"state": "retired"})
    retired = elsewhere.arena("league", "report", "fox/1", "build").stdout.splitlines()
    assert retired == ["fox/1 is retired", *brief]
    assert "such a report" in elsewhere.arena("league", "report", "owl/1").stderr
    games = [{"game": "q-0", "seat": 1, "rank": 2, "forfeit": {"code": "crashed", "sentence": "seat 1", "turn": 3}}]
    league.publish("reports/anna/fox/1/qualify.json", report("qualify", verdict="failed", detail={"games": games}))
    shown = elsewhere.arena("league", "report", "fox/1").stdout.splitlines()
    assert shown[:2] == ["qualify of fox/1: failed, in 4.1 s", "The first: game q-0, seat 1"]
    shown = elsewhere.arena("league", "report", "fox/1", "--verbose").stdout.splitlines()
    assert shown[-3].split() == ["q-0", "1", "2", "crashed", "3"]


def test_games_that_are_none_are_told(elsewhere: Elsewhere) -> None:
    game = {"game": "t-9", "version": "fox/1", "forfeit": "timeout", "last_words": 7}
    elsewhere.league.publish("authors/anna/games-1.json", {"games": [game]})
    done = elsewhere.arena("league", "games")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Error: expected games of a league, got: " in done.stderr


@pytest.mark.parametrize(
    "words", [("games", "--author", "bert"), ("standings", "--season", "first"), ("retire", "fox", "--reason", "old")]
)
def test_an_option_that_a_league_elsewhere_cannot_follow_is_refused(
    elsewhere: Elsewhere, words: tuple[str, ...]
) -> None:
    done = elsewhere.arena("league", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error: expected" in done.stderr


@pytest.mark.parametrize("hostile", [{"seconds": "\x1b"}, {"detail": {"bytes": "many"}}, {"detail": {"games": [1]}}])
def test_a_report_that_is_none_is_told(elsewhere: Elsewhere, hostile: dict[str, object]) -> None:
    elsewhere.league.publish("reports/anna/fox/2/build.json", report("build", verdict="passed", **hostile))
    done = elsewhere.arena("league", "report", "fox/2")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Error: expected reports of a league, got: " in done.stderr  # it may have waited for its turn first


def test_a_log_is_fetched_and_unpacked(elsewhere: Elsewhere) -> None:
    elsewhere.league.publish("logs/t-000001.jsonl.zst", compress(b'{"a": 1}\n'))
    done = elsewhere.arena("league", "log", "t-000001")
    assert done.stdout == "t-000001.jsonl\n"
    assert (elsewhere.home / "t-000001.jsonl").read_bytes() == b'{"a": 1}\n'
    missing = elsewhere.arena("league", "log", "t-000002")
    assert missing.returncode == 1
    assert "whose match is over" in missing.stderr


def test_a_log_that_is_a_bomb_is_refused(elsewhere: Elsewhere) -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(200 * 2**20))
    elsewhere.league.publish("logs/t-000003.jsonl.zst", bomb)
    done = elsewhere.arena("league", "log", "t-000003")
    assert done.returncode == 1
    assert not (elsewhere.home / "t-000003.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "token", "sentence"),
    [
        (("--at", "AT"), "TOKEN", ""),
        (("--at", "AT"), "", "expected --token FILE, or a token in ARENA_LEAGUE_TOKEN, with --at, got: neither"),
        (
            ("--at", "AT"),
            "secret",
            "expected a token, arena_ and 43 characters, in ARENA_LEAGUE_TOKEN, got: another text",
        ),
        (("--token", "anna.token"), "", "expected --at with --token, got: --token alone"),
    ],
)
def test_a_token_may_come_from_the_environment(
    elsewhere: Elsewhere, words: tuple[str, ...], token: str, sentence: str
) -> None:
    given = [elsewhere.at if word == "AT" else word for word in words]
    own = (elsewhere.home / "anna.token").read_text().strip()
    done = CliRunner().invoke(
        cli, ["league", "standings", *given], env={"ARENA_LEAGUE_TOKEN": own if token == "TOKEN" else token}
    )
    assert done.exit_code == (2 if sentence else 0), done.output
    assert sentence in done.stderr
    assert own not in done.output


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc, to find the process")
def test_the_door_is_opened_again_after_it_fell(elsewhere: Elsewhere) -> None:
    (door,) = Path(f"/proc/{elsewhere.door.pid}/task/{elsewhere.door.pid}/children").read_text().split()
    os.kill(int(door), signal.SIGKILL)
    until = time.monotonic() + 60
    while elsewhere.arena("league", "standings", "--json").returncode and time.monotonic() < until:
        pass
    assert elsewhere.arena("league", "standings", "--json").returncode == 0
    assert elsewhere.door.poll() is None
