"""What runs in a Dask worker: it starts a lane's player, hands it orders, and says while it waits that it lives.

Lanes are opened and closed beside the worker's tasks, at once; orders are tasks, pinned to one worker. A lane has a
token, which only the process knows that opened it. So a task that Dask runs in another process, because the first is
gone, does nothing there.
"""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena import files, resources
from arena.cluster.orders import BROUGHT, Ended, encode, read_frame, write_frame
from arena.errors import ConfigError, MachineFault

if TYPE_CHECKING:
    from distributed import Worker

BOTS: Final = "arena-bots"
"""The folder of bots that came as archives: beside the workers' own folders, so that those of a machine share it."""
BEAT_S: Final = 1.0
"""How often a lane with a game says that it lives."""
SURVEY_S: Final = 60.0
"""How long a look at a machine may take."""
END_S: Final = 3.0
"""How long a player may take to end."""


class Opened(msgspec.Struct, frozen=True):
    """What a worker says when a lane was opened on it."""

    version: str
    """Of arena there."""
    player: int
    """The player's process, on its machine."""


class _Lane:
    """A player, and who waits for it."""

    def __init__(self, folder: Path, bots: Path) -> None:
        folder.mkdir(mode=0o700)
        (folder / BROUGHT).mkdir()
        self.folder = folder
        self.is_closed = False
        self.keep()
        self.turn = threading.Lock()
        """Held while the player has an order: a worker with several threads gives it one at a time, too."""
        self.player = subprocess.Popen(
            [sys.executable, "-m", "arena.cluster.player", str(folder), str(bots)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.player.stdin is not None
        assert self.player.stdout is not None
        self.orders = self.player.stdin.fileno()
        self.answers = self.player.stdout.fileno()

    def keep(self) -> None:
        """Notes that somebody still wants the lane."""
        self.wanted = time.monotonic()

    def ended(self) -> Ended:
        """Says how the player ended."""
        with suppress(subprocess.TimeoutExpired):
            self.player.wait(END_S)
        code = self.player.poll()
        if code is None:
            return Ended("it closed its pipe", killed=False)
        if code >= 0:
            return Ended(f"it exited with status {code}", killed=False)
        return Ended(f"it was ended by signal {-code}", killed=-code in (signal.SIGKILL, signal.SIGTERM))

    def close(self) -> None:
        """Ends the player with all its bots: an idle one so that it says goodbye to them."""
        is_idle = self.turn.acquire(blocking=False)
        if not is_idle:
            self.player.kill()  # whoever waits for it reads the end of its pipe
            self.turn.acquire()
        self.is_closed = True
        self.turn.release()
        with self.player:  # closes the pipes, and waits
            assert self.player.stdin is not None
            self.player.stdin.close()
            try:
                self.player.wait(END_S)
            except subprocess.TimeoutExpired:
                self.player.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


_lanes: Final[dict[str, _Lane]] = {}
"""By token."""


async def open_lane(token: str, idle_s: float, dask_worker: Worker) -> bytes:
    """Starts a player. Returns `Opened` as msgpack.

    Args:
        token: The lane's.
        idle_s: The lane ends if it is idle for so long and `keep_lane` is not called: who opened it is gone.
        dask_worker: The worker; Dask gives it by the argument's name.
    """
    own = Path(dask_worker.local_directory)
    lane = _lanes[token] = await asyncio.to_thread(_Lane, own / f"arena-{token}", own.parent / BOTS)
    threading.Thread(target=_guard, args=(token, lane, idle_s), daemon=True).start()
    return msgspec.msgpack.encode(Opened(resources.code_version(), lane.player.pid))


async def bring(token: str, parcel: str, offset: int, data: bytes) -> None:
    """Puts a piece of a bot's archive into a lane's folder.

    Args:
        token: The lane's.
        parcel: The archive's digest.
        offset: Where the piece begins. Those before it are there.
        data: The piece.

    Raises:
        ConfigError: There is no such lane, or a piece is missing.
        OSError: It cannot be written.
    """
    lane = _lanes.get(token)
    path = Path() if lane is None else lane.folder / BROUGHT / parcel
    if lane is None or offset != (path.stat().st_size if path.exists() else 0):
        raise ConfigError(f"expected the archive {parcel[:12]}… in order, got: another piece of it, or no lane")
    lane.keep()
    await asyncio.to_thread(files.append, path, data)


def clock() -> float:
    """Returns the time of day: seconds since 1970 (UTC)."""
    return time.time()


async def survey() -> bytes:
    """Returns the `Facts` of this machine as msgpack.

    Raises:
        MachineFault: It could not be looked at.
    """

    def look() -> bytes:
        try:
            command = [sys.executable, "-m", "arena.cluster.survey"]
            return subprocess.run(command, capture_output=True, timeout=SURVEY_S, check=True).stdout
        except subprocess.CalledProcessError as error:
            raise MachineFault(f"it ended with status {error.returncode}: {error.stderr[-500:]!r}") from None

    return await asyncio.to_thread(look)


def keep_lane(token: str) -> None:
    """Says that an idle lane is still wanted."""
    if token in _lanes:
        _lanes[token].keep()


def _guard(token: str, lane: _Lane, idle_s: float) -> None:
    while not lane.is_closed:
        time.sleep(BEAT_S)
        if not lane.turn.locked() and time.monotonic() > lane.wanted + idle_s and _lanes.pop(token, None) is not None:
            lane.close()


async def close_lane(token: str) -> None:
    """Ends a lane's player, if there is one."""
    lane = _lanes.pop(token, None)
    if lane is not None:
        await asyncio.to_thread(lane.close)


def order(token: str, topic: str, content: bytes) -> bytes:
    """Hands an order to the lane's player, and returns the answer. While it waits, it sends the token to the topic.

    If nobody waits for the answer any more, the lane ends.
    """
    lane = _lanes.get(token)
    if lane is None:
        why = f"process {os.getpid()} there has no such lane; the worker began anew, or nobody wanted the lane for long"
        return encode(Ended(why, killed=True))
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    with lane.turn:
        if lane.is_closed:
            return encode(Ended("its lane was closed", killed=True))
        try:
            write_frame(lane.orders, content)
        except OSError:
            return encode(lane.ended())
        while True:
            lane.keep()
            worker.log_event(topic, token)
            if select.select([lane.answers], [], [], BEAT_S)[0]:
                return read_frame(lane.answers) or encode(lane.ended())
            if not _is_awaited(worker, key):
                lane.player.kill()


def _is_awaited(worker: Worker, key: Any) -> bool:
    """Tells whether somebody waits for a task that is running: whoever submitted it may have ended, or given it up."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state != "cancelled"
