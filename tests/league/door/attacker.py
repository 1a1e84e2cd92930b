"""Attacks a door until its standard input ends: `python -m tests.league.door.attacker URL TOKEN COUNT ATTACK...`

COUNT is how many connections an attack by their number holds; they come from 200 addresses. It prints a line when each
attack has begun, and at the end how often each has struck.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import resource
import ssl
import struct
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import msgpack

from arena.league.door.messages import API, SUBPROTOCOL

SOURCES = [f"127.0.0.{last}" for last in range(2, 202)] if sys.platform == "linux" else ["127.0.0.1"]
FEW = 16
"""Connections of an attack that sends as much as is taken."""
PIECE = bytes(65_536)


class Attacker:
    """Who attacks, and how often each attack has struck."""

    def __init__(self, url: str, token: str, count: int) -> None:
        parts = urlsplit(url)
        self.port = parts.port
        self.tls = None
        if parts.scheme == "https":
            self.tls = ssl.create_default_context()
            self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.bearer = f"authorization: Bearer {token}\r\n".encode()
        self.count = count
        self.struck: Counter[str] = Counter()
        self._sources = itertools.cycle(SOURCES)

    async def dial(self, *, secure: bool = True) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connects, from another address each time."""
        source = (next(self._sources), 0)
        context = self.tls if secure else None
        # A connection that the door has closed takes what is written, and drops it, until this has passed.
        more = {"ssl": context, "ssl_shutdown_timeout": 0.1} if context else {}
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=source, **more)

    def strike(self, name: str) -> None:
        self.struck[name] += 1
        if self.struck[name] == 1:
            print(name, flush=True)

    def head(self, line: str, *more: bytes) -> bytes:
        return f"{line} HTTP/1.1\r\nhost: cup\r\n".encode() + b"".join(more)


Attack = Callable[[Attacker, str], Awaitable[None]]


def held(say: Callable[[Attacker], bytes], trickle: bytes = b"", *, secure: bool = True, many: bool = True) -> Attack:
    """Connections that say something, then a little now and then, and again when they are closed."""

    async def one(attacker: Attacker, name: str) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await attacker.dial(secure=secure)
                attacker.strike(name)
                writer.write(say(attacker))
                closed = asyncio.create_task(reader.read(65_536))
                while not closed.done():
                    await asyncio.wait({closed}, timeout=2)
                    writer.write(trickle)
                closed.exception()
                writer.transport.abort()
            await asyncio.sleep(0.05)

    async def attack(attacker: Attacker, name: str) -> None:
        tasks = []
        for number in range(attacker.count if many else FEW * 4):
            tasks.append(asyncio.create_task(one(attacker, name)))
            if number % 50 == 0:
                await asyncio.sleep(0.01)
        await asyncio.gather(*tasks)

    return attack


def pumped(pieces: Callable[[Attacker], Iterable[bytes]]) -> Attack:
    """Connections that send as much as is taken, and never read."""

    async def one(attacker: Attacker, name: str) -> None:
        while True:
            with suppress(OSError):
                _, writer = await attacker.dial()
                writer.transport.pause_reading()  # type: ignore[attr-defined]
                for piece in pieces(attacker):
                    attacker.strike(name)
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                await asyncio.sleep(1)
                writer.transport.abort()
            await asyncio.sleep(0.05)

    async def attack(attacker: Attacker, name: str) -> None:
        await asyncio.gather(*(one(attacker, name) for _ in range(FEW)))

    return attack


def endless(head: Callable[[Attacker], bytes], piece: bytes) -> Attack:
    return pumped(lambda attacker: itertools.chain([head(attacker)], itertools.repeat(piece)))


def frame(payload: bytes, opcode: int = 2, *, last: bool = True) -> bytes:
    """A frame of a WebSocket, with a mask of zeros."""
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else b"\xff" + struct.pack("!Q", length)
    return bytes([(0x80 if last else 0) | opcode]) + size + bytes(4) + payload


def socket_of(attacker: Attacker) -> bytes:
    upgrade = f"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-protocol: {SUBPROTOCOL}\r\n"
    keys = b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    return attacker.head(f"GET {API}/remote", upgrade.encode(), keys[:-2], attacker.bearer, b"\r\n")


def frames(*said: bytes) -> Attack:
    def pieces(attacker: Attacker) -> Iterator[bytes]:
        yield socket_of(attacker)
        yield from itertools.cycle(said)

    return pumped(pieces)


PUT = f"PUT {API}/bots/fox?digest={'ab' * 32}"
LONG = b"content-length: 16000000\r\n\r\n"
CHUNK = b"10000\r\n" + PIECE + b"\r\n"
PONG = bytes(msgpack.packb({"type": "pong", "number": 1}))
ATTACKS: dict[str, Attack] = {
    # By their number
    "silent": held(lambda attacker: b"", secure=False),
    "slow heads": held(lambda attacker: attacker.head("GET /"), b"x: 1\r\n"),
    "slow bodies": held(lambda attacker: attacker.head(PUT, attacker.bearer, LONG), b"x", many=False),
    "slow bodies without a token": held(lambda attacker: attacker.head(PUT, LONG), b"x"),
    "idle between requests": held(lambda attacker: attacker.head("GET /nothing", b"\r\n"), b"\r\n"),
    # By their bytes
    "heads without end": endless(lambda attacker: attacker.head("GET /"), b"x: " + b"a" * 8_000 + b"\r\n"),
    "many short headers": endless(lambda attacker: attacker.head("GET /"), b"a:\r\n" * 2_000),
    "bodies without end": endless(
        lambda attacker: attacker.head(PUT, attacker.bearer, b"transfer-encoding: chunked\r\n\r\n"), CHUNK
    ),
    "bodies without end or token": endless(
        lambda attacker: attacker.head(PUT, b"content-length: 99999999999\r\n\r\n"), PIECE
    ),
    "uploads": endless(lambda attacker: attacker.head(PUT, attacker.bearer, LONG), PIECE),
    "requests, and never reads": pumped(
        lambda attacker: itertools.repeat(attacker.head(f"GET {API}/standings", attacker.bearer, b"\r\n") * 50)
    ),
    "requests without a token": pumped(lambda attacker: itertools.repeat(attacker.head(f"GET {API}/", b"\r\n") * 50)),
    # By an author over a WebSocket
    "empty messages": frames(frame(b"") * 5_000),
    "pongs": frames(frame(PONG) * 1_000),
    "pings, and never reads": frames(frame(bytes(100), 9) * 500),
    "messages of endless parts": frames(frame(b"", last=False), *[frame(b"", 0, last=False) * 5_000] * 1_000),
    "messages over the limit": frames(frame(bytes(2**20))),
    "lengths that lie": frames(frame(b"\x82\xa4type\xa5serve\xa1x\xdd\xff\xff\xff\xff") * 500),
}


async def main(url: str, token: str, count: str, *names: str) -> None:
    """Attacks until standard input ends."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.log.logger.disabled = True  # it tells of each write to a connection that was closed
    attacker = Attacker(url, token, int(count))
    tasks = [asyncio.create_task(ATTACKS[name](attacker, name)) for name in names]
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    print(json.dumps(attacker.struck), flush=True)
    for task in tasks:
        task.cancel()
    os._exit(0)  # what it holds goes at once


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
