"""Limits and measures one bot: its process with all that it starts.

A fence is made before the process starts, takes it in before its program runs, and ends with it. That of `trusted` is
here: it looks at the tree of processes, and ends the bot that has too much memory. `Confinement.fence` makes others.
"""

from __future__ import annotations

import time
from typing import Final

from arena.core.link.bots import BotSpec
from arena.core.link.tree import Denied, Scales, Tree, memory
from arena.core.types import NS_PER_MS

_LONG_LOOK_NS: Final = 10 * NS_PER_MS
"""A scan that took longer (CPU time, ns) is followed by a pause: one of some hundred processes."""
_REST_SHARE: Final = 10  # pause after a long scan, as a multiple of its duration


class Fence:
    """Limits and measurements of one bot, from before its start until after its end.

    This one sees nothing and holds nothing: for systems without /proc, where only `trusted` can be had.
    """

    _most_mib = 0
    _crowd_ns = 0

    @property
    def most_mib(self) -> int:
        """Returns the most memory that was seen in MiB; 0 where the system does not tell."""
        return self._most_mib

    @property
    def crowd_ns(self) -> int:
        """Returns the CPU time until the last `denied_ns` that it used beside its busiest thread, between such looks.

        So long it may itself have kept others from a core, the referee too.
        """
        return self._crowd_ns

    def adopt(self, pid: int, token: str = "") -> None:
        """Takes in the bot's first process. Call it before the bot's program runs.

        Args:
            token: The value of `ARENA_TOKEN` in its environment, by which is known what it starts.

        Raises:
            MachineFault: The system refuses. The bot must not be let go.
        """

    def members(self) -> list[int]:
        """Returns the numbers of its processes that are known and live."""
        return []

    def excess(self) -> str | None:
        """Returns the limit that the bot exceeds, as the end of a sentence; None if it keeps to its limits.

        "used 300 MiB of memory; its limit is 64 MiB". It scans the bot for that, unless it has just done so at length.
        """
        return None

    def cpu_ns(self) -> int:
        """Returns the CPU time that all its processes have used so far, those that have ended included.

        Of some hundred processes it may be that of a moment ago. Without a control group, what ended between two looks
        and was not waited for is not in it.
        """
        return 0

    def known_cpu_ns(self) -> int:
        """Returns the same at little cost: where it is looked at, processes since the last look may be missing."""
        return 0

    def denied_ns(self) -> int | None:
        """Returns how long the machine kept it from running so far, because others ran; None where it is not known.

        It grows from call to call: compare two. What the bot's own threads and processes take from each other does not
        count, nor what it gives away by a lower priority or by fewer cores.
        """
        return None

    def freeze(self) -> None:
        """Stops all its processes, where the level has it (strict). SIGKILL still ends them.

        It does not wait until they stand, which takes as long as one that waits for a core has to wait.
        """

    def is_frozen(self) -> bool:
        """Tells whether all its processes stand."""
        return False

    def thaw(self) -> None:
        """Lets them run again."""

    def kill(self) -> None:
        """Kills every process of it that is known, frozen ones too, without waiting."""

    def close(self) -> None:
        """Kills what is left and removes what the fence made. Call it when the bot's first process has been reaped."""


class WatchedFence(Fence):
    """Looks at the tree of a bot from outside. It can limit nothing, only tell."""

    def __init__(self, spec: BotSpec) -> None:
        """Takes the bot."""
        self._limit_mib = spec.memory_mib
        self._tree: Tree | None = None
        self._denied = Denied()
        self._scales = Scales()
        self._excess: str | None = None
        self._excess_looks = _Looks()
        self._cpu_ns = 0
        self._cpu_looks = _Looks()

    def adopt(self, pid: int, token: str = "") -> None:
        """Begins to look at a process and all that it starts."""
        self._tree = Tree(pid, token)

    def members(self) -> list[int]:
        """Returns the processes of the tree."""
        return [] if self._tree is None else self._tree.members()

    def excess(self) -> str | None:
        """Looks at the bot. What only seems too much memory is weighed."""
        if self._tree is not None and self._excess_looks.are_due():
            with self._excess_looks:
                self._excess = self._look(self._tree)
        return None if self._tree is None else self._excess

    def cpu_ns(self) -> int:
        """Returns the CPU time of the tree."""
        if self._tree is not None and self._cpu_looks.are_due():
            with self._cpu_looks:
                self._cpu_ns = self._tree.cpu_ns()
        return self._cpu_ns

    def known_cpu_ns(self) -> int:
        """Returns the CPU time of what was in the tree at the last look: a system call for each process."""
        if self._tree is not None and self._cpu_looks.are_due():
            with self._cpu_looks:
                self._cpu_ns = self._tree.known_cpu_ns()
        return self._cpu_ns

    def denied_ns(self) -> int:
        """Adds up what was denied since the last call, and returns the sum."""
        if self._tree is not None:
            with self._cpu_looks:
                members = self._tree.members()
                self._cpu_ns, restless_ns = self._counted(self._tree, members)
                self._denied.add(members, self._cpu_ns + self._spent_ns(), restless_ns)
        self._crowd_ns = self._denied.crowd_ns
        return self._denied.total_ns

    def kill(self) -> None:
        """Kills the tree. Whoever still forks may leave processes; their parents' group and namespace end with it."""
        if self._tree is not None:
            self._tree.kill()

    def close(self) -> None:
        """Kills what was seen of the tree and lives on."""
        self.kill()
        self._tree = None

    def _counted(self, tree: Tree, members: list[int]) -> tuple[int, int]:
        """Returns the CPU time, and the time in which that may be too little."""
        return tree.cpu_ns(members), tree.restless_ns

    def _spent_ns(self) -> int:
        """Returns the CPU time of looking at it so far. How long that takes it decides itself."""
        return self._scales.spent_ns + self._excess_looks.spent_ns + self._cpu_looks.spent_ns

    def _look(self, tree: Tree) -> str | None:
        members = tree.members()
        tree.cpu_ns(members)  # of what ends before it is asked for
        return self._weigh(tree, members, 0)

    def _weigh(self, tree: Tree, members: list[int], beside_mib: int) -> str | None:
        """Returns the limit of memory if the bot exceeds it; `beside_mib` is what it has beside its processes."""
        seen = memory(members)
        mib = seen.most + beside_mib
        if mib > self._limit_mib:
            mib = seen.least + beside_mib
            if mib <= self._limit_mib:
                weighed = self._scales.weigh(members, seen.most, self._limit_mib - beside_mib)
                if weighed is None:
                    self._hold(tree, members, is_unknown=True)
                    return None
                mib = weighed + beside_mib
        self._most_mib = max(self._most_mib, mib)
        if mib > self._limit_mib:
            return f"used {mib} MiB of memory; its limit is {self._limit_mib} MiB"
        self._hold(tree, members, is_unknown=False)
        return None

    def _hold(self, tree: Tree, members: list[int], *, is_unknown: bool) -> None:
        """Is called when it is known whether a bot has too much, and while it is not: a level may stop the bot then."""


class _Looks:
    """Paces the looks at a tree: at one of thousands of processes a look takes 0.1 s, and no game can go on meanwhile.

    Use it as the context of a look.
    """

    def __init__(self) -> None:
        self.spent_ns = 0  # the time of this process that all looks took
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
