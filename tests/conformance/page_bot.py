"""A bot that speaks frames as protocol/BOT.md says, without a library for ZeroMQ, and writes down what passed.

Seat 0 plays the first legal play, the other seat the last, so that a game of Kuhn poker takes three decisions. What
passed goes into a file in the folder that the argument names.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import msgpack

GREETING = b"\xff" + bytes(8) + b"\x7f\3\0" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\6DEALER"

referee = socket.socket(socket.AF_UNIX)
referee.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
stream = referee.makefile("rwb")
passed: list[tuple[str, str]] = []


def send(message: dict[str, Any]) -> None:
    frame = msgpack.packb(message)
    passed.append(("<", frame.hex()))
    stream.write((bytes((0, len(frame))) if len(frame) < 256 else b"\2" + len(frame).to_bytes(8, "big")) + frame)
    stream.flush()


def receive() -> dict[str, Any]:
    while True:
        (flag,) = stream.read(1)
        body = stream.read(int.from_bytes(stream.read(8 if flag & 2 else 1), "big"))
        if not flag & 4:
            passed.append((">", body.hex()))
            return dict(msgpack.unpackb(body))
        if body[:5] == b"\4PING":
            stream.write(bytes((4, len(body) - 2)) + b"\4PONG" + body[7:])
            stream.flush()


stream.write(GREETING + READY)
stream.flush()
stream.read(64)
send({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0", "want": ["events", "legal"]})
seat = 0
while (message := receive())["type"] != "goodbye":
    if message["type"] == "game_start":
        seat = message["seat"]
        send({"type": "ready", "game": message["game"]})
    elif message["type"] == "request":
        play = {key: values[-seat] for key, values in message["legal"][0].items()}
        send({"type": "action", "id": message["id"], "action": {"plays": [play]}})
Path(sys.argv[1], f"seat{seat}.json").write_text(json.dumps(passed))
