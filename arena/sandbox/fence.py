"""Limits and measures one bot: its process with all that it starts.

A fence is made before the process starts, takes it in before its program runs, and ends with it.

========  ====================================  ======================================  ========================
level     memory                                processes                               off turn
========  ====================================  ======================================  ========================
trusted   looked at, the whole tree             not limited                             measured
fenced    looked at; a hard limit, as isolated  one; its threads are looked at          measured
isolated  looked at, `/tmp` and its files too;  limited in the box (`process_limit`)    measured, exactly
          stopped until it is weighed if that                                           where there are groups
          takes long; a hard limit for each
          process (`data_limit_mib`)
strict    limited by the system, files too      limited by the system                   frozen: no CPU at all
========  ====================================  ======================================  ========================
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from multiprocessing.util import Finalize
from typing import Final

from arena.core.face import NS_PER_MS, Level, bot_manifests, fences, process_trees
from arena.sandbox.cgroups import ControlGroup, CpuGroup, counting_memory, counting_place, ground
from arena.sandbox.kept import Files, KeptMemory, files

MAX_FILES: Final = 2_000
"""Limit of files and folders that a bot may have in its `/tmp` and `/dev/shm`: each takes memory of the system."""
_STACKS_MIB: Final = 512
"""Room for what a process reserves and does not use: 64 stacks of 8 MiB."""
_THREAD_MIB: Final = 42
"""The same for each further core: the stack of a thread, and the 32 MiB that OpenBLAS reserves for it (numpy)."""
_PROCESSES: Final = 64
_PROCESSES_A_CORE: Final = 8
_BOX_PROCESSES: Final = 4
"""Processes that bwrap needs inside the box."""
_LAST_WAIT_MS: Final = 5_000
"""Seconds that a worker that ends waits for its last groups. What is left then is removed by the next worker."""


def fence(level: Level, spec: bot_manifests.BotSpec, *, processes: int | None = None) -> fences.Fence:
    if level is Level.STRICT:
        return _HardFence(spec, processes)
    return _SeatFence(
        spec,
        isolated=level is Level.ISOLATED,
        boxed=level is Level.ISOLATED and processes is None,
        threads=process_limit() if level is Level.FENCED else None,
    )


def data_limit_mib(memory_mib: int) -> int:
    """Returns the RLIMIT_DATA in MiB of each process of a bot (isolated): the hard stop between two looks.

    It is above the bot's limit, because it counts what is reserved, not what is used.
    """
    return memory_mib + _STACKS_MIB + _THREAD_MIB * max(0, (os.cpu_count() or 1) - 2)


def process_limit() -> int:
    """Returns how many processes and threads a bot may have at once. Runtimes start threads by the number of cores."""
    return _PROCESSES + _PROCESSES_A_CORE * max(0, (os.cpu_count() or 1) - 2)


class _SeatFence(fences.WatchedFence):
    """Looks at a seat, from outside too: also at files, threads, sockets, and by a group where one can be made."""

    def __init__(self, spec: bot_manifests.BotSpec, *, isolated: bool, boxed: bool, threads: int | None = None) -> None:
        super().__init__(spec)
        self._boxed = boxed
        self._most_threads = threads
        self._group: CpuGroup | None = None
        if isolated and (place := counting_place()) is not None:
            with suppress(OSError):
                self._group = CpuGroup(place, counting_memory())
        self._tally = KeptMemory()
        self._is_held = False

    def adopt(self, pid: int, token: str = "") -> None:
        super().adopt(pid, token)
        if self._group is not None:
            try:
                self._group.join(pid)
            except OSError:
                self._leave_group()

    def cpu_ns(self) -> int:
        if self._group is None:
            return super().cpu_ns()
        self._cpu_ns = self._group.cpu_ns()
        return self._cpu_ns

    def known_cpu_ns(self) -> int:
        return super().known_cpu_ns() if self._group is None else self.cpu_ns()

    def _counted(self, tree: process_trees.Tree, members: list[int]) -> tuple[int, int]:
        return super()._counted(tree, members) if self._group is None else (self.cpu_ns(), 0)

    def _spent_ns(self) -> int:
        return super()._spent_ns() + self._tally.spent_ns

    def _look(self, tree: process_trees.Tree) -> str | None:
        members = tree.members()
        if self._group is None:
            tree.cpu_ns(members)  # of what ends before it is asked for
        found = files(members) if self._boxed else Files(0, 0)
        of_group = None if self._group is None else self._group.memory_mib()
        if of_group is not None and of_group > self._limit_mib:
            self._most_mib = max(self._most_mib, of_group)
            return f"used {of_group} MiB of memory; its limit is {self._limit_mib} MiB"
        if of_group is None:
            found = Files(found.mib + self._tally.look(members), found.entries)
        if found.entries > MAX_FILES:
            return _too_many(found)
        if self._most_threads is not None and (count := process_trees.thread_count(members)) > self._most_threads:
            return f"had {count} threads; its limit is {self._most_threads}"
        return self._weigh(tree, members, found.mib)

    def _hold(self, tree: process_trees.Tree, members: list[int], *, is_unknown: bool) -> None:
        """Stops a bot while it is not known whether it has too much, and lets it run on when it is.

        Weighing takes long if the machine is busy, and a bot could make it busy. So it gains nothing by that: it does
        not grow meanwhile, and takes no CPU time from the scales. Its clock runs on: how long weighing takes it decides
        itself, by how many pages and processes it has.
        """
        if is_unknown and self._boxed and self._scales.are_slow():
            tree.signal(members, signal.SIGSTOP)
            self._is_held = True
        elif self._is_held:
            tree.signal(members, signal.SIGCONT)
            self._is_held = False

    def kill(self) -> None:
        if self._group is not None:
            self._group.kill()
        else:
            super().kill()

    def close(self) -> None:
        """Kills what was seen of the tree and lives on, and removes the group."""
        super().close()
        self._leave_group()

    def _leave_group(self) -> None:
        """Does without the group from now on. What it counted so far is kept."""
        if self._group is not None:
            self._cpu_ns = self._group.cpu_ns()
            _discard(self._group)
            self._group = None


def _too_many(found: Files) -> str:
    return f"made {found.entries:,} files in /tmp and /dev/shm; its limit is {MAX_FILES:,}"


_unremoved: list[ControlGroup | CpuGroup] = []
"""Groups in which processes were still ending."""
_finisher: Finalize | None = None


def _discard(group: ControlGroup | CpuGroup) -> None:
    """Removes a group, at the latest with a later one if its processes are still ending."""
    global _finisher
    if _finisher is None:
        _finisher = Finalize(None, _finish, exitpriority=0)  # after the bots have ended
    _unremoved.append(group)
    _clear()


def _clear() -> None:
    _unremoved[:] = [group for group in _unremoved if not group.remove()]


def _finish() -> None:
    """Removes the last groups: this process ends."""
    until_ns = time.monotonic_ns() + _LAST_WAIT_MS * NS_PER_MS
    while _unremoved and time.monotonic_ns() < until_ns:
        _clear()
        time.sleep(0.001)


class _HardFence(fences.Fence):
    """Limits and stops a bot by a control group."""

    def __init__(self, spec: bot_manifests.BotSpec, processes: int | None = None) -> None:
        self._limit_mib = spec.memory_mib
        self._group = ControlGroup(ground(), spec.memory_mib, (processes or process_limit()) + _BOX_PROCESSES)
        self._counts_files = processes is None
        self._denied = process_trees.Denied()
        self._closed = False
        self._cpu_ns = 0

    @property
    def most_mib(self) -> int:
        """Returns the most memory that the group used. Includes the page cache."""
        return 0 if self._closed else self._group.most_mib()

    def adopt(self, pid: int, token: str = "") -> None:
        self._group.join(pid)

    def members(self) -> list[int]:
        return [] if self._closed else self._group.members()

    def excess(self) -> str | None:
        """Tells whether the system has killed a process for its memory; the bot's first one may have survived.

        Files without content hardly count as the group's memory, so they are counted here.
        """
        if self._closed:
            return None
        if self._group.killed_for_memory():
            return f"used more memory than its limit of {self._limit_mib} MiB"
        if not self._counts_files:
            return None
        found = files(self._group.members())
        return _too_many(found) if found.entries > MAX_FILES else None

    def cpu_ns(self) -> int:
        if not self._closed:
            self._cpu_ns = self._group.cpu_ns()
        return self._cpu_ns

    known_cpu_ns = cpu_ns

    def denied_ns(self) -> int:
        if not self._closed:
            self._denied.add(self._group.members(), self.cpu_ns())
            self._crowd_ns = self._denied.crowd_ns
        return self._denied.total_ns

    def freeze(self) -> None:
        if not self._closed:
            self._group.freeze()

    def is_frozen(self) -> bool:
        return not self._closed and self._group.is_frozen()

    def thaw(self) -> None:
        if not self._closed:
            self._group.thaw()

    def kill(self) -> None:
        if not self._closed:
            self._group.kill()

    def close(self) -> None:
        """Kills and removes the group, at the latest with a later one if its processes are still ending."""
        if not self._closed:
            self.cpu_ns()
            self._closed = True
            self._group.kill()
            _discard(self._group)
