"""What a league's door costs: requests, memory, connections and uploads, with 200 authors.

The same authors ask a bare ROUTER with CURVE as well, which sends back what it gets. Read the ratios: the rest is the
machine's. The door runs in a process of its own, with its limits and on files as a league has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgpack
import msgspec
import zmq

from arena.league.door.keys import Address, Pair, address, make_pair

AUTHORS: Final = 200
AT_ONCE: Final = 20
"""Requests of each author: so many a key may make at once."""
MIB: Final = 2**20
UPLOAD: Final = 16 * MIB
CHUNK: Final = 48 * 1024
DOOR: Final = """
import sys
from pathlib import Path
from arena.league.door.checks import check
from arena.league.door.server import Door, confine
confine()
door = Door(Path(sys.argv[1]), "tcp://127.0.0.1:*", check)
print(door.address, flush=True)
door.run()
"""
BARE: Final = """
import zmq
from arena.league.door.keys import Address, make_pair
pair = make_pair()
router = zmq.Context().socket(zmq.ROUTER)
router.curve_server = True
router.curve_secretkey = pair.secret.encode()
router.bind("tcp://127.0.0.1:*")
print(Address(router.getsockopt_string(zmq.LAST_ENDPOINT), pair.public), flush=True)
while True:
    router.send_multipart(router.recv_multipart())
"""


class Figures(msgspec.Struct, frozen=True):
    """What was measured of a server."""

    empty_mib: float
    """Memory before the first author."""
    full_mib: float
    """Memory with all authors connected, after their requests."""
    connect_ms: float
    """From the connection to the first answer, one author after another; the mean."""
    requests_s: float
    """Requests a second, of all authors at once."""
    cpu_us: float
    """CPU time of the server for each request."""
    upload_mib_s: float = 0.0
    """Of one author, who sends a chunk when the one before has arrived."""


class Server:
    """A server in a process of its own."""

    def __init__(self, program: str, *arguments: str) -> None:
        command = [sys.executable, "-c", program, *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address: Address = address(self._process.stdout.readline().strip())

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def resident_mib(self) -> float:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MIB

    @property
    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pack(**message: Any) -> bytes:
    return bytes(msgpack.packb(message))


def connected(context: zmq.Context[zmq.Socket[bytes]], at: Address, pair: Pair) -> zmq.Socket[bytes]:
    """Returns a socket whose first request is answered."""
    dealer = context.socket(zmq.DEALER)
    dealer.curve_serverkey = at.key.encode()
    dealer.curve_publickey, dealer.curve_secretkey = pair.public.encode(), pair.secret.encode()
    dealer.linger, dealer.rcvtimeo = 0, 60_000
    dealer.connect(at.endpoint)
    dealer.send(pack(type="hello", id=1_000, protocol="1.0"))
    dealer.recv()
    return dealer


def measure(server: Server, pairs: list[Pair]) -> Figures:
    """Has all authors connect, and then ask at the same time."""
    empty = server.resident_mib
    with ExitStack() as held:
        context = held.enter_context(zmq.Context())
        began = time.perf_counter()
        dealers = [held.enter_context(connected(context, server.address, pair)) for pair in pairs]
        connect_s = time.perf_counter() - began
        time.sleep(1)  # what was used up of the limit has flowed in again
        poller = zmq.Poller()
        for dealer in dealers:
            poller.register(dealer, zmq.POLLIN)
        began, used = time.perf_counter(), server.cpu_s
        for number in range(1, AT_ONCE):
            for dealer in dealers:
                dealer.send(pack(type="status", id=number))
        left = len(dealers) * (AT_ONCE - 1)
        while left:
            for dealer, _ in poller.poll(60_000):
                dealer.recv()
                left -= 1
        took, used = time.perf_counter() - began, server.cpu_s - used
        asked = len(dealers) * (AT_ONCE - 1)
        return Figures(empty, server.resident_mib, connect_s / len(pairs) * 1e3, asked / took, used / asked * 1e6)


def upload(server: Server, pair: Pair) -> float:
    """Returns how many MiB a second one author sends."""
    data = secrets.token_bytes(UPLOAD)
    digest = hashlib.sha256(data).hexdigest()
    with zmq.Context() as context, connected(context, server.address, pair) as dealer:
        dealer.send(pack(type="submit", id=1, bot="fox", digest=digest, size=len(data)))
        dealer.recv()
        began = time.perf_counter()
        for offset in range(0, len(data), CHUNK):
            dealer.send(pack(type="chunk", id=2, upload=digest, offset=offset, data=data[offset : offset + CHUNK]))
            answer = msgpack.unpackb(dealer.recv())
            assert answer["type"] == "have", answer
        return UPLOAD / MIB / (time.perf_counter() - began)


def league(folder: Path, pairs: list[Pair]) -> None:
    """Writes what a league publishes for its authors."""
    published = folder / "published"
    published.mkdir()
    names = {pair.public: f"author{number}" for number, pair in enumerate(pairs)}
    (published / "keys.json").write_text(json.dumps(names))
    (published / "league.json").write_text(json.dumps({"name": "cup", "rules": "samurai"}))
    versions = [{"version": f"fox/{n}", "bot": "fox", "state": "superseded", "rating": 25.0} for n in range(5)]
    for name in names.values():
        (published / "authors" / name).mkdir(parents=True)
        (published / "authors" / name / "status.json").write_text(json.dumps({"versions": versions, "notices": []}))


def main() -> None:
    parser = argparse.ArgumentParser(description="What a league's door costs, beside a bare socket of ZeroMQ.")
    parser.add_argument("--authors", type=int, default=AUTHORS, help=f"authors ({AUTHORS})")
    authors: int = parser.parse_args().authors
    pairs = [make_pair() for _ in range(authors)]
    with tempfile.TemporaryDirectory() as folder:
        league(Path(folder), pairs)
        with Server(BARE) as server:
            bare = measure(server, pairs)
        with Server(DOOR, folder) as server:
            door = msgspec.structs.replace(measure(server, pairs), upload_mib_s=upload(server, pairs[0]))
    print(f"the door       {authors} authors, {AT_ONCE - 1} requests of each at once; ratios to a bare socket")
    for name, unit in (
        ("requests_s", "requests/s"), ("cpu_us", "µs CPU a request"), ("connect_ms", "ms a connection"),
        ("empty_mib", "MiB before the first author"), ("full_mib", "MiB with all authors"),
    ):  # fmt: skip
        ours, theirs = getattr(door, name), getattr(bare, name)
        print(f"the door       {ours:8,.1f} {unit}, ratio {ours / theirs:.2f}")
    print(f"the door       {door.upload_mib_s:8,.1f} MiB/s of one author's upload")


if __name__ == "__main__":
    main()
