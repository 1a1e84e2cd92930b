"""Says which files belong to a bot: the one decision behind its digest and the archive in which it is sent.

Of its folder all files do, but those that begin with a dot, those in folders that tools make, and what was built or
fetched. Beside these, what its manifest names does, whole.

A digest is kept with the times and sizes of the files that it was made of. So to look whether they are the same takes
a call of the system for each of them, and none is read again that did not change.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from arena.core.errors import BotError
from arena.core.files import MOST_PROGRAM, opened
from arena.core.record.published import COMMITMENT_FILE
from arena.core.resources import bots_folder

LEFT_OUT: Final = frozenset({"node_modules", "__pycache__"})
"""Folders that are not part of a bot, because tools make them. Names that begin with a dot are left out too, and what
arena makes where it is called."""
_SETTLED_NS: Final = 2 * 10**9  # times are too coarse to tell a second change from one so recent
_MOST_KEPT: Final = 200_000
"""Number of files whose looks are kept, some 60 MB. Bots that were not looked at for long are forgotten."""
_MOST_FILES: Final = 100_000  # files in a folder that a manifest names


class Found(NamedTuple):
    """What lies in a bot's folder, or in one that it names."""

    files: list[tuple[str, Path]]
    """The files that belong to it, sorted by their paths relative to its folder, with the places where they are."""
    left_out: dict[str, str]
    """Files and folders that do not belong to it, by path, sorted, and what they are if that is the reason."""
    folders: list[str]
    made: list[str]


def own_files(folder: Path, made: Iterable[str]) -> Found:
    """Returns what lies in a bot's folder. `made` are the files and folders that were made by its build.

    Raises:
        BotError: A symbolic link leads out of the folder, or a folder cannot be listed.
    """
    apart = {str(Path(name)) for name in made}
    found = _listed(
        folder,
        "",
        lambda path, name: name.startswith(".") or name in LEFT_OUT or path in apart or _is_made_by_calling(name),
    )
    installed = folder.is_relative_to(bots_folder().resolve())  # some installers make each file a link
    return found._replace(files=[(name, _resolved(folder, name, installed)) for name, _ in found.files])


def outermost(folder: Path, names: Iterable[str]) -> list[str]:
    """Returns what a manifest names, sorted, without what other names mean or contain: few names could be much to read.

    >>> outermost(Path("/bots/fox"), ["model", "../x", "./model/a", "model/../model"])
    ['../x', 'model']
    """
    places = {os.path.normpath(folder / name): name for name in sorted(names, reverse=True)}
    above = {name: map(str, Path(place).parents) for place, name in places.items()}
    return sorted(name for name in above if places.keys().isdisjoint(above[name]))


def named_files(folder: Path, name: str) -> Found:
    """Returns a file that a manifest names, or all files of a folder that it names, hidden ones too.

    Links in such a folder are not followed: package managers make them, for commands.

    Raises:
        BotError: A folder cannot be listed, or it names too many files.
    """
    if not os.path.isdir(folder / name):
        return Found([(name, folder / name)], {}, [], [])
    found = _listed(folder, name, lambda path, name: _is_made_by_calling(name))
    links = {path: "a link" for path, place in found.files if place.is_symlink()}
    return found._replace(
        files=[file for file in found.files if file[0] not in links],
        left_out=dict(sorted((found.left_out | links).items())),
    )


def files_of(folder: Path, include: Iterable[str], made: Iterable[str]) -> Found:
    """Returns the files that define a bot: its own, and those that its manifest names in `include`.

    What was built or fetched is apart: the same source must have the same digest whatever the compiler.

    Raises:
        BotError: A symbolic link leads out of the folder, or a folder cannot be listed.
    """
    made = sorted(set(made))
    parts = [own_files(folder, made), *(named_files(folder, name) for name in outermost(folder, include))]
    return Found(
        [file for part in parts for file in part.files],
        {},
        [name for part in parts for name in part.folders],
        [file for name in made for file, _ in named_files(folder, name).files],
    )


def files_in(words: Iterable[str], folder: Path) -> Found:
    """Returns the files that a command line names."""
    return Found([(word, folder / word) for word in words if os.path.isfile(folder / word)], {}, [], [])


def digest_of(folder: Path, found: Found, line: bytes = b"") -> str:
    """Returns the SHA-256 (hex) over a command line, if there is one, and files; and keeps what the files were like.

    Raises:
        BotError: A file cannot be read.
    """
    look = _Look.at(folder, found)  # before: what changes while it is read is another file
    digest = hashlib.sha256(b"\0%d\0%b" % (len(line), line) if line else b"")
    left = MOST_PROGRAM
    for name, path in found.files:
        with opened(path, f"the file {name!r:.200} of a bot", MOST_PROGRAM, BotError) as file:
            if (left := left - file.size) < 0:
                raise BotError(f"expected a bot of at most {MOST_PROGRAM:,} bytes, got: more with {path}; include less")
            digest.update(os.fsencode(name) + b"\0%d\0" % file.size)
            for chunk in file.chunks():
                digest.update(chunk)
    _keep(folder, digest.hexdigest(), look)
    return digest.hexdigest()


def is_unchanged(folder: Path, digest: str) -> bool:
    """Says whether nothing can have changed of a bot's files since it was seen that they have a digest."""
    look = _looks.get((str(folder), digest))
    return look is not None and look.still_holds(folder)


def changed_files(folder: Path, digest: str, found: Found, line: bytes = b"") -> list[str]:
    """Returns what of a bot's files is not as it was when they had a digest; nothing if all is.

    Of what was built it is known how it was when this process first looked. All files are read if one was touched.

    Raises:
        BotError: A file cannot be read.
    """
    before, now = _looks.get((str(folder), digest)), _Look.at(folder, found)
    is_same = before is not None and before.is_settled and before.own == now.own
    if is_same or digest_of(folder, found, line) == digest:
        anew = [] if before is None else _differing(before.made, now.made)
        _keep(folder, digest, before if before is not None and anew else now)
        return anew
    differing = [] if before is None else _differing(before.own, now.own)
    return differing or sorted(now.own, key=now.own.__getitem__)[-1:]  # the one that changed last


class _Look(NamedTuple):
    """What the files of a bot were like at one moment: by name what `_print` returned."""

    own: dict[str, tuple[int, ...]]
    made: dict[str, tuple[int, ...]]
    folders: dict[str, tuple[int, ...]]  # where they lie: they change when a file comes or goes
    is_settled: bool  # whether a file that changes afterwards has another time for sure
    is_listed: bool

    @classmethod
    def at(cls, folder: Path, found: Found) -> _Look:
        """Looks now."""
        now_ns = time.time_ns()
        names = ([name for name, _ in found.files], found.made, found.folders)
        own, made, folders = ({name: _print(folder, name) for name in each} for each in names)
        return cls(own, made, folders, _is_settled(own, now_ns), _is_settled(folders, now_ns))

    def still_holds(self, folder: Path) -> bool:
        """Says whether all is as it was."""
        known = (self.own, self.made, self.folders)
        return (self.is_settled and self.is_listed) and all(
            _print(folder, name) == was for each in known for name, was in each.items()
        )


_looks: OrderedDict[tuple[str, str], _Look] = OrderedDict()
"""Looks of a bot's files when they had a digest, by its folder and that digest."""


def _keep(folder: Path, digest: str, look: _Look) -> None:
    _looks[str(folder), digest] = look
    _looks.move_to_end((str(folder), digest))
    while len(_looks) > 1 and sum(len(each.own) + len(each.made) for each in _looks.values()) > _MOST_KEPT:
        _looks.popitem(last=False)


def _is_settled(prints: dict[str, tuple[int, ...]], now_ns: int) -> bool:
    return all(abs(now_ns - changed_ns) > _SETTLED_NS for changed_ns, *_ in prints.values())


def _differing(before: dict[str, tuple[int, ...]], now: dict[str, tuple[int, ...]]) -> list[str]:
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    return [
        name if name in before and name in now else f"{name} ({'new' if name in now else 'gone'})" for name in names
    ]


def _print(folder: Path, name: str) -> tuple[int, ...]:
    """Returns when a file changed, and what changes when another takes its place."""
    try:
        found = os.stat(os.path.join(folder, name))
    except OSError:
        return (0,)
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev


def _listed(folder: Path, top: str, skip: Callable[[str, str], bool]) -> Found:
    """Lists a folder of a bot, and those in it. Links to files are among the files.

    Args:
        top: The path of the folder relative to that; empty for the bot's own.
        skip: Says of a path and a name whether it is left out.

    Raises:
        BotError: A folder cannot be listed, or `top` holds too much: all of the disk, for instance.
    """
    files: list[tuple[str, Path]] = []
    left_out: dict[str, str] = {}
    folders: list[str] = []
    left = [top]
    while left:
        here = left.pop()
        folders.append(here)
        try:
            with os.scandir(folder / here) as listing:
                entries = list(listing)
                if here and any(entry.name == COMMITMENT_FILE for entry in entries):
                    left_out[folders.pop()] = "logs of games"
                    continue
                for entry in entries:
                    path = os.path.join(here, entry.name)
                    if skip(path, entry.name):
                        left_out[path] = ""
                    elif entry.is_dir(follow_symlinks=False):
                        left.append(path)
                    elif entry.is_file(follow_symlinks=False) or os.path.isfile(entry):
                        files.append((path, folder / path))
                    else:
                        left_out[path] = _kind(entry)
        except FileNotFoundError:
            continue  # it was just removed
        except OSError as error:
            raise BotError(
                f"expected a folder of a bot that can be listed, got: {error.strerror} - at {str(folder / here)!r}; "
                "make it readable for this user"
            ) from None
        if here and not entries:
            left_out[here] = "an empty folder"
        if top and len(files) > _MOST_FILES:
            raise BotError(
                f"{folder / 'bot.toml'}: include: expected at most {_MOST_FILES:,} files in a folder, got: more in "
                f"{top!r:.200}; name the folders and files that the bot needs"
            )
    return Found(sorted(files), dict(sorted(left_out.items())), folders, [])


def _is_made_by_calling(name: str) -> bool:
    """Says whether Python makes this beside whatever it imports, or arena where it is called (its logs apart)."""
    return name == "__pycache__" or name.startswith("arena.db")


def _kind(entry: os.DirEntry[str]) -> str:
    if not entry.is_symlink():
        return "no regular file"
    return "a link to a folder" if os.path.isdir(entry) else "a link that leads to no file"


def _resolved(folder: Path, name: str, installed: bool) -> Path:
    """Returns where a file of a bot's folder is."""
    path = folder / name
    if installed or not path.is_symlink():
        return path
    path = path.resolve()
    if not path.is_relative_to(folder):
        raise BotError(
            f"{folder / 'bot.toml'}: expected the bot's files in its folder, got: {name!r}, which leads to {path}; "
            "copy the file, or name it in `include` in place of the link"
        )
    return path
