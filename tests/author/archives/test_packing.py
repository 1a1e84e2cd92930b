"""Packing bots: what goes along, from where, and that nothing but the files decides the digest."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
from archive_kit import info, make, names, plain, tree

from arena.author.archives import Limits, bot_folder, check, pack, unpack
from arena.author.archives.rules import ArchiveEntry
from arena.author.archives.tar import header
from arena.core.errors import ArchiveError, BotError
from arena.core.link.bots import bundled_folders, find_bot, load_bot, read_manifest, unfetched

FOX = 'name = "fox"\ncommand = ["./bot"]\n'


def fox(folder: Path, extra: str = "", **files: str) -> Path:
    return make(folder, {"bot.toml": FOX + extra, "bot": "#!/bin/sh\n"} | files, ["bot"])


def test_a_bot_alone_is_the_whole_archive(tmp_path: Path) -> None:
    packed = pack(fox(tmp_path / "fox", **{"src/a.c": "1", "src.c": "2"}))
    assert names(packed.data) == [".arena-parcel", "bot", "bot.toml", "src/a.c", "src.c"]
    assert packed.bot == "."
    assert [entry.path for entry in packed.entries if entry.executable] == ["bot"]


def test_the_top_is_the_folder_around_if_the_manifest_names_something_there(tmp_path: Path) -> None:
    make(tmp_path, {"client.py": "1", "other/bot.py": "2"})
    packed = pack(fox(tmp_path / "fox", 'include = ["../client.py"]\n'))
    assert names(packed.data) == [".arena-parcel", "client.py", "fox/bot", "fox/bot.toml"]
    assert packed.bot == "fox"
    assert ".." not in "".join(names(packed.data))


@pytest.mark.parametrize("named", ["../../key", "/etc/passwd", "../../elsewhere/lib"])
def test_nothing_from_farther_away_goes_along(tmp_path: Path, named: str) -> None:
    make(tmp_path, {"key": "1", "elsewhere/lib/a": "2"})
    with pytest.raises(ArchiveError, match="in the bot's folder or beside it") as caught:
        pack(fox(tmp_path / "bots" / "fox", f'include = ["{named}"]\n'))
    assert caught.value.rule == "place"


def test_what_tools_leave_behind_is_left_out_and_listed(tmp_path: Path) -> None:
    files = {"__pycache__/a.pyc": "", ".idea/b": "", "src/.DS_Store": "", "node_modules/m/c.js": "", "out/bin": ""}
    packed = pack(fox(tmp_path / "fox", 'built = ["out"]\n', **files))
    assert names(packed.data) == [".arena-parcel", "bot", "bot.toml"]
    assert packed.left_out == (".idea", "__pycache__", "node_modules", "out", "src/.DS_Store")


def test_what_the_manifest_names_goes_along_all_the_same(tmp_path: Path) -> None:
    files = {".cargo/config.toml": "", "node_modules/m/c.js": "", "node_modules/.lock": "", "vendor/a": "", ".env": ""}
    extra = 'include = [".cargo/config.toml", "node_modules"]\nfetched = ["vendor"]\nfetch = ["true"]\n'
    folder = fox(tmp_path / "fox", extra, **files)
    (folder / "node_modules" / ".bin").symlink_to("/bin")
    packed = pack(folder)
    assert names(packed.data)[1:] == [
        ".cargo/config.toml", "bot", "bot.toml", "node_modules/.lock", "node_modules/m/c.js", "vendor/a",
    ]  # fmt: skip
    assert packed.left_out == (".env", "node_modules/.bin (a link to a folder)")


def test_what_was_not_fetched_is_asked_for(tmp_path: Path) -> None:
    folder = fox(tmp_path / "fox", 'fetched = ["vendor"]\nfetch = ["true"]\n')
    with pytest.raises(BotError, match=r"expected 'vendor', .* run `arena bot build"):
        pack(folder)


def test_what_is_named_and_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(BotError, match=r"lib\.py"):
        pack(fox(tmp_path / "fox", 'include = ["lib.py"]\n'))


def test_only_the_files_decide_the_digest(tmp_path: Path) -> None:
    one = fox(tmp_path / "one" / "fox", **{"b/x": "1", "a": "2"})
    old = os.umask(0o077)
    try:
        other = make(tmp_path / "other" / "den", {"a": "2", "b/x": "1", "bot": "#!/bin/sh\n", "bot.toml": FOX})
    finally:
        os.umask(old)
    for path in other.rglob("*"):
        path.chmod(0o700 if path.is_dir() or path.name == "bot" else 0o440)
        os.utime(path, (1, 1))
    assert pack(one).digest == pack(other).digest
    (other / "bot").chmod(0o600)
    assert pack(one).digest != pack(other).digest


def test_the_path_from_the_top_belongs_to_it(tmp_path: Path) -> None:
    make(tmp_path, {"client": "1"})
    extra = 'include = ["../client"]\n'
    assert pack(fox(tmp_path / "a", extra)).digest != pack(fox(tmp_path / "b", extra)).digest


def test_links_to_files_of_the_bot_become_files_and_others_are_refused(tmp_path: Path) -> None:
    folder = fox(tmp_path / "fox", a="1")
    (folder / "b").symlink_to("a")
    (folder / "broken").symlink_to("nothing")
    packed = pack(folder)
    assert {entry.path for entry in packed.entries} == {"a", "b", "bot", "bot.toml"}
    assert packed.left_out == ("broken (a link that leads to no file)",)
    (folder / "c").symlink_to("/etc/passwd")
    with pytest.raises(BotError, match="leads to /etc/passwd"):
        pack(folder)


@pytest.mark.parametrize(
    ("limits", "rule", "limit"),
    [(Limits(entries=3), "entries", 3), (Limits(unpacked=50), "unpacked", 50), (Limits(packed=300), "packed", 300)],
)
def test_a_bot_that_is_too_large_is_told_to_its_author(tmp_path: Path, limits: Limits, rule: str, limit: int) -> None:
    folder = fox(tmp_path / "fox", **{"a/b": "x"})
    (folder / "noise").write_bytes(os.urandom(400) if rule == "packed" else b"x" * 20)
    with pytest.raises(ArchiveError) as caught:
        pack(folder, limits)
    assert (caught.value.rule, caught.value.limit) == (rule, limit)


@pytest.mark.parametrize("name", ["a\nb", "\u202egnp.exe", "x" * 101, "é" * 60])
def test_names_that_cannot_be_sent_are_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError) as caught:
        pack(fox(tmp_path / "fox", **{name: ""}))
    assert caught.value.rule == "path"
    assert str(caught.value).isprintable()


def test_headers_are_those_of_tarfile() -> None:
    for path in ("a", "é/ü", "x" * 100, f"{'p' * 100}/{'n' * 100}", f"{'a/' * 60}{'n' * 100}", "/".join("ab" * 60)):
        ours = header(ArchiveEntry(path, 5, True))
        theirs = tarfile.TarInfo.frombuf(ours, "utf-8", "strict")
        assert (theirs.name, theirs.size, theirs.mode, theirs.mtime, theirs.isreg()) == (path, 5, 0o755, 0, True)
        assert theirs.tobuf(tarfile.USTAR_FORMAT)[:100] == info(path, b"12345", mode=0o755)[:100] == ours[:100]


LARGE = ("greedy-js", "greedy-rust", "random-js", "random-rust")  # what these fetch are thousands of files


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in LARGE)) for name in sorted(bundled_folders())]
)
def test_bundled_bots_are_packed_as_they_are(name: str, tmp_path: Path) -> None:
    lacking = unfetched(read_manifest(find_bot(name)), find_bot(name))
    if lacking:  # nobody ran `arena bot build` here, and tests have no network
        with pytest.raises(BotError, match="run `arena bot build"):
            pack(name)
        return
    packed = pack(name)
    folder = unpack(packed.data, tmp_path / "there")
    contents = check(packed.data)
    assert contents.digest == packed.digest == pack(folder).digest
    assert (contents.bot, contents.entries, contents.manifest) == (packed.bot, packed.entries, packed.manifest)
    assert bot_folder(tmp_path / "there") == folder
    there = tree(tmp_path / "there")
    with tarfile.open(fileobj=io.BytesIO(plain(packed.data))) as theirs:
        assert set(there) == set(theirs.getnames())
    if packed.manifest.language == "python":
        assert load_bot(str(folder)).digest == load_bot(name).digest
