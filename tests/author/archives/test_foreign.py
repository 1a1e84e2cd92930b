"""Zips and tars that strangers send: a folder's has the digest of its packing, a hostile one is refused by its rule."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from archive_kit import MANIFEST, assert_refused_in_little_memory, info, make, patched

from arena.author.archives import LIMITS, check, normalise, pack, packed_bot
from arena.core.errors import ArchiveError, BotError
from arena.core.files import MIB

FILE, LINK = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777
BOT = (("bot.toml", MANIFEST, FILE), ("bot", b"#!/bin/sh\n", FILE | 0o111))


def zipped(*files: tuple[str, bytes, int], system: int = 3, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of files: their names, contents and modes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr, entry.compress_type = system, mode << 16, method
            opened.writestr(entry, content)
    return made.getvalue()


def one(name: str = "x", content: bytes = b"1" * 99, mode: int = FILE) -> bytes:
    return zipped(*BOT, (name, content, mode))


def tarred(*entries: bytes, end: bytes = bytes(1024)) -> bytes:
    return b"".join((info("bot.toml", MANIFEST), info("bot", b"#!/bin/sh\n", mode=0o775), *entries, end))


def changed(data: bytes, signature: bytes, at: int, new: bytes) -> bytes:
    """A zip with other bytes in its last record of a kind."""
    begin = data.rindex(signature) + at
    return data[:begin] + new + data[begin + len(new) :]


def overlapping() -> bytes:
    """A zip of 1,000 files that are the same 1 MiB of random bytes, in the way of Fifield's bomb."""
    data = zipped(*BOT, ("x", os.urandom(MIB), FILE), method=zipfile.ZIP_STORED)
    begin, end = data.rindex(CENTRAL), data.rindex(END)
    more = data[begin:end] * 100
    size = len(more) + begin - data.index(CENTRAL)
    ending = data[end : end + 8] + b"\x66\0\x66\0" + size.to_bytes(4, "little") + data[end + 16 :]
    return data[:begin] + more + ending


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
HOSTILE = {
    # paths
    "up": ("path", one("../x")),
    "up in the middle": ("path", one("a/../../x")),
    "absolute": ("path", one("/etc/cron")),
    "a drive": ("path", one("C:x")),
    "backslashes": ("path", one("..\\x")),
    "a NUL": ("path", one("x!y").replace(b"x!y", b"x\0y")),
    "a control character": ("path", one("a\x1b[2J")),
    "another direction of writing": ("path", one("a\u202etxt.exe")),
    "a long name": ("path", one("x" * 300)),
    "up beside what is left out": ("path", one("__MACOSX/../../x")),
    "not UTF-8": ("zip", one("é").replace("é".encode(), b"\xff\xfe")),
    "a name in tar that is not UTF-8": ("path", tarred(patched(info("xx"), 0, b"\xff\xfe"))),
    "up in an extended header": ("path", tarred(info("p", b"14 path=../xx\n", type=b"x"), info("x"))),
    "up in a long name": ("path", tarred(info("p", b"../xx\0", type=b"L"), info("x"))),
    # order
    "twice": ("order", one("boT").replace(b"boT", b"bot")),
    "below a file": ("order", one("bot/x")),
    "a file for a folder": ("order", zipped(*BOT, ("a/b", b"", FILE), ("a", b"", FILE))),
    "below a link": ("order", zipped(*BOT, ("src", b".", LINK), ("src/x", b"", FILE))),
    "through a link": ("order", zipped(*BOT, ("src", b"no", LINK), ("srC", b"", FILE)).replace(b"srC", b"src")),
    # links
    "a link up": ("link", one("link", b"../x", LINK)),
    "a link out": ("link", one("link", b"/etc/passwd", LINK)),
    "a link up in the middle": ("link", one("link", b"a/../../x", LINK)),
    "links through links": ("link", zipped(*BOT, ("a/up", b"..", LINK), ("b", b"a/up/../x", LINK))),
    "a link to nothing": ("link", one("link", b"", LINK)),
    "a link with a NUL": ("link", one("link", b"a\0b", LINK)),
    "a long link": ("link", one("link", b"x" * MIB, LINK)),
    "a link out in tar": ("link", tarred(info("x", type=b"2", linkname="/etc/passwd"))),
    "a link up in a header": ("link", tarred(info("p", b"15 linkpath=..\n", type=b"x"), info("x", type=b"2"))),
    # kinds
    "a device": ("kind", one("null", b"", stat.S_IFCHR | 0o666)),
    "a pipe": ("kind", one("pipe", b"", stat.S_IFIFO)),
    "a device in tar": ("kind", tarred(info("null", type=b"3", devmajor=1, devminor=3))),
    "a hard link": ("kind", tarred(info("copy", type=b"1", linkname="/etc/passwd"))),
    "a sparse file": ("kind", tarred(info("hole", type=b"S", format=tarfile.GNU_FORMAT))),
    "a sparse file of pax": ("kind", tarred(info("p", b"22 GNU.sparse.major=1\n", type=b"x"), info("x"))),
    "a size in an extended header": ("kind", tarred(info("p", b"12 size=-99\n", type=b"x"), info("x"))),
    # what it is
    "encrypted": ("zip", changed(one(), CENTRAL, 8, b"\1")),
    "a method that takes much memory": ("zip", zipped(*BOT, method=zipfile.ZIP_LZMA)),
    "another sum": ("zip", changed(one(), CENTRAL, 16, b"\1\2\3\4")),
    "another name inside": ("zip", changed(one(), LOCAL, 30, b"y")),
    "damaged": ("zip", changed(one(), LOCAL, 31, b"\xff\xff")),
    "a size that is larger": ("zip", changed(one(), CENTRAL, 24, b"\5\0\0\0")),
    "no zip64": ("zip", changed(one(), CENTRAL, 20, b"\xff" * 8)),
    "a place before the start": ("zip", changed(one(), END, 12, b"\xff\xff\xff\x7f")),
    "cut off": ("zip", one()[:-30]),
    "overlapping": ("zip", overlapping()),
    "something before it": ("zstd", b"#!/bin/sh\n" + one()),
    "a tar that is cut off": ("end", tarred(end=b"")),
    "a tar that is cut off in a content": ("end", tarred()[:520]),
    "a damaged header": ("tar", tarred(b"x" * 512)),
    "something after a tar": ("end", tarred(end=bytes(1024) + b"x")),
    "a size below zero": ("tar", tarred(patched(info("x"), 124, b"\xff" * 12))),
    "a folder with a size": ("tar", tarred(info("x", b"1", type=b"5"))),
    "chained headers": ("entries", gzip.compress(tarred(info("p", b"", type=b"x") * 31_000))),
    "a gzip that is cut off": ("tar", gzip.compress(tarred())[:-9]),
    "a gzip with another sum": ("tar", gzip.compress(tarred())[:-8] + bytes(8)),
    "something after a gzip": ("tar", gzip.compress(tarred()) + b"!"),
    # the bot
    "nothing": ("manifest", zipped()),
    "no manifest": ("manifest", zipped(BOT[1])),
    "two bots": ("manifest", zipped(*((f"{top}/bot.toml", MANIFEST, FILE) for top in "ab"))),
    "no TOML": ("manifest", zipped(("bot.toml", b"\0", FILE))),
    "a manifest that is a link": ("link", zipped(("bot.toml", b"/etc/passwd", LINK))),
    "include of others": ("place", zipped(("bot.toml", MANIFEST + b'include = ["/etc"]', FILE))),
    "fetched of others": ("place", zipped(("bot.toml", MANIFEST + b'fetched = ["../../x"]', FILE))),
    "include of what is missing": ("manifest", zipped(("bot.toml", MANIFEST + b'include = ["x"]', FILE))),
    # sizes
    "a large size": ("unpacked", changed(one(), CENTRAL, 24, b"\0\0\0\x40")),
    "too many folders": ("entries", zipped(*BOT, *((f"{n:03}/" + "a/" * 110 + "x", b"", FILE) for n in range(99)))),
    "a large file": ("packed", bytes(LIMITS.packed + 1)),
}  # fmt: skip


def normalised(data: bytes, folder: Path) -> tuple[str, bytes]:
    """The digest and the archive that a league makes of what was sent, in a folder with nothing else."""
    (folder / "sent").write_bytes(data)
    try:
        return normalise(folder / "sent", LIMITS, folder), (folder / "sent").read_bytes()
    finally:
        (folder / "sent").unlink()


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_and_nothing_is_left(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rule, data = HOSTILE[name]
    with pytest.raises(ArchiveError) as caught:
        normalised(data, tmp_path)
    assert caught.value.rule == rule
    assert str(tmp_path) not in str(caught.value)
    assert str(caught.value).isprintable()
    assert "; " in str(caught.value) or rule == "manifest"
    assert len(str(caught.value)) < 600
    assert list(tmp_path.iterdir()) == []


def headers(kind: bytes, end: bytes = b"") -> bytes:
    """A tar.gz with a header that announces 1 GiB, and zeros."""
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as file:
        file.write(tarred(end=end + patched(info("x", type=kind), 124, b"10000000000\0")))
        for _ in range(160):
            file.write(bytes(MIB))
    return made.getvalue()


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a file": ("unpacked", lambda: one("x", bytes(160 * MIB))),
    "a file that says it is small": ("zip", lambda: changed(one("x", bytes(160 * MIB)), CENTRAL, 24, b"\1\0\0\0")),
    "10^6 entries": ("entries", lambda: one()[:-22] + (CENTRAL + bytes(12)) * 10**6 + one()[-22:]),
    "entries": ("entries", lambda: zipped(*BOT, *((f"{n:05}", b"", FILE) for n in range(10_001)))),
    "a long name of tar": ("tar", lambda: headers(b"L")),
    "an extended header of tar": ("tar", lambda: headers(b"x")),
    "a file of tar": ("unpacked", lambda: headers(b"0")),
    "much after the end of tar": ("end", lambda: headers(b"0", bytes(1024))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory(name: str, tmp_path: Path) -> None:
    rule, bomb = BOMBS[name]
    assert_refused_in_little_memory(bomb(), rule, tmp_path, "normalise", 64)


@pytest.fixture
def fox(tmp_path: Path) -> Path:
    """A bot's folder with all that packing treats in a way of its own."""
    names = ("src/a.c", "src.c", "src-b", "é/ü", ".DS_Store", ".git/x", "node_modules/m", "l" * 90 + "/" + "n" * 90)
    files = {"bot.toml": MANIFEST.decode(), "bot": "#!/bin/sh\n"} | dict.fromkeys(names, "1")
    folder = make(tmp_path / "home" / "fox", files, ["bot"])
    (folder / "empty").mkdir()
    (folder / "bot").chmod(0o4775)
    for link, target in (("é/l", "../src/a.c"), ("l", "src"), ("broken", "none"), ("node_modules/sh", "/bin/sh")):
        (folder / link).symlink_to(target)
    return folder


def run(folder: Path, *command: str) -> bytes:
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout


def committed(folder: Path, *options: str) -> bytes:
    shutil.rmtree(folder / ".git")
    for words in (
        ("init", "-q"),
        ("add", "-Af"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"),
    ):
        run(folder, "git", *words)
    return run(folder, "git", "archive", *options, "HEAD")


def zip_of(folder: Path, *options: str) -> bytes:
    run(folder, "zip", "-qry", "../made.zip", *options)
    return (folder.parent / "made.zip").read_bytes()


def python(top: Path, name: str) -> bytes:
    return Path(shutil.make_archive(str(top / "../made"), "zip", top, name)).read_bytes()


def windows(folder: Path) -> bytes:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    return zipped(*((str(path.relative_to(folder.parent)), path.read_bytes(), 0) for path in files), system=0)


def finder(folder: Path) -> bytes:
    make(folder.parent, {"__MACOSX/fox/._bot.toml": "", "__MACOSX/._fox": ""})
    return zip_of(folder.parent, "fox", "__MACOSX")


MAKERS: dict[str, Callable[[Path], bytes]] = {
    "arena": lambda folder: pack(folder).data,
    "zip": lambda folder: zip_of(folder.parent, "fox"),
    "zip of what is in it": lambda folder: zip_of(folder, "-0", "."),
    "git zip": lambda folder: committed(folder, "--format=zip"),
    "git zip with a top": lambda folder: committed(folder, "--format=zip", "--prefix=a/fox-1/"),
    "git tar": lambda folder: committed(folder, "--format=tar"),
    "git tar.gz": lambda folder: committed(folder, "--format=tar.gz", "--prefix=fox-1/"),
    "tar": lambda folder: run(folder.parent, "tar", "c", "fox"),
    "tar of what is in it": lambda folder: run(folder, "tar", "cz", "."),
    "tar of pax": lambda folder: run(folder.parent, "tar", "c", "--format=pax", "fox"),
    "Windows": windows,
    "macOS": finder,
    "Python": lambda folder: python(folder.parent, "fox"),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_it_has_the_digest_of_the_folder(maker: str, fox: Path, tmp_path: Path) -> None:
    program = "zip" if maker == "macOS" else maker.split()[0]
    if program in ("git", "zip", "tar") and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    want = pack(fox)
    assert normalised(MAKERS[maker](fox), tmp_path) == (want.digest, want.data)
    assert check(want.data).digest == want.digest


def test_what_lies_beside_a_bot_goes_along_with_it(tmp_path: Path) -> None:
    make(
        tmp_path / "home" / "top",
        {"client.py": "1", "fox/bot.toml": MANIFEST.decode() + 'include = ["../client.py"]\n'},
    )
    want = pack(tmp_path / "home" / "top" / "fox")
    assert normalised(python(tmp_path / "home", "top"), tmp_path) == (want.digest, want.data)
    assert normalised(python(tmp_path / "home" / "top", "."), tmp_path) == (want.digest, want.data)


def test_a_command_takes_a_file_as_it_takes_its_folder(fox: Path, tmp_path: Path) -> None:
    for name, data in (("fox.zip", python(fox.parent, "fox")), ("fox.tar.zst", pack(fox).data)):
        (tmp_path / name).write_bytes(data)
        assert packed_bot(str(tmp_path / name)).digest == packed_bot(str(fox)).digest == pack(fox).digest
    with pytest.raises(BotError, match=r"expected a bot, got: 'none\.zip'"):
        packed_bot("none.zip")


def test_what_a_zip_cannot_say_is_told_with_the_names_in_it(tmp_path: Path) -> None:
    manifest = MANIFEST + b'fetched = ["vendor"]\nfetch = ["true"]\n'
    with pytest.raises(ArchiveError, match=r"^bot.toml: expected 'vendor', .*; run `arena bot build \.`"):
        normalised(zipped(("fox/bot.toml", manifest, FILE)), tmp_path)
    with pytest.raises(ArchiveError, match=r"^bot.toml: expected keys among"):
        normalised(zipped(("fox/bot.toml", MANIFEST + b"x = 1", FILE)), tmp_path)
