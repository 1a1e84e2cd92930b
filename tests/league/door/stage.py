"""A door in a process of its own, as attacks meet it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zmq

from arena.league.door.client import Client
from arena.league.door.keys import Address, Pair, address
from tests.door_kit import League

DOOR = """
import sys
from pathlib import Path
from arena.league.door.checks import check
from arena.league.door import server
from arena.league.door.server import Door
server.DATA_BYTES = int(sys.argv[2]) * 2**20
server.confine()
door = Door(Path(sys.argv[1]), "tcp://127.0.0.1:*", check, room=lambda folder: True)
print(door.address, flush=True)
door.run()
"""


class Stage:
    """A door in a process of its own, and its league's folder."""

    def __init__(self, folder: Path, data_mib: int = 512) -> None:
        self._data_mib = data_mib
        self.league = League(folder)
        self._names = 0
        self.start()

    def start(self) -> None:
        """Starts the door."""
        command = [sys.executable, "-c", DOOR, str(self.league.folder), str(self._data_mib)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.address: Address = address(output.readline().strip())

    def kill(self) -> None:
        """Ends the door, as a crash does."""
        self.process.kill()
        self.process.wait()

    def author(self) -> Pair:
        """A new author's keys."""
        self._names += 1
        return self.league.author(f"author{self._names}")

    def raw(self) -> socket.socket:
        """A plain TCP connection."""
        host, port = self.address.endpoint.removeprefix("tcp://").split(":")
        return socket.create_connection((host, int(port)), timeout=20)

    @contextmanager
    def dealer(self, pair: Pair, **options: Any) -> Iterator[zmq.Socket[bytes]]:
        """A socket that has proved a key."""
        with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
            dealer.curve_serverkey = self.address.key.encode()
            dealer.curve_publickey, dealer.curve_secretkey = pair.public.encode(), pair.secret.encode()
            dealer.linger = 0
            dealer.rcvtimeo = dealer.sndtimeo = 20_000
            for name, value in options.items():
                dealer.set(getattr(zmq, name), value)
            dealer.connect(self.address.endpoint)
            yield dealer

    def check(self) -> None:
        """The door is alive, and answers somebody who did nothing."""
        with Client(self.address, self.author()) as client:
            client.hello()
        assert self.process.poll() is None
        assert self.resident_mib() < 200

    def resident_mib(self) -> int:
        """Memory of the door now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) // 1024
