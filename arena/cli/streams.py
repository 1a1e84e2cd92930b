"""Sets up the standard streams: what is printed on them ends no command.

Laws:
1. A message is no data. Who cannot be told anything any more (closed stderr, full disk, terminal gone) ends no play.
2. A reader of stdout that goes away (`| head`) has what it wanted: the command ends with 0.
3. A character that the stream's encoding lacks is replaced by one that is like it.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import select
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LIKE: Final = str.maketrans("─━═│┃║±…·•—→←█\u00d7", "--=|||~...-><#x")
_REPLACED: Final = "arena.replaced"


class ReaderGone(BrokenPipeError):
    """Nobody reads stdout any more."""


class _Raw(io.FileIO):
    """A descriptor that waits if it is full, and whose losses are told as `ReaderGone`, or not at all."""

    def __init__(self, descriptor: int, *, loses: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._loses = loses

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            while (written := super().write(data)) is None:  # O_NONBLOCK, and full
                select.select([], [self], [])
        except OSError as error:
            if self._loses:
                return memoryview(data).nbytes
            raise (ReaderGone if isinstance(error, BrokenPipeError) else error) from None  # click alters EPIPE
        return written


def set_up() -> None:
    """Makes the streams obey these laws. Takes out of the environment what would stop whoever prints a time or a table.

    What is closed of the three is opened to nowhere: files that are opened later would be in its place.
    """
    codecs.register_error(_REPLACED, _replaced)
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, closefd=False))
    for name in ("stdout", "stderr"):
        old = getattr(sys, name)
        raw = io.BufferedWriter(_Raw(old.fileno(), loses=name == "stderr"))
        setattr(sys, name, io.TextIOWrapper(raw, old.encoding, _REPLACED, line_buffering=old.line_buffering))
    for name in ("COLUMNS", "LINES"):
        if not re.fullmatch("0*[1-9][0-9]{0,3}", os.environ.get(name, "1"), re.ASCII):
            del os.environ[name]
    if max(abs(time.timezone), abs(time.altzone)) >= 24 * 3600:  # Python has no such zone
        os.environ["TZ"] = "UTC"
        time.tzset()


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_LIKE)
    return "".join(char if char.isascii() else "?" for char in text), error.end


def drop_unprintable() -> None:
    """Drops what the streams hold and cannot write: Python would try again, and end with a status of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
