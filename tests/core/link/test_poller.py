"""Waiting for several things at once, with real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from arena.core.link.pool import Poller

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    made = [socket.socketpair() for _ in range(2)]
    yield made
    for pair in made:
        for end in pair:
            end.close()


def test_what_can_be_read_is_read(pairs: list[Pair]) -> None:
    poller = Poller[bytes]()
    for ours, _ in pairs:
        poller.add(ours.fileno(), lambda ours=ours: ours.recv(10))
    assert poller.wait(0) == []
    pairs[1][1].send(b"b")
    assert poller.wait(20_000) == [b"b"]
    pairs[0][1].send(b"a")
    pairs[1][1].close()
    assert sorted(poller.wait(20_000)) == [b"", b"a"], "an end can be read, too"


def test_what_was_taken_out_is_not_called(pairs: list[Pair]) -> None:
    poller = Poller[None]()
    called = []

    def read(number: int) -> None:
        called.append(number)
        for ours, _ in pairs:
            poller.remove(ours.fileno())

    for number, (ours, theirs) in enumerate(pairs):
        poller.add(ours.fileno(), lambda number=number: read(number))
        theirs.send(b"x")
    poller.wait(20_000)
    assert len(called) == 1, "the first takes out the second"
    assert poller.wait(0) == []
    poller.remove(pairs[0][0].fileno())


def test_what_waits_is_sent_when_there_is_room(pairs: list[Pair]) -> None:
    ours, theirs = pairs[0]
    ours.setblocking(False)
    left = bytearray(10**6)

    def write() -> bool:
        del left[: ours.send(left)]
        return bool(left)

    poller = Poller[bytes]()
    poller.add(ours.fileno(), lambda: ours.recv(10))
    write()
    assert left
    poller.push(ours.fileno(), write)
    got = 0
    while left:
        got += len(theirs.recv(65_536))
        assert poller.wait(0) == []
    theirs.send(b"all?")
    assert poller.wait(20_000) == [b"all?"]
    assert poller.wait(0) == [], "nobody waits for room any more"
