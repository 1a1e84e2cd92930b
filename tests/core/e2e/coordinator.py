"""A program that plays, or goes on with, an instant tournament on real workers, and names each game once it is stored.

Usage: coordinator.py FOLDER NAME CONCURRENCY [DEADLY]

NAME is that of a tournament in `tests.once_kit.KINDS`. DEADLY games kill the worker that first plays them.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from arena.core.standings.closing import close
from arena.core.store.store import open_store
from arena.core.tournament.workers import local_worker
from tests import instant
from tests.once_kit import KINDS


def main(folder: Path, name: str, concurrency: int, deadly: frozenset[int]) -> None:
    settings = KINDS[name]
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, settings, folder / "logs")
        player = partial(instant.play_or_die, deadly)
        for played in instant.runner(store, begun, settings, play=player, worker=local_worker, lanes=concurrency).run():
            print(played.result.game, flush=True)
        close(store, begun.tournament)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), frozenset(map(int, sys.argv[4:])))
