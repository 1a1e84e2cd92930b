"""The process that plays the games of a lane on a machine of a cluster: `python -m arena.cluster.player FOLDER BOTS`.

It is a process of its own, because a Dask worker runs tasks on threads, and may not have children by multiprocessing.
It reads orders from its standard input. When that ends, whoever gave them is gone, however that happened: then it ends
at once, even amid a game, and its warden ends the bots.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from msgspec.structs import replace

from arena.cluster.bots import Bots, CannotStart
from arena.cluster.delivery import play_away
from arena.cluster.orders import (
    BROUGHT,
    GAMES,
    Answer,
    Attend,
    Build,
    Done,
    Failed,
    Lacking,
    Need,
    Order,
    Play,
    decode_order,
    encode,
    read_frame,
    write_frame,
)
from arena.errors import ArenaError, MachineFault
from arena.link.sandbox.doctor import require
from arena.referee.worker import attend

_OF_TERMINALS: Final = (signal.SIGINT, signal.SIGHUP)
"""A terminal sends these to all its processes. The lane decides when its player ends."""


def main(folder: Path, bots: Path) -> None:
    """Does what is ordered until nobody orders any more.

    Args:
        folder: The lane's own folder.
        bots: The folder of the bots that came as archives.
    """
    (folder / GAMES).mkdir()
    hand = _Hand(folder, Bots(bots))
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)  # what prints shall not speak between the answers
    listener = _Listener(0)
    listener.start()
    while (order := listener.waiting.get()) is not None:
        with listener.busy:
            if listener.is_alone:
                return
            write_frame(answers, encode(hand.obey(decode_order(order))))


class _Listener(threading.Thread):
    """Reads orders, and ends the process when there can be no more: by an exit that kills the bots if it is busy."""

    def __init__(self, pipe: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self.waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self.busy = threading.Lock()
        """Held while an order is obeyed."""
        self.is_alone = False
        """Nobody orders any more."""

    def run(self) -> None:
        while (frame := read_frame(self._pipe)) is not None:
            self.waiting.put(frame)
        self.is_alone = True
        if self.busy.locked():
            os._exit(1)
        self.waiting.put(None)


class _Hand:
    """Does what is ordered."""

    def __init__(self, folder: Path, bots: Bots) -> None:
        self._folder = folder
        self._bots = bots

    def obey(self, order: Order) -> Answer:
        try:
            return self._obey(order)
        except (OSError, MemoryError, MachineFault) as error:
            return Failed(str(error) or "out of memory", of_machine=True)
        except CannotStart as error:
            return Failed(str(error), of_machine=False, bot=error.digest)
        except ArenaError as error:
            return Failed(str(error), of_machine=False)
        except Exception as error:
            return Failed(f"{type(error).__name__}: {error}", of_machine=False)

    def _obey(self, order: Order) -> Answer:
        match order:
            case Need(wants, level, anew):
                require(level)
                return Lacking(self._bots.lacking(wants, anew=anew))
            case Build(want, level):
                archive = self._folder / BROUGHT / want.parcel
                try:
                    self._bots.build(want, archive, level)
                finally:
                    archive.unlink(missing_ok=True)
                return Done()
            case Play(job, here):
                if not here:
                    job = replace(job, bots=self._bots.here(job.bots))
                return Done(play_away(job, self._folder / GAMES))
            case Attend():
                attend()
                return Done()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
