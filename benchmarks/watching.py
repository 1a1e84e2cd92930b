"""What it costs the referee to be watched: nobody can, nobody does, one watch with 1 and with 100 people.

Each way is measured in turn, some games at a time, so that what the machine does otherwise falls on all of them. The
referee's own processor time a game says what it pays; the rate also has what everybody else takes from the machine.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import urlsplit

from msgspec.structs import replace

from arena.core.catalogue import make_settings
from arena.core.referee.feed import feed_folder
from arena.core.referee.worker import play
from arena.core.store.store import open_store
from arena.core.tournament.blocks import block_of
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.plan import begin
from arena.core.tournament.settings import set_up

INSTANT = str(Path(__file__).parent / "instant")
GAMES = 30
ROUNDS = 3
WAYS = ("nobody can watch", "nobody watches", "1 watches", "100 watch")


@contextmanager
def watch(database: Path, people: int) -> Iterator[None]:
    """Watches a database with so many people, each at the lists and at a game."""
    words = [sys.executable, "-m", "arena", "watch", "--web", "--db", str(database)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        crowd = subprocess.Popen([sys.executable, __file__, address, str(people)], stdout=subprocess.PIPE)
        assert crowd.stdout is not None
        crowd.stdout.readline()
        try:
            yield
        finally:
            crowd.kill()
            crowd.wait()
            crowd.stdout.close()
            served.kill()


async def follow(port: int, cookie: str, path: str) -> None:
    """Reads a stream, and follows the newest game that it tells of, again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
    game: asyncio.Task[None] | None = None
    while line := await reader.readline():
        if line.startswith(b'data: {"running":[{"id":"') and (game is None or game.done()):
            name = line.split(b'"', 6)[5].decode()
            game = asyncio.create_task(follow(port, cookie, f"/game/{name}/events"))
        elif line.startswith(b"event: over"):
            break
    writer.close()


async def crowd(address: str, people: int) -> None:
    found = urlsplit(address)
    assert found.port is not None
    connection = HTTPConnection("127.0.0.1", found.port)
    connection.request("GET", f"/?{found.query}")
    cookie = (connection.getresponse().headers["set-cookie"] or "").partition(";")[0]
    tasks = [asyncio.create_task(follow(found.port, cookie, "/events")) for _ in range(people)]
    await asyncio.sleep(1)
    print("ready", flush=True)
    await asyncio.gather(*tasks)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        setup = set_up([INSTANT] * 2, make_settings("samurai", 2), RoundRobin(deals=GAMES), seed="bench")
        with open_store(database) as store:
            tournament = begin(store, setup.settings, setup.specs, Path(folder) / "logs", new=True).tournament
        schedule = setup.settings.schedule()
        games = [schedule.game(number) for number in range(GAMES)]
        cpu: dict[str, list[float]] = {way: [] for way in WAYS}
        rate: dict[str, list[float]] = {way: [] for way in WAYS}

        def measure(way: str, feed: str) -> None:
            began, busy = perf_counter(), process_time()
            for game in games:
                job = setup.job(tournament, game, feed)
                seats = play(replace(job, block=block_of("tournament", game))).seats
                assert not any(seat.forfeit for seat in seats), seats
            cpu[way].append((process_time() - busy) / GAMES)
            rate[way].append(GAMES / (perf_counter() - began))

        measure(WAYS[0], "")  # the first games start the bots
        cpu[WAYS[0]].clear()
        rate[WAYS[0]].clear()
        feed = str(feed_folder(database))
        for _ in range(ROUNDS):
            measure(WAYS[0], "")
            measure(WAYS[1], feed)
            for way, people in zip(WAYS[2:], (1, 100), strict=True):
                with watch(database, people):
                    measure(way, feed)
        print(f"watching: {GAMES} games of bots that answer at once, {ROUNDS} rounds, medians of ratios")
        for way in WAYS:
            costs = statistics.median(one / other for one, other in zip(cpu[way], cpu[WAYS[0]], strict=True))
            rates = statistics.median(one / other for one, other in zip(rate[way], rate[WAYS[0]], strict=True))
            print(
                f"  {way:<17} {1000 * statistics.median(cpu[way]):6.2f} ms of the referee's processor a game, "
                f"{costs:5.2f} of alone; rate {rates:5.2f} of alone"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(crowd(sys.argv[1], int(sys.argv[2])))
    else:
        main()
