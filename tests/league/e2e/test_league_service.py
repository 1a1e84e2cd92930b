"""A league as its operator runs it: the service in a process of its own, killed, stopped, and given submissions."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.author import archives
from arena.core.errors import StoreError
from arena.core.record import compressed
from arena.core.types import Payload
from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.service.inbox import give, new_order
from arena.league.settings import Bots, Game, Settings, load
from arena.league.store import read_league
from arena.league.store.opening import LeagueReader
from tests.command_kit import arena
from tests.forking import ARENA, ROOT, Command, environment
from tests.ports import free_port

FINE = """
from arena_bot import Bot, run
import os

{more}

class MyBot(Bot):
    want = ("legal",)

    def start(self, game):
        pass

    def decide(self, request):
        if os.path.exists({flag!r}):
            raise SystemExit("the flag is up")
        return {{"plays": [{{key: values["of"][: values["choose"]] if isinstance(values, dict) else values[0]
                            for key, values in request["legal"][0].items()}}]}}, None

run(MyBot())
"""
"""A bot that takes the first legal play, and crashes while there is a certain file."""


@pytest.fixture
def cup(tmp_path: Path) -> Folder:
    """A league of quick games whose bots are not confined."""
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    cup = make_league(tmp_path / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))
    pages_every(cup, 0)
    return cup


def pages_every(cup: Folder, seconds: int) -> None:
    """Sets how often the league's pages are made."""
    text = cup.settings.read_text(encoding="utf-8")
    cup.settings.write_text(re.sub(r"every_s = \d+", f"every_s = {seconds}", text), encoding="utf-8")


@pytest.fixture
def run(cup: Folder) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the service."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        command = [*ARENA, "league", "run", str(cup.path), *words]
        started.append(Command(command, cwd=ROOT, env=environment(), **both, text=True))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def finished(process: subprocess.Popen[str]) -> str:
    """Waits for the service to end by itself, and returns what it said."""
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


def until(process: subprocess.Popen[str], cup: Folder, happened: Callable[[LeagueReader], bool]) -> None:
    """Waits for something to be in the database, while the service runs."""
    while True:
        assert process.poll() is None, process.communicate()[0]
        try:
            with read_league(cup.database) as reader:
                if happened(reader):
                    return
        except StoreError:
            pass
        time.sleep(0.1)


def done(reader: LeagueReader) -> int:
    season = reader.seasons.current()
    return 0 if season is None else reader.finder.done(season.tournament)


def in_final(reader: LeagueReader) -> bool:
    season = reader.seasons.current()
    return season is not None and any(match.whole for match in reader.seasons.final_matches(season))


def published(cup: Folder, name: str) -> Any:
    return json.loads((cup.published / name).read_text())


@pytest.mark.long
def test_a_service_that_is_killed_goes_on_and_one_that_is_stopped_ends_with_0(
    cup: Folder, run: Callable[..., subprocess.Popen[str]]
) -> None:
    killed = run()
    until(killed, cup, lambda reader: done(reader) >= 1)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    with read_league(cup.database) as reader:
        before = done(reader)

    pages_every(cup, 60)
    finished(run("--games", "3"))
    pages_every(cup, 0)
    assert "greedy/1" in (cup.site / "index.html").read_text(encoding="utf-8")
    assert list(cup.site.glob("*/replays-1/*/*.js")), "made before it ended"
    with read_league(cup.database) as reader:
        season = reader.seasons.current()
        assert season is not None
        games = list(reader.finder.games(season.tournament))
        assert len({game.game for game in games}) == len(games) >= before + 3
        numbers = [game.number for game in games]
        assert numbers == list(range(len(numbers))), "none is lost"
        over = [match for match in reader.matches.settled(0, 100) if match.state == "over"]
        digests = {row["game"]: row["public_sha256"] for row in reader.played.of(season.tournament)}
    lines = (cup.published / "seasons" / "cup-1" / "rounds-0.jsonl").read_text().splitlines()
    games_of, told = {}, {}
    for line in map(json.loads, lines):
        if line["kind"] == "planned":
            games_of[line["match"]] = [f"cup-1-{number:06d}" for number in line["games"]]
        elif line["kind"] == "over":
            told |= zip(games_of[line["match"]], (game["log"] for game in line["games"]), strict=True)
    for match in over:
        assert match.published is not None
        for game in match.games:
            log = compressed.expand((cup.published / "logs" / f"{game.game}.jsonl.zst").read_bytes(), game.game)
            assert hashlib.sha256(log).hexdigest() == told[game.game] == digests[game.game]
    assert published(cup, "game.json")["schemas"].keys() == {"board", "events", "plays", "view"}
    items = published(cup, "standings.json")["items"]
    assert [item["name"] for item in items] == ["greedy/1", "random/1"]
    assert sum(item["games"] for item in items) == 2 * len(games)

    stopped = run()
    until(stopped, cup, lambda reader: done(reader) > len(games))
    words = [sys.executable, "-m", "arena", "league", "season", "close", "first", "--league", str(cup.path)]
    waiting = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(stopped, cup, lambda reader: in_final(reader) or len(reader.seasons.all()) > 1)
    stopped.send_signal(signal.SIGKILL)
    stopped.communicate()
    assert "The service plays it: arena league run " in waiting.communicate(timeout=120)[1]
    stopped = run()
    until(stopped, cup, lambda reader: cup.is_running)
    closed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert closed.stdout.startswith("Season first is closed; digest ")
    until(stopped, cup, lambda reader: done(reader) >= 1 and len(reader.seasons.all()) == 2)
    stopped.send_signal(signal.SIGTERM)
    said = finished(stopped)
    assert "Ended after" in said
    with read_league(cup.database) as reader:
        first = reader.seasons.all()[0]
        assert first.digest == closed.stdout.split()[-1]
        assert first.final is not None
        assert first.final.outcome == "settled"
        assert first.standings is not None
        assert [item["name"] for item in first.standings["items"]] == ["greedy/1", "random/1"]
        assert (cup.published / "metrics.prom").read_text().count("arena_league_games_running") >= 2
    with read_league(cup.database) as reader:
        assert not [game for match in reader.matches.running() for game in match.games if game.status == "running"]
    verified = arena(ROOT, "verify", str(cup.published), "--json")
    seasons = [(one["tournament"], one["complete"], one["faults"]) for one in json.loads(verified.stdout)["folders"]]
    assert seasons == [("cup-1", True, []), ("cup-2", False, [])], "killed twice, nothing is missing"


@pytest.mark.long
def test_its_door_is_opened_again_when_it_falls_over(cup: Folder, run: Callable[..., subprocess.Popen[str]]) -> None:
    port = free_port()
    service = run("--open", f"127.0.0.1:{port}")
    assert service.stdout is not None
    lines = iter(service.stdout.readline, "")
    address = next(line for line in lines if line.startswith("http://"))
    assert address == f"http://127.0.0.1:{port}\n"
    os.kill(door_of(service), signal.SIGKILL)
    assert next(line for line in lines if line.startswith("The door was ended by SIGKILL; it opens again in 1 s."))
    while not is_open(port):
        assert service.poll() is None
        time.sleep(0.1)
    service.send_signal(signal.SIGTERM)
    finished(service)
    assert not is_open(port), "it is closed with its league"


def door_of(service: subprocess.Popen[str]) -> int:
    """The process of the door that a service has opened."""
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text(encoding="utf-8").split()
    (door,) = [int(child) for child in children if b"--once" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return door


def is_open(port: int) -> bool:
    """Whether somebody listens."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def submit(cup: Folder, tmp_path: Path, name: str, flag: Path, *, build: bool = False, note: str = "") -> Payload:
    """Submits a bot of its author."""
    folder = tmp_path / "bots" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "bots" / "python" / "arena_bot.py", folder)
    more = "import made" if build else ""
    (folder / "bot.py").write_text(f"# {note}\n" + FINE.format(flag=str(flag), more=more))
    manifest = f'name = "{name}"\ncommand = ["{{python}}", "bot.py"]\nlanguage = "python"\n'
    if build:
        (folder / "build.py").write_text('open("made.py", "w").write("answer = 42\\n")\n')
        manifest += 'build = ["{python}", "build.py"]\nbuilt = ["made.py"]\n'
    (folder / "bot.toml").write_text(manifest)
    order = new_order("submit", {"author": f"of-{name}"})
    answer = give(cup, load(cup), order, archives.pack(str(folder)).data)
    assert answer is not None
    return answer


def states(reader: LeagueReader) -> dict[str, str]:
    return {version.name: version.state.value for version in reader.versions.all() if not version.is_of_house}


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_bots_are_submitted_play_are_replaced_and_suspended_beside_a_kill(
    cup: Folder, run: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    for name in ("fox", "owl"):
        give(cup, load(cup), new_order("author_add", {"name": f"of-{name}"}))
    assert submit(cup, tmp_path, "fox", tmp_path / "never")["version"] == "fox/1"
    submit(cup, tmp_path, "owl", tmp_path / "never", build=True)

    service = run("--concurrency", "1")  # all that it waits for comes sooner than more games
    until(service, cup, lambda reader: states(reader) == {"fox/1": "active", "owl/1": "active"})
    answer = submit(cup, tmp_path, "fox", flag, note="the second")
    assert answer["version"] == "fox/2", "a service that runs obeys"
    until(service, cup, lambda reader: states(reader).get("fox/2") in ("checking", "qualifying"))
    service.send_signal(signal.SIGKILL)  # in the middle of a step, and of a game
    service.communicate()

    service = run("--concurrency", "1")
    taken_over = {"fox/2": "active", "fox/1": "superseded", "owl/1": "active"}
    until(service, cup, lambda reader: states(reader) == taken_over)
    flag.touch()
    back = {"fox/2": "suspended", "fox/1": "active", "owl/1": "active"}
    until(service, cup, lambda reader: states(reader) == back)
    service.send_signal(signal.SIGTERM)
    finished(service)

    status = published(cup, "authors/of-fox/status.json")
    assert [version["state"] for version in status["versions"]] == ["suspended", "active"]
    [notice] = [notice for notice in status["notices"] if notice["kind"] == "suspended"]
    assert "the flag is up" in notice["text"]
    page = next((cup.published / "authors" / "of-fox").glob("games-*.json"))
    rows = json.loads(page.read_text())["games"]
    assert [row for row in rows if row["version"] == "fox/2" and row["forfeit"] == "crashed"]
    assert json.loads((cup.published / "reports/of-owl/owl/1/build.json").read_text())["verdict"] == "passed"
    with read_league(cup.database) as reader:
        season = reader.seasons.current()
        assert season is not None
        games = list(reader.finder.games(season.tournament))
        assert len({game.game for game in games}) == len(games)
        [again] = [version for version in reader.versions.of_bot("fox") if version.number == 1]
        assert [change.new for change in reader.versions.history(again.id)].count("active") == 2
    assert os.listdir(cup.inbox) == []
