"""A program that plays, or goes on with, an instant tournament on real workers, and names each game once it is stored.

Usage: coordinator.py FOLDER NAME CONCURRENCY [DEADLY]

NAME is that of a tournament in `tests.once_kit.KINDS`. DEADLY games kill the worker that first plays them.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from arena.referee.job import Job
from arena.standings.closing import close
from arena.store.store import open_store
from arena.tournament.workers import local_worker
from arena.types import GameResult
from tests import instant
from tests.once_kit import KINDS


def play(deadly: frozenset[int], job: Job) -> GameResult:
    mark = Path(job.logs).with_name(job.game)
    if int(job.game.rpartition("-")[2]) in deadly and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return instant.play(job)


def main(folder: Path, name: str, concurrency: int, deadly: frozenset[int]) -> None:
    settings = KINDS[name]
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, settings, folder / "logs")
        player = partial(play, deadly)
        for played in instant.runner(store, begun, settings, play=player, worker=local_worker, lanes=concurrency).run():
            print(played.result.game, flush=True)
        close(store, begun.tournament)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), frozenset(map(int, sys.argv[4:])))
