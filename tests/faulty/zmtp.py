"""A bot that speaks ZMTP itself, byte by byte: `zmtp.py VERSION [WORD…]`, where VERSION is 1, 2, 3.0 or 3.1.

With `pings` it sends a heartbeat before its `hello` and each answer, and goes on only when it is answered. When it is
sent an `error` it ends with status 7. With `late` it waits a second before it connects, with `named` it sets a routing
id, and with `flood` it answers a request with heartbeats without end.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

import msgpack

DEALER = 5
FRAME, COMMAND = 0, 4


class Peer:
    """A connection. Frames are short: at most 255 bytes in ZMTP 2 and 3, 254 in ZMTP 1; longer ones are read only."""

    def __init__(self, endpoint: str, version: str, name: bytes = b"") -> None:
        self.name = name
        if endpoint.startswith("tcp://"):
            host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(endpoint.removeprefix("ipc://"))
        self.version = version
        self.pongs = 0
        self.waiting: list[bytes] = []
        greet = {"1": self.greet_1, "2": self.greet_2}.get(version, self.greet_3)
        greet()

    def greet_1(self) -> None:
        """An anonymous identity. The other side shows what it can do, and then speaks as we do."""
        self.socket.sendall(b"\x01\x00")
        self.read(2 if self.read(1) != b"\xff" else 9)

    def greet_2(self) -> None:
        self.socket.sendall(b"\xff" + bytes(8) + b"\x7f\x01" + bytes([DEALER, FRAME, 0]))
        self.read(12)
        self.read(2)

    def greet_3(self) -> None:
        minor = int(self.version.partition(".")[2])
        self.socket.sendall(b"\xff" + bytes(8) + b"\x7f\x03" + bytes([minor]) + b"NULL".ljust(20, b"\0") + bytes(32))
        self.read(64)
        ready = b"\x05READY" + b"\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER"
        if self.name:
            ready += b"\x08Identity" + len(self.name).to_bytes(4, "big") + self.name
        self.socket.sendall(bytes([COMMAND, len(ready)]) + ready)
        self.frame()

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise SystemExit(6)
            data += more
        return data

    def frame(self) -> tuple[int, bytes]:
        """The flags and the body of the next frame; a pong is counted."""
        if self.version == "1":
            size = self.read(1)[0]
            size = size if size < 255 else int.from_bytes(self.read(8), "big")
            return self.read(1)[0], self.read(size - 1)
        flags = self.read(1)[0]
        body = self.read(int.from_bytes(self.read(8 if flags & 2 else 1), "big"))
        if flags & COMMAND and body.startswith(b"\x04PONG"):
            self.pongs += 1
        return flags, body

    def send(self, message: dict[str, Any]) -> None:
        body = msgpack.packb(message)
        self.socket.sendall((bytes([len(body) + 1, 0]) if self.version == "1" else bytes([FRAME, len(body)])) + body)

    def ping(self) -> None:
        body = b"\x04PING\x00\x00here"
        self.socket.sendall(bytes([COMMAND, len(body)]) + body)
        pongs = self.pongs
        while self.pongs == pongs:
            flags, body = self.frame()
            if not flags & COMMAND:
                self.waiting.append(body)

    def receive(self) -> dict[str, Any]:
        """The next message."""
        while not self.waiting:
            flags, body = self.frame()
            if not flags & COMMAND and body:
                self.waiting.append(body)
        message: dict[str, Any] = msgpack.unpackb(self.waiting.pop(0))
        return message


def main(version: str, *words: str) -> None:
    pings = "pings" in words
    if "late" in words:
        time.sleep(1)
    peer = Peer(os.environ["ARENA_ENDPOINT"], version, b"ronin" if "named" in words else b"")
    if pings:
        peer.ping()
    peer.send({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0"})
    while True:
        message = peer.receive()
        if message["type"] == "error":
            raise SystemExit(7)
        if message["type"] == "goodbye":
            raise SystemExit(0)
        if message["type"] == "request":
            while "flood" in words:
                peer.socket.sendall(b"\x04\x0b\x04PING\x00\x00here" * 1000)
            if pings:
                peer.ping()
            peer.send({"type": "action", "id": message["id"], "action": {}})


if __name__ == "__main__":
    main(*sys.argv[1:])
