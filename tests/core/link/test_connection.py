"""One connection to a bot, over a real socket pair, and the listener before it."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, RemoteProtocolError
from arena.core.link.connection import MAX_SOCKET_PATH, MAX_UNSENT, Closed, Connection, Listener, Unread

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"


@pytest.fixture
def pair() -> Iterator[tuple[Connection, socket.socket]]:
    """A connection whose peer has greeted, and the peer's end."""
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    theirs.sendall(GREETING + READY)
    assert connection.receive() is None
    with theirs:
        yield connection, theirs
        connection.close()


def test_messages_go_both_ways(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    theirs.sendall(b"\0\2hi" + b"\2" + (300).to_bytes(8, "big") + b"x" * 300)
    assert connection.receive() == b"hi"
    assert connection.has_more
    assert connection.receive() == b"x" * 300
    assert not connection.has_more
    assert connection.receive() is None
    theirs.recv(65_536)
    connection.send(b"there")
    assert theirs.recv(100) == b"\0\5there"


def test_what_came_before_the_end_is_received_before_it(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    theirs.sendall(b"\0\2hi")
    theirs.close()
    with pytest.raises(Closed):
        connection.send(b"too late")
    assert connection.receive() == b"hi"
    with pytest.raises(Closed):
        connection.receive()


def test_a_reset_is_an_end(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    connection.send(b"unread")
    theirs.close()  # a Unix socket that is closed with something unread is reset
    with pytest.raises(Closed):
        connection.receive()


def test_what_is_not_read_waits_and_is_sent_later(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    theirs.settimeout(20)
    big = bytes(300_000)
    connection.send(big)
    assert connection.is_behind
    got = b""
    while connection.is_behind:
        got += theirs.recv(65_536)
        connection.flush()
    theirs.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            got += theirs.recv(65_536)
    assert got.endswith(b"\2" + len(big).to_bytes(8, "big") + big)


@pytest.mark.parametrize("size", [10, 900_000])
def test_no_more_than_so_much_waits(pair: tuple[Connection, socket.socket], size: int) -> None:
    """In messages and in bytes."""
    connection, _ = pair

    def flood() -> None:
        for _ in range(100_000):
            connection.send(bytes(size))

    with pytest.raises(Unread):
        flood()
    assert len(connection._unsent) < 4 * 2**20 + 1
    assert connection._waiting <= MAX_UNSENT


def test_heartbeats_that_nobody_reads_the_answers_to_are_bounded(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    theirs.setblocking(False)

    def flood() -> None:
        for _ in range(100_000):
            with suppress(BlockingIOError):
                theirs.send(b"\x04\x0b\x04PING\x00\x00here" * 100)
            connection.receive()

    with pytest.raises(RemoteProtocolError) as caught:
        flood()
    assert caught.value.rule == "§4.1-5"
    assert len(connection._unsent) < 2**20


def test_a_listener_takes_one_connection_and_is_gone(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    path = tmp_path / "referee"
    assert listener.endpoint == f"ipc://{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert listener.accept() is None
    with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
        first.connect(str(path))
        connection = listener.accept()
        assert connection is not None
        assert not listener.is_open
        with pytest.raises(FileNotFoundError):
            second.connect(str(path))
        connection.close()


def test_a_temporary_folder_with_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    with pytest.raises(ConfigError, match="set TMPDIR to a folder with a shorter path"):
        Listener(folder)
    assert list(folder.iterdir()) == []
    assert MAX_SOCKET_PATH < 104
