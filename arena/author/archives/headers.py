"""The headers of an archive: those of POSIX's ustar, each in the one form that these functions write.

The format is small, and its bytes decide a bot's identity. So they are written here: the standard library's differ
between versions of Python. A header that is read is written again and compared, so that whatever else tar knows (links,
devices, owners, times, numbers in base 256, extensions) is refused without being understood.
"""

from __future__ import annotations

from typing import Final

from arena.author.archives.base import Entry, Rule, bad_path, check_path, shown
from arena.core.face import errors

BLOCK: Final = 512
"""Bytes of a header. Contents are filled up to a multiple of it."""
END: Final = bytes(2 * BLOCK)
"""What follows the last entry."""
_NAME, _PREFIX = 100, 155
_SUM_AT, _SUM_LENGTH, _KIND_AT = 148, 8, 156
_FILE: Final = b"0"
_KINDS: Final = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a folder",
    b"6": "a pipe",
    b"L": "a long name in the way of GNU",
    b"K": "a long link in the way of GNU",
    b"S": "a sparse file",
    b"x": "an extended header (pax)",
    b"g": "an extended header (pax)",
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
            _FILE,
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
    kind = block[_KIND_AT : _KIND_AT + 1]
    name, prefix = _text(block[:_NAME]), _text(block[345 : 345 + _PREFIX])
    path = f"{prefix}/{name}" if prefix else name
    if kind != _FILE:
        got = _KINDS.get(kind, f"an entry of kind {kind!r}")
        raise errors.ArchiveError(
            Rule.KIND, f"expected regular files, got: {got} - at {shown(path)}; pack it with arena", path=shown(path)
        )
    check_path(path)
    try:
        size = int(block[124:135], 8)
    except ValueError:
        raise _unlike(path) from None
    entry = Entry(path, size, block[100:107] == b"0000755")
    if size < 0 or header(entry) != block:
        raise _unlike(path)
    return entry


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


def _text(field: bytes) -> str:
    """Returns the text of a field; what is not UTF-8 is kept in the way of file names, for `check_path` to refuse."""
    return field.partition(b"\0")[0].decode(errors="surrogateescape")


def _unlike(path: str) -> errors.ArchiveError:
    return errors.ArchiveError(
        Rule.HEADER,
        "expected a header of ustar with mode 644 or 755 and without owner and time, got: another one "
        f"- at {shown(path)}; pack it with arena",
        path=shown(path),
    )
