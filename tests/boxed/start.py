"""Starts one bot as a referee does, and prints as JSON what came of it.

`start.py LEVEL COMMAND...` takes the command of a bot whose folder is the current one. `start.py LEVEL --greet BOT`
takes a bot by its name or folder, welcomes it when it has said hello, and says goodbye.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path

import zmq

from arena.core.link.bots import load_bot
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.core.types import Level
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import MAX_FRAME, MAX_NOTE, PROTOCOL, Goodbye, Hello, Welcome
from arena.sandbox import accounts

GREETING_MS = 60_000
TOKEN = "t" * 64


def greet(referee: zmq.Socket[bytes]) -> None:
    assert referee.poll(GREETING_MS)
    route, data = referee.recv_multipart()
    hello = decode(data)
    assert isinstance(hello, Hello)
    assert hello.token == TOKEN
    referee.send_multipart([route, encode(Welcome(protocol=PROTOCOL, max_frame=MAX_FRAME, max_note=MAX_NOTE))])
    referee.send_multipart([route, encode(Goodbye(reason="that was all"))])


def main() -> None:
    level = Level(sys.argv[1])
    greets = sys.argv[2] == "--greet"
    spec = load_bot(sys.argv[3] if greets else f"cmd:{shlex.join(sys.argv[2:])}")
    custody = Custody()
    folder = custody.directory / "s"
    folder.mkdir()
    folder.chmod(0o711)
    user = accounts.seat_user(level)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as referee:
        socket: Path = folder / "referee"
        referee.bind(f"ipc://{socket}")
        if user is not None:
            os.chown(socket, user, -1)
        socket.chmod(0o600)
        environment = {"ARENA_TOKEN": TOKEN, "ARENA_ENDPOINT": f"ipc://{socket}"}
        process = BotProcess(spec, custody, environment, level=level, socket_folder=folder, user=user)
        try:
            if greets:
                greet(referee)
            while (end := process.end()) is None:
                time.sleep(0.005)
            output = process.output()
        finally:
            process.kill()
            process.reap(wait=True)
            custody.close()
    print(json.dumps({"code": end.code, "detail": end.detail, "output": output}))


if __name__ == "__main__":
    main()
