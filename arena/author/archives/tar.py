"""The bytes of an archive: a frame of zstd around POSIX's ustar, each header in the one form that is written.

The bytes of a header decide a bot's identity, so they are written here: the standard library's differ between versions
of Python. It reads them. A header that is read is written again and compared, so that whatever else tar knows (owners,
times, numbers in base 256) is refused without being understood.

Whole archives are not read by `tarfile`: it reads a long name of any size into memory, it takes a damaged header for
the end, and a chain of extended headers exhausts its stack.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import zstandard

from arena.author.archives.rules import ArchiveEntry, Rule, bad_path, broken, check_path
from arena.core.face import compression

BLOCK: Final = 512
"""Bytes of a header. Contents are filled up to a multiple of it."""
END: Final = bytes(2 * BLOCK)
"""The end of an archive, after its last entry."""
_MOST_WINDOW: Final = 8 << 20
"""The largest window of zstd that is accepted: so much memory reading takes."""
_PIECE: Final = 256
"""Bytes that are given to zstd at once. In the worst case they become 8 MiB: 64 blocks of 128 KiB."""
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


def header(entry: ArchiveEntry) -> bytes:
    """Returns the header of an entry. Raises ArchiveError: its path may not stand in an archive."""
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


def read_header(block: bytes) -> ArchiveEntry:
    """Returns the entry that a header is about. Raises ArchiveError: it is not a header that `header` writes."""
    info = parsed(block, Rule.HEADER)
    if info.type != tarfile.REGTYPE:
        raise broken(Rule.KIND, "regular files", kind_of(info), path=info.name)
    check_path(info.name)
    entry = ArchiveEntry(info.name, info.size, bool(info.mode & 0o100))
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


class Source:
    """The content of an archive, piece by piece, and its digest."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = filter(None, chunks)
        self._rest = memoryview(b"")
        self._digest = hashlib.sha256()

    def take(self, count: int) -> bytes:
        """Returns so many bytes. Errors are those of `pieces`."""
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[bytes]:
        """Yields so many bytes in pieces. Take all before anything else. Raises ArchiveError: there are not so many."""
        while count:
            if not self._rest:
                self._rest = memoryview(next(self._chunks, b""))
                if not self._rest:
                    raise broken(Rule.END, "an archive with an end", "one that is cut off", "send it again")
            piece = bytes(self._rest[:count])
            self._rest = self._rest[len(piece) :]
            self._digest.update(piece)
            count -= len(piece)
            yield piece

    def finish(self, zeros: bytes = b"") -> str:
        r"""Returns the SHA-256 (hex) of the content. `zeros` is b"\0" if zeros may follow.

        Raises:
            ArchiveError: More follows.
        """
        if any(bytes(chunk).lstrip(zeros) for chunk in chain((self._rest,), self._chunks)):
            raise broken(Rule.END, "nothing after the end of the archive", "more")
        return self._digest.hexdigest()


def inflated(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yields what is in a frame of zstd. Raises ArchiveError: it is no such frame, is not whole, or more follows it."""
    first = next(chunks, b"")
    if not compression.is_compressed(first):  # zstd skips frames of other kinds in silence
        raise broken(Rule.ZSTD, "an archive in zstd", "something else")
    decoder = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).decompressobj()
    for piece in (chunk[at : at + _PIECE] for chunk in chain((first,), chunks) for at in range(0, len(chunk), _PIECE)):
        if decoder.eof:
            raise broken(Rule.ZSTD, "one frame of zstd", "more after it")
        try:
            yield decoder.decompress(piece)
        except zstandard.ZstdError as error:
            raise broken(Rule.ZSTD, "an archive in zstd", f"damaged data ({error})", "send it again") from None
    if not decoder.eof:
        raise broken(Rule.ZSTD, "an archive with an end", "one that is cut off", "send it again")
    if decoder.unused_data:
        raise broken(Rule.ZSTD, "one frame of zstd", "more after it")
