"""Logs that are compressed: read like others, and hostile ones refused before they fill the memory."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import LogError, ReplayMismatch
from arena.core.record.compressed import DICTIONARY, compress, expand, is_compressed
from arena.core.record.log import existing_log, find_logs, read_log

LOGS = sorted((Path(__file__).parents[3] / "protocol" / "vectors" / "logs").glob("*.jsonl"))


@given(st.binary(max_size=2000))
def test_what_is_compressed_expands_to_the_same(data: bytes) -> None:
    packed = compress(data)
    assert is_compressed(packed)
    assert expand(packed, "here") == data


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_compressed_log_is_read_like_the_log(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{path.name}.zst"
    packed.write_bytes(compress(path.read_bytes()))
    assert packed.stat().st_size < path.stat().st_size / 5
    found, original = read_log(packed), read_log(path)
    assert (found.header, found.records, found.sha256) == (original.header, original.records, original.sha256)


def test_the_dictionary_never_changes() -> None:
    """If this fails, logs of leagues that run cannot be read any more. Give a new dictionary a file of its own."""
    assert zstandard.ZstdCompressionDict(DICTIONARY.read_bytes()).dict_id() == 0x41524E31
    packed = (Path(__file__).parent / "samurai-standard.jsonl.zst").read_bytes()
    digest = "ee52b594869d602d8a259039a5711551c456e926955ec0899c0bda7e2ce314be"
    assert hashlib.sha256(expand(packed, "here")).hexdigest() == digest


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd")
def test_the_program_zstd_expands_a_log_with_the_dictionary(tmp_path: Path) -> None:
    packed = tmp_path / "game.jsonl.zst"
    packed.write_bytes(compress(LOGS[0].read_bytes()))
    words = ["zstd", "-d", "-q", "-D", str(DICTIONARY), str(packed)]
    subprocess.run(words, check=True, env={"PATH": os.environ["PATH"]})
    assert packed.with_suffix("").read_bytes() == LOGS[0].read_bytes()


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(80 * 2**20))
    assert len(bomb) < 20_000
    path = tmp_path / "bomb.jsonl.zst"
    path.write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(LogError, match="at most 64 MiB"):
        read_log(path)
    assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    tracemalloc.stop()


def test_a_frame_may_tell_no_size_and_no_wrong_one() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    piped = stream.compress(bytes(2**17)) + stream.flush()
    assert expand(piped, "here") == bytes(2**17)
    with pytest.raises(LogError, match="compressed with zstd"):
        expand(piped, "here", 2**17 - 1)
    packed = zstandard.ZstdCompressor().compress(bytes(70_000))
    assert packed[5:9] == (70_000).to_bytes(4, "little")
    for size in (69_999, 70_001):
        with pytest.raises(LogError, match="compressed with zstd"):
            expand(packed[:5] + size.to_bytes(4, "little") + packed[9:], "here")


def test_what_is_no_whole_frame_is_refused(tmp_path: Path) -> None:
    data = LOGS[0].read_bytes()
    packed = compress(data)
    for broken in (packed[: len(packed) // 2], packed[:-1], packed[:3] + b"x", packed + b"x", packed[:40]):
        path = tmp_path / "broken.jsonl.zst"
        path.write_bytes(broken)
        with pytest.raises((LogError, ReplayMismatch)):
            read_log(path)
    for place in range(0, len(packed), 397):
        path.write_bytes(packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :])
        with pytest.raises((LogError, ReplayMismatch)):
            read_log(path)


def test_another_dictionary_is_no_riddle() -> None:
    dictionary = DICTIONARY.read_bytes()
    other = zstandard.ZstdCompressionDict(dictionary[:4] + b"1234" + dictionary[8:])
    with pytest.raises(LogError, match=r"[Dd]ictionary"):
        expand(zstandard.ZstdCompressor(dict_data=other).compress(LOGS[0].read_bytes()), "here")


def test_a_log_in_both_forms_is_found_once(tmp_path: Path) -> None:
    (tmp_path / "season").mkdir()
    for name in ("a.jsonl", "a.jsonl.zst", "season/b.jsonl.zst", "season/c.jsonl", "d.txt.zst"):
        (tmp_path / name).touch()
    found = {str(path.relative_to(tmp_path)) for path in find_logs(tmp_path)}
    assert found == {"a.jsonl", "season/b.jsonl.zst", "season/c.jsonl"}
    assert existing_log(tmp_path / "a.jsonl") == tmp_path / "a.jsonl"
    assert existing_log(tmp_path / "season" / "b.jsonl") == tmp_path / "season" / "b.jsonl.zst"
    assert existing_log(tmp_path / "gone.jsonl") == tmp_path / "gone.jsonl"
