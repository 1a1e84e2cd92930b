"""An `error` is the last message of a session, and the bot has time to read it (§6-2, §6-5, §8.9-2)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgpack
import pytest
import zmq
from referee_kit import make_job

from arena.core.catalogue import rules_of
from arena.core.link.bots import BotSpec
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.link.process import Exit
from arena.core.referee.game import Game
from arena.core.types import Termination

FAULTY = Path(__file__).parents[2] / "faulty"


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.shutdown()


def faulty(script: str) -> BotSpec:
    command = (sys.executable, str(FAULTY / "bot.py"), script)
    return BotSpec(name="faulty", version="1", command=command, folder=str(FAULTY), digest=script)


def test_a_bot_that_was_refused_can_read_why_though_its_game_ends_at_once(pool: Pool, tmp_path: Path) -> None:
    specs = [faulty("hello:bad_version"), faulty("ok")]
    job = make_job(tmp_path, 2)
    Game(job, rules_of(job.settings), LocalLink(pool, specs)).play()
    (process,) = (bot.process for bot in pool._leaving)
    until = time.monotonic() + 5
    while process.end() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert process.end() == Exit(Termination.CRASHED, "exited with status 7"), "it read the error"


def test_over_a_connection_that_was_refused_nothing_more_is_said(pool: Pool) -> None:
    sleeper = BotSpec(name="it", version="", command=("sleep", "1000"), folder=str(FAULTY), digest="")
    pool.start_ahead([sleeper])
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(pool._ahead[0].listener.endpoint)
        for frame in (b"\xc1", msgpack.packb({"type": "ready", "game": 1}), b"\xc1"):
            socket.send(frame)
        said = []
        until = time.monotonic() + 5
        while time.monotonic() < until and len(said) < 2:
            pool.tidy()
            if socket.poll(100 if said else 10):
                said.append(msgpack.unpackb(socket.recv()))
            elif said:
                break
    assert [message["code"] for message in said] == ["malformed"]
