"""A program that plays, or goes on with, an instant tournament on real workers, and names each game once it is stored.

Usage: coordinator.py FOLDER CONCURRENCY
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from arena.store.store import open_store
from arena.tournament.plan import close
from arena.tournament.workers import local_workers
from tests import instant

SETTINGS = instant.settings(("ann", "bob", "cid", "ann"), players=3, deals=5)


def main(folder: Path, concurrency: int) -> None:
    with open_store(folder / "arena.db") as store:
        begun = instant.start(store, SETTINGS, folder / "logs")
        workers = partial(local_workers, concurrency)
        runner = instant.runner(store, begun, SETTINGS, workers=workers, in_flight=2 * concurrency)
        for played in runner.run():
            print(played.result.game, flush=True)
        close(store, begun.tournament)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
