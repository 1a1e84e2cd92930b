"""What runs in a Dask worker: a task that plays a block of games, and two questions about the machine.

Dask's faults that demand something here:
- It cannot end a task that is running (dask/distributed#4694): if whoever waits for it is killed, the task goes on, and
  the worker counts as free. So a task looks whether somebody still waits for it, and ends its player if not.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from arena.cluster.block import ANSWER, BROUGHT, MOST_BLOCK, ORDER, Answer, BlockOutcome, Failed, decode_answer, encode
from arena.core.face import errors, files

if TYPE_CHECKING:
    from distributed import Worker

BOTS: Final = "arena-bots"
"""The folder of bots that came as archives: beside the workers' own folders, so that those of a machine share it."""
SURVEY_S: Final = 60.0
"""Seconds that a look at a machine may take."""
BEGUN: Final = "arena-begun"
"""The topic of Dask's events that say of a block's next game that it begins: the key of the task, the task's folder."""
_LOOK_S: Final = 1.0
"""Seconds between two looks of a task whether somebody waits for it."""


def play_block(block: bytes, archives: Mapping[str, bytes]) -> bytes:
    """Plays a block in a process of its own. Returns the `BlockOutcome` as msgpack.

    Args:
        block: The `Block` as msgpack.
        archives: By digest the archives of bots that this machine lacks.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    own = Path(worker.local_directory)
    answers: tuple[Answer, ...]
    code = 0
    try:
        with TemporaryDirectory(prefix="arena-", dir=own, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            files.write(folder / ORDER, block)
            (folder / BROUGHT).mkdir()
            for digest, data in archives.items():
                files.write(folder / BROUGHT / digest, data)
            begun = partial(worker.log_event, BEGUN, (key, name))
            code = _run(folder, own.parent / BOTS, lambda: _is_awaited(worker, key), begun)
            read = partial(files.read, what="an answer of a player", most=MOST_BLOCK, error=errors.InternalError)
            answers = tuple(decode_answer(read(path, links=False)) for path in sorted(folder.glob(f"*{ANSWER}")))
    except (OSError, MemoryError) as error:
        answers = (Failed(str(error) or "out of memory", begun=False, of_machine=True),)
    return encode(
        BlockOutcome(
            address=worker.address,
            worker=str(worker.name),
            answers=answers,
            ended=f"it was ended by signal {-code}" if code < 0 else f"it exited with status {code}" if code else "",
            killed=-code in (signal.SIGKILL, signal.SIGTERM),
        )
    )


def _run(folder: Path, bots: Path, is_awaited: Callable[[], bool], begun: Callable[[], object]) -> int:
    """Runs the player to its end, or as long as somebody waits for it. Returns how it ended.

    Before each game it writes a byte to its standard input, which is a socket, and waits for one, until `begun` was
    called.
    """
    command = [sys.executable, "-m", "arena.cluster.player", str(folder), str(bots)]
    here, there = socket.socketpair()
    here.settimeout(_LOOK_S)
    with here, there, subprocess.Popen(command, stdin=there.fileno(), stdout=2) as player:
        there.close()
        try:
            while player.poll() is None:
                with suppress(OSError):  # it said nothing for a while, or ends
                    if not (word := here.recv(1)):
                        return player.wait()
                    if is_awaited():
                        begun()
                        here.sendall(word)
                if not is_awaited():
                    player.kill()
            return player.returncode
        finally:
            player.kill()


def _is_awaited(worker: Worker, key: Any) -> bool:
    """Tells whether somebody waits for a task that is running, and can be told what came of it."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state != "cancelled" and worker.status.name not in ("closing", "closed", "failed")


def clock() -> float:
    """Returns the time of day: seconds since 1970 (UTC)."""
    return time.time()


async def survey() -> bytes:
    """Returns the `MachineFacts` of this machine as msgpack.

    Raises:
        MachineFault: It could not be looked at.
    """

    def look() -> bytes:
        try:
            command = [sys.executable, "-m", "arena.cluster.survey"]
            return subprocess.run(command, capture_output=True, timeout=SURVEY_S, check=True).stdout
        except subprocess.CalledProcessError as error:
            raise errors.MachineFault(f"it ended with status {error.returncode}: {error.stderr[-500:]!r}") from None

    return await asyncio.to_thread(look)
