"""Keeps archives that authors are sending, until they are whole.

An upload belongs to an author and a digest, and what there is of it is a file: so it goes on where it stopped, whoever
was killed in between. An author has one; a new one ends the older. Each request announces it again, whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from arena.league.disk import DiskWatch
from arena.league.door.limits import UPLOAD_S
from arena.league.door.refusals import Refusal

UNANNOUNCED: Final = "0" * 64
"""The name of an upload without a digest."""


class Announced(msgspec.Struct, frozen=True):
    """An upload, as its author announced it."""

    bot: str
    digest: str | None
    """The digest of the archive; None if it was not announced. Then it cannot go on."""
    size: int

    @property
    def name(self) -> str:
        """The name of the upload."""
        return self.digest or UNANNOUNCED


def has_room(folder: Path) -> bool:
    """Tells whether the disk has room for uploads: as much as the league needs to receive something."""
    return DiskWatch(folder).look().enough


class Uploads:
    """The folder of uploads: `AUTHOR/DIGEST.part`."""

    def __init__(self, folder: Path, *, room: Callable[[Path], bool] = has_room) -> None:
        """Takes the folder, which exists, and who says whether its disk has room."""
        self._folder = folder
        self._room = room
        self._seen: dict[Path, tuple[int, float]] = {}
        """Size of each upload when it was last found to have changed, and when that was."""

    def begin(self, author: str, begun: Announced, offset: int) -> None:
        """Begins an upload, or goes on with it from an offset.

        Raises:
            Refusal: The disk has no room, or the upload goes on elsewhere.
        """
        self._need_room()
        part = self._part(author, begun.name)
        part.parent.mkdir(exist_ok=True)
        for path in part.parent.iterdir():
            if path != part or begun.digest is None:
                path.unlink()
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        _check_offset(offset, part.stat().st_size)

    def add(self, author: str, begun: Announced, offset: int, data: bytes) -> int:
        """Adds bytes to an upload. Returns how many there are then.

        Raises:
            Refusal: There is no such upload, the bytes do not continue it, or are more than were announced.
        """
        have, part = self.have(author, begun.name), self._part(author, begun.name)
        _check_offset(offset, have)
        if have + len(data) > begun.size:
            raise Refusal(
                "too_large", f"expected {begun.size} bytes in all, as announced, got: {have + len(data)}",
                "announce the archive's own size", limit="size", have=have,
            )  # fmt: skip
        self._need_room()
        descriptor = os.open(part, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            written = os.pwrite(descriptor, data, offset)
        finally:
            os.close(descriptor)
        return have + written

    def whole(self, author: str, begun: Announced) -> Path:
        """Returns the file of an upload that is complete.

        Raises:
            Refusal: There is no such upload, or bytes are missing.
        """
        have = self.have(author, begun.name)
        if have != begun.size:
            raise Refusal(
                "bad_offset",
                f"expected {begun.size} bytes, got: {have}",
                f"go on with `Upload-Offset: {have}`",
                have=have,
            )
        return self._part(author, begun.name)

    def have(self, author: str, upload: str) -> int:
        """Returns how many bytes of an upload are there.

        Raises:
            Refusal: There is no such upload.
        """
        part = self._part(author, upload)
        if not part.is_file():
            raise Refusal(
                "expired", f"expected an upload that was begun, got: {upload!r}", "begin it again, from the first byte"
            )
        return part.stat().st_size

    def drop(self, author: str, upload: str) -> None:
        """Forgets an upload: it was handed on, or its content is not what was announced."""
        self._part(author, upload).unlink(missing_ok=True)

    def expire(self, now: float) -> None:
        """Removes uploads that nothing was added to for long. Call it now and then, with the door's clock.

        A door that starts anew waits anew: the times of the files are of a clock that may jump.
        """
        seen = {}
        for part in self._folder.glob("*/*.part"):
            size = part.stat().st_size
            known, since = self._seen.get(part, (-1, now))
            seen[part] = (size, since if known == size else now)
            if now - seen[part][1] > UPLOAD_S:
                self.drop(part.parent.name, part.stem)
        self._seen = seen

    def _part(self, author: str, upload: str) -> Path:
        return self._folder / author / f"{upload}.part"

    def _need_room(self) -> None:
        if not self._room(self._folder):
            raise Refusal(
                "no_room",
                "expected room on the league's disk, got: too little",
                "try again later; the operator sees it too",
                retry_after_s=600,
            )


def _check_offset(offset: int, have: int) -> None:
    if offset != have:
        raise Refusal(
            "bad_offset",
            f"expected bytes from {have} on, got: from {offset} on",
            f"go on with `Upload-Offset: {have}`",
            have=have,
        )
