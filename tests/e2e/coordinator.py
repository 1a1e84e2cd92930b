"""A program that plays, or goes on with, an instant tournament on real workers, and names each game once it is stored.

Usage: coordinator.py FOLDER CONCURRENCY [DEADLY]

DEADLY games kill the worker that first plays them.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from arena.referee.job import Job
from arena.store.store import open_store
from arena.tournament.plan import close
from arena.tournament.workers import local_worker
from arena.types import GameResult
from tests import instant

SETTINGS = instant.settings(("ann", "bob", "cid", "ann"), players=3, deals=5)


def play(deadly: frozenset[int], job: Job) -> GameResult:
    mark = Path(job.logs).with_name(job.game)
    if int(job.game.rpartition("-")[2]) in deadly and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return instant.play(job)


def main(folder: Path, concurrency: int, deadly: frozenset[int]) -> None:
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SETTINGS, folder / "logs")
        player = partial(play, deadly)
        for played in instant.runner(store, begun, SETTINGS, play=player, worker=local_worker, lanes=concurrency).run():
            print(played.result.game, flush=True)
        close(store, begun.tournament)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), frozenset(map(int, sys.argv[3:])))
