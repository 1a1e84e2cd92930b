"""Makes the folder of a bot that was built fit to stay: a stranger's program has written to it.

What is left of it are the files that were sent and what the manifest says that the build makes. They belong to this
user, may be read by all and changed by nobody else, and no link leads out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from arena.core.face import bot_manifests, errors, files, plain, warden
from arena.sandbox.usage import entries_below

_FOLDER, _FILE, _PROGRAM = 0o755, 0o644, 0o755
_OWNER_EXECUTES: Final = 0o100


def settle(top: Path, kept: Iterable[str]) -> int:
    """Removes what is not to stay, and takes over the rest. Returns how many files were removed.

    `kept` are paths of files, and of folders that stay as they are. No process of the stranger's may be left.

    Raises:
        BotError: Something has to stay that is no file or folder, or leads out. Show the message to the author.
        OSError: The system refuses.
    """
    wanted = {os.path.normpath(path) for path in kept}
    around = {str(parent) for path in wanted for parent in Path(path).parents}
    removed = 0
    _take_over(top)
    left = [top]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in list(entries):
                path = os.path.relpath(entry.path, top)
                if not (path in around or _lies_in(path, wanted)):
                    removed += _remove(entry)
                    continue
                if entry.is_symlink():
                    _check_link(Path(entry.path), top, is_way=path in around)
                elif entry.is_dir(follow_symlinks=False):
                    _take_over(Path(entry.path))
                    left.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    _take_over(Path(entry.path))
                elif path in wanted:
                    raise errors.BotError(
                        f"expected a file or folder, got: something else - at {plain(path)}; build a file"
                    )
                else:
                    os.unlink(entry.path)
    return removed


def what_stays(bot: str, manifest: bot_manifests.Manifest, sent: Iterable[str]) -> list[str]:
    """Returns the paths of what stays of a bot after its build, relative to the top.

    `bot` is its folder. What was fetched goes, unless the bot needs it to run too: compilers have read it.
    """
    built = {os.path.normpath(os.path.join(bot, name)) for name in manifest.built}
    fetched = {os.path.normpath(os.path.join(bot, name)) for name in manifest.fetched} - built
    program = manifest.command[0]
    own = [os.path.normpath(os.path.join(bot, program))] if "/" in program and not os.path.isabs(program) else []
    inside = [path for path in (*built, *own) if path != ".." and not path.startswith("../")]
    return [*(path for path in sent if not _lies_in(path, fetched)), *inside]


def tree_digest(top: Path) -> str:
    """Returns the SHA-256 (hex) over the paths, kinds and contents of all that lies in a folder.

    A file is read once, however many names it has.

    Raises:
        BotError: A file cannot be read.
    """
    digest = hashlib.sha256()
    contents: dict[int, bytes] = {}
    for path in sorted(entry.path for entry in entries_below(top)):
        name = os.fsencode(os.path.relpath(path, top))
        if os.path.islink(path):
            digest.update(b"link\0%b\0%b\0" % (name, os.fsencode(os.readlink(path))))
        elif os.path.isfile(path):
            status = os.stat(path)
            kind = b"program" if status.st_mode & _OWNER_EXECUTES else b"file"
            if status.st_ino not in contents:
                with files.opened(Path(path), "a built file", files.MOST_PROGRAM, errors.BotError, links=False) as file:
                    content = hashlib.sha256()
                    for chunk in file.chunks():
                        content.update(chunk)
                contents[status.st_ino] = content.digest()
            digest.update(b"%b\0%b\0%d\0%b" % (kind, name, status.st_size, contents[status.st_ino]))
    return digest.hexdigest()


def _take_over(path: Path) -> None:
    """Makes a file or folder this user's. It is no link."""
    status = path.lstat()
    if os.geteuid() == 0 and status.st_uid != 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if path.is_dir():
        path.chmod(_FOLDER)
    else:
        path.chmod(_PROGRAM if status.st_mode & _OWNER_EXECUTES else _FILE)


def _remove(entry: os.DirEntry[str]) -> int:
    """Removes something, and returns how many files that were."""
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.path)
        return 1
    count = sum(not each.is_dir(follow_symlinks=False) for each in entries_below(Path(entry.path)))
    warden.remove_tree(entry.path)
    return count


def _check_link(path: Path, top: Path, *, is_way: bool) -> None:
    """Checks that a symbolic link leads to something in the folder, and lies on the way to nothing that stays.

    Where a bot's files lie is what its archive was checked for: a link in the place of the bot's own folder would make
    the names of its manifest those of other files, even of other bots.
    """
    if is_way:
        raise errors.BotError(
            f"expected a folder, as it was sent, got: a link to {plain(os.readlink(path))!r} "
            f"- at {plain(str(path.relative_to(top)))}; let the build write into the folder"
        )
    target = path.resolve()
    if not target.is_relative_to(top.resolve()):
        raise errors.BotError(
            f"expected links that stay among the bot's files, got: {plain(str(path.relative_to(top)))!r}, which leads "
            f"to {plain(os.readlink(path))!r}; let the build copy the file"
        )


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    """Tells whether a path is one of some, or lies in one."""
    names = path.split("/")
    return "." in folders or any("/".join(names[:depth]) in folders for depth in range(1, len(names) + 1))
