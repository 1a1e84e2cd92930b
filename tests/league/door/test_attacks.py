"""The hostile suite's attacks on the door (P1 to P23), over TCP and against a real process of it.

After each of them a good author is answered as ever, and the process is the same one.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from arena.core.errors import DoorError
from arena.league.door.client import Client
from arena.league.door.codec import decode_from_door
from arena.league.door.keys import make_pair
from arena.league.door.messages import Error, FromDoor
from tests.league.door.curve import LAST, MORE, Raw, sodium
from tests.league.door.stage import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("league") / "cup")
    yield stage
    stage.kill()


def pack(**message: Any) -> bytes:
    return bytes(msgpack.packb(message))


def answer(dealer: zmq.Socket[bytes]) -> FromDoor | None:
    return decode_from_door(dealer.recv())


# Before the handshake: whoever has no key

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + b"\0" + bytes(31)
NULL = GREETING.replace(b"CURVE", b"NULL\0")
READY = b"\x04\x1a\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
GREETINGS: dict[str, list[bytes]] = {
    "P2 a length of a TiB": [GREETING, b"\x02" + struct.pack("!Q", 2**40)],
    "P7 HTTP": [b"GET / HTTP/1.1\r\nHost: cup\r\n\r\n"],
    "P7 TLS": [bytes.fromhex("16030100c8010000c40303") + bytes(200)],
    "P7 garbage": [bytes(range(256)) * 64],
    "P8 half a greeting": [GREETING[:20]],
    "P13 ZMTP 1": [b"\x01\x00"],
    "P13 ZMTP 2": [b"\xff" + bytes(8) + b"\x7f\x01\x05\x00\x00"],
    "P14 PING before READY": [GREETING, b"\x04\x07\x04PING\0\0" * 1_000],
    "P15 a wrong READY": [GREETING, READY],
    "P15 without CURVE": [NULL, READY],
    "P15 HELLO of another size": [GREETING, b"\x04\x20\x05HELLO" + bytes(26)],
    "P15 HELLO with a wrong box": [GREETING, b"\x04\xc8\x05HELLO\1\0" + bytes(192)],
}


@pytest.mark.parametrize("name", GREETINGS)
def test_a_stranger_gets_nowhere(stage: Stage, name: str) -> None:
    """§D4-6."""
    with stage.raw() as connection:
        try:
            for data in GREETINGS[name]:
                connection.sendall(data)
            heard = b""
            while piece := connection.recv(4_096):  # until the door closes it, after two seconds at most
                heard += piece
        except ConnectionError:
            pass
        else:
            assert b"READY" not in heard
    stage.check()


def test_p9_a_byte_at_a_time_does_not_hold_the_door(stage: Stage) -> None:
    with stage.raw() as connection:
        assert bytes_until_closed(connection) < 1_000
    stage.check()


def bytes_until_closed(connection: socket.socket) -> int:
    """Sends a byte every 100 ms, and returns how many the door took."""
    for count, byte in enumerate(GREETING + bytes(1_000)):
        try:
            connection.sendall(bytes([byte]))
        except ConnectionError:
            return count
        time.sleep(0.1)
    return 1_000


@pytest.mark.long
def test_p10_a_thousand_silent_connections(stage: Stage) -> None:
    with ExitStack() as held:
        for _ in range(1_000):
            held.enter_context(stage.raw())
        stage.check()
    stage.check()


def test_p10_forty_silent_connections(stage: Stage) -> None:
    with ExitStack() as held:
        for _ in range(40):
            held.enter_context(stage.raw())
        stage.check()


def test_unknown_keys_by_the_dozen_are_forgotten(stage: Stage) -> None:
    for _ in range(12):
        with Client(stage.address, make_pair()) as client, pytest.raises(DoorError) as caught:
            client.hello()
        assert caught.value.refusal == "unknown_key"
    stage.check()


# Authors


def test_p1_a_frame_over_the_limit_ends_the_connection(stage: Stage) -> None:
    """§D4-2."""
    pair = stage.author()
    with stage.dealer(pair) as dealer:
        lost = dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        with lost:
            dealer.send(pack(type="status", id=1))
            assert answer(dealer) is not None
            dealer.send(bytes(200_000))
            assert lost.poll(20_000)
        dealer.disable_monitor()
    stage.check()


def test_p3_a_message_of_many_frames_is_refused(stage: Stage) -> None:
    """§D4-1."""
    with stage.dealer(stage.author()) as dealer:
        dealer.send_multipart([b""] * 1_000)
        refused = answer(dealer)
        assert isinstance(refused, Error)
        assert (refused.code, refused.rule) == ("protocol", "§D4-1")
    stage.check()


@pytest.mark.skipif(sodium() is None, reason="needs libsodium, to speak CURVE by hand")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process's own limit ends it")
@pytest.mark.parametrize("size", [0, 60_000])
def test_p3_an_endless_message_ends_its_connection_and_nothing_else(stage: Stage, size: int) -> None:
    """§D4-8. libzmq keeps its frames, whatever its limits; the door's watch closes the connection."""
    raw = Raw(stage.address, stage.author())
    with raw.socket, pytest.raises(OSError, match=r"reset|pipe"):
        raw.send((MORE, bytes(size)) for _ in range(1_000_000))
    stage.check()


@pytest.mark.skipif(sodium() is None, reason="needs libsodium, to speak CURVE by hand")
def test_half_a_frame_holds_nobody_up(stage: Stage) -> None:
    """A slow peer: the rest of its frame never comes."""
    raw = Raw(stage.address, stage.author())
    with raw.socket:
        raw.socket.sendall(raw.sealed(LAST, pack(type="status", id=1))[:20])
        stage.check()


@pytest.mark.skipif(sodium() is None, reason="needs libsodium, to speak CURVE by hand")
def test_p20_the_bytes_of_a_message_again_end_the_connection(stage: Stage) -> None:
    """§D4-6: CURVE numbers the messages of a connection. Whoever repeats one has not its keys."""
    pair = stage.author()
    raw = Raw(stage.address, pair)
    begin = raw.sealed(LAST, pack(type="submit", id=1, bot="fox", digest="ab" * 32, size=100))
    with raw.socket:
        raw.socket.sendall(begin)
        assert b"MESSAGE" in raw.heard()
        raw.socket.sendall(begin)
        assert b"MESSAGE" not in raw.until_closed()
    stage.check()


@pytest.mark.skipif(sodium() is None, reason="needs libsodium, to speak CURVE by hand")
def test_p20_the_bytes_of_a_whole_connection_again_open_none(stage: Stage) -> None:
    """§D4-6: what somebody on the way has recorded, from the greeting to the last message."""
    pair = stage.author()
    raw = Raw(stage.address, pair)
    with raw.socket:
        raw.send([(LAST, pack(type="submit", id=1, bot="fox", digest="ab" * 32, size=100))])
        raw.heard()
    uploads = stage.league.folder / "incoming/uploads"
    (upload,) = uploads.glob(f"{stage.league.keys[pair.public]}/*.part")
    upload.unlink()
    with stage.raw() as again:
        again.sendall(bytes(raw.said))
        heard = b""
        try:
            while piece := again.recv(4_096):
                heard += piece
        except ConnectionError:
            pass
        assert b"READY" not in heard
        assert b"MESSAGE" not in heard
    assert not upload.exists()
    stage.check()


def test_p4_a_flood_of_empty_frames(stage: Stage) -> None:
    with stage.dealer(stage.author(), SNDHWM=1_000) as dealer:
        for _ in range(20_000):
            dealer.send(b"")
        stage.check()


def deep(levels: int) -> bytes:
    return b"\x81\xa1x" + b"\x91" * levels + b"\x01"


FRAMES: dict[str, bytes] = {
    "P5 an answer of the door": pack(type="have", id=1, have=1),
    "P6 a frame of no sitting": pack(type="frame", sitting="0" * 32, seq=1, data=b"x"),
    "P6 a pong that answers nothing": pack(type="pong", number=1),
    "P16 an array of 2^32": b"\x82\xa4type\xa6status\xa1x\xdd\xff\xff\xff\xff",
    "P16 a map of 2^32": b"\x82\xa4type\xa6status\xa1x\xdf\xff\xff\xff\xff",
    "P16 a string of 2^32": b"\x82\xa4type\xa6status\xa1x\xdb\xff\xff\xff\xff",
    "P17 60,000 levels": deep(60_000),
    "P18 odd keys": msgpack.packb({"type": "status", "id": 1, 7: 1, None: 2}),
    "P19 NaN": pack(type="status", id=1, x=float("nan")),
    "P19 true for 1": pack(type="status", id=True),
    "P19 2^64": b"\x82\xa4type\xa6status\xa2id\xcf" + b"\xff" * 8,
    "P19 an extension": msgpack.packb({"type": "status", "id": msgpack.ExtType(1, b"")}),
    "P19 a timestamp": msgpack.packb({"type": "status", "id": msgpack.Timestamp(1)}),
    "P19 a key twice": b"\x83\xa4type\xa6status\xa2id\x01\xa2id\x02",
    "P19 bad UTF-8": b"\x82\xa4type\xa6status\xa2id\xa2\xff\xfe",
    "P19 trailing bytes": pack(type="status", id=1) + b"\0",
    "P20 an upload of another": pack(type="chunk", id=1, upload="ab" * 32, offset=0, data=b"x"),
    "P21 a path as upload": pack(type="finish", id=1, upload="../../league"),
    "P26 escapes in a name": pack(type="status", id=1, bot="\x1b[2J\n=1+1"),
}  # fmt: skip
SILENT = ("P6 a frame of no sitting", "P6 a pong that answers nothing")


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_is_not_allowed_is_answered_and_has_no_effect(stage: Stage, name: str) -> None:
    """§D8-1: the connection goes on. §D4-5."""
    with stage.dealer(stage.author()) as dealer:
        dealer.send(FRAMES[name])
        if name not in SILENT and not name.startswith("P26"):
            assert isinstance(answer(dealer), Error)
        if name.startswith("P26"):
            assert answer(dealer) is not None
        dealer.send(pack(type="hello", id=77, protocol="1.0"))
        welcome = answer(dealer)
        assert getattr(welcome, "id", None) == 77
    assert list((stage.league.folder / "incoming").glob("*.json")) == []


def test_p11_a_second_connection_of_a_key_is_another_one(stage: Stage) -> None:
    pair = stage.author()
    with stage.dealer(pair) as first, stage.dealer(pair) as second:
        for dealer in (first, second):
            dealer.send(pack(type="status", id=1))
            assert answer(dealer) is not None


def test_p12_a_routing_id_of_ones_own_is_refused(stage: Stage) -> None:
    """§D4-1: so nobody can wait for another's answers."""
    with stage.dealer(stage.author(), ROUTING_ID=b"victim") as dealer:
        dealer.send(pack(type="status", id=1))
        refused = answer(dealer)
        assert isinstance(refused, Error)
        assert refused.code == "protocol"


def test_p14_heartbeats_by_the_thousand(stage: Stage) -> None:
    with stage.dealer(stage.author(), HEARTBEAT_IVL=1, HEARTBEAT_TIMEOUT=20_000) as dealer:
        time.sleep(0.5)
        dealer.send(pack(type="status", id=1))
        assert answer(dealer) is not None
        stage.check()


def test_p20_old_messages_again_change_nothing(stage: Stage) -> None:
    """§D5-3, §D5-5: a chunk and an announcement that come twice."""
    with stage.dealer(stage.author()) as dealer:
        begin = pack(type="submit", id=1, bot="fox", digest="ab" * 32, size=100)
        chunk = pack(type="chunk", id=2, upload="ab" * 32, offset=0, data=b"x" * 60)
        for data in (begin, chunk, chunk, begin, begin):
            dealer.send(data)
        heard: list[Any] = [answer(dealer) for _ in range(5)]
    assert [getattr(each, "have", None) for each in heard] == [0, 60, 60, 60, 60]
    assert isinstance(heard[2], Error)
    assert heard[2].code == "bad_offset"


def test_p22_an_author_who_never_reads_costs_the_door_nothing(stage: Stage) -> None:
    """§D4-7."""
    stage.league.publish("standings.json", {"season": "s", "items": [{"rank": n, "x": "x" * 900} for n in range(600)]})
    before = stage.resident_mib()
    with stage.dealer(stage.author(), RCVHWM=1, RCVBUF=4_096) as dealer:
        for number in range(1, 400):
            dealer.send(pack(type="standings", id=number))
            if number % 20 == 0:
                time.sleep(0.05)
        stage.check()
    assert stage.resident_mib() - before < 64


def test_p23_an_author_who_says_nothing_is_left_alone(stage: Stage) -> None:
    with stage.dealer(stage.author()) as dealer:
        stage.check()
        dealer.send(pack(type="status", id=1))
        assert answer(dealer) is not None


def test_a_door_that_is_killed_at_any_chunk_takes_the_upload_up_again(tmp_path: Path) -> None:
    """§D5-4, §D5-6: what was answered is there, and what was not finished leaves no order."""
    stage = Stage(tmp_path / "cup")
    begin = pack(type="submit", id=1, bot="fox", digest="ab" * 32, size=6_000)
    try:
        pair = stage.author()
        for number in range(6):
            with stage.dealer(pair) as dealer:
                dealer.send(begin)
                assert getattr(answer(dealer), "have", None) == number * 1_000
                piece = bytes([number]) * 1_000
                dealer.send(pack(type="chunk", id=2, upload="ab" * 32, offset=number * 1_000, data=piece))
                assert getattr(answer(dealer), "have", None) == (number + 1) * 1_000
            stage.kill()
            stage.start()
        with stage.dealer(pair) as dealer:
            dealer.send(pack(type="finish", id=1, upload="ab" * 32))
            refused = answer(dealer)
            assert isinstance(refused, Error)
            assert refused.code == "archive"
    finally:
        stage.kill()
    assert [path for path in (stage.league.folder / "incoming").rglob("*") if path.is_file()] == []
