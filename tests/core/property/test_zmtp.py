"""ZMTP: the same bytes cut anywhere give the same messages, and libzmq is the oracle."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import zmq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.core.errors import RemoteProtocolError
from arena.core.wire.zmtp import MAX_COMMAND, MAX_READ, Zmtp, frame

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
PING = b"\x04\x0b\x04PING\x00\x07here"
PONG = b"\x04\x09\x04PONGhere"
LONG_PING = b"\x06" + (11).to_bytes(8, "big") + PING[2:]
UNKNOWN = b"\x04\x04\x03WHO"

MESSAGES = st.lists(st.binary(max_size=600) | st.binary(min_size=255, max_size=257), max_size=6)
PIECES = st.lists(st.integers(1, 80), min_size=1, max_size=40)


def cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """The data in pieces of these sizes, which repeat."""
    at = number = 0
    while at < len(data):
        size = sizes[number % len(sizes)]
        yield data[at : at + size]
        at, number = at + size, number + 1


def fed(zmtp: Zmtp, pieces: Iterator[bytes]) -> tuple[list[bytes], bytes, str]:
    """All messages, all that is answered, and the rule that is broken in the end, if one is."""
    messages: list[bytes] = []
    answers = zmtp.answers()
    try:
        for piece in pieces:
            message = zmtp.feed(piece)
            while message is not None:
                messages.append(message)
                message = zmtp.next()
            answers += zmtp.answers()
    except RemoteProtocolError as error:
        return messages, answers, error.rule
    return messages, answers, ""


@given(MESSAGES, PIECES, st.data())
def test_cuts_do_not_matter(messages: list[bytes], sizes: list[int], data: st.DataObject) -> None:
    """With commands between the messages."""
    stream, pings = GREETING + READY, 0
    for message in messages:
        for command in data.draw(st.lists(st.sampled_from([PING, LONG_PING, UNKNOWN]), max_size=2)):
            stream += command
            pings += b"PING" in command
        stream += frame(message)
    whole = fed(Zmtp(), iter([stream]))
    assert fed(Zmtp(), cut(stream, sizes)) == whole
    assert whole[0] == messages
    assert whole[1].count(PONG) == pings
    assert whole[2] == ""


@given(st.binary(max_size=400), PIECES)
@example(b"GET / HTTP/1.1\r\n", [3])
@example(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [11])
def test_any_bytes_give_messages_or_one_error(noise: bytes, sizes: list[int]) -> None:
    for begin in (b"", GREETING[:11], GREETING, GREETING + READY):
        zmtp = Zmtp()
        messages, _, rule = fed(zmtp, cut(begin + noise, sizes))
        whole = fed(Zmtp(), iter([begin + noise]))
        assert (messages, rule) == (whole[0], whole[2])
        assert len(zmtp._data) <= MAX_READ + 9


@pytest.mark.parametrize(
    ("stream", "rule"),
    [
        (b"\x01\x00\x05hello", "§4.1-4"),  # ZMTP 1
        (b"\xff" + bytes(8) + b"\x7f\x01\x05", "§4.1-4"),  # ZMTP 2
        (b"\xff" + bytes(8) + b"\x7e", "§4.1-4"),  # a long frame of ZMTP 1
        (GREETING.replace(b"NULL", b"CURVE"[:4]), "§4.1-4"),
        (GREETING + b"\x04\x06\x05ERROR", "§4.1-4"),
        (GREETING + b"\x00\x02hi", "§4.1-4"),  # a message before READY
        (GREETING + READY.replace(b"DEALER", b"PULLER"), "§4.1-4"),
        (GREETING + READY[:-1] + b"", ""),  # not whole
        (GREETING + b"\x04\x0a\x05READY\xff\x01\x02\x03", "§4.1-4"),  # metadata that is none
        (GREETING + READY + b"\x08\x00", "§4.1-4"),  # a reserved flag
        (GREETING + READY + b"\x05\x00", "§4.1-4"),  # a command that goes on
        (GREETING + READY + b"\x01\x00", "§5.1-1"),
        (GREETING + READY + b"\x03" + bytes(8), "§5.1-1"),
        (GREETING + READY + b"\x02" + (2**40).to_bytes(8, "big"), "§5.1-4"),
        (GREETING + READY + b"\x02" + (MAX_READ + 1).to_bytes(8, "big"), "§5.1-4"),
        (GREETING + READY + b"\x06" + (MAX_COMMAND + 1).to_bytes(8, "big"), "§4.1-4"),
    ],
)
def test_what_is_refused(stream: bytes, rule: str) -> None:
    """Whatever comes after it, and as soon as it is known."""
    assert fed(Zmtp(), iter([stream]))[2] == rule
    assert fed(Zmtp(), cut(stream, [1]))[2] == rule


@pytest.mark.parametrize("identity", [b"", b"ronin", b"\0\1\2\3\4"])
def test_a_routing_id_is_read(identity: bytes) -> None:
    body = READY[2:] + b"\x08Identity" + len(identity).to_bytes(4, "big") + identity
    zmtp = Zmtp()
    assert zmtp.feed(GREETING + bytes((4, len(body))) + body) is None
    assert zmtp.is_open
    assert zmtp.routing_id == identity


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=70_000), min_size=1, max_size=5), PIECES)
def test_what_libzmq_sends_is_read_and_what_it_is_sent_it_reads(messages: list[bytes], sizes: list[int]) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer, socket.socket() as listener:
        dealer.linger = 0
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        dealer.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        for message in messages:
            dealer.send(message)
        with listener.accept()[0] as peer:
            peer.settimeout(20)
            zmtp, got = Zmtp(), list[bytes]()
            peer.sendall(zmtp.answers())
            while len(got) < len(messages):
                for piece in cut(peer.recv(65_536), [200 * size for size in sizes]):
                    message = zmtp.feed(piece)
                    while message is not None:
                        got.append(message)
                        message = zmtp.next()
                    peer.sendall(zmtp.answers())
            assert got == messages
            for message in messages:
                peer.sendall(frame(message))
                assert dealer.poll(20_000)
                assert dealer.recv() == message


HEARD = ["several frames", "a good one"]


def test_libzmq_refuses_what_is_refused_here(tmp_path: Path) -> None:
    """Of the streams above those that libzmq takes are named, with why we do not."""
    taken = []
    for name, stream in {
        "several frames": GREETING + READY + b"\x01\x01a\x00\x01b",
        "a message before READY": GREETING + b"\x00\x02hi",
        "a mechanism": GREETING.replace(b"NULL", b"NONE") + READY + frame(b"hi"),
        "a reserved flag": GREETING + READY + b"\x80\x02hi",
        "a good one": GREETING + READY + frame(b"hi"),
    }.items():
        with zmq.Context() as context, context.socket(zmq.ROUTER) as router, socket.socket(socket.AF_UNIX) as peer:
            path = tmp_path / name.replace(" ", "-")
            router.linger = 0
            router.bind(f"ipc://{path}")
            peer.connect(str(path))
            peer.sendall(stream[:64])
            peer.recv(64, socket.MSG_WAITALL)  # libzmq closes the connection if more comes with the greeting
            with suppress(BrokenPipeError):
                peer.sendall(stream[64:])
            if router.poll(5_000 if name in HEARD else 300):
                taken.append(name)
    # Several frames are a message of ZeroMQ, and none of ours (§5.1-1). libzmq does not look at reserved flags.
    assert [name for name in taken if name != "a reserved flag"] == HEARD
