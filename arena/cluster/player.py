"""The process that plays a block of games on a machine of a cluster: `python -m arena.cluster.player FOLDER BOTS`.

It is a process of its own, because a Dask worker runs tasks on threads, cannot end one that nobody waits for, and may
have no children by multiprocessing. The block lies in its folder, and it puts an answer there for each game. When its
standard input ends, the worker is gone, however that happened: then it ends at once, even amid a game, and its warden
ends the bots. Before it begins a game it writes a byte there, and waits for one: a game that nobody heard of is not
played.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.cluster.block import (
    ANSWER,
    BROUGHT,
    GAMES,
    MOST_BLOCK,
    ORDER,
    Answer,
    Block,
    Failed,
    GameDone,
    Lacking,
    decode_block,
    encode,
)
from arena.cluster.bots import CannotStart, StartableBots
from arena.cluster.delivery import Delivery, play_away
from arena.core.face import Job, confining, errors, files

_OF_TERMINALS: Final = (signal.SIGINT, signal.SIGHUP)
"""A terminal sends these to all its processes. The worker decides when its player ends."""
_HEARD: Final = threading.Semaphore(0)
"""Lets the next game begin."""


def main(folder: Path, bots: Path) -> None:
    """Plays the block in the player's folder, with the bots that came as archives in the other."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_worker, daemon=True).start()
    block = decode_block(files.read(folder / ORDER, "a block of games", MOST_BLOCK, errors.InternalError, links=False))
    for place, answer in enumerate(answers(block, folder, StartableBots(bots), _announce)):
        files.write(folder / f"{place:05}{ANSWER}", encode(answer))


def _announce() -> None:
    os.write(0, b".")
    _HEARD.acquire()


def _end_with_worker() -> None:
    try:
        while os.read(0, 1):
            _HEARD.release()
    finally:
        os._exit(1)


def answers(block: Block, folder: Path, bots: StartableBots, begin: Callable[[], object]) -> Iterator[Answer]:
    """Plays a block, and yields what came of each game, or why it was not begun. `begin` is called before each."""
    (folder / GAMES).mkdir()
    refusal = _tried(lambda: _prepare(block, folder / BROUGHT, bots), begun=False)
    if refusal is not None:
        yield refusal
        return
    for job in block.jobs:
        begin()
        answer = _tried(lambda job=job: GameDone(_play(block, job, folder, bots)), begun=True)  # type: ignore[misc]
        assert answer is not None
        yield answer
        if isinstance(answer, Failed) and answer.of_machine:
            return


def _prepare(block: Block, brought: Path, bots: StartableBots) -> Lacking | None:
    """Finds or builds the bots of a block. Returns which are neither here nor came with it, if there are any."""
    if not block.wants:
        return None
    level = block.jobs[0].level
    confining.require(level)
    lacking = bots.lacking(block.wants)
    wants = {want.bot.digest: want for want in block.wants}
    absent = tuple(digest for digest in lacking if not (brought / wants[digest].archive).is_file())
    if absent:
        return Lacking(absent)
    for digest in lacking:
        bots.build(wants[digest], brought / wants[digest].archive, level)
    return None


def _play(block: Block, job: Job, folder: Path, bots: StartableBots) -> Delivery:
    return play_away(replace(job, bots=bots.here(job.bots)) if block.wants else job, folder / GAMES)


def _tried(do: Callable[[], Answer | None], *, begun: bool) -> Answer | None:
    try:
        return do()
    except (OSError, MemoryError, errors.MachineFault) as error:
        return Failed(str(error) or "out of memory", begun, of_machine=True)
    except CannotStart as error:
        return Failed(str(error), begun, bot=error.digest)
    except errors.ArenaError as error:
        return Failed(str(error), begun)
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}", begun)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
