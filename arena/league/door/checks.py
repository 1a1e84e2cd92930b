"""Checks archives beside the door's loop, one after another, in a thread: to read one takes up to half a second.

Laws:
1. An author has one archive that is checked. Until that is known, the author sends nothing of another: so what is
   handed on is what was checked.
2. Most of the work is zstd's and SHA-256's, which let the loop run meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import msgspec

from arena.author import archives
from arena.core.face import errors
from arena.league.door.refusals import Refusal
from arena.league.door.uploads import Begun, sync

Check: TypeAlias = Callable[[Path], str]
"""Returns the digest of an archive, or raises `Refusal` if the archive breaks a rule. It is called in a thread."""


class Checking(msgspec.Struct, frozen=True):
    """An archive that is being checked."""

    author: str
    number: int
    """The request that it came with."""
    begun: Begun
    """What was announced."""
    path: Path
    """The archive."""
    digest: Future[str]
    """What the check finds; it may raise `Refusal` or `OSError`."""


class Checks:
    """The archives that are being checked."""

    def __init__(self, check: Check) -> None:
        """Takes what checks an archive."""
        self._check = check
        self._thread = ThreadPoolExecutor(1, "check of archives")
        self._authors: set[str] = set()

    def begin(self, author: str, number: int, begun: Begun, path: Path) -> Checking:
        """Has an archive checked, once it is on the disk."""
        self._authors.add(author)
        return Checking(author, number, begun, path, self._thread.submit(self._of, path))

    def end(self, checking: Checking) -> str:
        """Returns the digest of an archive whose check is done.

        Raises:
            Refusal: It breaks a rule, or is another than was announced.
            OSError: The disk has failed.
        """
        self._authors.discard(checking.author)
        digest, announced = checking.digest.result(), checking.begun.digest
        if digest != announced:
            raise Refusal(
                "digest",
                f"expected an archive with the digest {announced}, got: {digest}",
                "pack the bot again, and submit that",
            )
        return digest

    def need_none(self, author: str) -> None:
        """Checks that an author may begin, send or finish an upload.

        Raises:
            Refusal: An archive of this author is being checked.
        """
        if author in self._authors:
            raise Refusal(
                "too_many",
                "expected nothing more of an archive while the one before is checked, got: more",
                "try again in 1 s",
                limit="waiting",
                retry_after_s=1,
            )

    def close(self) -> None:
        """Waits for the check that runs, and forgets the others."""
        self._thread.shutdown(cancel_futures=True)

    def _of(self, path: Path) -> str:
        sync(path)
        return self._check(path)


def check(archive: Path) -> str:
    """Returns the digest of an archive that keeps the rules. Nothing is unpacked.

    Raises:
        Refusal: It breaks a rule.
    """
    try:
        return archives.check(archive).digest
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
