"""The watch over connections, on sockets of this machine that stand for those of libzmq."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from arena.league.door.watch import IDLE_S, LOOK_S, MOST_CONNECTIONS, MOST_UNFINISHED, SILENT_S, Looked, Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the counts of Linux")


class Port:
    """A port, and the connections to it."""

    def __init__(self, held: ExitStack, family: socket.AddressFamily = socket.AF_INET) -> None:
        self._held = held
        host = "127.0.0.1" if family is socket.AF_INET else "::1"
        self._server = held.enter_context(socket.create_server((host, 0), family=family))
        self.watch = Watch(self._server.getsockname()[1], 0)

    def connect(self) -> tuple[socket.socket, socket.socket]:
        """Returns a new connection: the peer's side, and the side that is watched."""
        peer = self._held.enter_context(socket.create_connection(self._server.getsockname()[:2]))
        own = self._held.enter_context(self._server.accept()[0])
        peer.settimeout(20)
        own.settimeout(20)
        return peer, own


@pytest.fixture
def port() -> Iterator[Port]:
    with ExitStack() as held:
        yield Port(held)


def bring(peer: socket.socket, own: socket.socket, size: int) -> None:
    """Sends bytes, and reads them as libzmq would."""
    while size:
        piece = min(size, 16_384)
        peer.sendall(bytes(piece))
        size -= piece
        while piece:
            piece -= len(own.recv(piece))


def is_cut(peer: socket.socket) -> bool:
    """Tells whether a connection was closed."""
    peer.setblocking(False)
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_what_brings_bytes_without_a_message_is_closed_and_nothing_else(family: socket.AddressFamily) -> None:
    with ExitStack() as held:
        try:
            port = Port(held, family)
        except OSError:
            pytest.skip("this machine has no such addresses")
        endless, honest = port.connect(), port.connect()
        assert port.watch.look(0).endless == []
        assert len(port.watch) == 2
        bring(*endless, MOST_UNFINISHED)
        bring(*honest, MOST_UNFINISHED // 2)
        assert port.watch.look(1).endless == []
        bring(*endless, 1)
        assert port.watch.look(2).endless == [""]
        assert is_cut(endless[0])
        assert not is_cut(honest[0])
        assert port.watch.cuts == {"endless": 1}
        assert len(port.watch) == 1


def test_a_connection_may_bring_any_number_of_whole_messages(port: Port) -> None:
    peer, own = port.connect()
    port.watch.look(0)
    for now in range(1, 6):
        bring(peer, own, MOST_UNFINISHED)
        port.watch.heard(own.fileno(), b"\0id", "key")
        assert port.watch.look(now).endless == []
    bring(peer, own, MOST_UNFINISHED + 1)
    assert port.watch.look(9).endless == ["key"], "and then whose it was is known"


def test_messages_of_a_connection_that_no_look_has_seen_yet_count(port: Port) -> None:
    """Between two looks an upload can begin and bring all it has."""
    port.watch.look(0)
    peer, own = port.connect()
    bring(peer, own, MOST_UNFINISHED + 1)
    port.watch.heard(own.fileno(), b"\0id", "key")
    assert port.watch.look(1) == Looked([], [])
    assert not is_cut(peer)
    own.close()
    assert port.watch.look(2) == Looked([], [(b"\0id", "key")])
    _, short = port.connect()
    port.watch.heard(short.fileno(), b"\0short", "key")
    short.close()
    assert port.watch.look(3) == Looked([], [(b"\0short", "key")])


def test_what_nobody_has_read_yet_does_not_count(port: Port) -> None:
    """The queue is full: libzmq reads nothing more, and the system keeps it."""
    peer, own = port.connect()
    port.watch.look(0)
    bring(peer, own, MOST_UNFINISHED)
    peer.sendall(bytes(11))
    own.recv(1, socket.MSG_PEEK)  # it is there
    assert port.watch.look(1).endless == []
    own.recv(1)
    assert port.watch.look(2).endless == [""]


def test_a_connection_without_messages_is_closed_in_the_end(port: Port) -> None:
    """§D4-9."""
    silent, speaks = port.connect(), port.connect()
    port.watch.look(0)
    port.watch.heard(speaks[1].fileno(), b"\0id", "key")
    port.watch.look(SILENT_S)
    assert not is_cut(silent[0])
    port.watch.look(SILENT_S + 1)
    assert is_cut(silent[0])
    port.watch.look(SILENT_S + IDLE_S)
    assert not is_cut(speaks[0])
    port.watch.look(SILENT_S + IDLE_S + 1)
    assert is_cut(speaks[0])
    assert port.watch.cuts == {"idle": 2}


def test_of_too_many_connections_of_a_key_the_quietest_is_closed(port: Port) -> None:
    """§D4-9."""
    first = [port.connect() for _ in range(MOST_CONNECTIONS)]
    other = port.connect()
    port.watch.look(0)
    for now, (_, own) in enumerate(first, start=1):
        port.watch.heard(own.fileno(), b"\0id", "hers")
        port.watch.look(now)
    port.watch.heard(other[1].fileno(), b"\0id", "his")
    late = port.connect()
    port.watch.look(50)
    port.watch.heard(late[1].fileno(), b"\0id", "hers")
    port.watch.look(51)
    assert [is_cut(peer) for peer, _ in first] == [True] + [False] * (MOST_CONNECTIONS - 1)
    assert not is_cut(other[0])
    assert not is_cut(late[0])
    assert port.watch.cuts == {"many": 1}


def test_sockets_that_are_not_the_doors_are_left_alone(port: Port) -> None:
    with ExitStack() as held:
        others = Port(held).connect()
        pair = socket.socketpair()
        held.enter_context(pair[0])
        held.enter_context(pair[1])
        port.watch.look(0)
        assert len(port.watch) == 0
        bring(*others, MOST_UNFINISHED + 1)
        port.watch.look(SILENT_S + 1)
        assert not is_cut(others[0])
        assert port.watch.cuts == {}


def test_a_descriptor_that_is_used_again_begins_anew(port: Port) -> None:
    _, own = port.connect()
    port.watch.look(0)
    peer, same = port.connect()
    os.dup2(same.fileno(), own.fileno())
    port.watch.look(SILENT_S)
    port.watch.look(SILENT_S + 1)
    assert not is_cut(peer), "it is as old as itself, not as its number"
    port.watch.look(2 * SILENT_S + 1)
    assert is_cut(peer)


def test_connections_that_have_ended_are_named_once(port: Port) -> None:
    first, second, silent = port.connect(), port.connect(), port.connect()
    port.watch.look(0)
    port.watch.heard(first[1].fileno(), b"\0one", "hers")
    port.watch.heard(second[1].fileno(), b"\0two", "his")
    assert port.watch.look(1).gone == []
    number = first[1].fileno()
    _, same = port.connect()
    os.dup2(same.fileno(), number)  # it ended, and its descriptor is in use again
    silent[1].close()
    assert port.watch.look(2).gone == [(b"\0one", "hers")]
    bring(*second, MOST_UNFINISHED + 1)
    assert port.watch.look(3) == Looked(["his"], [(b"\0two", "his")])
    assert port.watch.look(4).gone == []


def test_looking_takes_a_small_part_of_the_time_however_many_there_are(port: Port) -> None:
    port.watch.look(0)
    assert not port.watch.due(LOOK_S / 2)
    assert port.watch.due(LOOK_S)
    port.watch.look(1, took=LOOK_S)
    assert not port.watch.due(1 + 19 * LOOK_S)
    assert port.watch.due(1 + 20 * LOOK_S)
