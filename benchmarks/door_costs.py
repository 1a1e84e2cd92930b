"""What the costliest requests cost a league's door, in a season of a million games.

Each figure is CPU time of the door for one request, over the wire. The last lines say how long others wait while an
archive is checked that is small and holds as much as one may.
"""

from __future__ import annotations

import json
import os
import secrets
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq
from door import DOOR, MIB, Server, connected, pack

from arena.author.archives import pack as pack_bot
from arena.league.door.keys import Pair, make_pair

AUTHORS: Final = 10
"""Who ask: each has the same games, under a name of their own."""
REQUESTS: Final = 15
"""Of each author for each figure: so many a key may make at once."""
GAMES: Final = 1_000_000
PAGE: Final = 256
"""Matches of one page."""
ROWS: Final = 50
"""Games of an author on each page: that author plays a tenth of all games."""
VERSIONS: Final = 3_650
"""Of one author: ten a day for a year."""
PLAYING: Final = 600
LOG_MIB: Final = 1
"""A log with notes as long as may be. Logs of most games have some KB."""


def published(folder: Path) -> list[Pair]:
    """Writes what such a league publishes. Returns the authors' keys."""
    root = folder / "published"
    first = root / "authors" / "author0"
    first.mkdir(parents=True)
    pairs = [make_pair() for _ in range(AUTHORS + 2)]
    names = {pair.public: f"author{number}" for number, pair in enumerate(pairs)}
    (root / "keys.json").write_text(json.dumps(names))
    (root / "league.json").write_text(json.dumps({"name": "cup", "rules": "samurai"}))
    figures = {"rating": 25.1, "half_width": 2.2, "low": 22.9, "high": 27.3, "mu": 25.3, "sigma": 1.1, "games": 800}
    version = {"bot": "fox", "state": "superseded", "since": "2026-11-23T10:00:00+00:00", "level": "isolated"}
    versions = [
        {**version, **figures, "version": f"fox/{n}", "digest": f"{n:064x}", "author": "anna"}
        for n in range(VERSIONS, 0, -1)
    ]
    (first / "status.json").write_text(json.dumps({"versions": versions, "notices": []}))
    items = [{**version, **figures, "name": f"fox{n}/1", "rank": n, "author": "anna"} for n in range(PLAYING)]
    (root / "standings.json").write_text(json.dumps({"season": "first", "items": items, "digest": "ab"}))
    for page in range(GAMES // 2 // PAGE):
        (first / f"games-{100_000 + page}.json").write_text(
            json.dumps({"games": [_game(page, n) for n in range(ROWS)]})
        )
    for number in range(1, len(pairs)):
        (root / "authors" / f"author{number}").symlink_to("author0")
    reports = root / "reports" / "author0" / "fox" / "1"
    reports.mkdir(parents=True)
    (reports / "build.json").write_text(json.dumps({"output": "x" * 65_536}))
    for number in range(1, len(pairs)):
        (root / "reports" / f"author{number}").symlink_to("author0")
    (root / "logs").mkdir()
    (root / "logs" / "large.jsonl.zst").write_bytes(secrets.token_bytes(LOG_MIB * MIB))
    for number in range(REQUESTS * AUTHORS):
        os.link(root / "logs" / "large.jsonl.zst", root / "logs" / f"large-{number}.jsonl.zst")
    return pairs


def _game(page: int, number: int) -> dict[str, Any]:
    return {
        "game": f"cup-1-{page * 512 + number:06}", "match": page * PAGE + number, "seat": 0,
        "finished": "2026-11-23T10:00:00+00:00",
        "version": "fox/1", "opponents": ["owl/3"], "rank": 1, "outcome": "won", "score": 10,
        "forfeit": None, "sentence": None, "turn": None, "overloaded": False, "last_words": [], "turns": 30,
        "max_ms": 12.5, "rated": True, "log": "first/cup-1-000001", "public_sha256": "ab" * 32, "published": True,
        "bot": "fox", "lost": False, "replay": "arena replay cup-1-000001.jsonl --seat 0", "rerun": None,
    }  # fmt: skip


Ask = Callable[[int, dict[str, Any]], dict[str, Any]]
"""Makes a request, from its number and the answer before."""
COSTLIEST: Final[dict[str, Ask]] = {
    "hello": lambda n, last: {"type": "hello", "protocol": "1.0"},
    f"status, of {VERSIONS:,} versions": lambda n, last: {"type": "status"},
    f"standings, of {PLAYING} versions": lambda n, last: {"type": "standings"},
    "games, the latest 100": lambda n, last: {"type": "games"},
    "games, a search that finds none": lambda n, last: {
        "type": "games", "only": "lost", "after": last.get("next", "")
    },
    f"log of {LOG_MIB} MiB, its first part": lambda n, last: {"type": "log", "game": f"large-{n}"},
    f"log of {LOG_MIB} MiB, another part": lambda n, last: {
        "type": "log", "game": "large", "offset": LOG_MIB * MIB - 9
    },
    "report": lambda n, last: {"type": "report", "version": "fox/1", "kind": "build"},
    "submit, the announcement": lambda n, last: {
        "type": "submit", "bot": "fox", "digest": secrets.token_hex(32), "size": 9
    },
    "retire, of a bot that is none": lambda n, last: {"type": "retire", "bot": "nobody"},
}  # fmt: skip


@contextmanager
def asking(server: Server, pair: Pair) -> Iterator[zmq.Socket[bytes]]:
    """Yields a socket that has asked nothing for so long that it may ask at once."""
    with zmq.Context() as context, connected(context, server.address, pair) as dealer:
        yield dealer


def cost_ms(server: Server, pairs: list[Pair], ask: Ask) -> float:
    """Returns the door's CPU time for a request."""
    time.sleep(4.2)  # what was used up of the limit has flowed in again
    spent = 0.0
    for number, pair in enumerate(pairs):
        with asking(server, pair) as dealer:
            last: dict[str, Any] = {}
            began = server.cpu_s
            for each in range(REQUESTS):
                dealer.send(pack(**ask(number * REQUESTS + each, last), id=each + 1))
                last = msgpack.unpackb(dealer.recv())
            spent += server.cpu_s - began
    return spent / len(pairs) / REQUESTS * 1e3


def largest(folder: Path) -> tuple[bytes, str]:
    """Returns a small archive that holds as much as one may, and its digest."""
    bot = folder / "fox"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "fox"\ncommand = ["python3", "bot.py"]\n')
    (bot / "bot.py").write_text("")
    for number in range(9_000):
        (bot / f"{number}").write_bytes(bytes(128 * MIB // 9_000 - 100))
    packed = pack_bot(str(bot))
    return packed.data, packed.digest


def beside_a_check(
    server: Server, sender: Pair, other: Pair, archive: bytes, digest: str
) -> tuple[float, float, float]:
    """Returns how long a check took, and how long another author waited meanwhile, in ms: the median, the most."""
    done = threading.Event()
    took = 0.0

    def send() -> None:
        nonlocal took
        with asking(server, sender) as dealer:
            dealer.send(pack(type="submit", id=1, bot="fox", digest=digest, size=len(archive)))
            dealer.recv()
            for at in range(0, len(archive), 49_152):
                dealer.send(pack(type="chunk", id=2, upload=digest, offset=at, data=archive[at : at + 49_152]))
                dealer.recv()
            began = time.perf_counter()
            dealer.send(pack(type="finish", id=3, upload=digest))
            while True:  # the next request about archives is refused while it is checked
                dealer.send(pack(type="finish", id=4, upload=digest))
                if msgpack.unpackb(dealer.recv()).get("code") != "too_many":
                    break
                time.sleep(0.2)
            took = (time.perf_counter() - began) * 1e3
            done.set()

    waits = []
    with asking(server, other) as dealer:
        time.sleep(4.2)
        thread = threading.Thread(target=send)
        thread.start()
        while not done.is_set():
            began = time.perf_counter()
            dealer.send(pack(type="status", id=1, bot="none"))
            dealer.recv()
            waits.append((time.perf_counter() - began) * 1e3)
            time.sleep(0.02)
        thread.join()
    return took, statistics.median(waits), max(waits)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = published(folder)
        archive, digest = largest(folder)
        with Server(DOOR, name) as server:
            for what, ask in COSTLIEST.items():
                print(f"the door       {cost_ms(server, pairs[2:], ask):8.2f} ms CPU  {what}", flush=True)
            print(f"the door       {server.resident_mib:8.1f} MiB of memory after all of them")
            took, median, most = beside_a_check(server, pairs[0], pairs[1], archive, digest)
            print(f"the door       {took:8.0f} ms  check of an archive of {len(archive):,} bytes, 128 MiB unpacked")
            print(f"the door       {median:8.1f} ms  another author's request meanwhile, at most {most:.0f} ms")


if __name__ == "__main__":
    main()
