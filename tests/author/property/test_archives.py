"""Packing, checking and unpacking are inverse, and no bytes make the reader fail in another way than it says."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from archive_kit import MANIFEST, label, make, packed, plain, raw, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.author.archives import Limits, check, pack, unpack
from arena.author.archives.rules import LABEL, ArchiveEntry, check_path, parts
from arena.author.archives.tar import header, read_header
from arena.core.errors import ArchiveError

VISIBLE = st.sampled_from("abzA09.-_~ \\'$é中\U0001f98a")
NAMES = st.text(VISIBLE, min_size=1, max_size=20).filter(lambda name: name not in (".", "..") and name[0] != ".")
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
FILES = st.dictionaries(PATHS, st.tuples(st.binary(max_size=1100), st.booleans()), max_size=12)


def without_clashes(files: dict[str, tuple[bytes, bool]]) -> dict[str, tuple[bytes, bool]]:
    """Leaves out what cannot lie beside the rest."""
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    left_out = {"node_modules", "__pycache__"}
    return {
        path: file
        for path, file in files.items()
        if path not in {*folders, "bot.toml"} and left_out.isdisjoint(path.split("/")) and len(path.encode()) < 100
    }


def write(folder: Path, files: dict[str, tuple[bytes, bool]]) -> Path:
    make(folder, {"bot.toml": MANIFEST.decode()})
    for path, (content, executable) in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        (folder / path).chmod(0o755 if executable else 0o644)
    return folder


@settings(max_examples=40, deadline=None)
@given(FILES.map(without_clashes), st.randoms())
def test_what_is_packed_is_checked_and_unpacked_the_same(files: dict[str, tuple[bytes, bool]], chance: object) -> None:
    top = Path(tempfile.mkdtemp())
    try:
        packed = pack(write(top / "one", files))
        order = list(files.items())
        chance.shuffle(order)  # type: ignore[attr-defined]
        assert pack(write(top / "two", dict(order))).digest == packed.digest
        contents = check(packed.data)
        assert (contents.digest, contents.entries) == (packed.digest, packed.entries)
        folder = unpack(packed.data, top / "there")
        os.unlink(folder / LABEL)
        assert tree(folder) == tree(top / "one")
        assert pack(folder).digest == packed.digest
    finally:
        shutil.rmtree(top)


@given(st.text(max_size=300), st.integers(0, 2**33 - 1), st.booleans())
def test_a_header_is_read_as_it_was_written(path: str, size: int, executable: bool) -> None:
    entry = ArchiveEntry(path, size, executable)
    with suppress(ArchiveError):
        assert read_header(header(entry)) == entry
        check_path(path)


@given(PATHS.filter(lambda path: len(path.encode()) < 100), st.integers(0, 511), st.binary(min_size=1, max_size=8))
def test_a_changed_header_is_the_same_or_refused(path: str, at: int, new: bytes) -> None:
    block = header(ArchiveEntry(path, 7, False))
    changed = block[:at] + new[: 512 - at] + block[at + len(new) :]
    with suppress(ArchiveError):
        assert header(read_header(changed)) == changed


@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for archive in (data, packed(data), packed(label(), raw("bot.toml", MANIFEST), data)):
        with suppress(ArchiveError):
            check(archive, Limits(unpacked=10_000))


@given(st.data())
def test_a_changed_archive_is_the_same_or_refused(data: st.DataObject) -> None:
    good = packed(label(), raw("bot.toml", MANIFEST), raw("src/a", b"1" * 600))
    inner = bytearray(plain(good))
    at = data.draw(st.integers(0, len(inner) - 1))
    inner[at] ^= data.draw(st.integers(1, 255))
    with suppress(ArchiveError):
        assert check(packed(bytes(inner), end=b"")).digest != check(good).digest
    outer = bytearray(good)
    outer[data.draw(st.integers(0, len(outer) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(ArchiveError):
        check(bytes(outer))


@given(PATHS, PATHS)
def test_sorting_keeps_folders_together(one: str, other: str) -> None:
    if one.startswith(f"{other}/"):
        assert parts(other) < parts(one)
    assert (parts(one) == parts(other)) == (one == other)
