"""Parts that packing and reading share: limits, rules and their errors, entries, and how paths in an archive look."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

from arena.core.face import bot_manifests, errors, files, plain

FORMAT: Final = 1
LABEL: Final = ".arena-parcel"
"""The name of the first entry, which says what the archive is and where in it the bot lies."""
MOST_LABEL: Final = 1_024
"""Bytes of it."""
MOST_PATH: Final = 255
"""Bytes of a path."""
HERE: Final = "."
"""Path of the bot if its folder is the whole archive."""
_LONGEST_SHOWN: Final = 120
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Says whether a text has the form of an archive's digest, so that it may become the name of a file.

    >>> is_digest("0a" * 32), is_digest("0a" * 32 + "/"), is_digest("..")
    (True, False, False)
    """
    return _DIGEST.fullmatch(text) is not None


class Rule(StrEnum):
    """Rules that an archive keeps, by the names that errors have. docs/archives.md says what each asks."""

    PACKED = "packed"
    UNPACKED = "unpacked"
    ENTRIES = "entries"
    ZSTD = "zstd"
    ZIP = "zip"
    TAR = "tar"
    KIND = "kind"
    HEADER = "header"
    PATH = "path"
    ORDER = "order"
    LABEL = "label"
    MANIFEST = "manifest"
    PLACE = "place"
    LINK = "link"
    END = "end"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How large an archive may be."""

    packed: int = 16 * files.MIB
    unpacked: int = 128 * files.MIB
    """Bytes of all files in it."""
    entries: int = 10_000
    """Files, and folders that they lie in. What `cargo vendor` makes for the client in Rust has 7,000."""
    manifest: int = bot_manifests.MOST_MANIFEST


def within(mib: int) -> Limits:
    """Returns the limits of archives of at most so many MiB: unpacked they may have eight times as much."""
    return Limits(packed=mib * files.MIB, unpacked=8 * mib * files.MIB)


LIMITS: Final = Limits()
MOST: Final = within(files.MOST_ARCHIVE // files.MIB)
"""Limits of the largest archives that a league may take, and of those that one has taken already."""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """A file in an archive."""

    path: str
    """From the top of the archive, with `/` between names."""
    size: int
    executable: bool


class ArchivedBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that is in an archive."""

    digest: str
    """SHA-256 (hex) of the archive before it was compressed: the identity of the bot's files."""
    bot: str
    """The path of the bot's folder in it, or `.`."""
    manifest: bot_manifests.Manifest
    entries: tuple[ArchiveEntry, ...]
    """The files, sorted."""


class Label(msgspec.Struct, frozen=True):
    """The content of the first entry."""

    format: int
    bot: str
    """The path of the bot's folder, or `HERE`."""


_EXCEEDED: Final = {
    Rule.PACKED: "an archive of at most {:,} bytes",
    Rule.UNPACKED: "files of at most {:,} bytes in all",
    Rule.ENTRIES: "at most {:,} files and folders",
    Rule.MANIFEST: "a manifest of at most {:,} bytes",
}


def label_bytes(bot: str) -> bytes:
    """Returns the content of the first entry."""
    return msgspec.json.encode(Label(FORMAT, bot)) + b"\n"


def labelled(data: bytes) -> str | None:
    """Returns the path of the bot's folder, as the content of the first entry has it; None if it is another content.

    Raises:
        ArchiveError: No folder may lie there.
    """
    try:
        bot = msgspec.json.decode(data, type=Label).bot
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if bot != HERE:
        check_path(bot)
    return bot if label_bytes(bot) == data else None


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


def broken(
    rule: Rule, expected: str, got: str, remedy: str = "pack it with arena", *, path: str = "", limit: int | None = None
) -> errors.ArchiveError:
    """Returns the error about a rule that is broken, by the file at `path` if there is one."""
    said = shown(path)
    at = f" - at {said}" if said else ""
    return errors.ArchiveError(rule, f"expected {expected}, got: {got}{at}; {remedy}", path=said, limit=limit)


def exceeded(rule: Rule, limits: Limits, path: str = "") -> errors.ArchiveError:
    """Returns the error about a limit that is exceeded: the one that has the rule's name."""
    most: int = getattr(limits, rule)
    remedy = "leave out what the bot does not need"
    return broken(rule, _EXCEEDED[rule].format(most), "more", remedy, path=path, limit=most)


def shown(path: str) -> str:
    """Returns a path as it is safe to show, and not too long."""
    text = plain(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
