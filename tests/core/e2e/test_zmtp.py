"""What the referee makes of connections that speak other versions of ZMTP, and of what ZMTP itself sends (§4.1)."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from arena.core.link.base import Fault, Frame
from arena.core.link.bots import BotSpec
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.types import Termination
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import Action, Hello, Request, RequestClock

FAULTY = Path(__file__).parents[2] / "faulty"
PATIENCE_NS = 20 * 10**9


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.shutdown()


def peer(*words: str, tcp: bool = False) -> BotSpec:
    command = (sys.executable, str(FAULTY / "zmtp.py"), *words)
    return BotSpec(name="it", version="", command=command, folder=str(FAULTY), digest=" ".join(words), tcp=tcp)


def answers(link: LocalLink, number: int) -> None:
    """The bot is asked, and answers."""
    link.send(0, encode(Request(id=number, kind="turn", clock=RequestClock(limit_ms=1000, bank_ms=None))))
    arrival = link.receive(time.monotonic_ns() + PATIENCE_NS)
    assert isinstance(arrival, Frame), arrival
    message = decode(arrival.data)
    assert isinstance(message, Action)
    assert message.id == number


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_bot_of_an_old_zmtp_is_refused(pool: Pool, version: str) -> None:
    """§4.1-4: and whoever plays beside it does."""
    link = LocalLink(pool, [peer("3.1"), peer(version)])
    opened = link.open()
    assert isinstance(opened[0], Hello)
    fault = opened[1]
    assert isinstance(fault, Fault)
    assert (fault.code, fault.rule) == (Termination.START_FAILED, "§4.1-4")
    reason = "was refused: expected a connection that speaks ZMTP 3, got: one of an older version"
    assert fault.detail.startswith(reason)
    answers(link, 1)


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_heartbeats_are_answered_in_every_state(pool: Pool, version: str) -> None:
    """§4.1-5."""
    link = LocalLink(pool, [peer(version, "pings")])
    assert isinstance(link.open()[0], Hello)
    for number in range(1, 4):
        answers(link, number)


def test_a_bot_that_asks_for_tcp_plays_over_tcp(pool: Pool) -> None:
    """§4.1-7: beside one that does not."""
    link = LocalLink(pool, [peer("3.1", tcp=True), peer("3.1")])
    assert [type(hello) for hello in link.open().values()] == [Hello, Hello]
    assert pool._bots[0].listener.endpoint.startswith("tcp://127.0.0.1:")
    answers(link, 1)


def test_a_stranger_on_the_port_is_not_listened_to(pool: Pool) -> None:
    """§4.1-7: without the token of the bot a connection has no effect, even if it comes first."""
    spec = peer("3.1", "late", tcp=True)
    pool.start_ahead([spec])
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        stranger.connect(pool._ahead[0].listener.endpoint)
        stranger.send(encode(Hello(token="a guess", protocol="1.0")))
        stranger.send(encode(Action(id=1, action={})))
        until = time.monotonic() + 20
        while not stranger.poll(10) and time.monotonic() < until:
            pool.tidy()
        assert b"bad_token" in stranger.recv(zmq.DONTWAIT)
        pool.enter("a block")
        link = LocalLink(pool, [spec])
        assert isinstance(link.open()[0], Hello)
        answers(link, 1)


def test_a_port_is_closed_once_its_bot_has_greeted(pool: Pool) -> None:
    """§4.1-7."""
    link = LocalLink(pool, [peer("3.1", tcp=True)])
    assert isinstance(link.open()[0], Hello)
    host, _, port = pool._bots[0].listener.endpoint.removeprefix("tcp://").rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_bots_with_the_same_routing_id_play(pool: Pool) -> None:
    """§4.1-6: it means nothing."""
    link = LocalLink(pool, [peer("3.1", "named"), peer("3.1", "named")])
    assert [type(hello) for hello in link.open().values()] == [Hello, Hello]
    answers(link, 1)


def test_a_flood_of_heartbeats_is_refused(pool: Pool) -> None:
    link = LocalLink(pool, [peer("3.1", "flood")])
    assert isinstance(link.open()[0], Hello)
    link.send(0, encode(Request(id=1, kind="turn", clock=RequestClock(limit_ms=1000, bank_ms=None))))
    arrival = link.receive(time.monotonic_ns() + PATIENCE_NS)
    assert isinstance(arrival, Fault), arrival
    assert arrival.code is Termination.PROTOCOL_VIOLATION
    assert arrival.rule in ("§4.1-5", "§4.1-3")
