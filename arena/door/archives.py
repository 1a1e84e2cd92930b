"""Checks an archive at the door, before the league sees it."""

from __future__ import annotations

from pathlib import Path

from arena import archives
from arena.door.refusals import Refusal
from arena.errors import ArchiveError


def check(archive: Path) -> str:
    """Returns the digest of an archive that keeps the rules. Nothing is unpacked.

    Raises:
        Refusal: It breaks a rule.
    """
    try:
        return archives.check(archive).digest
    except ArchiveError as error:
        reason, _, remedy = str(error).rpartition("; ")
        raise Refusal(
            "archive",
            reason or remedy,
            remedy if reason else "pack the bot again with `arena league submit`",
            rule=error.rule,
            path=error.path,
            limit="" if error.limit is None else str(error.limit),
        ) from None
