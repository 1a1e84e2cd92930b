"""The program in a person's seat: passes lines between the bridge below which it runs and the person's front.

It runs as `python relay.py SOCKET`, and imports nothing but the standard library. The path is an argument, because a
bot's environment is cleaned. When the front closes the socket the person has resigned: then it ends, and so the seat
forfeits, with the reason as its last words.
"""

from __future__ import annotations

import os
import select
import socket
import sys

RESIGNED = "the person resigned"
_READ = 65_536


def relay(path: str) -> None:
    """Passes lines on until either side ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as front:
        front.connect(path)
        while True:
            ready, _, _ = select.select([0, front.fileno()], [], [])
            if 0 in ready:
                data = os.read(0, _READ)
                if not data:
                    return
                front.sendall(data)
            if front.fileno() in ready:
                answer = front.recv(_READ)
                if not answer:
                    os.write(2, f"{RESIGNED}\n".encode())
                    return
                os.write(1, answer)


if __name__ == "__main__":
    try:
        relay(sys.argv[1])
    except (BrokenPipeError, ConnectionError):
        sys.exit(1)
