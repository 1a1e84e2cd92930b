"""A bot as whoever gets it has it: packed and unpacked again, so that what an archive does not carry is not there.

Nothing of a folder is built again: that takes long, and may need a network. What its build made is copied from it. A
bot that comes as a zip or tar is built, as a league builds it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from arena.author.archives import HERE, PackedBot, check, is_archive, pack, packed_bot, unpack
from arena.author.archives.building import build_archive, place_of
from arena.core.face import Level, bot_files, bot_manifests, errors, files, programs, resources, scratch

_KIND: Final = "arena-sent-"


class Sent(NamedTuple):
    """A bot that can be started from what would be sent of it."""

    spec: bot_manifests.BotSpec
    left_out: tuple[str, ...] = ()
    """Paths in its folder that are not sent, but for those that its build makes."""
    unpacked: str = ""
    """Why it is the bot in its own folder after all; empty if it is not."""


@contextmanager
def as_sent(ref: str) -> Iterator[Sent]:
    """Yields a bot as it is sent; as it is, if it is a command line or a bundled bot, which nobody sends.

    Raises:
        BotError: It cannot be started, where it lies or as it is sent. Show the message to its author.
        OSError: There is no room for a copy.
    """
    read = bot_manifests.read_ref(ref)
    named = read.bot
    if is_archive(named):
        packed = packed_bot(named)
        with _place(Path(named).resolve().parent) as place:
            spec = _built(packed, place, read)
            yield Sent(spec, tuple(path for path in packed.left_out if path not in packed.manifest.built))
        return
    spec = bot_manifests.load_bot(ref)
    if named.startswith(bot_manifests.COMMAND) or bot_manifests.find_bot(named).resolve().is_relative_to(
        resources.bots_folder().resolve()
    ):
        yield Sent(spec)
        return
    try:
        packed = pack(named)
    except (errors.ArchiveError, errors.BotError) as error:
        yield Sent(spec, unpacked=str(error))
        return
    with _place(bot_manifests.find_bot(named).resolve().parent) as place:
        folder = unpack(packed.data, place / spec.own_name)
        _put_built(Path(spec.folder), folder, folder if packed.bot == HERE else folder.parent, packed.manifest.built)
        try:
            sent = bot_manifests.load_bot(read._replace(bot=str(folder)).text)
        except errors.BotError as error:
            told = ", ".join(packed.left_out) or "nothing"
            raise errors.BotError(
                f"as it is sent, {str(error).replace(str(folder), named)} (left out: {told})"
            ) from None
        yield Sent(sent, tuple(path for path in packed.left_out if path not in packed.manifest.built))


@contextmanager
def _place(otherwise: Path) -> Iterator[Path]:
    """Yields a temporary folder from which programs may run; it lies in the other folder if need be."""
    temporary = Path(tempfile.gettempdir())
    with scratch.folder(_KIND, otherwise if programs.is_without_programs(temporary) else temporary) as place:
        place.chmod(0o711)  # in a sandbox it may be another user's
        yield place


def _built(packed: PackedBot, place: Path, read: bot_manifests.Ref) -> bot_manifests.BotSpec:
    """Returns the bot of an archive, built as a league builds it, but in no sandbox: it is the user's own.

    Raises:
        BotError: It cannot be built.
    """
    contents = check(packed.data)
    built = build_archive(packed.data, contents, place, Level.TRUSTED)
    if built.finding:
        raise errors.BotError(built.finding)
    return bot_manifests.load_bot(read._replace(bot=str(place_of(place, contents) / packed.bot)).text)


def _put_built(source: Path, target: Path, top: Path, built: tuple[str, ...]) -> None:
    """Copies what a bot's build made, as far as it lies below the top of the archive."""
    for name in built:
        found = bot_files.named_files(source, name)
        links = (path for path in found.left_out if (source / path).is_symlink())
        for path in (*(path for path, _ in found.files), *links):
            place = Path(os.path.normpath(target / path))
            if not place.is_relative_to(top) or place.exists() or not os.path.lexists(source / path):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if (source / path).is_symlink():
                place.symlink_to(os.readlink(source / path))
            else:
                with files.opened(source / path, "a built file", files.MOST_PROGRAM, errors.BotError) as file:
                    files.create(place, file.chunks(), (source / path).stat().st_mode & 0o777)
