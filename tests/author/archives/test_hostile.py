"""Archives that strangers send: each is refused by the rule that it breaks, and nothing of it is unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
import zstandard
from archive_kit import MANIFEST, assert_refused_in_little_memory, info, label, packed, patched, raw, with_bot

from arena.author.archives import LIMITS, Limits, check, unpack
from arena.author.archives.rules import label_bytes
from arena.author.archives.tar import BLOCK, END
from arena.core.errors import ArchiveError, ConfigError

PAX, GNU = tarfile.PAX_FORMAT, tarfile.GNU_FORMAT
SPARSE = info("hole", type=b"S", format=GNU)
GOOD = with_bot(raw("src/a"))

HOSTILE = {
    # paths
    "absolute": ("path", with_bot(patched(raw("etc"), 0, b"/etc/cron"))),
    "up": ("path", with_bot(patched(raw("xx"), 0, b"../../x"))),
    "up in the middle": ("path", with_bot(patched(raw("xx"), 0, b"a/../../x"))),
    "up in the prefix": ("path", with_bot(patched(raw("xx"), 345, b".."))),
    "a dot": ("path", with_bot(patched(raw("xx"), 0, b"./x"))),
    "two slashes": ("path", with_bot(patched(raw("xx"), 0, b"a//b"))),
    "nothing": ("path", with_bot(patched(raw("xx"), 0, bytes(2)))),
    "a slash at the end": ("path", with_bot(patched(raw("xx"), 0, b"x/"))),
    "a control character": ("path", with_bot(info("a\x1b[2J"))),
    "an end of line": ("path", with_bot(info("a\nb"))),
    "another direction of writing": ("path", with_bot(info("a\u202etxt.exe"))),
    "an invisible character": ("path", with_bot(info("a\u200b"))),
    "not UTF-8": ("path", with_bot(patched(raw("xx"), 0, b"\xff\xfe"))),
    "NUL in the middle": ("header", with_bot(patched(raw("xxxx"), 0, b"y\0zz"))),
    "split otherwise": ("header", with_bot(patched(patched(raw("a/b"), 0, b"b\0\0"), 345, b"a"))),
    # kinds
    "symbolic link": ("kind", with_bot(info("src", type=b"2", linkname="/etc"), raw("src/passwd"))),
    "hard link": ("kind", with_bot(info("copy", type=b"1", linkname="bot.toml"))),
    "character device": ("kind", with_bot(info("null", type=b"3", devmajor=1, devminor=3))),
    "block device": ("kind", with_bot(info("sda", type=b"4", devmajor=8))),
    "pipe": ("kind", with_bot(info("pipe", type=b"6"))),
    "folder": ("kind", with_bot(info("src", type=b"5", mode=0o755))),
    "contiguous": ("kind", with_bot(info("src", type=b"7"))),
    "sparse": ("kind", with_bot(SPARSE)),
    "long name": ("kind", with_bot(info("x" * 400, format=GNU))),
    "long link": ("kind", with_bot(info("x", type=b"2", linkname="y" * 400, format=GNU))),
    "pax": ("kind", with_bot(info("x" * 400, format=PAX))),
    "pax of all": ("kind", packed(info("g", b"17 path=../../xx\n", type=b"g"), label(), raw("bot.toml", MANIFEST))),
    "old file": ("kind", with_bot(patched(raw("x"), 156, b"\0"))),
    # headers
    "setuid": ("header", with_bot(info("su", mode=0o4755))),
    "writable by all": ("header", with_bot(info("x", mode=0o666))),
    "an owner": ("header", with_bot(info("x", uid=1000))),
    "an owner's name": ("header", with_bot(info("x", uname="root"))),
    "a time": ("header", with_bot(info("x", mtime=1))),
    "size in base 256": ("header", with_bot(patched(raw("x"), 124, b"\x80" + bytes(11)))),
    "size below zero": ("header", with_bot(patched(raw("x"), 124, b"-0000000001\0"))),
    "wrong sum": ("header", with_bot(raw("x")[:148] + b"000000\0 " + raw("x")[156:])),
    "something in the padding": ("header", with_bot(raw("x", b"1")[:-1] + b"!")),
    "something at the end of a header": ("header", with_bot(patched(raw("x"), 505, b"hidden!"))),
    "text": ("header", packed(b"#!/bin/sh\n".ljust(BLOCK, b"0"))),
    # order
    "twice": ("order", with_bot(raw("src"), raw("src"))),
    "the manifest twice": ("order", with_bot(raw("bot.toml", b"evil"))),
    "not sorted": ("order", with_bot(raw("z"), raw("y"))),
    "a file as a folder": ("order", with_bot(raw("src"), raw("src/passwd"))),
    # what it is
    "no label": ("label", packed(raw("bot.toml", MANIFEST))),
    "another label": ("label", packed(raw(".arena-parcel", b"{}"), raw("bot.toml", MANIFEST))),
    "a later format": ("label", packed(raw(".arena-parcel", b'{"format":2,"bot":"."}\n'))),
    "a label with spaces": ("label", packed(raw(".arena-parcel", b'{"format":1, "bot":"."}\n'))),
    "a label of another form": ("label", packed(raw(".arena-parcel", b'{"format":true,"bot":["."]}\n'))),
    "a label not in UTF-8": ("label", packed(raw(".arena-parcel", b'{"format":1,"bot":"\xff"}\n'))),
    "a long label": ("label", packed(raw(".arena-parcel", label_bytes("x" * 2000)))),
    "a second label": ("label", packed(label(), raw(".arena-parcel", label_bytes(".")))),
    "a bot elsewhere": ("path", packed(raw(".arena-parcel", label_bytes("../x")), raw("bot.toml", MANIFEST))),
    "no manifest": ("manifest", packed(label(), raw("bot"))),
    "a manifest elsewhere": ("manifest", packed(label("a"), raw("bot.toml", MANIFEST))),
    "a large manifest": ("manifest", with_bot(manifest=MANIFEST + b"#" * LIMITS.manifest)),
    "no TOML": ("manifest", with_bot(manifest=b"\0")),
    "a manifest not in UTF-8": ("manifest", with_bot(manifest=b'name = "\xff"')),
    "deep TOML": ("manifest", with_bot(manifest=b"a = " + b"[" * 30_000)),
    "an unknown key": ("manifest", with_bot(manifest=MANIFEST + b"root = true")),
    "include of others": ("place", with_bot(manifest=MANIFEST + b'include = ["../../../league.db"]')),
    "include of all": ("place", with_bot(manifest=MANIFEST + b'include = ["/"]')),
    "built elsewhere": ("place", with_bot(manifest=MANIFEST + b'built = [".."]')),
    "fetched elsewhere": ("place", with_bot(manifest=MANIFEST + b'fetched = ["a/../../x"]')),
    "a program of others": ("place", with_bot(manifest=b'name = "fox"\ncommand = ["../other/bot"]')),
    "a file for Python": ("place", with_bot(manifest=b'name = "fox"\ncommand = ["{python}", "/root/.ssh/id_rsa"]')),
    "a compiler of others": ("place", with_bot(manifest=MANIFEST + b'build = ["../other/make"]')),
    # size
    "too many files": ("entries", with_bot(*(raw(f"f/{n:05}") for n in range(11_000)))),
    "too many folders": ("entries", with_bot(*(raw("f/" + "/".join(f"{n:03}" + "a" * 120)) for n in range(100)))),
    "a large file": ("unpacked", with_bot(patched(raw("x"), 124, b"77777777777\0"))),
    # the stream
    "empty": ("zstd", b""),
    "something else": ("zstd", b"PK\x03\x04" + bytes(100)),
    "gzip": ("zstd", b"\x1f\x8b\x08" + bytes(100)),
    "a frame to skip": ("zstd", b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + GOOD),
    "no frame but one to skip": ("zstd", b"\x50\x2a\x4d\x18\x04\0\0\0abcd"),
    "cut off": ("zstd", GOOD[:-3]),
    "cut off early": ("zstd", GOOD[:9]),
    "damaged": ("zstd", GOOD[:-6] + bytes(6)),
    "two frames": ("zstd", GOOD + GOOD),
    "something after it": ("zstd", GOOD + b"!"),
    "much after it": ("zstd", GOOD + bytes(5_000)),
    "a large window": (
        "zstd",
        zstandard.ZstdCompressor(
            compression_params=zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
        ).compressobj().compress(b""),
    ),
    "no end": ("end", packed(label(), raw("bot.toml", MANIFEST), end=b"")),
    "half an end": ("end", packed(label(), raw("bot.toml", MANIFEST), end=bytes(BLOCK))),
    "one empty block": ("end", packed(label(), raw("bot.toml", MANIFEST), end=bytes(BLOCK) + raw("x") + END)),
    "a third empty block": ("end", packed(label(), raw("bot.toml", MANIFEST), end=END + bytes(BLOCK))),
    "an entry after the end": ("end", packed(label(), raw("bot.toml", MANIFEST), end=END + raw("x") + END)),
    "a content that is cut off": ("end", packed(label(), raw("bot.toml", MANIFEST)[:520], end=b"")),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_before_anything_is_unpacked(name: str, tmp_path: Path) -> None:
    rule, archive = HOSTILE[name]
    into = tmp_path / "into"
    for attempt in (lambda: check(archive), lambda: unpack(archive, into)):
        with pytest.raises(ArchiveError) as caught:
            attempt()
        assert caught.value.rule == rule
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600
    assert list(tmp_path.iterdir()) == []


def test_what_is_only_odd_is_let_in(tmp_path: Path) -> None:
    entries = ["Readme", "readme", "README", "weiß é 中", "back\\slash", "src/'quote\"$(x)`;", "~", "…", "-rf"]
    content = [raw(path) for path in sorted(entries, key=lambda path: path.encode().split(b"/"))]
    first = [entry for entry in content if entry[:1] < b"b"]
    last = [entry for entry in content if entry[:1] > b"b" or entry[:2] > b"bo"]
    back = [entry for entry in content if entry[:2] == b"ba"]
    archive = packed(label(), *first, *back, raw("bot.toml", MANIFEST), *(e for e in last if e not in first + back))
    unpack(archive, tmp_path / "into")
    found = {str(path.relative_to(tmp_path / "into")) for path in (tmp_path / "into").rglob("*") if path.is_file()}
    assert found == {*entries, "bot.toml", ".arena-parcel"}


def test_a_file_that_changes_between_check_and_unpacking_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.author.archives.unpacking.check", lambda archive, limits: None)  # the file was good then
    with pytest.raises(ArchiveError):
        unpack(with_bot(raw("src/a", b"1" * 1000), info("src/b", type=b"2", linkname="/etc")), tmp_path / "into")
    assert list(tmp_path.iterdir()) == []


def test_it_is_never_unpacked_over_something(tmp_path: Path) -> None:
    (tmp_path / "into").symlink_to("/etc")
    with pytest.raises(ConfigError, match="a folder that is not there yet"):
        unpack(GOOD, tmp_path / "into")


@pytest.mark.parametrize("size", [0, 1, BLOCK])
def test_a_file_is_read_like_bytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "fox.tar.zst"
    path.write_bytes(with_bot(raw("x", b"1" * size)))
    assert check(path) == check(path.read_bytes())
    with pytest.raises(ArchiveError) as caught:
        check(path, Limits(packed=10))
    assert (caught.value.rule, caught.value.limit) == ("packed", 10)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ConfigError, match="symbolic link"):
        check(tmp_path / "link")


def zeros(*begin: bytes, mib: int = 512) -> bytes:
    """An archive that begins so, and goes on with zeros."""
    made = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join([*map(made.compress, begin), *(made.compress(bytes(1 << 20)) for _ in range(mib)), made.flush()])


def runs(*begin: bytes, blocks: int = 4096) -> bytes:
    """The same in the fewest bytes: blocks of 4 bytes that stand for 128 KiB each."""
    frame = zstandard.ZstdCompressor().compressobj()
    head = b"".join([*map(frame.compress, begin), frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)])
    block = (131_072 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return head + block * blocks


START = (label(), raw("bot.toml", MANIFEST))
BOMBS = {
    "zeros": ("header", zeros),
    "zeros after the end": ("end", lambda: zeros(*START, END)),
    "a file of zeros": ("unpacked", lambda: zeros(*START, patched(raw("x"), 124, b"07777777777\0"))),
    "zeros as padding": ("header", lambda: zeros(*START, raw("x", b"1")[:-511], b"!")),
    "runs": ("header", lambda: runs(bytes(1))),
    "runs after the end": ("end", lambda: runs(*START, END)),
    "a bomb in a bomb": ("header", lambda: zstandard.ZstdCompressor().compress(zeros())),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory(name: str, tmp_path: Path) -> None:
    rule, make = BOMBS[name]
    assert_refused_in_little_memory(make(), rule, tmp_path, "check", 48)
