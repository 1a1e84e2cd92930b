"""Packs a bot into an archive.

Its files lie beside each other as on its author's disk: the top of the archive is the bot's folder, or the folder
around it if the manifest names something there. So a build that works in `..` works in the archive, too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

import zstandard

from arena.author.archives.checking import Count, check_places
from arena.author.archives.rules import (
    LABEL,
    MOST,
    ArchivedBot,
    ArchiveEntry,
    Limits,
    Rule,
    check_path,
    exceeded,
    label_bytes,
    parts,
    shown,
)
from arena.author.archives.tar import END, header, padding
from arena.core.face import bot_files, bot_manifests, errors, files

_LEVEL: Final = 6
_OWNER_EXECUTES: Final = 0o100


class PackedBot(ArchivedBot, frozen=True, kw_only=True):
    """A bot in an archive."""

    data: bytes
    """The archive; nothing if it was written to a file."""
    left_out: tuple[str, ...]
    """Parts of the bot's folder, and of what it includes, that are not in it, by the paths there: hidden files, what
    tools make, what was built, and, with a word on what they are, links and empty folders."""


def pack(ref: str | Path, limits: Limits = MOST, into: BinaryIO | None = None) -> PackedBot:
    """Packs a bot: its folder, or the name of a bundled bot; into a file that is open for writing, if one is given.

    Raises:
        BotError: There is no such bot, its manifest cannot be used, or a file is missing. Show the message to its
            author.
        ArchiveError: It does not fit into an archive. Show the message to its author.
    """
    folder = (ref if isinstance(ref, Path) else bot_manifests.find_bot(ref)).resolve()
    manifest = bot_manifests.read_manifest(folder)
    top = _top(folder, manifest)
    bot = os.path.relpath(folder, top)
    check_places(manifest, bot)
    lacking = bot_manifests.unfetched(manifest, folder)
    if lacking is not None:
        raise errors.BotError(
            f"{folder / bot_manifests.MANIFEST}: expected {lacking!r}, which goes along when the bot is sent, "
            f"got: no such file; run `arena bot build {folder}`, which fetches it"
        )
    found = bot_files.own_files(folder, (*manifest.built, *manifest.fetched))
    taken, left_out = dict(found.files), dict(found.left_out)
    for name in (*manifest.include, *manifest.fetched):
        found = bot_files.named_files(folder, name)
        taken |= dict(found.files)
        left_out |= found.left_out
    placed = {os.path.relpath(os.path.normpath(folder / name), top): path for name, path in taken.items()}
    placed.pop(LABEL, None)  # of an archive that was unpacked here
    for path in placed:
        check_path(path)
    entries: list[ArchiveEntry] = []
    digest, data = _compressed(_plain(bot, placed, limits, entries), limits, into)
    included = {os.path.normpath(name) for name in taken}
    return PackedBot(
        data=data,
        digest=digest,
        bot=bot,
        manifest=manifest,
        entries=tuple(entries),
        left_out=tuple(
            f"{name} ({kind})" if kind else name
            for name, kind in sorted(left_out.items())
            if not _is_taken(name, included) and name != LABEL
        ),
    )


def _top(folder: Path, manifest: bot_manifests.Manifest) -> Path:
    """Returns the smallest folder that holds the bot and all that its manifest names: its own, or the one around it.

    Raises:
        ArchiveError: Something lies farther away.
    """
    named = (*manifest.include, *manifest.fetched, *manifest.built)
    outside = [name for name in named if not _is_in(folder / name, folder)]
    for name in outside:
        if not _is_in(folder / name, folder.parent):
            raise errors.ArchiveError(
                Rule.PLACE,
                f"expected files in the bot's folder or beside it, got: {name!r} - at "
                f"{folder / bot_manifests.MANIFEST}; "
                "move it there, and name it so",
                path=shown(name),
            )
    return folder.parent if outside else folder


def _is_in(path: Path, folder: Path) -> bool:
    return Path(os.path.normpath(path)).is_relative_to(folder)


def _is_taken(name: str, taken: set[str]) -> bool:
    """Tells whether something that would be left out was named: itself, or a part of it."""
    return any(path == name or path.startswith(f"{name}/") for path in taken)


def _compressed(pieces: Iterable[bytes], limits: Limits, into: BinaryIO | None) -> tuple[str, bytes]:
    """Returns the digest of an archive before its compression, and the archive. Raises ArchiveError: it is too big."""
    digest, file, size = hashlib.sha256(), into or BytesIO(), 0
    compressor = zstandard.ZstdCompressor(_LEVEL, write_checksum=True, write_content_size=False).compressobj()
    for piece in pieces:
        digest.update(piece)
        size += file.write(compressor.compress(piece))
        if size > limits.packed:
            break
    if size + file.write(compressor.flush()) > limits.packed:
        raise exceeded(Rule.PACKED, limits)
    return digest.hexdigest(), file.getvalue() if isinstance(file, BytesIO) else b""


def _plain(bot: str, placed: Mapping[str, Path], limits: Limits, entries: list[ArchiveEntry]) -> Iterator[bytes]:
    """Yields an archive before it is compressed, and adds its entries to `entries`."""
    label = label_bytes(bot)
    yield from (header(ArchiveEntry(LABEL, len(label), False)), label, bytes(padding(len(label))))
    count = Count(limits)
    for path in sorted(placed, key=parts):
        place = placed[path]
        with files.opened(place, f"the file {path!r} of a bot", limits.unpacked, errors.BotError) as file:
            entry = ArchiveEntry(path, file.size, bool(place.stat().st_mode & _OWNER_EXECUTES))
            count.add(entry)
            entries.append(entry)
            yield header(entry)
            read = 0
            for chunk in file.chunks():
                read += len(chunk)
                yield chunk
            if read != entry.size:
                raise errors.BotError(
                    f"expected a file that stays as it is, got: one that changes - at {place}; try again"
                )
            yield bytes(padding(entry.size))
    yield END
