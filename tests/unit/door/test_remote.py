"""Remote bots: a bot that is served plays real games under a real referee, through the door."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.door.keys import Pair
from arena.door.relay import remote_bot
from arena.door.serve import Service
from arena.link.bots import BotSpec, load_bot
from arena.link.pool import worker_pool
from arena.referee import worker
from tests.door_kit import League, opened
from tests.referee_kit import make_job

BOT = """
import msgpack, os, random, sys, zmq
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
        if count == int(os.environ.get("FAILS_AT", 0)) or count == FAILS_AT:
            sys.exit("no more")
        play = {}
        for key, value in message["legal"][0].items():
            play[key] = value[0] if isinstance(value, list) else value["of"][: value["choose"]]
        send(type="action", id=message["id"], action={"plays": [play]})
    elif message["type"] in ("goodbye", "error"):
        break
"""


def bot(folder: Path, fails_at: int = 0) -> BotSpec:
    """A bot that plays the first legal play, and crashes at a request."""
    folder.mkdir()
    (folder / "bot.py").write_text(BOT.replace("== FAILS_AT", f"== {fails_at}"))
    (folder / "bot.toml").write_text(f'name = "fox"\ncommand = ["{sys.executable}", "bot.py"]\n')
    return load_bot(str(folder))


@contextmanager
def served(door: Any, pair: Pair, spec: BotSpec) -> Iterator[list[str]]:
    """Serves a bot in a thread, and yields what is told."""
    said: list[str] = []
    failed: list[BaseException] = []
    stopped = threading.Event()

    def run() -> None:
        try:
            Service(door.address, pair, spec, said.append).run(stopped.is_set)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        until = time.monotonic() + 20
        while not said and not failed and time.monotonic() < until:
            time.sleep(0.01)
        yield said
    finally:
        stopped.set()
        thread.join()
    if failed:
        raise failed[0]


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


def register(league: League, spec: BotSpec, author: str = "anna") -> None:
    """Makes the bot a remote version, as the league does after its order."""
    version = {"version": "fox/1", "bot": "fox", "digest": spec.digest, "state": "active", "level": "remote"}
    league.publish(f"authors/{author}/status.json", {"versions": [version], "notices": []})


def play(league: League, folder: Path, spec: BotSpec) -> Any:
    """Plays a game of the remote version against `random`, and returns its result."""
    relayed = remote_bot(league.folder, "fox/1", spec.digest)
    return worker.play(replace(make_job(folder, 2), bots=(relayed, load_bot("random"))))


def told(said: list[str], text: str, seconds: float = 20) -> bool:
    """Waits until something was told."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if any(text in line for line in said):
            return True
        time.sleep(0.01)
    return False


def test_a_remote_bot_plays_a_whole_game_under_a_referee(league: League, tmp_path: Path) -> None:
    """§D10-3, §D10-6: the bot unchanged, its hello accepted, the network's share told."""
    anna, spec = league.author("anna"), bot(tmp_path / "fox")
    register(league, spec)
    with opened(league) as door, served(door, anna, spec) as said:
        assert said == ["fox/1 is served; its state in the league: active"]
        result = play(league, tmp_path, spec)
        worker_pool().enter("another block")  # the bots of this one are told goodbye
        assert told(said, "a game is over")
    assert [seat.termination for seat in result.seats] == ["finished", "finished"]
