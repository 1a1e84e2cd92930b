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
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from arena.author.archives.base import (
    FORMAT,
    HERE,
    LABEL,
    LIMITS,
    MOST_LABEL,
    Entry,
    Label,
    Limits,
    Rule,
    check_path,
    parts,
    shown,
)
from arena.author.archives.headers import BLOCK, END, padding, read_header
from arena.author.archives.streams import Source, inflated, too_large
from arena.core.face import bot_manifests, errors, files, runtimes

Archive: TypeAlias = Path | bytes
"""An archive: its file, or its bytes."""
_SCRIPT: Final = b"#!"
Take: TypeAlias = Callable[[Entry, Iterator[bytes]], None]
"""Is called with each entry and its content in pieces, which it need not take."""


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive holds."""

    digest: str
    """SHA-256 (hex) of the archive before it was compressed: the identity of the bot's files."""
    bot: str
    """The path of the bot's folder in it, or `.`."""
    manifest: bot_manifests.Manifest
    entries: tuple[Entry, ...]
    """The files, sorted."""
    size: int
    """Bytes of all files."""
    scripts: frozenset[str]
    """The paths of files that begin with `#!`."""


def check(archive: Archive, limits: Limits = LIMITS) -> Contents:
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
    with _chunks(archive, limits) as chunks:
        source = Source(inflated(chunks, limits))
        label = _read_label(source)
        path = bot_manifests.MANIFEST if label.bot == HERE else f"{label.bot}/{bot_manifests.MANIFEST}"
        manifest: bot_manifests.Manifest | None = None
        entries: list[Entry] = []
        scripts: set[str] = set()
        count = Count(limits)
        while (block := source.take(BLOCK)) != END[:BLOCK]:
            entry = read_header(block)
            count.add(entry)
            entries.append(entry)
            content = _noted(entry, source.pieces(entry.size), scripts)
            if entry.path == path:
                data = _manifest_bytes(entry, content, limits)
                manifest = _manifest(data, path, label.bot)
                content = iter((data,))
            take(entry, content)
            for _ in content:
                pass
            _check_padding(source, entry)
        if source.take(BLOCK) != END[:BLOCK]:
            raise errors.ArchiveError(Rule.END, "expected two empty blocks at the end, got: one; pack it with arena")
        digest = source.finish()
    if manifest is None:
        raise errors.ArchiveError(
            Rule.MANIFEST, f"expected a bot's manifest, got: none - at {shown(path)}", path=shown(path)
        )
    return Contents(
        digest=digest,
        bot=label.bot,
        manifest=manifest,
        entries=tuple(entries),
        size=count.bytes,
        scripts=frozenset(scripts),
    )


def _noted(entry: Entry, content: Iterator[bytes], scripts: set[str]) -> Iterator[bytes]:
    """Yields a content as it is, and adds its path to `scripts` if it is one."""
    start = b""
    for piece in content:
        if len(start) < len(_SCRIPT):
            start += piece[: len(_SCRIPT)]
            if start.startswith(_SCRIPT):
                scripts.add(entry.path)
        yield piece


class Count:
    """Counts what an archive holds, and refuses what comes in a wrong order."""

    def __init__(self, limits: Limits) -> None:
        """Takes the limits."""
        self.bytes = 0
        self._limits = limits
        self._entries = 0
        self._last: tuple[bytes, ...] = ()

    def add(self, entry: Entry) -> None:
        """Counts a file with the folders that begin with it.

        Raises:
            ArchiveError: It is one too many, or not in its place.
        """
        path, names = shown(entry.path), parts(entry.path)
        if entry.path == LABEL:
            raise errors.ArchiveError(
                Rule.LABEL, f"expected {LABEL} once, got: it again; pack it with arena", path=LABEL
            )
        if names <= self._last or names[: len(self._last)] == self._last != ():
            raise errors.ArchiveError(
                Rule.ORDER,
                "expected sorted paths, none twice and none a file and a folder, "
                f"got: '{shown(b'/'.join(self._last).decode())}' before it - at {path}; pack it with arena",
                path=path,
            )
        shared = next((at for at, (a, b) in enumerate(zip(names, self._last, strict=False)) if a != b), 0)
        self._entries += len(names) - shared
        self._last = names
        self.bytes += entry.size
        for rule, has, most, what in (
            (Rule.ENTRIES, self._entries, self._limits.entries, "at most {:,} files and folders"),
            (Rule.UNPACKED, self.bytes, self._limits.unpacked, "files of at most {:,} bytes in all"),
        ):
            if has > most:
                text = f"expected {what.format(most)}, got: more - at {path}; leave out what the bot does not need"
                raise errors.ArchiveError(rule, text, path=path, limit=most)


def label_bytes(bot: str) -> bytes:
    """Returns the content of the first entry."""
    return msgspec.json.encode(Label(FORMAT, bot)) + b"\n"


def _read_label(source: Source) -> Label:
    """Reads the first entry.

    Raises:
        ArchiveError: It is another.
    """
    entry = read_header(source.take(BLOCK))
    wrong = errors.ArchiveError(
        Rule.LABEL,
        f"expected {LABEL} of format {FORMAT} as the first entry, got: another - at {shown(entry.path)}; "
        "pack it with this version of arena",
        path=shown(entry.path),
    )
    if entry.path != LABEL or entry.size > MOST_LABEL:
        raise wrong
    data = source.take(entry.size)
    _check_padding(source, entry)
    try:
        label = msgspec.json.decode(data, type=Label)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise wrong from None
    if label.format != FORMAT or entry.executable or label_bytes(label.bot) != data:
        raise wrong
    if label.bot != HERE:
        check_path(label.bot)
    return label


def _check_padding(source: Source, entry: Entry) -> None:
    if any(source.take(padding(entry.size))):
        raise errors.ArchiveError(
            Rule.HEADER,
            f"expected zeros after a content, got: other bytes - at {shown(entry.path)}; pack it with arena",
            path=shown(entry.path),
        )


def _manifest_bytes(entry: Entry, content: Iterator[bytes], limits: Limits) -> bytes:
    if entry.size > limits.manifest:
        raise errors.ArchiveError(
            Rule.MANIFEST,
            f"expected a manifest of at most {limits.manifest:,} bytes, got: {entry.size:,} - at {shown(entry.path)}",
            path=shown(entry.path),
            limit=limits.manifest,
        )
    return b"".join(content)


def _manifest(data: bytes, path: str, bot: str) -> bot_manifests.Manifest:
    try:
        manifest = bot_manifests.parse_manifest(data, shown(path))
    except errors.BotError as error:
        raise errors.ArchiveError(Rule.MANIFEST, str(error), path=shown(path)) from None
    check_places(manifest, bot)
    return manifest


def check_places(manifest: bot_manifests.Manifest, bot: str) -> None:
    """Checks that what a manifest names lies in the archive: nobody is to read the files of others by naming them.

    Args:
        manifest: The manifest.
        bot: The path of the bot's folder in the archive, or `HERE`.

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
                f"expected files in the archive, got: {shown(name)!r} - at {bot_manifests.MANIFEST}; move it "
                f"into the bot's folder, "
                "or name a runtime in `command`",
                path=shown(name),
            )


def _python_file(manifest: bot_manifests.Manifest) -> tuple[str, ...]:
    """Returns the file that a Python is to run: whether it is there is asked on the machine, and is told."""
    program, *arguments = manifest.command
    if program not in (runtimes.PYTHON, runtimes.PYTHON_WITH_ARENA):
        return ()
    return tuple(word for word in arguments[:1] if not word.startswith("-"))


@contextmanager
def _chunks(archive: Archive, limits: Limits) -> Iterator[Iterator[bytes]]:
    """Yields an archive in chunks."""
    if isinstance(archive, bytes):
        yield iter((archive,))
        return
    with files.opened(archive, "a bot's archive", files.MOST_PROGRAM, errors.ConfigError, links=False) as file:
        if file.size > limits.packed:
            raise too_large(limits.packed)
        yield file.chunks()
