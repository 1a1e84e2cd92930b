"""What packing and reading share: limits, entries, and what a path in an archive may look like."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

from arena.core.face import bot_manifests, errors, files, plain

FORMAT: Final = 1
"""The number of the format."""
LABEL: Final = ".arena-parcel"
"""The name of the first entry, which says what the archive is and where in it the bot lies."""
MOST_LABEL: Final = 1_024
"""Bytes of it."""
MOST_PATH: Final = 255
"""Bytes of a path."""
HERE: Final = "."
"""Where the bot lies if its folder is the whole archive."""
_LONGEST_SHOWN: Final = 120
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Says whether a text has the form of an archive's digest, so that it may become the name of a file.

    >>> is_digest("0a" * 32), is_digest("0a" * 32 + "/"), is_digest("..")
    (True, False, False)
    """
    return _DIGEST.fullmatch(text) is not None


class Rule(StrEnum):
    """The rules that an archive keeps, by the names that errors have."""

    PACKED = "packed"
    """Its size does not exceed the limit."""
    ZSTD = "zstd"
    """It is one frame of zstd with a window of at most 8 MiB, whole, and nothing follows."""
    HEADER = "header"
    """Every entry has the one header that `pack` writes for its path, size and kind."""
    KIND = "kind"
    """Entries are regular files: no links, devices, pipes, folders, long names or sparse files."""
    PATH = "path"
    """Paths lead down from the top, in UTF-8, with visible characters, and are not too long."""
    ORDER = "order"
    """Entries are sorted by their paths. So no path comes twice, and none is a file and a folder."""
    ENTRIES = "entries"
    """There are not more files and folders than the limit."""
    UNPACKED = "unpacked"
    """Their contents have not more bytes than the limit."""
    LABEL = "label"
    """The first entry is `.arena-parcel`, in this format."""
    MANIFEST = "manifest"
    """The bot's folder has a manifest that can be used."""
    END = "end"
    """The archive ends with two empty blocks, and nothing follows."""
    LINK = "link"
    """(When packing) symbolic links lead to files of the bot."""
    PLACE = "place"
    """What the manifest names lies in the archive; when packing, in the bot's folder or beside it."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How large an archive may be."""

    packed: int = 16 * files.MIB
    """Bytes of the archive."""
    unpacked: int = 128 * files.MIB
    """Bytes of all files in it."""
    entries: int = 10_000
    """Files, and folders that they lie in. What `cargo vendor` makes for the client in Rust has 7,000."""
    manifest: int = bot_manifests.MOST_MANIFEST
    """Bytes of the manifest."""


LIMITS: Final = Limits()


class Entry(msgspec.Struct, frozen=True):
    """A file in an archive."""

    path: str
    """From the top of the archive, with `/` between names."""
    size: int
    """Bytes."""
    executable: bool


class Label(msgspec.Struct, frozen=True):
    """The content of the first entry."""

    format: int
    """`FORMAT`."""
    bot: str
    """The path of the bot's folder, or `HERE`."""


def parts(path: str) -> tuple[bytes, ...]:
    """Returns what paths are sorted by: a folder's files come together, and before what is named like it and more."""
    return tuple(path.encode().split(b"/"))


def check_path(path: str) -> None:
    r"""Checks that a path may stand in an archive.

    >>> check_path("vendor/é/lib.rs")
    >>> check_path("../key")
    Traceback (most recent call last):
        ...
    arena.core.errors.ArchiveError: expected a path below the top of the archive, got: '../key'; rename the file

    Raises:
        ArchiveError: It may not.
    """
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise bad_path("a path in UTF-8", path) from None
    if not path.isprintable():
        raise bad_path("a path of visible characters", path)
    if any(name in ("", ".", "..") for name in path.split("/")):
        raise bad_path("a path below the top of the archive", path)
    if size > MOST_PATH:
        raise bad_path(f"a path of at most {MOST_PATH} bytes", path, MOST_PATH)


def bad_path(expected: str, path: str, limit: int | None = None) -> errors.ArchiveError:
    """Returns the error about a path that may not stand in an archive."""
    said = shown(path)
    return errors.ArchiveError(
        Rule.PATH, f"expected {expected}, got: '{said}'; rename the file", path=said, limit=limit
    )


def shown(path: str) -> str:
    """Returns a path as it is safe to show, and not too long."""
    text = plain(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
