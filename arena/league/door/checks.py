"""Checks archives beside the door's loop, one after another, in a thread: to read one takes up to half a second.

Most of the work is zstd's and SHA-256's, which let the loop run meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from arena.author import archives
from arena.core.face import errors, files
from arena.league.door.messages import MAX_ARCHIVE
from arena.league.door.refusals import Refusal

Check: TypeAlias = Callable[[bytes], tuple[str, bytes]]
"""Returns the digest of what was sent, and its archive as the league keeps it, or raises `Refusal` if it breaks a rule.
It is called in a thread."""


class Checks:
    """The thread that checks archives."""

    def __init__(self, check: Check) -> None:
        """Takes what checks an archive."""
        self._check = check
        self._thread = ThreadPoolExecutor(1, "check of archives")

    async def packed(self, path: Path) -> str:
        """Puts the archive that the league keeps in the place of what was sent. Returns its digest.

        Raises:
            Refusal: It breaks a rule.
            OSError: The disk has failed.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._packed, path)

    def close(self) -> None:
        """Waits for the check that runs, and forgets the others."""
        self._thread.shutdown(cancel_futures=True)

    def _packed(self, path: Path) -> str:
        sent = files.read(path, "what was sent", MAX_ARCHIVE, errors.InternalError, links=False)
        digest, archive = self._check(sent)
        files.write(path, archive, durably=True, mode=0o600)
        return digest


def check(sent: bytes) -> tuple[str, bytes]:
    """Returns the digest of an archive, or of a zip of a bot's folder, and the archive that the league keeps.

    Raises:
        Refusal: It breaks a rule.
    """
    try:
        return archives.normalised(sent)
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
