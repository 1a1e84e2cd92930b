"""Makes an archive of a zip of a bot's folder, so that it has the digest that `arena` gives the folder itself."""

from __future__ import annotations

import stat
import zipfile
import zlib
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Final

from arena.author.archives.base import LIMITS, Rule, check_path, shown
from arena.author.archives.checking import check
from arena.author.archives.packing import pack
from arena.core.face import bot_manifests, errors, files, scratch

_ZIP: Final = b"PK\x03\x04"
_PIECE: Final = 65_536


def normalised(data: bytes) -> tuple[str, bytes]:
    """Returns the digest of a bot that was sent, and its archive: an archive as it is, a zip packed anew.

    Raises:
        ArchiveError: It is neither, or breaks a rule.
    """
    if not data.startswith(_ZIP):
        return check(data).digest, data
    with scratch.folder("arena-zip-") as folder:
        try:
            with zipfile.ZipFile(BytesIO(data)) as zipped:
                _unpack(zipped, folder)
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
            ValueError,
        ) as error:
            raise errors.ArchiveError(Rule.END, f"expected a zip, got: {error}; zip the bot's folder again") from None
        tops = list(folder.iterdir())
        if not (folder / bot_manifests.MANIFEST).is_file() and len(tops) == 1:
            folder = tops[0]
        try:
            packed = pack(folder)
        except errors.BotError as error:
            reason = str(error).replace(f"{folder}/", "")
            raise errors.ArchiveError(Rule.MANIFEST, reason) from None
    return packed.digest, packed.data


def _unpack(zipped: zipfile.ZipFile, folder: Path) -> None:
    found = [each for each in zipped.infolist() if not each.is_dir()]
    left = LIMITS.unpacked
    if len(found) > LIMITS.entries:
        reason = f"expected at most {LIMITS.entries} files, got: {len(found)}; leave some out"
        raise errors.ArchiveError(Rule.ENTRIES, reason, limit=LIMITS.entries)
    for each in found:
        check_path(each.filename)
        mode = each.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise errors.ArchiveError(
                Rule.KIND,
                f"expected files only, got: another kind - at {shown(each.filename)}; send the file itself",
                path=shown(each.filename),
            )
        path = folder / each.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        left -= each.file_size  # zipfile gives no more than it says
        if left < 0:
            reason = f"expected at most {LIMITS.unpacked} bytes in all, got: more; leave some out"
            raise errors.ArchiveError(Rule.UNPACKED, reason, limit=LIMITS.unpacked)
        with zipped.open(each) as source:
            files.create(path, iter(partial(source.read, _PIECE), b""), 0o700 if mode & stat.S_IXUSR else 0o600)
