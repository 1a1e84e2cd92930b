"""What a game leaves beside its result, carried from where it was played to where it is kept.

Laws:
1. A game writes into a folder of its own there. What it wrote travels as bytes, and only the one who also stores the
   result writes it here. So a game that counts for nothing leaves nothing but a line that it was begun.
2. What comes is checked before any of it is written: the names are those that this game may have, the log is the one
   that the result names.
3. The log is written last, and is on the disk before the result is known to anybody.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core.face import GameResult, Job, compression, errors, files, game_worker, log_records

MOST_FILE: Final = 64 * files.MIB  # the largest file that is carried


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A game that was played elsewhere."""

    result: GameResult
    files: dict[str, bytes]
    """Files by name: the log, and what bots printed and sent."""


def play_away(job: Job, folder: Path) -> Delivery:
    """Plays a game, and returns what is to be kept of it.

    Args:
        job: The game. Its own folder for logs is not touched: it may not even exist here.
        folder: An empty folder, which is empty again afterwards.

    Raises:
        ArenaError: It could not be played.
        OSError: The folder cannot be written.
    """
    try:
        result = game_worker.play(replace(job, logs=str(folder)))
        written = {
            path.name: files.read(path, "a file of a game", MOST_FILE, errors.InternalError, links=False)
            for path in sorted(folder.iterdir())
            if path.suffix != log_records.BEGUN  # that is noted where the result is kept
        }
        return Delivery(result=result, files=written)
    finally:
        for path in folder.iterdir():
            path.unlink()


def take(job: Job, delivery: Delivery) -> GameResult:
    """Writes what a game left into the folder of its job, and returns the result.

    Raises:
        InternalError, LogError: It is not what this game leaves. Nothing was written.
        OSError: It cannot be written. There is no result.
    """
    result = delivery.result
    log = (plain := f"{job.game}{log_records.SUFFIX}") + compression.SUFFIX * job.packed
    if result.game != job.game or result.log != plain or len(result.seats) != len(job.bots):
        raise errors.InternalError(f"expected the result of game {job.game}, got: that of {result.game!r:.80}")
    parts = {f"{job.game}.seat{seat}.{kind}" for seat in range(len(job.bots)) for kind in ("output", "transcript")}
    if strange := delivery.files.keys() - {log, *parts}:
        raise errors.InternalError(f"expected the files of game {job.game}, got one of the name {min(strange)!r:.120}")
    if log not in delivery.files:
        raise errors.InternalError(f"expected the log of game {job.game} with its result, got: none")
    whole = compression.expand(delivery.files[log], log) if job.packed else delivery.files[log]
    if hashlib.sha256(whole).hexdigest() != result.log_sha256:
        raise errors.InternalError(f"expected the log of game {job.game} as its result names it, got: another one")
    folder = Path(job.logs)
    for name, data in delivery.files.items():
        if name != log:
            files.write(folder / name, data)
    files.write(folder / log, delivery.files[log], durably=True)
    if not job.begun:
        (folder / plain).with_suffix(log_records.BEGUN).unlink(missing_ok=True)
    return result
