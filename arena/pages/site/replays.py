"""Makes the replays of a site: for each game a script with its frames, packed, made once and never changed.

A script calls one function with its data, because a page that is opened from disk may load scripts and nothing else.
What games share (symbols, the board) is a script of its own for all of them.
"""

from __future__ import annotations

import gzip
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from arena.core.face import errors, files, layouts, log_records, places, processor_cores
from arena.core.face import replays as text_replays
from arena.pages.frames import FORMAT, film
from arena.pages.security import json_in_script
from arena.pages.site.parts import write_asset
from arena.pages.site.places import hide_in

FOLDER: Final = f"replays-{FORMAT}"
"""Frames of another form lie elsewhere: they are made again. `replay.js` has the same name."""
FEW: Final = 16
"""So few games are made sooner than a process is started."""
_INLINE: Final = 2_000
"""Bytes of a ground from which on games share it: one that differs from game to game is smaller."""
SHARED: Final = ("drawing-", "scenery-")
"""Prefix of the names of assets that only replays need."""
_SHARED: Final = ("symbols", "ground")
_NICENESS: Final = 10
_PICTURE_WIDTH: Final = 80  # columns


class Reel(msgspec.Struct, frozen=True):
    """A replay to be made."""

    number: int
    log: str
    site: str
    tournament: str
    bots: tuple[str, ...]
    """The names by seat under which the bots were entered: a log has the same for two copies of a bot."""
    displays: tuple[str, ...]
    """Their names in any script, where they have one."""
    hidden: tuple[tuple[str, str], ...] = ()


def name_of(number: int) -> str:
    """Returns the path of a game's replay in its tournament's folder.

    >>> name_of(12345)
    'replays-1/012/012345.js'
    """
    return f"{FOLDER}/{number // 1000:03}/{number:06}.js"


def made(folder: Path) -> set[int]:
    """Returns the numbers of the games whose replays are in a tournament's folder."""
    return {
        int(path.stem)
        for part in (folder / FOLDER).glob("[0-9]*")
        for path in part.glob("*.js")
        if path.stem.isdigit() and path.name == f"{path.stem}.js"
    }


def last_moment(reel: Reel) -> bytes:
    """Returns the end of a game as a picture (PNG), with the eyes of all; empty if it cannot be drawn."""
    data = BytesIO()
    with suppress(Exception):  # why is said of the game's replay
        shown = text_replays.Replay(_log(reel))
        layouts.picture(shown.draw(len(shown.frames) - 1, _PICTURE_WIDTH), _PICTURE_WIDTH).save(data, "png")
    return data.getvalue()


def make(reel: Reel) -> tuple[int, str]:
    """Makes a replay. Returns the game's number, and why there is none; empty if there is one."""
    try:
        data, style = film(_log(reel), whole=True)
    except errors.ArenaError as error:
        return reel.number, str(error)
    except Exception as error:  # the drawing may be another package's: its bug costs this replay, and no page
        return reel.number, f"{reel.log} cannot be drawn: {type(error).__name__}: {error}"
    for seat, display in zip(data["seats"], reel.displays, strict=True):
        seat["display"] = display
    site = Path(reel.site)
    shared = {key: data.pop(key) for key in _SHARED if key == "symbols" or len(data[key]) >= _INLINE}
    drawing = write_asset(site, "drawing.css", style.encode())
    scenery = write_asset(site, "scenery.js", f"arena.scenery({json_in_script(shared)});\n".encode())
    packed = b64encode(gzip.compress(msgspec.json.encode(data), 9, mtime=0)).decode()
    path = site / reel.tournament / name_of(reel.number)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, f'arena.frames("{scenery}","{drawing}","{packed}");\n'.encode())
    return reel.number, ""


def _log(reel: Reel) -> log_records.Log:
    log = hide_in(log_records.read_log(Path(reel.log)), places.Places(reel.hidden))
    bots = [replace(bot, name=name) for bot, name in zip(log.header.bots, reel.bots, strict=True)]
    return replace(log, header=replace(log.header, bots=bots))


def make_all(reels: Iterable[Reel], count: int, processes: int, seconds: float | None) -> Iterator[tuple[int, str]]:
    """Makes replays, in so many processes if there are many. Yields what `make` returns for each that was made.

    Args:
        reels: The replays, the most wanted first.
        seconds: After this time none is begun any more; None means all are made.

    Raises:
        MachineFault: A process was ended from outside.
        OSError: A replay cannot be written.
    """
    end = None if seconds is None else time.monotonic() + seconds
    wanted = _until(reels, end)
    if processes < 2 or count < FEW:
        yield from map(make, wanted)
        return
    try:
        with processor_cores.Readers(processes, _NICENESS) as workers:
            running: set[Future[Any]] = set()
            for reel in wanted:
                running.add(workers.submit(make, reel))
                if len(running) >= 4 * processes:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            yield from (future.result() for future in running)
    except BrokenExecutor as error:
        raise errors.MachineFault(f"a process that made replays was ended: {error}; give the command again") from error


def _until(reels: Iterable[Reel], end: float | None) -> Iterator[Reel]:
    for reel in reels:
        if end is not None and time.monotonic() >= end:
            return
        yield reel
