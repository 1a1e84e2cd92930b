"""The hostile suite's attacks on the door (P1 to P26), over TCP and against a real process of it.

After each of them a good author is answered as ever, and the process is the same one. Floods are in `test_beside.py`.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgpack
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from arena.league.door.codec import decode_from_door
from arena.league.door.messages import API, MAX_AUTHOR_FRAME, SUBPROTOCOL, Error
from tests.league.door.attacker import frame
from tests.league.door.stage import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("league") / "cup")
    yield stage
    stage.kill()


def pack(**message: Any) -> bytes:
    return bytes(msgpack.packb(message))


def heard(stage: Stage, said: bytes, *, ends: bool = True) -> bytes:
    """What the door answers to bytes, after which nothing comes, until it closes the connection."""
    connection = socket.create_connection((stage.address.host, stage.address.port), timeout=60)
    with connection, suppress(OSError):
        connection.sendall(said)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").read()
    return b""


@contextmanager
def remote(stage: Stage, token: str, subprotocol: str = SUBPROTOCOL) -> Iterator[ClientConnection]:
    """A WebSocket of a library that is not ours."""
    at = f"ws://{stage.address.host}:{stage.address.port}{API}/remote"
    bearer = {"Authorization": f"Bearer {token}"}
    with connect(at, subprotocols=[Subprotocol(subprotocol)], additional_headers=bearer, proxy=None) as made:
        yield made


# Strangers

GET = f"GET {API}/ HTTP/1.1\r\nhost: cup\r\n".encode()
SAID: dict[str, bytes] = {
    "P7 a greeting of ZeroMQ": b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + bytes(32),
    "P7 TLS": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "P7 garbage": bytes(range(256)) * 64,
    "P7 HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "P8 half a request": GET,
    "P13 HTTP/0.9": b"GET /\r\n\r\n",
    "P15 no host": b"GET / HTTP/1.1\r\n\r\n",
    "P16 a length of a TiB": b"PUT / HTTP/1.1\r\nhost: cup\r\ncontent-length: 1099511627776\r\n\r\n",
    "P16 a negative length": GET + b"content-length: -1\r\n\r\n",
    "P18 two lengths": GET + b"content-length: 1\r\ncontent-length: 2\r\n\r\nxx",
    "P18 a length and chunks": GET + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "P19 a header of 1 MB": GET + b"x: " + b"x" * 2**20 + b"\r\n\r\n",
    "P19 100,000 headers": GET + b"x: y\r\n" * 100_000 + b"\r\n",
    "P19 a line feed in a header": GET + b"x: a\n b\r\n\r\n",
    "P21 up from the site": b"GET /..%2fleague.toml HTTP/1.1\r\nhost: cup\r\n\r\n",
    "P21 up from the site, plain": b"GET /../door/authors HTTP/1.1\r\nhost: cup\r\n\r\n",
}


@pytest.mark.parametrize("name", SAID)
def test_a_stranger_gets_nowhere(stage: Stage, name: str) -> None:
    answer = heard(stage, SAID[name])
    assert answer == b"" or answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 401", b"HTTP/1.1 404", b"HTTP/1.1 405"), answer
    assert stage.league.folder.name.encode() not in answer
    stage.check()


@pytest.mark.parametrize("options", [(), ("--tls", "self")], ids=["http", "https"])
def test_no_http_leaves_nothing_in_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str], options: Any) -> None:
    stage = Stage(tmp_path / "cup", *options)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    chunked = GET + b"transfer-encoding: chunked\r\n\r\n"
    for first in (chunked, chunked + b"zz\r\n", GET + b"x: " + bytes(2**17)):
        with ExitStack() as held, suppress(OSError):
            one = held.enter_context(socket.create_connection((stage.address.host, stage.address.port), timeout=60))
            if options:
                one = held.enter_context(context.wrap_socket(one))
            for said in (first, b"zz\r\n", b"zz\r\n"):
                one.sendall(said)
                one.recv(4096)
    stage.kill()
    assert capfd.readouterr().err == "The door is open.\n"


@pytest.mark.parametrize("count", [40, pytest.param(3_000, marks=pytest.mark.long)])
def test_p10_silent_connections(stage: Stage, count: int) -> None:
    with ExitStack() as held:
        for _ in range(count):
            held.enter_context(socket.create_connection((stage.address.host, stage.address.port), timeout=60))
        stage.check()
    stage.check()


def test_a_websocket_without_a_token_is_answered_as_a_request_is(stage: Stage) -> None:
    with pytest.raises(InvalidStatus) as caught, remote(stage, "arena_" + "x" * 43):
        pass
    assert caught.value.response.status_code == 401
    with pytest.raises(InvalidStatus) as caught, remote(stage, stage.author(), "other"):
        pass
    assert json.loads(caught.value.response.body or b"")["code"] == "protocol"


# Authors


def closed(socket_: ClientConnection) -> int:
    """With which code the door closes a WebSocket."""
    try:
        while True:
            socket_.recv(timeout=60)
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd else 0


def test_p1_a_message_over_the_limit_ends_the_connection(stage: Stage) -> None:
    """§D4-3: in one frame, and in parts."""
    for said in (bytes(MAX_AUTHOR_FRAME + 1), [bytes(MAX_AUTHOR_FRAME), b"x"]):
        with remote(stage, stage.author()) as made:
            made.send(said)
            assert closed(made) == 1009
    stage.check()


def test_p3_a_message_of_endless_parts_ends_its_connection_and_nothing_else(stage: Stage) -> None:
    """§D4-8."""
    with remote(stage, stage.author()) as made:
        with suppress(ConnectionError):
            made.socket.sendall(frame(b"", last=False) + frame(b"", 0, last=False) * 100)
        assert closed(made) == 0
    stage.check()


def test_half_a_message_holds_nobody_up(stage: Stage) -> None:
    """A slow peer: the rest of its message never comes."""
    with remote(stage, stage.author()) as made:
        made.socket.sendall(frame(pack(type="pong", number=1))[:9])
        stage.check()


@pytest.mark.parametrize("said", [b"\x82\x01x", b"\xc2\x80" + bytes(4), b"\x83\x80" + bytes(4)])
def test_frames_that_no_websocket_has_end_the_connection(stage: Stage, said: bytes) -> None:
    with remote(stage, stage.author()) as made:
        made.socket.sendall(said)
        assert closed(made) == 1002
    stage.check()


FRAMES: dict[str, bytes] = {
    "P4 nothing": b"",
    "P5 an answer of the door": pack(type="serving", id=1, version="fox/1", state="active"),
    "P6 a frame of no sitting": pack(type="frame", sitting="0" * 32, seq=1, data=b"x"),
    "P6 a pong that answers nothing": pack(type="pong", number=1),
    "P16 an array of 2^32": b"\x82\xa4type\xa5serve\xa1x\xdd\xff\xff\xff\xff",
    "P16 a map of 2^32": b"\x82\xa4type\xa5serve\xa1x\xdf\xff\xff\xff\xff",
    "P16 a string of 2^32": b"\x82\xa4type\xa5serve\xa1x\xdb\xff\xff\xff\xff",
    "P17 60,000 levels": b"\x81\xa1x" + b"\x91" * 60_000 + b"\x01",
    "P18 odd keys": msgpack.packb({"type": "pong", "number": 1, 7: 1, None: 2}),
    "P19 NaN": pack(type="pong", number=1, x=float("nan")),
    "P19 true for 1": pack(type="pong", number=True),
    "P19 2^64": b"\x82\xa4type\xa4pong\xa6number\xcf" + b"\xff" * 8,
    "P19 an extension": msgpack.packb({"type": "pong", "number": msgpack.ExtType(1, b"")}),
    "P19 a timestamp": msgpack.packb({"type": "pong", "number": msgpack.Timestamp(1)}),
    "P19 a key twice": b"\x83\xa4type\xa4pong\xa6number\x01\xa6number\x02",
    "P19 bad UTF-8": b"\x82\xa4type\xa5leave\xa6reason\xa2\xff\xfe",
    "P19 trailing bytes": pack(type="pong", number=1) + b"\0",
    "P21 a path as bot": pack(type="serve", id=1, bot="../../league", digest="0" * 64),
    "P26 escapes in a name": pack(type="serve", id=1, bot="\x1b[2J\n=1+1", digest="0" * 64),
}  # fmt: skip
SILENT = ("P6 a frame of no sitting", "P6 a pong that answers nothing")


@pytest.mark.parametrize("name", FRAMES)
def test_a_message_that_is_not_allowed_is_answered_and_has_no_effect(stage: Stage, name: str) -> None:
    """§D8-1: the connection goes on. §D4-6."""
    with remote(stage, stage.author()) as made:
        made.send(FRAMES[name])
        if name not in SILENT:
            assert isinstance(decode_from_door(made.recv(timeout=60, decode=False)), Error)
        made.send("text")
        refused = decode_from_door(made.recv(timeout=60, decode=False))
        assert isinstance(refused, Error)
        assert refused.code == "protocol"
    assert list((stage.league.folder / "incoming").glob("*.json")) == []


def test_a_door_that_is_killed_at_any_piece_takes_the_upload_up_again(tmp_path: Path) -> None:
    """§D5-3, §D5-5: what was written is there, and what was not finished leaves no order."""
    stage = Stage(tmp_path / "cup")
    path = f"{API}/bots/fox"
    upload = f"{path}/uploads/{'ab' * 32}"

    def ask(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
        whole = method == "HEAD" or headers[0] == "content-length: 0"
        head = [f"{method} {path} HTTP/1.1", "host: cup", f"authorization: Bearer {token}", "connection: close"]
        return heard(stage, "\r\n".join([*head, *headers, "", ""]).encode() + body, ends=not whole)

    try:
        token = stage.author()
        for number in range(6):
            size, begin = f"content-length: {6_000 - number * 1_000}", f"upload-offset: {number * 1_000}"
            ask("PUT", f"{path}?digest={'ab' * 32}", size, begin, body=bytes([number]) * 1_000)
            stage.kill()
            stage.start()
            assert f"upload-offset: {number * 1_000 + 1_000}\r\n".encode() in ask("HEAD", upload)
        refused = ask("PUT", f"{path}?digest={'ab' * 32}", "content-length: 0", "upload-offset: 6000")
        assert b'"code":"archive"' in refused
    finally:
        stage.kill()
    assert [path for path in (stage.league.folder / "incoming").rglob("*") if path.is_file()] == []
