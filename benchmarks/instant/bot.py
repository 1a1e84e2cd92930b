"""Answers at once: the first legal play of each request. Nothing but pyzmq and msgpack, so that it costs the least."""

from __future__ import annotations

import os

import msgpack
import zmq


def decide(legal: list[dict]) -> dict:
    """The first legal play, of whichever game."""
    return {"plays": [{key: first(values) for key, values in legal[0].items()}]}


def first(values: list | dict) -> object:
    """The first of some values; several where the request says so."""
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def main() -> None:
    socket = zmq.Context().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(os.environ["ARENA_ENDPOINT"])
    send = socket.send
    receive = socket.recv
    pack = msgpack.packb
    unpack = msgpack.unpackb
    send(pack({"type": "hello", "token": os.environ["ARENA_TOKEN"], "protocol": "1.0", "want": ["legal"]}))
    while True:
        message = unpack(receive())
        kind = message["type"]
        if kind == "request":
            send(pack({"type": "action", "id": message["id"], "action": decide(message["legal"])}))
        elif kind == "game_start":
            send(pack({"type": "ready", "game": message["game"]}))
        elif kind == "goodbye":
            return


main()
