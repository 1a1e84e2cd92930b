"""Runs the build of a bot that nobody trusts: in a box without a network, which ends when it takes too much.

In the box the build sees the machine's toolchains, read-only, and may write to two places: its own copy of the bot's
files, where these will lie later, and `/tmp`, which is its home, too. Both are folders on a disk. So what it writes is
looked at, several times a second, and not limited beforehand; no single file grows beyond the limit.

At `trusted` the same limits hold, and nothing else does: it runs as this user, with the network and all files.
"""

from __future__ import annotations

import os
import secrets
import select
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import (
    Custody,
    Level,
    bot_manifests,
    bot_processes,
    confining,
    errors,
    fences,
    runtimes,
    wire_variables,
)
from arena.sandbox import binds, staging
from arena.sandbox.fence import fence
from arena.sandbox.filter import FOR_BUILDS
from arena.sandbox.levels import Boxed, InBox, reach
from arena.sandbox.usage import own, unlinked, used

KEPT_OUTPUT: Final = 65_536
"""Bytes of what a build prints, of which the last are kept."""
OFFLINE: Final = {"CARGO_NET_OFFLINE": "true", "GOPROXY": "off", "GOTOOLCHAIN": "local", "npm_config_offline": "true"}
"""Variables by which package managers know that there is no network: they say so, and do not try for minutes."""
_LOOK_S: Final = 0.05
_REST_SHARE: Final = 10
"""Pause after a look at the disk, as a multiple of its duration."""
_FREE_MIB: Final = 256
"""With less room on the disk than this, no build goes on."""
_OTHERS_MIB: Final = 4_096
"""MiB of the disk that others may take while a build goes on: then it is ended, and it is seen what that frees."""
_NO_ROOM: Final = "left no room on the disk"
_WELL: Final = "exited with status 0"
_DESCRIPTORS: Final = 1_024
_GONE_S: Final = 10.0
"""Seconds that the processes of a killed box may take to be gone."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much a build may take."""

    seconds: float = 300
    memory_mib: int = 2_048
    disk_mib: int = 2_048
    """MiB in its folders, the bot's files included, and in what it removed and keeps open. A file counts with its size,
    or with what it takes of the disk if that is more."""
    files: int = 100_000
    output_mib: int = 16
    processes: int = 256


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a build."""

    problem: str
    """The rest of a sentence whose subject is the build: "exited with status 2"; empty if it succeeded."""
    seconds: float
    memory_mib: int
    """The most that was seen."""
    output: bytes


def run_build(spec: bot_manifests.BotSpec, top: Path, temporary: Path, level: Level, bounds: Bounds) -> Run:
    """Runs a build to its end, or ends it. When this returns, none of its processes is left.

    Args:
        spec: The build: its command, and the folder in which it runs. Above trusted that is the one in the sandbox, in
            `binds.BOT`, as it is when the bot plays.
        top: The folder with its copy of the bot's files. From level `isolated` on, as root, it is given to another
            user: take it back.
        temporary: An empty folder for temporary files; likewise.

    Raises:
        MachineFault: The machine is the reason that it could not run, or not to its end. The build is not to blame.
        OSError: Its program or its folder cannot be used.
    """
    with ExitStack() as held:
        custody = Custody()
        held.callback(custody.close)
        for folder in (top, temporary):
            held.callback(staging.leave, str(folder))
        confined_by = confining.confinement(level)
        if level is not Level.TRUSTED:
            confined_by = _Workshop(level, {binds.BOT: top, "/tmp": temporary}, bounds.processes)
        environment = {**OFFLINE, wire_variables.TOKEN: secrets.token_hex(16), "TMPDIR": str(temporary)}
        with ExitStack() as lent:
            user = confined_by.allot_user()
            lent.callback(confined_by.release_user, user)
            if user is not None:
                own(top, user)
                own(temporary, user)
            lent.pop_all()  # the process gives it back
        spec = msgspec.structs.replace(spec, memory_mib=bounds.memory_mib, file_mib=bounds.disk_mib)
        began = time.monotonic()
        process = bot_processes.BotProcess(spec, custody, environment, level=level, user=user, confined_by=confined_by)
        watched = _Watched(process, (top, temporary), bounds, began)
        held.callback(watched.end)
        return watched.run()


class _Workshop(Boxed):
    """A box in which a bot is built. What a build asks the kernel is answered by the kernel."""

    def __init__(self, level: Level, writable: Mapping[str, Path], processes: int) -> None:
        super().__init__(level)
        self._writable = writable
        self._processes = processes

    def fence(self, spec: bot_manifests.BotSpec) -> fences.Fence:
        return fence(self.level, spec, processes=self._processes)

    def start(self, launch: confining.Launch, held: ExitStack) -> confining.Started:
        """Starts the build in a box with the toolchains of the machine."""
        command = self.command(
            launch,
            binds.toolchains(),
            runtimes.resolved(launch.spec.command, runtimes.python(runtimes.PYTHON).program),
            folder=launch.spec.folder,
            environment=launch.environment,
            processes=self._processes,
            writable={tree: reach(str(folder), launch.user) for tree, folder in self._writable.items()},
            descriptors=_DESCRIPTORS,
            allowed=FOR_BUILDS,
        )
        with command:
            process = confining.spawn(
                launch, command.words, cwd="/", env=launch.custody.mark, umask=0o022, pass_fds=command.descriptors
            )
        held.callback(os.close, command.status)
        return InBox(process, command.status)


class _Watched:
    def __init__(
        self, process: bot_processes.BotProcess, folders: tuple[Path, ...], bounds: Bounds, began: float
    ) -> None:
        self._process = process
        self._folders = folders
        self._bounds = bounds
        self._began = began
        self._box: int | None = None
        """The first process of its box: when it is gone, all are."""
        self._looks_at = 0.0
        self._is_over = False
        self._output = b""
        self._room = self._free_mib()

    def run(self) -> Run:
        """Waits for its end, or ends it."""
        try:
            problem = self._wait()
            seconds = time.monotonic() - self._began
            memory_mib = self._process.fence.most_mib
            if problem == _NO_ROOM:
                problem = self._who_took_it()
        finally:
            self.end()
        problem = problem or self._too_much_disk()
        return Run(problem=problem, seconds=seconds, memory_mib=memory_mib, output=self._output)

    def end(self) -> None:
        """Kills what is left of it, and waits until nothing is."""
        if self._is_over:
            return
        self._is_over = True
        self._find_box()
        self._output = self._process.last_output(KEPT_OUTPUT)
        self._process.kill()
        self._process.reap(wait=True)
        if self._box is not None:
            gone = select.select([self._box], [], [], _GONE_S)[0]
            os.close(self._box)
            self._box = None
            if not gone:
                raise errors.MachineFault(
                    f"expected the processes of a build to end within {_GONE_S:g} s, got: some that live"
                )

    def _wait(self) -> str:
        while True:
            self._find_box()
            ended = self._process.end()
            if ended is not None:
                said = "" if ended.detail == _WELL else ended.detail
                return self._process.fence.excess() or said  # the system may have ended it for its memory
            if excess := self._excess():
                return excess
            if self._process.pidfd is None:
                time.sleep(_LOOK_S)
            else:
                select.select([self._process.pidfd], [], [], _LOOK_S)

    def _excess(self) -> str:
        """Returns what it takes more of than it may, or nothing."""
        bounds = self._bounds
        if time.monotonic() - self._began > bounds.seconds:
            return f"did not end within {bounds.seconds:g} s"
        if self._process.output_bytes() > bounds.output_mib << 20:
            return f"printed more than {bounds.output_mib} MiB"
        if self._free_mib() < max(_FREE_MIB, self._room - 2 * bounds.disk_mib - _OTHERS_MIB):
            return _NO_ROOM
        now = time.monotonic()
        if now >= self._looks_at:
            problem = self._too_much_disk()
            self._looks_at = now + max(4 * _LOOK_S, _REST_SHARE * (time.monotonic() - now))
            if problem:
                return problem
        return self._process.fence.excess() or ""

    def _too_much_disk(self) -> str:
        bounds = self._bounds
        found = used(self._folders, bounds.files, holes=True)
        if found.entries > bounds.files:
            return f"made more than {bounds.files:,} files"
        if found.is_too_deep:
            return "made folders in folders, too many to reach"
        held = unlinked(self._process.fence.members(), self._folders[0])
        return self._wrote_too_much() if found.size + held >> 20 > bounds.disk_mib else ""

    def _wrote_too_much(self) -> str:
        return f"wrote more than {self._bounds.disk_mib:,} MiB"

    def _free_mib(self) -> int:
        room = os.statvfs(self._folders[0])
        return room.f_bavail * room.f_frsize >> 20

    def _who_took_it(self) -> str:
        """Ends it, and sees what that frees of the disk: so much it held in files without a name.

        Raises:
            MachineFault: Others have filled the disk.
        """
        before = self._free_mib()
        self.end()
        if self._free_mib() - before > self._bounds.disk_mib:
            return self._wrote_too_much()
        raise errors.MachineFault(
            f"expected free disk while a build goes on, got: {before} MiB left of {self._room} - at "
            f"{self._folders[0]}; make room"
        )

    def _find_box(self) -> None:
        if self._box is None and self._process.pidfd is not None and (pid := self._process.init_pid()) is not None:
            with suppress(OSError):
                self._box = os.pidfd_open(pid)
