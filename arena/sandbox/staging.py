"""Makes folders reachable for seats that run as another user, when the referee is run by root.

A seat's user cannot walk through a folder with mode 0700, such as root's home, and the interpreter may lie there. So
the worker takes a mount namespace of its own, in which it mounts such trees at a place that everybody can reach. Only
the worker and its boxes see that place, and it ends with the last of them. `bwrap` binds the tree from there to its own
path. What is closed itself stays closed: a file with mode 0600 in a tree, for instance.
"""

from __future__ import annotations

import ctypes
import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.core.face import errors, machine_fault
from arena.sandbox.accounts import run_folder

_NEW_MOUNTS: Final = 0x0002_0000
_NO_SETUID, _NO_DEVICES = 0x2, 0x4
_BIND, _ALL_BELOW, _SLAVE, _DETACH = 0x1000, 0x4000, 0x8_0000, 0x2
_OTHERS_READ, _OTHERS_WALK = 0o004, 0o001


def is_closed(path: str) -> bool:
    """Tells whether a folder above `path` keeps other users out. `path` is absolute and has no symbolic link in it.

    Raises:
        OSError: It is not there.
    """
    return any(not parent.stat().st_mode & _OTHERS_WALK for parent in Path(path).parents)


def check_open(path: str) -> None:
    """Checks that other users may enter the folder, or read the file, if they can reach it.

    Raises:
        OSError: It is not there.
        BotError: They may not. Show the message to the operator.
    """
    is_folder = os.path.isdir(path)
    mode = os.stat(path).st_mode
    if not mode & (_OTHERS_WALK if is_folder else _OTHERS_READ):
        raise errors.BotError(
            f"expected {'a folder' if is_folder else 'a file'} that other users may read, because the seats of root's "
            f"referee are other users, got: mode {mode & 0o7777:04o} - at {path}; "
            f"run `chmod -R o+rX {shlex.quote(path)}`, or run arena as an ordinary user"
        )


def ways(paths: Iterable[str]) -> dict[str, list[str]]:
    """Returns what other users cannot reach of these paths, by the outermost folder that keeps them out.

    A symbolic link among them stands beside what it leads to.

    Raises:
        OSError: One is not there.
        BotError: One is closed to other users itself. Show the message to the operator.
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        check_open(path)
        parent, name = os.path.split(path)
        for place in (os.path.join(os.path.realpath(parent), name), os.path.realpath(path)):
            for over in reversed(Path(place).parents):
                if not over.stat().st_mode & _OTHERS_WALK:
                    found.setdefault(str(over), set()).add(place)
                    break
    return {over: sorted(places) for over, places in found.items()}


class Stage:
    """The place where this process has mounted what its seats could not reach."""

    def __init__(self, path: str) -> None:
        """Takes a mount namespace of its own, until its process ends. `path`: the first that seats cannot reach.

        Raises:
            MachineFault: The system refuses. Show the message to the operator.
        """
        self.owner = os.getpid()
        self._system = ctypes.CDLL(None, use_errno=True)
        self._places: dict[str, str] = {}
        self._count = 0
        self._folder = run_folder() / "trees"
        try:
            self._folder.mkdir(mode=0o755, exist_ok=True)
            self._call("unshare", _NEW_MOUNTS)
            # What the system mounts and unmounts later is seen here, too; what is mounted here is seen nowhere else.
            self._call("mount", b"none", b"/", None, _ALL_BELOW | _SLAVE, None)
            options = b"mode=755,size=1m"
            flags = _NO_SETUID | _NO_DEVICES
            self._call("mount", b"tmpfs", os.fsencode(self._folder), b"tmpfs", flags, options)
        except OSError as error:
            remedy = (
                "give the process CAP_SYS_ADMIN, open that and what is above it to others (chmod o+x), or run as an "
                "ordinary user"
            )
            raise machine_fault(
                f"make a mount namespace for {path}, which seats cannot reach", error, remedy=remedy
            ) from None

    def reach(self, path: str) -> str:
        """Returns the place at which other users can reach `path`. It is mounted at the first call.

        Raises:
            OSError: It is not there.
        """
        if path not in self._places:
            place = str(self._folder / str(self._count))
            self._count += 1
            if os.path.isdir(path):
                os.mkdir(place)
            else:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
            self._call("mount", os.fsencode(path), os.fsencode(place), None, _BIND | _ALL_BELOW, None)
            self._places[path] = place
        return self._places[path]

    def leave(self, path: str) -> None:
        """Unmounts what was mounted for `path`, if anything was. Boxes that are running keep it."""
        place = self._places.pop(path, None)
        if place is not None:
            with suppress(OSError):
                self._call("umount2", os.fsencode(place), _DETACH)
                os.rmdir(place) if os.path.isdir(place) else os.unlink(place)

    def _call(self, name: str, *arguments: bytes | int | None) -> None:
        ctypes.set_errno(0)
        if getattr(self._system, name)(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


_stage: Stage | None = None


def reach(path: str) -> str:
    """Returns where a seat's user can reach what `path` names: there itself, or where it is mounted for that.

    Call it only for seats that run as another user.

    Raises:
        OSError: It is not there.
        BotError: It is closed to other users itself. Show the message to the operator.
        MachineFault: It cannot be mounted. Show the message to the operator.
    """
    global _stage
    path = os.path.realpath(path)
    check_open(path)
    if not is_closed(path):
        return path
    if _stage is None or not has_mounts():
        _stage = Stage(path)
    return _stage.reach(path)


def has_mounts() -> bool:
    """Tells whether this process has a mount namespace of its own, which processes of before do not see."""
    return _stage is not None and _stage.owner == os.getpid()


def leave(path: str) -> None:
    """Ends the use of a `path` that was reached for one seat alone."""
    if _stage is not None and has_mounts():
        _stage.leave(os.path.realpath(path))
