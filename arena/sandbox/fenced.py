"""Starts bots at level `fenced`: without root, a user namespace or a program of others. Landlock, a filter, limits.

A bot sees paths as they are. What a box would show is granted at its real path, to read and execute, and nothing is
granted to write. A bot's folder is its real one, not `binds.BOT`; a Python's packages are links in a folder of arena's.
What lies in a folder that is closed to the bot's user, such as root's home, is mounted at that same path: programs have
paths of their libraries written into them, and elsewhere another Python would run, with the system's library.

Laws:
1. What a bot may read is what `binds.needs` says: this module only finds the real paths.
2. One process starts all bots of a worker (`launcher.py`), because an interpreter for each would cost five times as
   much. It ends with the worker.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import resource
import secrets
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import Level, bot_manifests, confining, errors, machine_fault, runtimes, warden
from arena.sandbox import landlock, launcher, staging
from arena.sandbox.binds import BOT, Needs
from arena.sandbox.box import NAMED, system_trees

DEVICES: Final = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""All that a bot may write to, beside its output and its connection. `/dev/zero` gives memory that nobody can count."""
LINKS: Final = "python"
"""Prefix of the names of folders in which a Python's packages are links."""
_KEPT: Final = 64
_PATIENCE_S: Final = 20.0
"""Seconds that the launcher may take to answer."""
_ONE_PROCESS: Final = ("-m", "arena", "bot", "bridge")
"""Marks of a command that needs a second process."""


class Placed(msgspec.Struct, frozen=True):
    """What a bot is granted and how it is called, at real paths."""

    granted: tuple[tuple[str, int], ...]
    """Paths and rights, as `landlock.ruleset` wants them."""
    command: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    ways: dict[str, list[str]]
    """Paths that have to be mounted, as `staging.ways` says."""


def check(name: str, command: Sequence[str]) -> None:
    """Checks that a bot may be able to play with one process.

    Raises:
        BotError: It cannot. Show the message to the operator, or to its author.
    """
    if command[0] == runtimes.PYTHON_WITH_ARENA and tuple(command[1 : 1 + len(_ONE_PROCESS)]) == _ONE_PROCESS:
        raise errors.BotError(
            f"{name}: expected a bot of one process, which is all that level {Level.FENCED} allows, got: one that "
            f"plays by `arena bot bridge`, which starts another; play it at level {Level.ISOLATED}"
        )


def check_build(name: str, build: Sequence[str]) -> None:
    """Checks that a bot need not be built: compilers need processes, and folders to write to.

    Raises:
        BotError: It must be. Show the message to the operator, or to its author.
    """
    if build:
        raise errors.BotError(
            f"{name}: expected a bot that needs no build, because nothing can be built at level {Level.FENCED}, got: "
            "one with `build` in its manifest; send what it builds and leave out `build`, or ask for a league at level "
            f"{Level.ISOLATED}"
        )


def placed(spec: bot_manifests.BotSpec, needs: Needs, links: Path, user: int | None) -> Placed:
    """Returns what a bot is granted.

    Args:
        needs: What it would see in a box.
        links: The folder in which links to packages are made, for this process or for all of root's.
        user: As whom it runs; None for this process's user.

    Raises:
        BotError: It needs what this level cannot give. Show the message to the operator.
        MachineFault: The links cannot be made.
        OSError: Something of it is not there.
    """
    check(spec.name, spec.command)
    own = {path: place for path, place in needs.trees.items() if runtimes.is_in(path, [BOT])}
    packages = {path: place for path, place in needs.trees.items() if runtimes.is_in(path, [runtimes.PYTHON_FOLDER])}
    others = {path: place for path, place in needs.trees.items() if path not in own and path not in packages}
    beside = sorted({os.path.dirname(place) for place in own.values() if place != spec.folder})
    for folder in beside:
        if runtimes.is_private(folder):
            raise errors.BotError(
                f"{spec.name}: expected a bot whose `include` lies in a folder of its own, because level "
                f"{Level.FENCED} shows the names of all files there, got: {folder}; move the bot and what it includes"
            )
    shown = [*own.values(), *packages.values(), *others.values()]
    environment = dict(needs.environment)
    if packages:
        shown.append(str(_linked(links, packages)))
        environment = {name: value.replace(runtimes.PYTHON_FOLDER, shown[-1]) for name, value in environment.items()}
    for path in shown:
        os.stat(path)
    trees = [*(place for place in system_trees() if place not in others), *shown]
    granted = [one for place in trees for one in _without(place, needs.empty)]
    # An interpreter that looks for a module beside the bot lists the folder.
    granted += [(folder, landlock.LIST) for folder in beside]
    granted += [(device, landlock.USE) for device in DEVICES]
    return Placed(
        tuple(granted),
        needs.command,
        spec.folder,
        environment | NAMED | {"PATH": needs.path},
        {} if user is None else staging.ways((*shown, *beside)),
    )


class Started:
    """A process that the launcher has started: a child of this process, as `subprocess.Popen` would have."""

    def __init__(self, pid: int, begin: int) -> None:
        self.pid = pid
        self.stdin = os.fdopen(begin, "wb", buffering=0)
        self._status: int | None = None

    def poll(self) -> int | None:
        """Returns the exit status, or minus the number of the signal that ended it; None while it lives."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def wait(self) -> int:
        """Waits for the end, and returns the same."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status


def start(
    what: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    descriptors: Sequence[int],
    limits: Mapping[str, int],
    **told: object,
) -> Started:
    """Has the launcher start a process. It waits for a line on its standard input before it does anything.

    Args:
        what: Names it in errors.
        environment: All that it gets.
        descriptors: Its output, and what else it is given, as `launcher.py` says.
        limits: By the names of RLIMIT_*.
        told: What else `launcher.py` has to know.

    Raises:
        MachineFault: The machine cannot give it.
    """
    told |= {
        "command": [os.fsencode(word) for word in command],
        "environment": {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
        "limits": {
            name: confining.lowered(getattr(resource, f"RLIMIT_{name}"), limit) for name, limit in limits.items()
        },
    }
    with ExitStack() as held, ExitStack() as failed:
        try:
            reader, writer = os.pipe()
            held.callback(os.close, reader)
            failed.callback(os.close, writer)
            given = [reader, *descriptors]
            if told.get("mounts"):
                given.append(os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC))
                held.callback(os.close, given[-1])
            pid = _launcher().start(told, given)
        except OSError as error:
            raise machine_fault(f"start {what}", error) from None
        failed.pop_all()
        return Started(pid, writer)


def is_fenced_in(status: int) -> bool:
    """Tells whether a bot's own program has begun, given the descriptor at which the launcher says so."""
    return os.pread(status, 1, 0) == b"."


class Launcher:
    """The process that starts the bots of this one."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.settimeout(_PATIENCE_S)
        with theirs, ExitStack() as failed:
            failed.callback(self._orders.close)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", launcher.__file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                process_group=0,  # in the worker's session: see the laws of `custody.py`
            )
            failed.pop_all()
        self._at_exit = Finalize(None, self.close, exitpriority=0)  # after the bots have ended

    def start(self, told: Mapping[str, object], descriptors: list[int]) -> int:
        """Has it start a bot, and returns the number of the process.

        Raises:
            MachineFault: It cannot.
            OSError: It has ended.
        """
        try:
            socket.send_fds(self._orders, [marshal.dumps(dict(told))], descriptors)
            answer = self._orders.recv(4096)
        except TimeoutError:
            self._process.kill()  # its late answer would be taken for that to the next order
            raise
        if not answer:
            raise ConnectionResetError
        (pid,) = struct.unpack_from("i", answer)
        if not pid:
            raise errors.MachineFault(
                f"expected a process for a bot, got: {answer[4:].decode(errors='replace')}; play fewer games"
            )
        return int(pid)

    def close(self) -> None:
        """Ends it."""
        if self.owner == os.getpid():
            self._orders.close()
            self._process.kill()
            self._process.wait()


_running: Launcher | None = None


def _launcher() -> Launcher:
    """Returns the launcher of this process. If it was killed, another takes its place; MachineFault: none can start."""
    global _running
    if _running is None or _running.owner != os.getpid() or _running._process.poll() is not None:
        try:
            _running = Launcher()
        except OSError as error:
            raise machine_fault("start the process that starts bots", error) from None
    return _running


class LandlockRuleset:
    """A ruleset, closed when nobody keeps it any more."""

    def __init__(self, granted: tuple[tuple[str, int], ...]) -> None:
        self.descriptor = landlock.ruleset(granted)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self.descriptor)


def ruleset(granted: tuple[tuple[str, int], ...]) -> LandlockRuleset:
    """Returns the ruleset that grants paths. Hold it while its descriptor is used: another may take its place."""
    return _ruleset(granted, tuple(_files(granted)))


@functools.lru_cache(maxsize=_KEPT)
def _ruleset(granted: tuple[tuple[str, int], ...], _files: tuple[tuple[int, int], ...]) -> LandlockRuleset:
    """Returns the ruleset for paths at which these files lie. It is kept: it takes longer than the rest of a start."""
    return LandlockRuleset(granted)


def _files(granted: tuple[tuple[str, int], ...]) -> Iterator[tuple[int, int]]:
    """Yields what lies at each path. A folder that was made anew is another one, and a ruleset is about the old one."""
    for path, _ in granted:
        with suppress(OSError):
            found = os.stat(path)
            yield found.st_dev, found.st_ino


def _without(tree: str, empty: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yields what grants a tree without the folders in it that a box would have empty. Their names can be listed."""
    inside = [folder for folder in empty if runtimes.is_in(folder, [tree])]
    if not inside:
        yield tree, landlock.READ
    elif tree not in inside:
        yield tree, landlock.LIST
        with os.scandir(tree) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if not entry.is_symlink():  # a link grants nothing: what it leads to must be granted itself
                    yield from _without(entry.path, empty)


def _linked(links: Path, packages: Mapping[str, str]) -> Path:
    """Returns a folder of links to packages, made at the first call for these; MachineFault: no room for it."""
    folder = links / f"{LINKS}-{hashlib.sha256(repr(sorted(packages.items())).encode()).hexdigest()[:16]}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
        try:
            for path, place in packages.items():
                link = part / os.path.relpath(path, runtimes.PYTHON_FOLDER)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(place)
            for made, _, _ in os.walk(part):
                os.chmod(made, 0o755)  # whatever the umask is: it may be for another user
            with suppress(FileExistsError):
                part.rename(folder)
        except OSError as error:
            raise machine_fault("link the packages of a Python", error, at=folder) from None
        finally:
            warden.remove_tree(str(part))
    return folder
