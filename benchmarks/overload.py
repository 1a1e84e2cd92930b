"""Whether time losses are marked that the machine is to blame for, and no others. Real games under real load.

A bot (`burner`) plays against one that answers at once, while so many processes of this script spin on the same cores.
It needs 60 % of each decision's limit in CPU time. Alone it never loses; with others it loses because it gets no core,
and the loss has to be marked `overloaded`. Bots that oversleep or ask for less (a low priority, one core), lose by
their own doing, on a machine with a core to spare and on one without: no such loss may be marked. Nor may those of bots
that starve themselves by what they start, on a machine with a core to spare: on another they are denied it, too. So
this wants a quiet machine.

A line a behaviour and load: the games, the time losses, how many are marked, and what the bot was denied (median).
`nice`, `idle` and `pinned` cannot lose where nobody else wants the core. `dozing` wakes a thousand times
a second; where it then waits most of the time for a core, it was kept from running indeed, so its marks are shown and
not judged.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.core.catalogue import make_settings
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.pool import worker_pool
from arena.core.referee.job import Job
from arena.core.referee.worker import play
from arena.core.types import Forfeit, Termination

HERE = Path(__file__).parent
HONEST = ("honest",)
SLOW = ("late",)
MODEST = ("nice", "idle", "pinned")
GREEDY = ("children", "threads", "brief", "unburied")
DOZING = ("dozing",)
LOADS = {
    **dict.fromkeys(HONEST, (0, 2, 3, 4, 6, 8)),
    **dict.fromkeys(SLOW + DOZING + MODEST, (0, 4)),
    **dict.fromkeys(GREEDY, (0,)),
}
"""By behaviour: how many other processes spin."""
_SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


class Losses(msgspec.Struct):
    """The games of one bot under one load."""

    games: int = 0
    decisions: int = 0
    forfeits: list[Forfeit] = []

    @property
    def marked(self) -> int:
        """How many time losses are marked."""
        return sum(forfeit.overloaded for forfeit in self.forfeits)

    def __str__(self) -> str:
        """The figures, as a line."""
        denied = statistics.median([forfeit.denied_ms for forfeit in self.forfeits] or [0])
        return f"{self.games:6} {self.decisions:9} {len(self.forfeits):7} {self.marked:7} {denied:9.0f}"


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """Keeps so many processes busy, each in a session of its own, so that the system gives each the same."""
    spinners = [
        subprocess.Popen([sys.executable, "-c", _SPIN], start_new_session=True, stdin=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def losses(behaviour: str, limit_ms: int, wanted: int, most_games: int, logs: str) -> Losses:
    """Plays games until there are so many time losses, or so many games."""
    burner = load_bot(str(HERE / "burner"))
    burner = replace(burner, command=(*burner.command, behaviour), start_ms=60_000)
    instant = load_bot(str(HERE / "instant"))
    settings = make_settings("samurai", 2, time=f"{limit_ms}ms/move")
    found = Losses(forfeits=[])
    while len(found.forfeits) < wanted and found.games < most_games:
        result = play(_job(settings, (burner, instant), found.games, logs))
        found.games += 1
        found.decisions += result.seats[0].decisions
        forfeit = result.seats[0].forfeit
        if forfeit is not None:
            assert forfeit.code is Termination.TIMEOUT, forfeit
            found.forfeits.append(forfeit)
    return found


def _job(settings: object, bots: tuple[BotSpec, BotSpec], number: int, logs: str) -> Job:
    return Job(
        game=f"overload-{number}",
        tournament=None,
        settings=settings,
        bots=bots,
        deal=number,
        rotation=0,
        secret=secrets.token_bytes(32),
        logs=logs,
    )


def main() -> None:
    """Prints the table, and exits with 1 if an honest loss in 20 is not marked, or another is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("behaviours", nargs="*", default=list(LOADS), help="of the bot (default: all)")
    parser.add_argument("--loads", nargs="*", type=int, help="processes that spin beside it (default: several)")
    parser.add_argument("--losses", type=int, default=20, help="time losses to wait for (default: 20)")
    parser.add_argument("--games", type=int, default=25, help="games at most (default: 25)")
    parser.add_argument("--limit", type=int, default=200, help="of a decision, in ms (default: 200)")
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f} before; {arguments.limit} ms a decision")
    print("behaviour   load  games decisions  losses  marked denied ms")
    honest = Losses(forfeits=[])
    others = 0
    for behaviour in arguments.behaviours:
        for load in arguments.loads or LOADS[behaviour]:
            with spinning(load), tempfile.TemporaryDirectory() as logs:
                found = losses(behaviour, arguments.limit, arguments.losses, arguments.games, logs)
                worker_pool().shutdown()
            print(f"{behaviour:10} {load:5} {found}", flush=True)
            if behaviour in HONEST:
                honest.forfeits += found.forfeits
            elif behaviour not in DOZING:
                others += found.marked
    if honest.forfeits:
        print(f"honest losses that are marked: {honest.marked} of {len(honest.forfeits)}")
    print(f"other losses that are marked: {others}")
    sys.exit(bool(others or honest.marked < 0.95 * len(honest.forfeits)))


if __name__ == "__main__":
    main()
