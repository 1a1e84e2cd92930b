"""Grabs the lowest card, plants it at the first legal position, and scores nothing, so that games are long.

Every seat wants the same card: each round is a race. With two numbers on the command line it reacts to it after so
many milliseconds at least and at most, drawn from its `bot_seed`; without, at once.
"""

from __future__ import annotations

import os
import sys
import time
from random import Random

import msgpack
import zmq


def main() -> None:
    reaction = [float(word) / 1000 for word in sys.argv[1:]]
    random = Random()
    socket = zmq.Context().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(os.environ["ARENA_ENDPOINT"])

    def send(**message: object) -> None:
        socket.send(msgpack.packb(message))

    send(type="hello", token=os.environ["ARENA_TOKEN"], protocol="1.0", want=["legal"])
    while True:
        message = msgpack.unpackb(socket.recv())
        if message["type"] == "request":
            kind, product = message["kind"], message["legal"][0]
            if kind == "seize":
                cards = product["card"]
                plays = [{"card": min(cards)}]
                if reaction and len(cards) > 1:  # nobody competes for the last one
                    time.sleep(random.uniform(*reaction))
            elif kind == "plant":
                plays = [{key: values[0] for key, values in product.items()}]
            else:
                plays = []
            send(type="action", id=message["id"], action={"plays": plays})
        elif message["type"] == "game_start":
            random.seed(message["bot_seed"])
            send(type="ready", game=message["game"])
        elif message["type"] == "goodbye":
            return


main()
