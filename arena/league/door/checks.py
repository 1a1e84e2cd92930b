"""Checks archives beside the door's loop, one after another, in a thread: to read 16 MiB takes up to half a second.

Most of the work is zstd's and SHA-256's, which let the loop run meanwhile.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from arena.author import archives
from arena.core.face import errors
from arena.league.door.refusals import Refusal

Check: TypeAlias = Callable[[Path, int], str]
"""Puts the archive that the league keeps in the place of what was sent, of so many MiB at most, and returns its digest.
It raises `Refusal` if that breaks a rule. It is called in a thread."""


class ArchiveChecks:
    """The thread that checks archives."""

    def __init__(self, check: Check) -> None:
        """Takes what checks an archive."""
        self._check = check
        self._thread = ThreadPoolExecutor(1, "check of archives")

    async def packed(self, path: Path, mib: int) -> str:
        """Puts the archive that the league keeps in the place of what was sent. Returns its digest.

        It has at most so many MiB, and is on the disk then.

        Raises:
            Refusal: It breaks a rule.
            OSError: The disk has failed.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._packed, path, mib)

    def close(self) -> None:
        """Waits for the check that runs, and forgets the others."""
        self._thread.shutdown(cancel_futures=True)

    def _packed(self, path: Path, mib: int) -> str:
        digest = self._check(path, mib)
        with open(path, "rb") as archive:
            os.fsync(archive.fileno())
        return digest


def check(path: Path, mib: int) -> str:
    """Puts a bot's archive in the place of one, or of a zip of its folder, and returns its digest.

    Raises:
        Refusal: It breaks a rule.
    """
    try:
        return archives.normalise(path, archives.within(mib), path.parents[2])  # `incoming`: it may be large for memory
    except errors.ArchiveError as error:
        reason, _, remedy = str(error).rpartition("; ")
        raise Refusal(
            "archive",
            reason or remedy,
            remedy if reason else "pack the bot again with `arena league submit`",
            rule=error.rule,
            path=error.path,
            limit="" if error.limit is None else str(error.limit),
        ) from None
