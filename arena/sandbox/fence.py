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
from typing import Final, Protocol

from arena.core.link.bots import BotSpec
from arena.core.types import NS_PER_MS, Level
from arena.sandbox.cgroups import CpuGroup, Group, counting_memory, counting_place, ground
from arena.sandbox.kept import Tally, files
from arena.sandbox.tree import Denied, Files, Scales, Tree, memory, thread_count

MAX_FILES: Final = 2_000
"""How many files and folders a bot may have in its `/tmp` and `/dev/shm`: each takes memory of the system."""
_STACKS_MIB: Final = 512
"""Room for what a process reserves and does not use: 64 stacks of 8 MiB."""
_THREAD_MIB: Final = 42
"""The same for each further core: the stack of a thread, and the 32 MiB that OpenBLAS reserves for it (numpy)."""
_PROCESSES: Final = 64
_PROCESSES_A_CORE: Final = 8
_BOX_PROCESSES: Final = 4
"""Those of the box itself."""
_LONG_LOOK_NS: Final = 10 * NS_PER_MS
"""A look that took longer (CPU time, ns) is followed by a rest: one at some hundred processes."""
_REST_SHARE: Final = 10
"""How many times as long as the look the rest takes."""
_LAST_WAIT_MS: Final = 5_000
"""How long a worker that ends waits for its last groups. What is left then is removed by the next worker."""


class Fence(Protocol):
    """What holds one bot, from before its start until after its end."""

    @property
    def most_mib(self) -> int:
        """Returns the most memory that was seen in MiB; 0 where the system does not tell."""

    def adopt(self, pid: int, token: str = "") -> None:
        """Takes in the bot's first process. Call it before the bot's program runs.

        Args:
            pid: Its number.
            token: The value of `ARENA_TOKEN` in its environment, by which is known what it starts.

        Raises:
            MachineFault: The system refuses. The bot must not be let go.
        """

    def members(self) -> list[int]:
        """Returns the numbers of its processes that are known and live."""

    def excess(self) -> str | None:
        """Looks at the bot, and returns what it uses more of than it may; None if it keeps to its limits.

        It is the rest of a sentence: "used 300 MiB of memory; its limit is 64 MiB".
        """

    def cpu_ns(self) -> int:
        """Returns the CPU time that all its processes have used so far, those that have ended included.

        Of some hundred processes it may be that of a moment ago.
        """

    def known_cpu_ns(self) -> int:
        """Returns the same at little cost: where it is looked at, processes since the last look may be missing."""

    def denied_ns(self) -> int | None:
        """Returns how long the machine kept it from running so far, because others ran; None where it is not known.

        It grows from call to call: compare two. What the bot's own threads and processes take from each other does not
        count, nor what it gives away by a lower priority or by fewer cores.
        """

    @property
    def crowd_ns(self) -> int:
        """Returns the CPU time until the last `denied_ns` that it used beside its busiest thread, between such looks.

        So long it may itself have kept others from a core, the referee too.
        """

    def freeze(self) -> None:
        """Stops all its processes, where the level has it (strict). SIGKILL still ends them.

        It does not wait until they stand, which takes as long as one that waits for a core has to wait.
        """

    def is_frozen(self) -> bool:
        """Tells whether all its processes stand."""

    def thaw(self) -> None:
        """Lets them run again."""

    def kill(self) -> None:
        """Kills every process of it that is known, frozen ones too, without waiting."""

    def close(self) -> None:
        """Kills what is left and removes what the fence made. Call it when the bot's first process has been reaped."""


def fence(level: Level, spec: BotSpec, *, processes: int | None = None) -> Fence:
    """Makes the fence of a bot that is about to start.

    Args:
        level: How far it is confined.
        spec: The bot.
        processes: How many processes a build may have, whose files lie on a disk; None for a bot, whose do not.

    Raises:
        MachineFault: The machine cannot give what the level needs.
    """
    if level is Level.STRICT:
        return _HardFence(spec, processes)
    if not os.path.exists("/proc/self/stat"):
        return _NoFence()
    return _WatchedFence(
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


class _NoFence:
    """Sees nothing, and holds nothing: for systems without /proc, where only `trusted` can be had."""

    most_mib = 0
    crowd_ns = 0

    def adopt(self, pid: int, token: str = "") -> None:
        """Does nothing."""

    def members(self) -> list[int]:
        """Finds none."""
        return []

    def excess(self) -> str | None:
        """Finds nothing."""
        return None

    def cpu_ns(self) -> int:
        """Returns 0: it is not known."""
        return 0

    def known_cpu_ns(self) -> int:
        """Returns 0: it is not known."""
        return 0

    def denied_ns(self) -> int | None:
        """Returns None: it is not known."""
        return None

    def freeze(self) -> None:
        """Does nothing."""

    def is_frozen(self) -> bool:
        """Tells that they run."""
        return False

    def thaw(self) -> None:
        """Does nothing."""

    def kill(self) -> None:
        """Does nothing: the bot's process group is killed by its owner."""

    def close(self) -> None:
        """Does nothing."""


class _WatchedFence(_NoFence):
    """Looks at the tree of a bot from outside. It can limit nothing, only tell."""

    def __init__(self, spec: BotSpec, *, isolated: bool, boxed: bool, threads: int | None = None) -> None:
        """Takes the bot, its level, whether its box has memory file systems, and the limit of its threads."""
        self.most_mib = 0
        self.crowd_ns = 0
        self._limit_mib = spec.memory_mib
        self._boxed = boxed
        self._most_threads = threads
        self._group: CpuGroup | None = None
        if isolated and (place := counting_place()) is not None:
            with suppress(OSError):
                self._group = CpuGroup(place, counting_memory())
        self._tree: Tree | None = None
        self._denied = Denied()
        self._scales = Scales()
        self._tally = Tally() if isolated or threads is not None else None
        self._is_held = False
        """Whether it is stopped."""
        self._excess: str | None = None
        self._excess_looks = _Looks()
        self._cpu_ns = 0
        self._cpu_looks = _Looks()

    def adopt(self, pid: int, token: str = "") -> None:
        """Begins to look at a process and all that it starts."""
        self._tree = Tree(pid, token)
        if self._group is not None:
            try:
                self._group.join(pid)
            except OSError:
                self._leave_group()

    def members(self) -> list[int]:
        """Returns the processes of the tree."""
        return [] if self._tree is None else self._tree.members()

    def excess(self) -> str | None:
        """Looks at memory, and in a box at its files. What only seems too much is weighed."""
        if self._tree is not None and self._excess_looks.are_due():
            with self._excess_looks:
                self._excess = self._look(self._tree)
        return None if self._tree is None else self._excess

    def cpu_ns(self) -> int:
        """Returns the CPU time of the tree.

        Without a group, what ended between two looks and was not waited for is not in it.
        """
        if self._group is not None:
            self._cpu_ns = self._group.cpu_ns()
        elif self._tree is not None and self._cpu_looks.are_due():
            with self._cpu_looks:
                self._cpu_ns = self._tree.cpu_ns()
        return self._cpu_ns

    def known_cpu_ns(self) -> int:
        """Returns the CPU time of what was in the tree at the last look: a system call for each process."""
        if self._group is not None:
            self._cpu_ns = self._group.cpu_ns()
        elif self._tree is not None and self._cpu_looks.are_due():
            with self._cpu_looks:
                self._cpu_ns = self._tree.known_cpu_ns()
        return self._cpu_ns

    def denied_ns(self) -> int:
        """Adds up what was denied since the last call, and returns the sum."""
        if self._tree is not None:
            with self._cpu_looks:
                members = self._tree.members()
                if self._group is not None:
                    self._denied.add(members, self.cpu_ns() + self._spent_ns())
                else:
                    self._cpu_ns = self._tree.cpu_ns(members)
                    self._denied.add(members, self._cpu_ns + self._spent_ns(), self._tree.restless_ns)
        self.crowd_ns = self._denied.crowd_ns
        return self._denied.total_ns

    def _spent_ns(self) -> int:
        """Returns the CPU time of looking at it so far. How long that takes it decides itself."""
        return (
            self._scales.spent_ns
            + (self._tally.spent_ns if self._tally else 0)
            + self._excess_looks.spent_ns
            + self._cpu_looks.spent_ns
        )

    def _look(self, tree: Tree) -> str | None:
        members = tree.members()
        if self._group is None:
            tree.cpu_ns(members)  # of what ends before it is asked for
        found = files(members) if self._boxed else Files(0, 0)
        of_group = None if self._group is None else self._group.memory_mib()
        if of_group is not None and of_group > self._limit_mib:
            self.most_mib = max(self.most_mib, of_group)
            return f"used {of_group} MiB of memory; its limit is {self._limit_mib} MiB"
        if of_group is None and self._tally is not None:
            found = Files(found.mib + self._tally.look(members), found.entries)
        if found.entries > MAX_FILES:
            return _too_many(found)
        if self._most_threads is not None and (count := thread_count(members)) > self._most_threads:
            return f"had {count} threads; its limit is {self._most_threads}"
        seen = memory(members)
        mib = seen.most + found.mib
        if mib > self._limit_mib:
            mib = seen.least + found.mib
            if mib <= self._limit_mib:
                weighed = self._scales.weigh(members, seen.most, self._limit_mib - found.mib)
                if weighed is None:
                    self._hold(tree, members, self._boxed and self._scales.are_slow())
                    return None
                mib = weighed + found.mib
        self.most_mib = max(self.most_mib, mib)
        if mib > self._limit_mib:
            return f"used {mib} MiB of memory; its limit is {self._limit_mib} MiB"
        self._hold(tree, members, False)
        return None

    def _hold(self, tree: Tree, members: list[int], is_unknown: bool) -> None:
        """Stops a bot while it is not known whether it has too much, and lets it run on when it is.

        Weighing takes long if the machine is busy, and a bot could make it busy. So it gains nothing by that: it does
        not grow meanwhile, and takes no CPU time from the scales. Its clock runs on: how long weighing takes it decides
        itself, by how many pages and processes it has.
        """
        if is_unknown:
            tree.signal(members, signal.SIGSTOP)
            self._is_held = True
        elif self._is_held:
            tree.signal(members, signal.SIGCONT)
            self._is_held = False

    def kill(self) -> None:
        """Kills the tree. Whoever still forks may leave processes; their parents' group and namespace end with it."""
        if self._group is not None:
            self._group.kill()
        elif self._tree is not None:
            self._tree.kill()

    def close(self) -> None:
        """Kills what was seen of the tree and lives on."""
        self.kill()
        self._tree = None
        self._leave_group()

    def _leave_group(self) -> None:
        """Does without the group from now on. What it counted so far is kept."""
        if self._group is not None:
            self._cpu_ns = self._group.cpu_ns()
            _discard(self._group)
            self._group = None


class _Looks:
    """Paces the looks at a tree: at one of thousands of processes a look takes 0.1 s, and no game can go on meanwhile.

    Use it as the context of a look.
    """

    def __init__(self) -> None:
        self.spent_ns = 0
        """The time of this process that all looks took."""
        self._rests_until_ns = 0
        self._begun_ns = 0

    def are_due(self) -> bool:
        """Tells whether the rest after the last long look is over."""
        return time.monotonic_ns() >= self._rests_until_ns

    def __enter__(self) -> None:
        self._begun_ns = time.thread_time_ns()

    def __exit__(self, *raised: object) -> None:
        took_ns = time.thread_time_ns() - self._begun_ns
        self.spent_ns += took_ns
        if took_ns >= _LONG_LOOK_NS:
            self._rests_until_ns = time.monotonic_ns() + _REST_SHARE * took_ns


def _too_many(found: Files) -> str:
    return f"made {found.entries:,} files in /tmp and /dev/shm; its limit is {MAX_FILES:,}"


_unremoved: list[Group | CpuGroup] = []
"""Groups in which processes were still ending."""
_finisher: Finalize | None = None


def _discard(group: Group | CpuGroup) -> None:
    """Removes a group, at the latest with a later one if its processes are still ending."""
    global _finisher
    if _finisher is None:
        _finisher = Finalize(None, _finish, exitpriority=0)  # after the bots have ended
    _unremoved.append(group)
    _clear()


def _clear() -> None:
    """Removes the groups whose processes have ended."""
    _unremoved[:] = [group for group in _unremoved if not group.remove()]


def _finish() -> None:
    """Removes the last groups: this process ends."""
    until_ns = time.monotonic_ns() + _LAST_WAIT_MS * NS_PER_MS
    while _unremoved and time.monotonic_ns() < until_ns:
        _clear()
        time.sleep(0.001)


class _HardFence:
    """Limits and stops a bot by a control group."""

    def __init__(self, spec: BotSpec, processes: int | None = None) -> None:
        """Makes the group.

        Raises:
            MachineFault: The machine cannot give it.
        """
        self._limit_mib = spec.memory_mib
        self._group = Group(ground(), spec.memory_mib, (processes or process_limit()) + _BOX_PROCESSES)
        self._counts_files = processes is None
        self._denied = Denied()
        self._closed = False
        self._cpu_ns = 0

    @property
    def crowd_ns(self) -> int:
        """Returns what it ran beside its busiest thread."""
        return self._denied.crowd_ns

    @property
    def most_mib(self) -> int:
        """Returns the most memory that the group used. Copies of files that it read are part of it."""
        return 0 if self._closed else self._group.most_mib()

    def adopt(self, pid: int, token: str = "") -> None:
        """Moves the process into the group."""
        self._group.join(pid)

    def members(self) -> list[int]:
        """Returns the processes of the group."""
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
        """Returns the CPU time of the group, exactly."""
        if not self._closed:
            self._cpu_ns = self._group.cpu_ns()
        return self._cpu_ns

    known_cpu_ns = cpu_ns

    def denied_ns(self) -> int:
        """Adds up what was denied since the last call, and returns the sum."""
        if not self._closed:
            self._denied.add(self._group.members(), self.cpu_ns())
        return self._denied.total_ns

    def freeze(self) -> None:
        """Stops the group."""
        if not self._closed:
            self._group.freeze()

    def is_frozen(self) -> bool:
        """Tells whether the group stands."""
        return not self._closed and self._group.is_frozen()

    def thaw(self) -> None:
        """Lets it run again."""
        if not self._closed:
            self._group.thaw()

    def kill(self) -> None:
        """Kills the group."""
        if not self._closed:
            self._group.kill()

    def close(self) -> None:
        """Kills and removes the group, at the latest with a later one if its processes are still ending."""
        if not self._closed:
            self.cpu_ns()
            self._closed = True
            self._group.kill()
            _discard(self._group)
