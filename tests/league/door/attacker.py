"""Attacks a door until its standard input ends: `python -m tests.league.door.attacker ADDRESS PUBLIC SECRET ATTACK...`

It prints a line when each attack has begun, and at the end how often each has struck.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgpack
import zmq

from arena.league.door.keys import Address, Pair, address
from tests.league.door.curve import GREETING, MORE, Raw

CONTEXT = zmq.Context()
HELD = 200  # connections that an attack of strangers holds at a time


def pack(**message: Any) -> bytes:
    return bytes(msgpack.packb(message))


def plain(at: Address) -> socket.socket:
    """A TCP connection that nothing waits for."""
    host, port = at.endpoint.removeprefix("tcp://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.setblocking(False)
    return connection


def strangers(at: Address, pair: Pair) -> Iterator[None]:
    """P7, P8, P10: connections that say something else, or half of it."""
    held: list[socket.socket] = []
    sayings = (GREETING[:20], b"GET / HTTP/1.1\r\n\r\n", GREETING + b"\x02" + struct.pack("!Q", 2**40), b"")
    while True:
        for saying in sayings:
            connection = plain(at)
            connection.send(saying)
            held.append(connection)
            if len(held) > HELD:
                held.pop(0).close()
            yield


def dealer(at: Address, pair: Pair, **options: int) -> zmq.Socket[bytes]:
    made = CONTEXT.socket(zmq.DEALER)
    made.curve_serverkey = at.key.encode()
    made.curve_publickey, made.curve_secretkey = pair.public.encode(), pair.secret.encode()
    made.linger = 0
    for name, value in options.items():
        made.set(getattr(zmq, name), value)
    made.connect(at.endpoint)
    return made


def flooding(*frames: bytes, **options: int) -> Callable[[Address, Pair], Iterator[None]]:
    """An attack that sends these frames again and again, and never reads."""

    def flood(at: Address, pair: Pair) -> Iterator[None]:
        made = dealer(at, pair, **options)
        while True:
            for frame in frames:
                try:
                    made.send(frame, zmq.NOBLOCK)
                except zmq.Again:
                    time.sleep(0.001)
                else:
                    yield

    return flood


def endless(at: Address, pair: Pair) -> Iterator[None]:
    """P3: a message of frames without end, again from a new connection when the last is closed."""
    while True:
        try:
            raw = Raw(at, pair, timeout=0.5)
            with raw.socket:
                while True:
                    for size in (0, 60_000):
                        raw.send([(MORE, bytes(size))])
                        yield
        except (OSError, AssertionError):  # closed, or not let in again so soon
            yield


UPLOAD = "ab" * 32
ATTACKS: dict[str, Callable[[Address, Pair], Iterator[None]]] = {
    "strangers": strangers,
    "P1 frames over the limit": flooding(bytes(200_000)),
    "P3 endless messages": endless,
    "P4 empty frames": flooding(b""),
    "P14 heartbeats": flooding(pack(type="pong", number=1), HEARTBEAT_IVL=1),
    "P16 lengths that lie": flooding(b"\x82\xa4type\xa6status\xa1x\xdd\xff\xff\xff\xff"),
    "P17 60,000 levels": flooding(b"\x81\xa1x" + b"\x91" * 60_000 + b"\x01"),
    "P22 requests, and never reads": flooding(pack(type="standings", id=1), RCVHWM=1),
    "uploads": flooding(
        pack(type="submit", id=1, bot="fox", digest=UPLOAD, size=2**23),
        *(pack(type="chunk", id=2, upload=UPLOAD, offset=49_152 * n, data=bytes(49_152)) for n in range(100)),
    ),
}


def main(at: str, public: str, secret: str, *names: str) -> None:
    """Attacks by turns."""
    pair = Pair(public, secret)
    running = {name: ATTACKS[name](address(at), pair) for name in names}
    counts = dict.fromkeys(names, 0)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for name, attack in running.items():
            next(attack)
            counts[name] += 1
            if counts[name] == 1:
                print(name, flush=True)
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
