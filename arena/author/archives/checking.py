"""Reads an archive without trust, and without writing anything.

Laws:
1. Every byte is checked before anything is made of it, and every length before anything is kept.
2. Everything follows from the order of the entries: no path comes twice, and none lies below a file.
3. There is one way to write a bot as an archive, so equal bots have equal digests, and nothing can be hidden beside
   what is unpacked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from arena.author.archives.rules import (
    FORMAT,
    LABEL,
    MOST,
    MOST_LABEL,
    ArchivedBot,
    ArchiveEntry,
    Limits,
    Rule,
    broken,
    exceeded,
    labelled,
    parts,
    shown,
)
from arena.author.archives.tar import BLOCK, END, Source, inflated, padding, read_header
from arena.core.face import bot_manifests, errors, files, runtimes

Archive: TypeAlias = Path | bytes
"""An archive: its file, or its bytes."""
_SCRIPT: Final = b"#!"
Take: TypeAlias = Callable[[ArchiveEntry, Iterator[bytes]], None]
"""Is called with each entry and its content in pieces, which it need not take."""


class Contents(ArchivedBot, frozen=True, kw_only=True):
    """What an archive holds."""

    scripts: frozenset[str]
    """The paths of files that begin with `#!`."""


def check(archive: Archive, limits: Limits = MOST) -> Contents:
    """Reads an archive to its end, and returns what it holds.

    Raises:
        ArchiveError: It breaks a rule. The error names the rule, the path and the limit.
        ConfigError: There is no such file.
    """
    return read_archive(archive, limits, lambda entry, content: None)


def read_archive(archive: Archive, limits: Limits, take: Take) -> Contents:
    """Reads an archive, and hands over each entry when its header was checked.

    What comes after it may still break a rule: then this raises, and what was made of the entries must go.

    Raises:
        ArchiveError: As `check`.
        ConfigError: As `check`.
    """
    source = Source(inflated(_chunks(archive, limits)))
    bot = _read_label(source)
    path = os.path.normpath(os.path.join(bot, bot_manifests.MANIFEST))
    manifest: bot_manifests.Manifest | None = None
    entries: list[ArchiveEntry] = []
    scripts: set[str] = set()
    count = Count(limits)
    while (block := source.take(BLOCK)) != END[:BLOCK]:
        entry = read_header(block)
        count.add(entry)
        entries.append(entry)
        start = source.take(min(entry.size, len(_SCRIPT)))
        if start == _SCRIPT:
            scripts.add(entry.path)
        content: Iterator[bytes] = chain((start,), source.pieces(entry.size - len(start)))
        if entry.path == path:
            if entry.size > limits.manifest:
                raise exceeded(Rule.MANIFEST, limits, path)
            data = b"".join(content)
            manifest = _manifest(data, path, bot)
            content = iter((data,))
        take(entry, content)
        for _ in content:
            pass
        _check_padding(source, entry)
    if source.take(BLOCK) != END[:BLOCK]:
        raise broken(Rule.END, "two empty blocks at the end", "one")
    digest = source.finish()
    if manifest is None:
        raise broken(Rule.MANIFEST, "a bot's manifest", "none", path=path)
    return Contents(digest=digest, bot=bot, manifest=manifest, entries=tuple(entries), scripts=frozenset(scripts))


class Count:
    """Counts what an archive holds, and refuses what comes in a wrong order."""

    def __init__(self, limits: Limits) -> None:
        self.bytes = 0
        self._limits = limits
        self._entries = 0
        self._last: tuple[bytes, ...] = ()

    def add(self, entry: ArchiveEntry) -> None:
        """Counts a file with the folders that begin with it. Raises ArchiveError: it is one too many, or misplaced."""
        names = parts(entry.path)
        if entry.path == LABEL:
            raise broken(Rule.LABEL, f"{LABEL} once", "it again", path=LABEL)
        if names <= self._last or names[: len(self._last)] == self._last != ():
            before = f"'{shown(b'/'.join(self._last).decode())}' before it"
            raise broken(Rule.ORDER, "sorted paths, none twice and none a file and a folder", before, path=entry.path)
        shared = next((at for at, (a, b) in enumerate(zip(names, self._last, strict=False)) if a != b), 0)
        self._entries += len(names) - shared
        self._last = names
        self.bytes += entry.size
        if self._entries > self._limits.entries:
            raise exceeded(Rule.ENTRIES, self._limits, entry.path)
        if self.bytes > self._limits.unpacked:
            raise exceeded(Rule.UNPACKED, self._limits, entry.path)


def _read_label(source: Source) -> str:
    """Reads the first entry, and returns the path of the bot's folder. Raises ArchiveError: it is another."""
    entry = read_header(source.take(BLOCK))
    remedy = "pack it with this version of arena"
    wrong = broken(Rule.LABEL, f"{LABEL} of format {FORMAT} as the first entry", "another", remedy, path=entry.path)
    if entry.path != LABEL or entry.size > MOST_LABEL:
        raise wrong
    data = source.take(entry.size)
    _check_padding(source, entry)
    bot = labelled(data)
    if bot is None or entry.executable:
        raise wrong
    return bot


def _check_padding(source: Source, entry: ArchiveEntry) -> None:
    if any(source.take(padding(entry.size))):
        raise broken(Rule.HEADER, "zeros after a content", "other bytes", path=entry.path)


def _manifest(data: bytes, path: str, bot: str) -> bot_manifests.Manifest:
    try:
        manifest = bot_manifests.parse_manifest(data, shown(path))
    except errors.BotError as error:
        raise errors.ArchiveError(Rule.MANIFEST, str(error), path=shown(path)) from None
    check_places(manifest, bot)
    return manifest


def check_places(manifest: bot_manifests.Manifest, bot: str) -> None:
    """Checks that what a manifest names lies in the archive: nobody is to read the files of others by naming them.

    Raises:
        ArchiveError: Something does not.
    """
    programs = (*manifest.command[:1], *manifest.build[:1], *manifest.fetch[:1], *manifest.needs)
    named = (*manifest.include, *manifest.built, *manifest.fetched, *_python_file(manifest))
    for name in (*named, *(name for name in programs if "/" in name)):
        path = os.path.normpath(os.path.join(bot, name))
        if path.startswith(("/", "../")) or path == "..":
            raise errors.ArchiveError(
                Rule.PLACE,
                f"expected files in the archive, got: {shown(name)!r} - at {bot_manifests.MANIFEST}; move it into the "
                "bot's folder, or name a runtime in `command`",
                path=shown(name),
            )


def _python_file(manifest: bot_manifests.Manifest) -> tuple[str, ...]:
    """Returns the file that a Python is to run: whether it is there is asked on the machine, and is told."""
    program, *arguments = manifest.command
    if program not in (runtimes.PYTHON, runtimes.PYTHON_WITH_ARENA):
        return ()
    return tuple(word for word in arguments[:1] if not word.startswith("-"))


def _chunks(archive: Archive, limits: Limits) -> Iterator[bytes]:
    if isinstance(archive, bytes):
        if len(archive) > limits.packed:
            raise exceeded(Rule.PACKED, limits)
        yield archive
        return
    with files.opened(archive, "a bot's archive", files.MOST_PROGRAM, errors.ConfigError, links=False) as file:
        if file.size > limits.packed:
            raise exceeded(Rule.PACKED, limits)
        yield from file.chunks()
