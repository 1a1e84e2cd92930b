"""Answers at once: the first legal play of each request. Nothing but pyzmq and msgpack, so that it costs the least."""

from __future__ import annotations

import os

import msgpack
import zmq


def decide(kind: str, legal: dict) -> dict:
    if kind == "hand":
        return {"hand": legal["hand"][: legal["choose"]]}
    if kind == "setup":
        return {key: values[0] for key, values in legal["setup"][0].items()}
    return {"plays": [{key: values[0] for key, values in legal["plays"][0].items()}]}


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
            send(pack({"type": "action", "id": message["id"], "action": decide(message["kind"], message["legal"])}))
        elif kind == "game_start":
            send(pack({"type": "ready", "game": message["game"]}))
        elif kind == "goodbye":
            return


main()
