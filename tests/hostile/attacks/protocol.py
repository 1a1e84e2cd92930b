"""Attacks on the connection: frames, greetings, floods, values."""

from __future__ import annotations

import glob
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from resources import attacking
from seat import COMMAND, LONG, MORE, Message, Seat, connection, frame, greeting, pack, ready, rest, target

BLOCK = 64 * 1024


def for_seconds(seconds: float, send: Callable[[], Any]) -> None:
    """Sends again and again. Once nobody listens any more, it waits for its end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            send()
        except (BrokenPipeError, ConnectionResetError):
            rest()


def answering(body: Callable[[Seat, Message], bytes]) -> Callable[[], None]:
    """Makes a bot that sends these bytes instead of its third answer."""

    def attack(seat: Seat, request: Message) -> bool:
        with suppress(BrokenPipeError, ConnectionResetError):
            seat.raw(body(seat, request))
        return True

    return attacking(attack)


def valued(change: Callable[[Message], bytes]) -> Callable[[], None]:
    """Makes a bot whose third answer is this msgpack."""
    return answering(lambda seat, request: frame(change(seat.answer(request))))


def with_key(key: bytes, value: bytes) -> Callable[[], None]:
    """Makes a bot whose third answer has one more key."""
    return valued(lambda answer: struct.pack(">bI", -33, len(answer) + 1) + pack(answer)[5:] + key + value)


def greeting_with(first: bytes, patience: float = 30) -> Callable[[], None]:
    """Makes a bot that sends these bytes as a greeting, and waits."""

    def bot() -> None:
        found = connection()
        found.sendall(first)
        found.settimeout(patience)
        try:
            while found.recv(BLOCK):
                pass
        except OSError:
            pass
        rest()

    return bot


def p3(seat: Seat, _: Message) -> bool:
    """A message of frames without end."""
    block = frame(bytes(BLOCK - 9), MORE)
    for_seconds(3, lambda: seat.raw(block))
    return False


def p4(seat: Seat, _: Message) -> bool:
    """The same with empty frames."""
    block = bytes([MORE, 0]) * BLOCK
    for_seconds(3, lambda: seat.raw(block))
    return False


def p2() -> Callable[[], None]:
    return answering(lambda *_: bytes([LONG]) + struct.pack(">Q", 2**40) + bytes(2**20))


def p5(seat: Seat, request: Message) -> bool:
    answer = seat.answer(request)
    seat.send(answer)
    seat.send(answer)
    return True


def p6(seat: Seat, request: Message) -> bool:
    """Answers, and then a request that nobody has made."""
    seat.send(seat.answer(request))
    seat.send({"type": "ready", "game": 10**6})
    return True


def p9(seat: Seat, request: Message) -> bool:
    """An answer, a byte every 100 ms."""
    for byte in frame(pack(seat.answer(request))):
        seat.raw(bytes([byte]))
        time.sleep(0.1)
    return True


def p9_greeting() -> None:
    """A greeting, a byte every 100 ms."""
    seat = Seat()
    for byte in greeting():
        seat.raw(bytes([byte]))
        time.sleep(0.1)
    rest()


def p10(seat: Seat, _: Message) -> None:
    """400 connections."""
    kept = []
    for _ in range(400):
        try:
            kept.append(connection())
            kept[-1].setblocking(False)
            kept[-1].sendall(greeting())
        except OSError:
            pass
    time.sleep(0.5)
    seat.report("open 400 connections", False, f"{len(kept)} were opened")


def p10_before() -> None:
    """400 connections before the greeting."""
    seat = Seat()
    p10(seat, {})
    seat.greet()
    seat.play(lambda request: None)


def p11(seat: Seat, _: Message) -> None:
    """A second connection with the token of the first."""

    def again() -> str | None:
        other = Seat()
        other.socket.settimeout(2)
        other.shake_hands()
        other.send(seat.hello())
        answer = other.receive()
        return str(answer) if answer["type"] != "error" else None

    seat.attempt("greet over a second connection", again)


def p12(seat: Seat, request: Message) -> bool:
    """Closes its connection, and comes back."""
    seat.socket.close()
    time.sleep(0.1)
    try:
        again = Seat()
        again.greet()
        again.send(seat.answer(request))
        again.play(lambda request: None)
    except (OSError, SystemExit):  # it may be told why
        rest()
    return True


def p13_1() -> None:
    """Greets as a client of ZMTP 1 does, and says hello."""
    seat = Seat()
    seat.raw(b"\x01\x00")
    time.sleep(0.2)
    hello = pack({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0"})
    seat.raw(b"\xff" + struct.pack(">Q", len(hello) + 1) + b"\0" + hello)
    rest()


def p13_2() -> None:
    """The same in ZMTP 2."""
    seat = Seat()
    seat.raw(b"\xff" + bytes(8) + b"\x7f\x01\x05" + bytes(2))
    time.sleep(0.2)
    seat.raw(frame(pack({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0"})))
    rest()


def p14(seat: Seat, _: Message) -> None:
    """Pings without reading what comes back."""
    ping = frame(b"\x04PING\0\0" + bytes(16), COMMAND)
    seat.socket.settimeout(1)
    try:
        for_seconds(2, lambda: seat.raw(ping * 1000))
    except TimeoutError:
        seat.report("go on pinging", False, "nobody reads it any more")
    seat.socket.settimeout(None)


def p15(body: bytes) -> Callable[[], None]:
    """Greets well, and gets ready badly."""

    def bot() -> None:
        seat = Seat()
        seat.raw(greeting())
        seat._take(64)
        seat.raw(body)
        seat.send(seat.hello())
        rest()

    return bot


def p20_wrong(seat: Seat, request: Message) -> bool:
    seat.send(seat.answer(request) | {"id": request["id"] + 1000})
    return True


def p20_again() -> None:
    """Sends an answer, and with the next request the same again."""
    seat = Seat()
    seat.greet()
    before: list[Message] = []
    for number, request in enumerate(seat.requests()):
        before.append(seat.answer(request))
        seat.send(before[-2] if number == 3 else before[-1])


KEPT: list[socket.socket] = []


def processes() -> list[str]:
    """What /proc has, if it may be seen."""
    with suppress(PermissionError):
        return os.listdir("/proc")
    return []


def p21() -> None:
    """Looks for another seat's token and socket, and takes its place before it has greeted."""
    seat = Seat()
    own = {os.environ["ARENA_TOKEN"]}
    seats: dict[str, str] = {}
    for _ in range(20):
        for process in filter(str.isdigit, processes()):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    text = file.read().decode()
            except (OSError, UnicodeDecodeError):
                continue
            words = dict(word.split("=", 1) for word in text.split("\0") if "=" in word)
            # Other tests of this machine have seats, too: only those of this stage are fair game.
            if target()["marker"] in text and words.get("ARENA_TOKEN", "") not in own | {""}:
                seats[words["ARENA_TOKEN"]] = words["ARENA_ENDPOINT"]
        if seats:
            break
        time.sleep(0.05)
    seat.report("read another seat's token", bool(seats))
    own_socket = os.environ["ARENA_ENDPOINT"].removeprefix("ipc://")
    for folder in dict.fromkeys((target()["temporary"], "/tmp", "/run/arena")):
        for path in glob.glob(f"{folder}/arena-*/*/referee") + glob.glob(f"{folder}/*referee*"):
            if path != own_socket and target()["marker"] in path:
                seat.attempt("connect to another seat's socket", lambda path=path: squat(path))
    stolen = []
    for token, endpoint in seats.items():
        try:
            thief = Seat.__new__(Seat)
            thief.found, thief._read, thief.last_id = [], bytearray(), 0
            thief.socket = socket.socket(socket.AF_UNIX)
            thief.socket.settimeout(2)
            thief.socket.connect(endpoint.removeprefix("ipc://"))
            thief.shake_hands()
            thief.send(thief.hello() | {"token": token})
            answer = thief.receive()
            seat.report("greet in another's place", answer["type"] != "error", answer.get("code", answer["type"]))
            stolen.append(thief)
        except OSError as error:
            seat.report("greet in another's place", False, error)
    seat.greet()
    seat.play(lambda request: None)


def squat(path: str) -> bool:
    """Takes the only connection of a socket."""
    found = socket.socket(socket.AF_UNIX)
    found.connect(path)
    KEPT.append(found)
    return True


def p22() -> None:
    """Greets, and never reads anything."""
    seat = Seat()
    seat.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    seat.raw(greeting() + ready())
    seat.send(seat.hello())
    rest()


def p23(*_: Any) -> bool:
    """Never answers."""
    rest()


def p24_exit(*_: Any) -> NoReturn:
    os._exit(0)


def p24_segfault(*_: Any) -> NoReturn:
    os.kill(os.getpid(), 11)
    rest()


def p24_exec(*_: Any) -> NoReturn:
    os.execv("/bin/true", ["true"])


def p25() -> None:
    """Answers in the very millisecond in which its time is over."""
    seat = Seat()
    seat.greet()
    for number, request in enumerate(seat.requests()):
        limit = request["clock"]["limit_ms"]
        time.sleep((limit + 30) / 1000 if number == 3 else 0)
        seat.send(seat.answer(request))


WICKED = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \u202eevil\u2066 \u2028 \r\n\x08 "
    '\'; DROP TABLE games; -- =HYPERLINK("http://x") @SUM(1) <script>alert(1)</script> \x00 \ud7ff \U000e0041'
)


def p26() -> None:
    """Has words in its name, its notes and its output that act on whoever shows them."""
    seat = Seat()
    seat.shake_hands()
    seat.send(seat.hello() | {"name": WICKED[:60], "version": WICKED[:30]})
    print(WICKED, file=sys.stderr)
    for number, request in enumerate(seat.requests()):
        answer = seat.answer(request, note=WICKED)
        if number == 6:
            sys.stderr.write(WICKED + "\n")
            sys.stderr.flush()
            seat.send({"type": "error", "code": "x_" + "a", "message": WICKED})
            os._exit(3)
        seat.send(answer)


def p27(seat: Seat, _: Message) -> None:
    """Imitates the referee in what it prints."""
    for stream in (sys.stdout, sys.stderr):
        print('{"record":"outcome","termination":"finished","ranks":[1,2]}', file=stream)
        print("Forfeit: seat 1 exited with status 3", file=stream)
        print("Error: expected one writer, got: two; do not go on", file=stream, flush=True)


def p28() -> None:
    """Greets at once, and floods while its opponent still starts."""
    seat = Seat()
    seat.greet()
    ignored = {"type": "no_such_type", "x": "y" * 60_000}
    body = frame(pack(ignored))
    for_seconds(5, lambda: seat.raw(body))
    rest()


def p29(seat: Seat, _: Message) -> None:
    """900 messages that are ignored, of 64 KiB each: the protocol allows them."""
    body = frame(pack({"type": "no_such_type", "x": "y" * (BLOCK - 100)}))
    for _ in range(900):
        seat.raw(body)


def p30(seat: Seat, _: Message) -> None:
    """The same in one-byte frames that are no messages: empty, and commands of no meaning."""
    for_seconds(2, lambda: seat.raw(frame(b"\x05HELLO", COMMAND) * 1000))


def p31(seat: Seat, _: Message) -> bool:
    """Forfeits, and then floods while it may still read why."""
    seat.send({"type": "ready", "game": 10**6})
    body = frame(pack({"type": "no_such_type", "x": "y" * 60_000}))
    for_seconds(3, lambda: seat.raw(body))
    return True


NEST = 60_000
VALUES = {
    "P18-int": with_key(b"\x01", b"\x01"),
    "P18-nil": with_key(b"\xc0", b"\x01"),
    "P18-bin": with_key(b"\xc4\x01a", b"\x01"),
    "P18-map": with_key(b"\x80", b"\x01"),
    "P19-nan": with_key(b"\xa1x", pack(float("nan"))),
    "P19-inf": with_key(b"\xa1x", pack(float("inf"))),
    "P19-zero": with_key(b"\xa1x", pack(-0.0)),
    "P19-true": valued(lambda answer: pack(answer | {"id": True})),
    "P19-big": with_key(b"\xa1x", b"\xcf" + b"\xff" * 8),
    "P19-ext": with_key(b"\xa1x", b"\xd4\x05\x00"),
    "P19-time": with_key(b"\xa1x", b"\xd6\xff" + bytes(4)),
    "P19-twice": with_key(b"\xa2id", b"\x01"),
    "P19-utf8": with_key(b"\xa1x", b"\xa2\xc3\x28"),
    "P19-more": valued(lambda answer: pack(answer) + b"\xc0"),
    "P16-array": with_key(b"\xa1x", b"\xdd" + b"\xff" * 4),
    "P16-map": with_key(b"\xa1x", b"\xdf" + b"\xff" * 4),
    "P16-text": with_key(b"\xa1x", b"\xdb" + b"\xff" * 4),
    "P17": with_key(b"\xa1x", b"\x91" * NEST + b"\xc0"),
    "P1": valued(lambda answer: pack(answer | {"x": "y" * 70_000})),
}
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
ATTACKS = VALUES | {
    "P2": p2(),
    "P7-http": greeting_with(b"GET / HTTP/1.1\r\nHost: referee\r\n\r\n" * 4),
    "P7-tls": greeting_with(HELLO + bytes(range(256)) * 2),
    "P7-garbage": greeting_with(b"\x08garbage!" * 100),
    "P8": greeting_with(greeting()[:30]),
    "P9-greeting": p9_greeting,
    "P10-before": p10_before,
    "P13-1": p13_1,
    "P13-2": p13_2,
    "P15-type": p15(ready(b"PUB")),
    "P15-short": p15(frame(b"\x05READY\x0bSocket-Type\xff\xff\xff\xff", COMMAND)),
    "P15-name": p15(frame(b"\xf0READY", COMMAND)),
    "P20-again": p20_again,
    "P21": p21,
    "P22": p22,
    "P25": p25,
    "P26": p26,
    "P28": p28,
}
ATTACKS |= {
    name: attacking(attack)
    for name, attack in {
        "P3": p3, "P4": p4, "P5": p5, "P6": p6, "P9": p9, "P10": p10, "P11": p11, "P12": p12, "P14": p14,
        "P20-wrong": p20_wrong, "P23": p23, "P24-exit": p24_exit, "P24-segfault": p24_segfault,
        "P24-exec": p24_exec, "P27": p27, "P29": p29, "P30": p30, "P31": p31,
    }.items()
}  # fmt: skip
