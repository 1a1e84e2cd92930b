"""Remote bots: a bot that is served plays real games under a real referee, through the door."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.errors import DoorError
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.pool import worker_pool
from arena.core.record.kept import Receipts
from arena.core.record.log import read_log
from arena.core.referee import worker
from arena.core.referee.verify import verify
from arena.core.types import Level
from arena.league.door import app, relay
from arena.league.door.relay import remote_bot
from arena.league.door.remote_bots import RemoteBots
from arena.league.door.serve import RemoteService, ServeLog
from arena.league.door.tokens import write_token
from arena.sandbox.doctor import examine
from tests.door_kit import League, answering, opened
from tests.referee_kit import SECRET, make_job, revealed

BOT = """
import msgpack, os, sys, time, zmq
socket = zmq.Context().socket(zmq.DEALER)
socket.linger = 500
socket.connect(os.environ["ARENA_ENDPOINT"])
send = lambda **message: socket.send(msgpack.packb(message))
send(type="hello", token=os.environ["ARENA_TOKEN"], protocol="1.0", want=["legal"])
count = 0
while True:
    message = msgpack.unpackb(socket.recv())
    if message["type"] == "game_start":
        send(type="ready", game=message["game"])
    elif message["type"] == "request":
        count += 1
        if count == FAILS_AT:
            open("reached", "w").close()
            FAILURE
        play = {}
        for key, value in message["legal"][0].items():
            play[key] = value[0] if isinstance(value, list) else value["of"][: value["choose"]]
        send(type="action", id=message["id"], action={"plays": [play]})
    elif message["type"] in ("goodbye", "error"):
        break
"""

CRASH = 'sys.exit("no more")'


def bot(folder: Path, fails_at: str = "0", failure: str = CRASH) -> BotSpec:
    """A bot that plays the first legal play, and at a request does something else first."""
    folder.mkdir()
    (folder / "bot.py").write_text(BOT.replace("FAILS_AT", fails_at).replace("FAILURE", failure))
    (folder / "bot.toml").write_text(f'name = "fox"\ncommand = ["{sys.executable}", "bot.py"]\n')
    return load_bot(str(folder))


@contextmanager
def served(
    door: Any, token: str, spec: BotSpec, *, ends: str = "", patient: bool = False, **more: Any
) -> Iterator[list[str]]:
    """Serves a bot in a thread, until the league refuses it by a code, and yields what is told.

    At the end of the block it is asked to end; `patient` lets running games end first.
    """
    said: list[str] = []
    failed: list[BaseException] = []
    stopped = threading.Event()

    def run() -> None:
        try:
            RemoteService(door.address, token, spec, ServeLog(said.append), **more).run(
                stopped.is_set, lambda: not patient
            )
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        until = time.monotonic() + 20
        while not said and not failed and time.monotonic() < until:
            time.sleep(0.01)
        yield said
        if ends:
            thread.join(20)  # it ends by itself, when it hears why
    finally:
        stopped.set()
        thread.join()
    for error in failed:
        if not (isinstance(error, DoorError) and error.refusal == ends):
            raise error
    assert bool(failed) == bool(ends)


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


def register(league: League, spec: BotSpec, author: str = "anna") -> None:
    """Makes the bot a remote version, as the league does after its order."""
    version = {"version": "fox/1", "bot": "fox", "digest": spec.digest, "state": "active", "level": "remote"}
    league.publish(f"authors/{author}/status.json", {"versions": [version], "notices": []})


def play(league: League, folder: Path, spec: BotSpec, level: Level = Level.TRUSTED, **options: Any) -> Any:
    """Plays a game of the remote version against `random`, and returns its result."""
    relayed = remote_bot(league.folder, "fox/1", spec.digest)
    job = replace(make_job(folder, 2, **options), bots=(relayed, load_bot("random")), level=level)
    try:
        return worker.play(job)
    finally:
        worker_pool().enter("another block")  # the bots of this one are told goodbye


def told(said: list[str], text: str, seconds: float = 20) -> bool:
    """Waits until something was told."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if any(text in line for line in said):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("level", [Level.TRUSTED, Level.ISOLATED])
def test_a_remote_bot_plays_a_whole_game_under_a_referee(league: League, tmp_path: Path, level: Level) -> None:
    """§D10-3, §D10-6: the bot unchanged, its hello accepted, the network's share told, its receipt kept."""
    if missing := examine([level]).levels[level].missing:
        pytest.skip(f"this machine does not give level {level}: {', '.join(missing)}")
    anna, spec = league.author("anna"), bot(tmp_path / "fox")
    register(league, spec)
    kept, looks = tmp_path / "kept", []
    more = {"receipts": kept, "look": lambda client: looks.append(client)}
    with opened(league) as door, served(door, anna, spec, patient=True, **more) as said:
        assert said == ["fox/1 is served, and active: waiting for games"]
        result = play(league, tmp_path, spec, level)
    receipts = Receipts(kept)
    assert list(receipts.differences(read_log(tmp_path / result.log))) == []
    assert (len(receipts.compared), receipts.unknown, len(looks)) == (1, [], 1)
    assert said[-1].startswith("1 game so far")
    assert forfeits(result) == ["", ""]
    assert result.termination == "finished"


def test_whoever_ends_serving_lets_the_running_game_end(league: League, tmp_path: Path, monkeypatch: Any) -> None:
    """And is told so; a second Ctrl-C does not wait."""
    slow = 'time.sleep(1 if os.path.exists("end") else 0.1)'
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3", failure=slow)
    register(league, spec)
    results, withdrawn = list[Any](), list[Any]()
    monkeypatch.setattr(RemoteBots, "withdraw", lambda *who: withdrawn.append(who))
    player = threading.Thread(target=lambda: results.append(play(league, tmp_path, spec)))
    with opened(league) as door:
        with served(door, anna, spec, patient=True) as said:
            (tmp_path / "fox/end").touch()
            player.start()
            assert happens((tmp_path / "fox/reached").exists)
        player.join()
    assert forfeits(results[0]) == ["", ""]
    assert said[1].startswith("Ending when no game of it runs")
    assert len(withdrawn) == 1


def forfeits(result: Any) -> list[str]:
    return [str(seat.forfeit.code) if seat.forfeit else "" for seat in result.seats]


def test_a_remote_bot_that_crashes_costs_its_seat_and_nothing_else(league: League, tmp_path: Path) -> None:
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3")
    register(league, spec)
    with opened(league) as door, served(door, anna, spec) as said:
        assert forfeits(play(league, tmp_path, spec)) == ["crashed", ""]
        assert told(said, "exited with status 1; a game is lost")
        assert told(said, "no more")


ENDS = {
    "P24 exits with status 0": "os._exit(0)",
    "P24 has a segmentation fault": "os.kill(os.getpid(), 11)",
    "P24 becomes another program": 'os.execv("/bin/sleep", ["sleep", "600"])',
}


@pytest.mark.parametrize("name", ENDS)
def test_a_remote_bot_that_ends_in_its_turn_has_crashed(league: League, tmp_path: Path, name: str) -> None:
    """Its seat is not left to its clock, and what is left of it is gone from its author's machine."""
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3", failure=ENDS[name])
    register(league, spec)
    with opened(league) as door, served(door, anna, spec) as said:
        assert forfeits(play(league, tmp_path, spec, time="10m")) == ["crashed", ""]
        assert told(said, "a game is lost")


def test_p25_an_answer_at_the_deadline_has_one_outcome_and_the_same_on_replay(league: League, tmp_path: Path) -> None:
    """The network is in its time. Over some games the answer comes from 20 ms before the deadline to 20 ms after."""
    late = 'time.sleep((message["clock"]["limit_ms"] + 10 + os.getpid() * 7 % 41) / 1000)'
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3", failure=late)
    register(league, spec)
    with opened(league) as door, served(door, anna, spec):
        for deal in range(4):
            result = play(league, tmp_path, spec, time="1/move", deal=deal)  # a busy machine takes 0.1 s for any
            assert forfeits(result) in (["timeout", ""], ["", ""]), [seat.forfeit for seat in result.seats]
            assert result.termination == ("timeout" if forfeits(result)[0] else "finished")
            log = read_log(tmp_path / result.log)
            assert log.sha256 == result.log_sha256
            assert verify(tmp_path / result.log, revealed(SECRET)).draws_checked


def test_an_authors_process_that_is_killed_costs_its_game(league: League, tmp_path: Path, monkeypatch: Any) -> None:
    """Nobody has to send it anything for that: its end is seen, and at once it is not called served any more."""
    monkeypatch.setattr(app, "_TICK_S", 600)
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3", failure="time.sleep(600)")
    register(league, spec)
    write_token(tmp_path / "anna.token", anna)
    results: list[Any] = []
    player = threading.Thread(target=lambda: results.append(play(league, tmp_path, spec, time="10m")))
    with opened(league) as door:
        command = [sys.executable, "-m", "arena", "bot", "serve", str(tmp_path / "fox")]
        process = subprocess.Popen([*command, "--at", str(door.address), "--token", str(tmp_path / "anna.token")])
        try:
            assert happens(lambda: bool(relay.served(league.folder)))
            player.start()
            assert happens((tmp_path / "fox/reached").exists)
        finally:
            process.kill()
            process.wait()
        player.join()
        assert forfeits(results[0]) == ["crashed", ""]
        assert happens(lambda: not relay.served(league.folder), 10)
        (tmp_path / "fox/bot.py").write_text(BOT.replace("FAILS_AT", "0").replace("FAILURE", ""))
        with served(door, anna, spec):
            assert forfeits(play(league, tmp_path, spec)) == ["", ""]


def happens(does_it: Callable[[], bool], seconds: float = 30) -> bool:
    """Waits until something is so."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if does_it():
            return True
        time.sleep(0.01)
    return False


def test_a_version_that_nobody_serves_does_not_start(league: League, tmp_path: Path) -> None:
    spec = bot(tmp_path / "fox")
    with opened(league):
        assert forfeits(play(league, tmp_path, spec)) == ["start_failed", ""]


def test_a_door_that_is_not_open_costs_the_seat_and_says_why(league: League, tmp_path: Path) -> None:
    spec = bot(tmp_path / "fox")
    assert forfeits(play(league, tmp_path, spec)) == ["start_failed", ""]


def test_a_token_that_is_revoked_in_a_game_costs_the_seat_at_its_next_message(league: League, tmp_path: Path) -> None:
    """§D10-2, §D4-6: the pong is that message, if nothing else is. The other seat has its game."""
    anna, spec = league.author("anna"), bot(tmp_path / "fox", fails_at="3", failure="time.sleep(60)")
    register(league, spec)
    results: list[Any] = []
    player = threading.Thread(target=lambda: results.append(play(league, tmp_path, spec)))
    with opened(league) as door, served(door, anna, spec, ends="unknown_token"):
        player.start()
        until = time.monotonic() + 30
        while not (tmp_path / "fox/reached").exists() and time.monotonic() < until:
            time.sleep(0.01)
        league.revoke(anna)
        player.join()
    assert forfeits(results[0]) == ["crashed", ""]


def test_a_bot_that_is_handed_over_is_served_no_more_from_where_it_was(league: League, tmp_path: Path) -> None:
    anna, spec = league.author("anna"), bot(tmp_path / "fox")
    register(league, spec)
    with opened(league) as door, served(door, anna, spec, ends="replaced"):
        time.sleep(1.5)  # the door has looked
        league.publish("authors/anna/status.json", {"versions": [], "notices": []})


def test_a_league_that_takes_no_remote_bots_says_so(league: League, tmp_path: Path) -> None:
    anna, spec = league.author("anna"), bot(tmp_path / "fox")
    league.publish("league.json", {"name": "cup", "rules": "samurai", "remote": False})
    with opened(league) as door, pytest.raises(DoorError, match="submit the bot instead") as caught:
        RemoteService(door.address, anna, spec, ServeLog(lambda sentence: None)).run()
    assert caught.value.refusal == "not_accepted"


def test_a_bot_that_is_new_becomes_a_version_by_an_order(league: League, tmp_path: Path) -> None:
    """§D7-1: at the level remote, which is shown as uncontrolled."""
    anna, spec = league.author("anna"), bot(tmp_path / "fox")
    answer = {"version": "fox/1", "state": "qualifying"}
    with opened(league) as door, answering(league, "remote", answer), served(door, anna, spec) as said:
        assert said == ["fox/1 is served, and qualifying: the league tries it in a few games"]
    (order,) = league.orders()
    assert (order["author"], order["arguments"]["digest"]) == ("anna", spec.digest)
    assert order["arguments"]["manifest"]["name"] == "fox"
