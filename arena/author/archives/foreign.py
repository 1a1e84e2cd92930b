"""Packs anew what people make without arena, a zip or a tar: it gets the digest that packing its folder gives.

Laws:
1. It is unpacked into a temporary folder, and packed from there: one module decides which files belong to a bot.
2. Nothing is written or read outside. Paths lead down, through no link. The target of a link goes up at its beginning
   only, and not beyond the top; so no chain of links leads out.
3. Announced sizes are held to the limits before anything is unpacked, and real ones while it is.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

from arena.author.archives.checking import check
from arena.author.archives.packing import PackedBot, pack
from arena.author.archives.rules import MOST, MOST_PATH, Limits, Rule, broken, check_path, exceeded, shown
from arena.author.archives.tar import BLOCK, Source, kind_of, padding, parsed
from arena.author.archives.unpacking import UnpackedTree
from arena.core.face import bot_files, bot_manifests, compression, errors, files, scratch

_AGAIN: Final = "make it again"
_KINDS: Final = "files, folders and links"
_MOST_EXTENDED: Final = 65_536
"""Bytes of an extended header of tar. It holds a path, perhaps a comment, and attributes."""
_RECORD: Final = re.compile(rb"(?m)^\d+ (path|linkpath|size|GNU\.sparse\.\w+)=(.*)$")
_CLIMB: Final = re.compile(rb"(?:\.\./)*(?:\.\.$)?")
_UNIX: Final = (3, 19)
"""Systems whose zips say who may execute a file: Unix and macOS."""
_TAR_KINDS: Final = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
}
_READ: Final = 65_536
_DAMAGED: Final = (
    zipfile.BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    OverflowError,
    struct.error,
    zlib.error,
)
"""Errors of `zipfile` about a zip. Each has a sentence on its cause."""


class _Member(NamedTuple):
    """A file, folder or link in an archive."""

    path: str
    kind: int
    """`stat.S_IFREG`, `S_IFDIR` or `S_IFLNK`."""
    size: int
    content: Iterable[bytes]
    """A link's is its target."""
    executable: bool | None
    """None if the archive does not say."""


def normalise(path: Path, limits: Limits, within: Path | None = None) -> str:
    """Puts a bot's archive in the place of whatever a stranger sent, and returns its digest.

    An archive of arena's own form stays as it is, after its check. A zip or a tar is packed anew, `within` this folder.

    Raises:
        ArchiveError: It breaks a rule. The error names the rule, the path and the limit.
        OSError: A file cannot be written.
    """
    with open(path, "rb") as file:
        if compression.is_compressed(file.read(4)):
            return check(path, limits).digest
        with files.writing(path, 0o600) as packed:
            return _repacked(file, limits, packed, within).digest


def is_archive(ref: str) -> bool:
    """Says whether `ref` names the file of a bot's archive, not a bundled bot or a folder."""
    return ref not in bot_manifests.bundled_folders() and os.path.isfile(os.path.expanduser(ref))


def packed_bot(ref: str) -> PackedBot:
    """Packs a bot: a folder, the name of a bundled bot, or the file of an archive.

    Raises:
        BotError: As `pack`, or the file cannot be read.
        ArchiveError: As `pack` and `normalised`.
    """
    if not is_archive(ref):
        return pack(ref)
    data = files.read(Path(ref).expanduser(), "a bot's archive", MOST.packed, errors.BotError)
    if not compression.is_compressed(data):
        return _repacked(io.BytesIO(data), MOST)
    own = check(data, MOST)
    return PackedBot(data=data, digest=own.digest, bot=own.bot, manifest=own.manifest, entries=own.entries, left_out=())


def _repacked(file: BinaryIO, limits: Limits, into: BinaryIO | None = None, within: Path | None = None) -> PackedBot:
    if (size := file.seek(0, os.SEEK_END)) > limits.packed:
        raise exceeded(Rule.PACKED, limits)
    with scratch.folder("arena-foreign-", within) as made:
        top = made.resolve() / "bot"  # what lies beside it, if a manifest names that, is nothing
        top.mkdir()
        tree = UnpackedTree(top)
        unsure = _write(_members(file, size, limits), tree, limits)
        bot = _bot_in(tree.files)
        try:
            _make_programs(top / bot, {str(top / path) for path in unsure})
            return pack(top / bot, limits, into)
        except errors.ConfigError as error:  # a rule is broken, or something is wrong with what the manifest says
            rule, path, limit = Rule.MANIFEST, os.path.join(bot, bot_manifests.MANIFEST), None
            if isinstance(error, errors.ArchiveError):
                rule, path, limit = Rule(error.rule), error.path, error.limit
            said = str(error).replace(f"{top / bot}/", "").replace(str(top / bot), ".").replace(f"{top}/", "")
            raise errors.ArchiveError(rule, said, path=path, limit=limit) from None


def _write(members: Iterable[_Member], tree: UnpackedTree, limits: Limits) -> list[str]:
    """Writes files, folders and links, and returns the paths of files of which nothing says who may execute them."""
    unsure, size = [], 0
    for path, kind, announced, content, executable in members:
        path = path.removeprefix("./").rstrip("/" if kind == stat.S_IFDIR else "")
        if path in ("", ".") and kind == stat.S_IFDIR:
            continue
        check_path(path)
        if "\\" in path or re.match("[A-Za-z]:", path):
            raise broken(Rule.PATH, "a path with / between names", "\\ or a drive", "rename the file", path=path)
        if path.split("/")[0] == "__MACOSX":  # what Finder puts beside the files
            continue
        size += announced
        if size > limits.unpacked:
            raise exceeded(Rule.UNPACKED, limits, path)
        try:
            if kind == stat.S_IFDIR:
                tree.folder(path)
            elif kind == stat.S_IFLNK:
                _link(tree, path, b"".join(content))
            else:
                tree.add(path, content, executable=bool(executable))
                unsure += [path] * (executable is None)
        except FileExistsError:
            rule = "each path once, and none a file and a folder"
            raise broken(Rule.ORDER, rule, "one again", _AGAIN, path=path) from None
        if tree.count > limits.entries:
            raise exceeded(Rule.ENTRIES, limits, path)
    return unsure


def _link(tree: UnpackedTree, path: str, target: bytes) -> None:
    """Makes a link, but none that leads out where links are no part of a bot. Raises ArchiveError: it leads out."""
    *folders, _ = names = path.split("/")
    climb = _CLIMB.match(target)
    up = climb[0] if climb else b""
    is_inside = up.count(b"..") <= len(folders) and b".." not in target[len(up) :].split(b"/")
    if is_inside and 0 < len(target) <= MOST_PATH and b"\0" not in target and target[:1] != b"/":
        tree.link(path, os.fsdecode(target))
    elif not any(name.startswith(".") or name in bot_files.LEFT_OUT for name in names):
        expected = "links that lead to files of the bot, with .. at their beginning only"
        got = f"one to {shown(target.decode(errors='replace'))!r}"
        raise broken(Rule.LINK, expected, got, "send the file in its place", path=path)


def _bot_in(paths: Iterable[str]) -> str:
    """Returns the bot's folder: that of the highest manifest. Raises ArchiveError: there is none, or more than one."""
    found = sorted((path.count("/"), path) for path in paths if path.split("/")[-1] == bot_manifests.MANIFEST)
    highest = [os.path.dirname(path) for depth, path in found if depth == found[0][0]]
    if len(highest) == 1:
        return highest[0]
    got = f"{len(highest)}, among them {' and '.join(map(shown, highest[:2]))}" if highest else "none"
    raise broken(Rule.MANIFEST, f"one {bot_manifests.MANIFEST}, above all others", got, "send the folder of one bot")


def _make_programs(folder: Path, unsure: set[str]) -> None:
    """Makes executable what the manifest calls by a path, if nothing else says whether it is: in zips of Windows."""
    manifest = bot_manifests.read_manifest(folder)
    for name in (*manifest.command[:1], *manifest.build[:1], *manifest.fetch[:1], *manifest.needs):
        if "/" in name and (path := os.path.normpath(folder / name)) in unsure:
            os.chmod(path, 0o755)


def _members(file: BinaryIO, size: int, limits: Limits) -> Iterator[_Member]:
    """Yields what a zip or a tar holds, in any order and with any paths.

    Raises:
        ArchiveError: It is none, is damaged or too large, or holds what is no file, folder or link.
    """
    file.seek(0)
    head = file.read(BLOCK)
    file.seek(0)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_members(file, size, limits)
    if head.startswith(b"\x1f\x8b"):
        return _tar_members(_gunzipped(file, limits), limits)
    if head[257:262] == b"ustar":
        return _tar_members(_read(file), limits)
    got, remedy = "something else", "send the bot's folder as one"
    raise broken(Rule.ZSTD, "an archive in zstd, a zip, a tar or a tar.gz", got, remedy)


def _read(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    return iter(lambda: file.read(_READ), b"")


def _zip_members(file: BinaryIO, size: int, limits: Limits) -> Iterator[_Member]:
    last, entries = b"", 0
    for chunk in _read(file):  # before `zipfile` makes an object of each
        entries += (last + chunk).count(b"PK\x01\x02")
        last = chunk[-3:]
    if entries > 2 * limits.entries:
        raise exceeded(Rule.ENTRIES, limits)
    with _undamaged():
        opened = zipfile.ZipFile(file)
    infos = opened.infolist()
    if sum(info.compress_size for info in infos) > size:
        raise broken(Rule.ZIP, "contents beside one another", "some that overlap", _AGAIN)
    if sum(info.file_size for info in infos) > limits.unpacked:
        raise exceeded(Rule.UNPACKED, limits)
    return (_zip_member(opened, info) for info in infos)


@contextmanager
def _undamaged() -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise broken(Rule.ZIP, "a whole zip", f"a damaged one ({error!s:.120})", _AGAIN) from None


def _zip_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    path = info.orig_filename
    if not info.flag_bits & 0x800:  # `zip` does not say that it is UTF-8; others use the old code page
        with suppress(UnicodeDecodeError):
            path = path.encode("cp437").decode()
    if info.flag_bits & 1:
        raise broken(Rule.ZIP, "a zip without a password", "an encrypted file", "zip it without", path=path)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others take any memory
        got = f"method {info.compress_type}"
        raise broken(Rule.ZIP, "files that are stored or deflated", got, "zip it with deflate", path=path)
    mode = info.external_attr >> 16 if info.create_system in _UNIX else 0
    kind = stat.S_IFDIR if path.endswith("/") else stat.S_IFMT(mode) or stat.S_IFREG
    if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise broken(Rule.KIND, _KINDS, "a device, pipe or socket", "leave it out", path=path)
    return _Member(path, kind, info.file_size, _zip_content(opened, info), bool(mode & stat.S_IXUSR) if mode else None)


def _zip_content(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with _undamaged(), opened.open(info) as file:
        yield from _read(file)


def _gunzipped(sent: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """Yields what is in a gzip, no more than a tar within the limits can have."""
    left = limits.unpacked + limits.entries * 6 * BLOCK
    try:
        with gzip.GzipFile(fileobj=sent) as file:
            for chunk in _read(file):
                left -= len(chunk)
                if left < 0:
                    raise exceeded(Rule.UNPACKED, limits)
                yield chunk
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise broken(Rule.TAR, "a whole gzip", f"a damaged one ({error})", _AGAIN) from None


def _tar_members(chunks: Iterable[bytes], limits: Limits) -> Iterator[_Member]:
    source = Source(chunks)
    extended: dict[bytes, bytes] = {}
    headers = 0
    while any(block := source.take(BLOCK)):
        info = parsed(block, Rule.TAR)
        headers += 1
        if headers > 3 * limits.entries:
            raise exceeded(Rule.ENTRIES, limits, info.name)
        if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            if not 0 <= info.size <= _MOST_EXTENDED:
                expected = f"an extended header of at most {_MOST_EXTENDED:,} bytes"
                raise broken(Rule.TAR, expected, "more", "leave out attributes", path=info.name)
            said = source.take(info.size)
            source.take(padding(info.size))
            if info.type == tarfile.XHDTYPE:
                extended |= dict(_RECORD.findall(said))
            elif info.type != tarfile.XGLTYPE:
                extended[b"path" if info.type == tarfile.GNUTYPE_LONGNAME else b"linkpath"] = said.rstrip(b"\0")
            continue
        name = extended.pop(b"path", info.name.encode(errors="surrogateescape")).decode(errors="surrogateescape")
        target = extended.pop(b"linkpath", info.linkname.encode(errors="surrogateescape"))
        kind = _TAR_KINDS.get(info.type)
        if kind is None or extended:
            got = "a sparse or very large file" if extended else kind_of(info)
            raise broken(Rule.KIND, _KINDS, got, "leave it out", path=name)
        if info.size < 0 or (info.size and kind != stat.S_IFREG):
            raise broken(Rule.TAR, "the size of a file", f"{info.size} bytes", _AGAIN, path=name)
        content = source.pieces(info.size)
        yield _Member(name, kind, info.size, (target,) if kind == stat.S_IFLNK else content, bool(info.mode & 0o100))
        for _ in content:  # of what is left out
            pass
        source.take(padding(info.size))
    source.finish(zeros=b"\0")
