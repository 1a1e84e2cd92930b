"""Archives as strangers make them: with the standard library's tarfile, or byte by byte."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import zstandard

from arena.author.archives.rules import ArchiveEntry, label_bytes
from arena.author.archives.tar import END, header, padding

MANIFEST = b'name = "fox"\ncommand = ["./bot"]\n'


def raw(path: str, content: bytes = b"", *, executable: bool = False) -> bytes:
    """An entry as `pack` writes it."""
    return header(ArchiveEntry(path, len(content), executable)) + content + bytes(padding(len(content)))


def info(path: str, content: bytes = b"", **fields: object) -> bytes:
    """An entry as tarfile writes it; `fields` are those of TarInfo, and `format`."""
    format = fields.pop("format", tarfile.USTAR_FORMAT)
    entry = tarfile.TarInfo(path)
    entry.size = len(content)
    for name, value in fields.items():
        setattr(entry, name, value)
    return entry.tobuf(format, "utf-8", "surrogateescape") + content + bytes(padding(len(content)))  # type: ignore[arg-type]


def patched(block: bytes, at: int, new: bytes) -> bytes:
    """A header with other bytes in one field, and its checksum right."""
    changed = block[:at] + new + block[at + len(new) :]
    total = sum(changed[:148]) + 8 * 32 + sum(changed[156:512])
    return changed[:148] + b"%06o\0 " % total + changed[156:]


def label(bot: str = ".") -> bytes:
    """The first entry."""
    return raw(".arena-parcel", label_bytes(bot))


def packed(*entries: bytes, end: bytes = END) -> bytes:
    """An archive of entries."""
    return zstandard.ZstdCompressor().compress(b"".join(entries) + end)


def with_bot(*entries: bytes, manifest: bytes = MANIFEST) -> bytes:
    """An archive of a bot, with more entries after its manifest."""
    return packed(label(), raw("bot.toml", manifest), *entries)


def plain(archive: bytes) -> bytes:
    """What is in an archive."""
    return zstandard.ZstdDecompressor().decompressobj().decompress(archive)


def tree(folder: Path) -> dict[str, tuple[bool, str]]:
    """All files of a folder: whether they are executable, and their digests."""
    return {
        str(path.relative_to(folder)): (bool(path.stat().st_mode & 0o100), digest(path.read_bytes()))
        for path in folder.rglob("*")
        if path.is_file()
    }


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make(folder: Path, files: dict[str, str], programs: Iterable[str] = ()) -> Path:
    """Writes files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name in programs else 0o644)
    return folder


def names(archive: bytes) -> list[str]:
    """The paths in an archive, as tarfile reads them."""
    with tarfile.open(fileobj=io.BytesIO(plain(archive))) as opened:
        return opened.getnames()


READ = """
import resource, sys
from pathlib import Path
from arena.core.errors import ArchiveError
from arena.author import archives
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    getattr(archives, sys.argv[2])(Path(sys.argv[1]), archives.LIMITS)
except ArchiveError as error:
    sys.stdout.write(f"{error.rule} {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10}")
"""


def assert_refused_in_little_memory(bomb: bytes, rule: str, folder: Path, reader: str, most_mib: int) -> None:
    (folder / "bomb").write_bytes(bomb)
    command = [sys.executable, "-c", READ, str(folder / "bomb"), reader]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == rule
    assert int(said[1]) < most_mib, f"{said[1]} MiB for a bomb of {len(bomb):,} bytes"
