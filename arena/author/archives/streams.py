"""Reads the bytes of an archive: out of zstd, exactly as many as are asked for, and never many at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import zstandard

from arena.author.archives.base import Limits, Rule, broken, too_large

MAGIC: Final = b"\x28\xb5\x2f\xfd"
"""What every frame of zstd begins with."""
_MOST_WINDOW: Final = 8 << 20
"""The largest window that is accepted: so much memory reading takes."""
_PIECE: Final = 256
"""Bytes that are given to zstd at once. In the worst case they become 8 MiB: 64 blocks of 128 KiB."""


class Source:
    """The content of an archive, piece by piece, and its digest."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")
        self._digest = hashlib.sha256()

    def take(self, count: int) -> bytes:
        """Returns so many bytes.

        Raises:
            ArchiveError: There are not so many.
        """
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[bytes]:
        """Yields so many bytes, piece by piece. Take all of them before anything else.

        Raises:
            ArchiveError: There are not so many.
        """
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


def inflated(packed: Iterable[bytes], limits: Limits) -> Iterator[bytes]:
    """Yields what is in a frame of zstd.

    Raises:
        ArchiveError: It is no such frame, is not whole, is too large, or more follows it.
    """
    decoder = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).decompressobj()
    trailing = broken(Rule.ZSTD, "one frame of zstd", "more after it")
    begun = b""
    for piece in _pieces(packed, limits.packed):
        if decoder.eof:
            raise trailing
        if len(begun) < len(MAGIC):  # zstd skips frames of other kinds in silence
            begun += piece[: len(MAGIC)]
            if not MAGIC.startswith(begun[: len(MAGIC)]):
                raise broken(Rule.ZSTD, "an archive in zstd", "something else")
        try:
            data = decoder.decompress(piece)
        except zstandard.ZstdError as error:
            raise broken(Rule.ZSTD, "an archive in zstd", f"damaged data ({error})", "send it again") from None
        if data:
            yield data
    if decoder.unused_data:
        raise trailing
    if not decoder.eof:
        raise broken(Rule.ZSTD, "an archive with an end", "one that is cut off", "send it again")


def _pieces(packed: Iterable[bytes], most: int) -> Iterator[bytes]:
    read = 0
    for chunk in packed:
        read += len(chunk)
        if read > most:
            raise too_large(most)
        yield from (chunk[at : at + _PIECE] for at in range(0, len(chunk), _PIECE))
