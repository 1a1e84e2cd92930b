"""The headers of an archive: those of POSIX's ustar, each in the one form that `header` writes.

The bytes of a header decide a bot's identity, so they are written here: the standard library's differ between versions
of Python. It reads them. A header that is read is written again and compared, so that whatever else tar knows (owners,
times, numbers in base 256) is refused without being understood.

Whole archives are not read by `tarfile`: it reads a long name of any size into memory, it takes a damaged header for
the end, and a chain of extended headers exhausts its stack.
"""

from __future__ import annotations

import tarfile
from typing import Final

from arena.author.archives.base import Entry, Rule, bad_path, broken, check_path

BLOCK: Final = 512
"""Bytes of a header. Contents are filled up to a multiple of it."""
END: Final = bytes(2 * BLOCK)
"""What follows the last entry."""
_NAME, _PREFIX = 100, 155
_SUM_AT, _SUM_LENGTH = 148, 8
_KINDS: Final = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.DIRTYPE: "a folder",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}


def header(entry: Entry) -> bytes:
    """Returns the header of an entry.

    Raises:
        ArchiveError: Its path may not stand in an archive.
    """
    prefix, name = _split(entry.path)
    block = b"".join(
        (
            name.ljust(_NAME, b"\0"),
            b"0000755\0" if entry.executable else b"0000644\0",
            b"0000000\0" * 2,
            b"%011o\0" % entry.size,
            b"%011o\0" % 0,
            b" " * _SUM_LENGTH,
            tarfile.REGTYPE,
            bytes(100),
            b"ustar\x0000",
            bytes(64),
            b"0000000\0" * 2,
            prefix.ljust(_PREFIX, b"\0"),
            bytes(12),
        )
    )
    return block[:_SUM_AT] + b"%06o\0 " % sum(block) + block[_SUM_AT + _SUM_LENGTH :]


def read_header(block: bytes) -> Entry:
    """Returns the entry that a header is about.

    Raises:
        ArchiveError: It is not a header that `header` writes.
    """
    info = parsed(block, Rule.HEADER)
    if info.type != tarfile.REGTYPE:
        raise broken(Rule.KIND, "regular files", kind_of(info), path=info.name)
    check_path(info.name)
    entry = Entry(info.name, info.size, bool(info.mode & 0o100))
    if info.size < 0 or header(entry) != block:
        expected = "a header of ustar with mode 644 or 755 and without owner and time"
        raise broken(Rule.HEADER, expected, "another one", path=info.name)
    return entry


def parsed(block: bytes, rule: Rule) -> tarfile.TarInfo:
    """Returns what a header says; a name that is not in UTF-8 is kept for `check_path` to refuse.

    Raises:
        ArchiveError: It is no header of tar; `rule` is the one that it breaks.
    """
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise broken(rule, "a header of tar", f"other bytes ({error})", "pack it again") from None


def kind_of(info: tarfile.TarInfo) -> str:
    """Returns what an entry is that is no regular file."""
    return _KINDS.get(info.type, f"an entry of kind {info.type!r}")


def padding(size: int) -> int:
    """Returns how many zeros follow a content."""
    return -size % BLOCK


def _split(path: str) -> tuple[bytes, bytes]:
    """Returns the two fields that a path is written to. The first one is as short as it can be."""
    check_path(path)
    encoded = path.encode()
    if len(encoded) <= _NAME:
        return b"", encoded
    at = encoded.find(b"/", len(encoded) - _NAME - 1)
    if not 0 < at <= _PREFIX:
        raise bad_path(f"a path with a / among the first {_PREFIX} bytes and the last {_NAME + 1}", path)
    return encoded[:at], encoded[at + 1 :]
