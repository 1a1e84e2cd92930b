"""A client that speaks ZMTP 3 with CURVE (RFC 26) by itself, so that it can send what no library would."""

from __future__ import annotations

import ctypes
import secrets
import socket
import struct
from collections.abc import Iterable
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import zmq
from zmq.utils import z85

from arena.league.door.keys import Address, Pair, make_pair

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + b"\0" + bytes(31)
MORE, LAST = 1, 0
"""Flags of a frame: whether its message goes on."""


def sodium() -> Any:
    """The library of boxes: the one that pyzmq brings, or the system's. None if there is none."""
    beside = Path(zmq.__file__).parents[1] / "pyzmq.libs"
    for name in (*map(str, beside.glob("libsodium*")), find_library("sodium")):
        if name:
            return ctypes.CDLL(name)
    return None


class Raw:
    """A connection that has proved a key."""

    def __init__(self, address: Address, pair: Pair, timeout: float = 20) -> None:
        self._sodium = sodium()
        host, port = address.endpoint.removeprefix("tcp://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self._count = 0
        self.said = bytearray()
        """The first bytes that went to the door."""
        server = z85.decode(address.key)
        transient = make_pair()
        own_public, own_secret = z85.decode(transient.public), z85.decode(transient.secret)
        public, secret = z85.decode(pair.public), z85.decode(pair.secret)
        self._say(GREETING)
        self._read(64)
        nonce = self._nonce()
        box = self._box(bytes(64), b"CurveZMQHELLO---" + nonce, server, own_secret)
        self._command(b"\x05HELLO\1\0" + bytes(72) + own_public + nonce + box)
        welcome = self._read_command()
        opened = self._open(welcome[24:], b"WELCOME-" + welcome[8:24], server, own_secret)
        their, cookie = opened[:32], opened[32:]
        vouch_nonce = secrets.token_bytes(16)
        vouch = self._box(own_public + server, b"VOUCH---" + vouch_nonce, their, secret)
        metadata = b"\x0bSocket-Type" + struct.pack("!I", 6) + b"DEALER"
        nonce = self._nonce()
        inner = self._box(public + vouch_nonce + vouch + metadata, b"CurveZMQINITIATE" + nonce, their, own_secret)
        self._command(b"\x08INITIATE" + cookie + nonce + inner)
        assert self._read_command().startswith(b"\x05READY")
        self._keys = their, own_secret

    def send(self, frames: Iterable[tuple[int, bytes]]) -> None:
        """Sends frames, each with its flag."""
        for flag, data in frames:
            self._say(self.sealed(flag, data))

    def sealed(self, flag: int, data: bytes) -> bytes:
        """Returns the bytes of the next frame."""
        nonce = self._nonce()
        box = self._box(bytes([flag]) + data, b"CurveZMQMESSAGEC" + nonce, *self._keys)
        body = b"\x07MESSAGE" + nonce + box
        return b"\x02" + struct.pack("!Q", len(body)) + body

    def heard(self) -> bytes:
        """Returns the next message of the door, still in its box."""
        return self._read_command()

    def until_closed(self) -> bytes:
        """Returns all that the door still sends, until it closes the connection."""
        heard = b""
        try:
            while piece := self.socket.recv(4_096):
                heard += piece
        except ConnectionError:
            pass
        return heard

    def _nonce(self) -> bytes:
        self._count += 1
        return struct.pack("!Q", self._count)

    def _command(self, body: bytes) -> None:
        head = b"\x04" + bytes([len(body)]) if len(body) < 256 else b"\x06" + struct.pack("!Q", len(body))
        self._say(head + body)

    def _say(self, data: bytes) -> None:
        if len(self.said) < 65_536:
            self.said += data
        self.socket.sendall(data)

    def _read_command(self) -> bytes:
        flags = self._read(1)[0]
        size = struct.unpack("!Q", self._read(8))[0] if flags & 2 else self._read(1)[0]
        return self._read(size)

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            assert piece, "the door has closed the connection"
            data += piece
        return data

    def _box(self, data: bytes, nonce: bytes, public: bytes, secret: bytes) -> bytes:
        made = ctypes.create_string_buffer(len(data) + 16)
        self._sodium.crypto_box_easy(made, data, ctypes.c_ulonglong(len(data)), nonce, public, secret)
        return made.raw

    def _open(self, box: bytes, nonce: bytes, public: bytes, secret: bytes) -> bytes:
        made = ctypes.create_string_buffer(len(box) - 16)
        failed = self._sodium.crypto_box_open_easy(made, box, ctypes.c_ulonglong(len(box)), nonce, public, secret)
        assert not failed
        return made.raw
