"""What a league's door costs: requests, memory, connections and uploads, in a season of a million games.

The door runs in a process of its own, with its limits and on files as a league has them. Read figures of CPU: the rest
is the machine's. The last lines say how long others wait while an archive is checked that is small and holds as much as
one may.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from arena.author.archives import pack
from arena.league.door.messages import API
from arena.league.door.tokens import hash_of, new_token

AUTHORS: Final = 50
AT_ONCE: Final = 19
"""Requests of each author: so many a token may make at once, and one that opens the connection."""
MIB: Final = 2**20
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


class Server:
    """A door in a process of its own."""

    def __init__(self, folder: Path) -> None:
        (folder / "league.toml").touch()
        words = [sys.executable, "-m", "arena", "league", "open", str(folder), "--bind", "127.0.0.1:0", "--once"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().rpartition(":")[2])

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

    @contextmanager
    def asking(self, token: str) -> Iterator[Callable[..., bytes]]:
        """Yields what asks over one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

        def ask(path: str, method: str = "GET", body: bytes | None = None) -> bytes:
            connection.request(method, f"{API}/{path}", body, {"Authorization": f"Bearer {token}"})
            return connection.getresponse().read()

        try:
            yield ask
        finally:
            connection.close()


def published(folder: Path, tokens: list[str]) -> None:
    """Writes what such a league publishes."""
    root = folder / "published"
    first = root / "authors" / "author0"
    first.mkdir(parents=True)
    names = {hash_of(token): f"author{number}" for number, token in enumerate(tokens)}
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
        games = json.dumps({"games": [_game(page, n) for n in range(ROWS)]})
        (first / f"games-{100_000 + page}.json").write_text(games)
    for number in range(1, len(tokens)):
        (root / "authors" / f"author{number}").symlink_to("author0")
    (root / "logs").mkdir()
    for number in range(AT_ONCE):
        (root / "logs" / f"large-{number}.jsonl.zst").write_bytes(secrets.token_bytes(LOG_MIB * MIB))


def _game(page: int, number: int) -> dict[str, Any]:
    return {
        "game": f"cup-1-{page * 512 + number:06}", "match": page * PAGE + number, "seat": 0,
        "finished": "2026-11-23T10:00:00+00:00",
        "version": "fox/1", "opponents": ["owl/3"], "rank": 1, "outcome": "won", "score": 10,
        "forfeit": None, "sentence": None, "turn": None, "overloaded": False, "last_words": [], "turns": 30,
        "max_ms": 12.5, "rated": True, "log": "first/cup-1-000001", "public_sha256": "ab" * 32, "published": True,
        "bot": "fox", "lost": False, "replay": "arena replay cup-1-000001.jsonl --seat 0", "rerun": None,
    }  # fmt: skip


COSTLIEST: Final[dict[str, str]] = {
    "who the league is": "",
    f"versions, {VERSIONS:,} of them": "versions",
    f"standings, of {PLAYING} versions": "standings",
    "games, the latest 100": "games",
    "games, a search that finds none": "games?only=lost",
    f"log of {LOG_MIB} MiB": "games/large-{}/log",
}


def cost_ms(server: Server, token: str, path: str) -> float:
    """Returns the door's CPU time for a request of an author who has asked nothing for a while."""
    with server.asking(token) as ask:
        began = server.cpu_s
        for number in range(AT_ONCE // (4 if "log" in path else 1)):
            ask(path.format(number))
        return (server.cpu_s - began) / number * 1e3


def at_once(server: Server, tokens: list[str]) -> tuple[float, float]:
    """Has all authors connect and ask, and returns requests a second and the memory while they are connected."""
    with ExitStack() as held:
        asks = [held.enter_context(server.asking(token)) for token in tokens]
        began = time.perf_counter()
        for _ in range(AT_ONCE):
            for ask in asks:
                ask("standings?after=999")
        return AT_ONCE * len(tokens) / (time.perf_counter() - began), server.resident_mib


def largest(folder: Path) -> bytes:
    """Returns a small archive that holds as much as one may."""
    bot = folder / "fox"
    bot.mkdir()
    (bot / "bot.toml").write_text('name = "fox"\ncommand = ["python3", "bot.py"]\n')
    (bot / "bot.py").write_text("")
    for number in range(9_000):
        (bot / f"{number}").write_bytes(bytes(128 * MIB // 9_000 - 100))
    return pack(str(bot)).data


def beside_a_check(server: Server, sender: str, other: str, archive: bytes) -> tuple[float, float]:
    """Returns how long another author waits while an archive is checked, in ms: the median, the most."""
    with server.asking(sender) as send, server.asking(other) as ask:
        thread = threading.Thread(target=send, args=("bots/fox", "PUT", archive))
        thread.start()
        waits = []
        while thread.is_alive() and len(waits) < AT_ONCE:
            began = time.perf_counter()
            ask("standings?after=999")
            waits.append((time.perf_counter() - began) * 1e3)
            time.sleep(0.05)
        thread.join()
    return statistics.median(waits), max(waits)


def main() -> None:
    tokens = [new_token() for _ in range(AUTHORS + len(COSTLIEST) + 3)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        published(folder, tokens)
        with Server(folder) as server:
            print(f"the door       {server.resident_mib:8.1f} MiB before the first author")
            requests_s, mib = at_once(server, tokens[:AUTHORS])
            print(f"the door       {requests_s:8.0f} requests/s of {AUTHORS} authors, one after another")
            print(f"the door       {mib:8.1f} MiB with all of them connected")
            for token, (what, path) in zip(tokens[AUTHORS:], COSTLIEST.items(), strict=False):
                print(f"the door       {cost_ms(server, token, path):8.2f} ms CPU  {what}", flush=True)
            print(f"the door       {server.resident_mib:8.1f} MiB of memory after all of them")
            began = time.perf_counter()
            with server.asking(tokens[-1]) as ask:
                ask("bots/fox", "PUT", secrets.token_bytes(16 * MIB))
            print(f"the door       {16 / (time.perf_counter() - began):8.1f} MiB/s of one author's upload")
            archive = largest(folder)
            median, most = beside_a_check(server, tokens[-2], tokens[-3], archive)
            print(f"the door       {median:8.1f} ms  a request beside the check of 128 MiB, at most {most:.0f} ms")


if __name__ == "__main__":
    main()
