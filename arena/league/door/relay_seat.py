"""The seat of a remote bot: a worker runs this program as if it were the bot. It imports nothing of arena.

    python relay_seat.py SOCKET VERSION

It connects to the league's door (SOCKET), asks for the remote bot VERSION, or for an author (`@NAME GAME`), and passes
on the frames of the game as they are. Only the token in the bot's `hello` is replaced, because the bot has one of its
author's machine. If the bot is lost, it says why on standard error and ends with status 1: that is the seat's forfeit.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator

import msgpack  # type: ignore[import-untyped]
import zmq

HEAD = struct.Struct("!Ic")
LAST = ("goodbye", "error")
"""The referee's messages after which it says nothing more."""


def main(path: str, version: str) -> int:
    """Plays one game. Returns the exit status."""
    door = socket.socket(socket.AF_UNIX)
    try:
        door.connect(path)
    except OSError as error:
        sys.stderr.write(f"expected the league's door, got: {error}; open it: arena league open\n")
        return 1
    with zmq.Context() as context, context.socket(zmq.DEALER) as referee:
        referee.linger = 1_000
        referee.connect(os.environ["ARENA_ENDPOINT"])
        send(door, b"v", version.encode())
        return relay(door, referee, "the author" if version.startswith("@") else "the remote bot")


def relay(door: socket.socket, referee: zmq.Socket[bytes], who: str) -> int:
    """Passes frames on until one side ends; `who` plays here."""
    poller = zmq.Poller()
    poller.register(door, zmq.POLLIN)
    poller.register(referee, zmq.POLLIN)
    received = bytearray()
    greeted = False
    while True:
        ready = dict(poller.poll())
        if referee in ready:
            frame = referee.recv()
            send(door, b"f", frame)
            if msgpack.unpackb(frame).get("type") in LAST:
                return 0
        if door.fileno() in ready:
            data = door.recv(65_536)
            received += data
            for kind, content in messages(received):
                if kind == b"x":
                    data = b""
                    sys.stderr.write(f"{who} {content.decode(errors='replace')}\n")
                    break
                referee.send(content if greeted else with_token(content))
                greeted = True
            if not data:
                return 1


def messages(received: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """Yields the messages that have come whole, and removes them."""
    while len(received) >= HEAD.size:
        length, kind = HEAD.unpack_from(received)
        end = HEAD.size + length
        if len(received) < end:
            return
        content = bytes(received[HEAD.size : end])
        del received[:end]
        yield kind, content


def with_token(hello: bytes) -> bytes:
    """Returns the bot's `hello` with the token that the referee expects; anything else stays as it is."""
    try:
        message = msgpack.unpackb(hello)
    except ValueError:
        return hello
    if not isinstance(message, dict) or message.get("type") != "hello":
        return hello
    frame: bytes = msgpack.packb(message | {"token": os.environ["ARENA_TOKEN"]})
    return frame


def send(door: socket.socket, kind: bytes, content: bytes) -> None:
    """Sends a message to the door."""
    door.sendall(HEAD.pack(len(content), kind) + content)


if __name__ == "__main__":
    try:
        status = main(*sys.argv[1:])
    except BrokenPipeError:
        status = 1
    sys.exit(status)
