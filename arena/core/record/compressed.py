"""Compresses logs with zstd, and expands them again: `GAME.jsonl.zst`.

Laws:
1. A compressed log is one zstd frame of the log's bytes. Its SHA-256 and its sums are those of the log itself.
2. All logs are compressed with one dictionary, `log.zdict`, which was trained on logs (`benchmarks/log_dictionary.py`)
   and makes them a third smaller. It is part of the format: it never changes. A better one would get a number of its
   own, and this one would stay, to read what was written with it.
3. What is expanded has a limit, and the memory for it too: a few bytes can stand for many.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.core import files
from arena.core.errors import InternalError, LogError

if TYPE_CHECKING:
    import zstandard

SUFFIX: Final = ".zst"  # what is added to the name of a log when it is compressed
MAGIC: Final = b"\x28\xb5\x2f\xfd"  # How every zstd frame begins. No log does.
DICTIONARY: Final = Path(__file__).with_name("log.zdict")  # what `zstd -d -D` needs to expand a log
LEVEL: Final = 9  # higher levels take longer and gain little
QUICK: Final = 3  # a sixth of the time for a quarter more bytes: while games are played


def is_compressed(data: bytes) -> bool:
    """Returns whether a file that begins so is compressed."""
    return data.startswith(MAGIC)


def compress(data: bytes, level: int = LEVEL) -> bytes:
    """Returns a log's bytes compressed. Equal bytes give equal frames, as long as the zstd library is the same."""
    return _compressor(level).compress(data)


def expand(data: bytes, source: str, most: int = files.MOST_LOG) -> bytes:
    """Returns what was compressed.

    Args:
        data: One zstd frame.
        most: The most bytes that are expanded.

    Raises:
        LogError: It is no such frame, was altered or cut off, needs another dictionary, or is too large.
    """
    import zstandard

    try:
        size = zstandard.get_frame_parameters(data).content_size
        if most < size != zstandard.CONTENTSIZE_UNKNOWN:  # of a pipe it is not known: the buffer is the bound
            raise LogError(
                f"expected a log of at most {most // files.MIB} MiB when expanded, got: {size} bytes - at {source}"
            )
        # Into a buffer of that size: there is no window, and a frame that holds more is an error.
        decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary())
        return decompressor.decompress(data, max_output_size=most, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise LogError(f"expected a log compressed with zstd, got: {error} - at {source}; fetch it again") from None


@cache
def _compressor(level: int) -> zstandard.ZstdCompressor:
    """Returns the one compressor of this process: to make it takes longer than to compress a log."""
    import zstandard

    return zstandard.ZstdCompressor(level=level, dict_data=_dictionary(), write_checksum=True, write_content_size=True)


@cache
def _dictionary() -> zstandard.ZstdCompressionDict:
    import zstandard

    data = files.read(DICTIONARY, "the dictionary of logs", files.MOST_TEXT, InternalError)
    return zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_FULLDICT)
