"""What a bot's processes use, all of them, as the system tells: memory, files, CPU time, and time denied.

Nothing is opened by a name that a bot can write: every path begins with /proc/ and a number. On a system without /proc
there is nothing to see, and every figure is 0.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from arena.core.types import NS_PER_MS
from arena.core.wire.variables import TOKEN

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_NS_PER_TICK: Final = 10**9 // os.sysconf("SC_CLK_TCK")
_READ: Final = 65_536
_TOKEN: Final = f"{TOKEN}=".encode()
_REST_SHARE: Final = 4  # how many times the CPU time that weighing took it is not done again
_SLOW_NS: Final = 200 * NS_PER_MS  # weighing that takes longer is slow: the machine is busy
_EAGER: Final = -10  # the priority of the thread that weighs, if this process may have it
_ROUNDS: Final = 16  # how often a tree is looked for again that forks while it is killed


class Stat(NamedTuple):
    """Some fields of /proc/PID/stat."""

    parent: int
    buried_ns: int
    """CPU time of its children that ended and were waited for."""
    started: int
    """In ticks since the machine started: with the number, it names a process for good."""
    is_dead: bool
    faults: int
    """Least number of pages that it got: one for each time that it had to wait for one without reading a disk."""


class Memory(NamedTuple):
    """How much memory processes may have, as the system tells without a look at each page. In MiB."""

    most: int
    """Resident pages, for each process that has them, and page tables."""
    least: int
    """Pages that they have for certain: the pages of the largest that are no file's, and all page tables."""


class _Thread(NamedTuple):
    """What the scheduler tells of a thread."""

    ran_ns: int
    waited_ns: int  # how long it was ready to run while others ran
    is_modest: bool  # it has a lower priority or fewer cores than it was started with: it waits by its own choice


class Tree:
    """The processes of a bot: the first one, all that descend from it, and those that were seen to.

    A process whose parent has ended is given to the nearest subreaper or to the first process of its namespace. In a
    box that is in the tree. Outside, it stays known if it was seen before; if this process is the subreaper, it is also
    known by the token of the bot in its environment.
    """

    def __init__(self, pid: int, token: str = "") -> None:
        """Takes the first process, and the bot's token if it was given one."""
        self.restless_ns = 0  # how long it was between looks of which the second found a new process
        self._looked_ns = time.monotonic_ns()
        self._pid = pid
        self._started = started_at(pid)
        self._known: dict[int, int] = {}  # when each process that was seen started
        self._strangers: dict[int, int] = {}  # the same of this process's children that are none of the tree
        self._token = _TOKEN + token.encode() if token else b""
        self._most_cpu_ns = 0
        self._cpu_seen: dict[int, int] = {}  # the CPU time of each process when it was last seen
        self._gone_ns = 0  # CPU time of processes that are gone, as last seen
        self._buried_ns = 0  # the same, as their parents tell

    def members(self) -> list[int]:
        """Returns the numbers of its processes that live, the first process first."""
        found: dict[int, None] = {}
        if self._started is not None and started_at(self._pid) == self._started:  # else the number is another's by now
            found.update(dict.fromkeys(_descendants(self._pid)))
        for outsiders in (self._orphans, self._adopted):
            for pid in outsiders(found):
                if pid not in found:
                    found.update(dict.fromkeys(_descendants(pid)))
        looked_ns, self._looked_ns = self._looked_ns, time.monotonic_ns()
        new = [pid for pid in found if pid not in self._known]
        if new:
            self.restless_ns += self._looked_ns - looked_ns
        for pid in new:
            if (stat := process_stat(pid)) is not None:
                self._known[pid] = stat.started
        for pid in [pid for pid in self._known if pid not in found]:
            del self._known[pid]
        return list(found)

    def _orphans(self, found: Container[int]) -> list[int]:
        """Returns processes that were in the tree and live elsewhere."""
        orphans = []
        for pid, started in self._known.items():
            if pid not in found:
                stat = process_stat(pid)
                if stat is not None and stat.started == started and not stat.is_dead:
                    orphans.append(pid)
        return orphans

    def _adopted(self, found: Container[int]) -> list[int]:
        """Returns children of this process that have the bot's token and that it did not start."""
        if not self._token:
            return []
        adopted = []
        strangers = {}
        for pid in _children(os.getpid()):
            if pid in found:
                continue
            stat = process_stat(pid)
            if stat is None or stat.is_dead:
                continue
            is_stranger = self._strangers.get(pid) == stat.started
            token = b"" if is_stranger else _token(pid)
            if token == self._token:
                adopted.append(pid)
            elif is_stranger or token:  # one without may be about to run its program
                strangers[pid] = stat.started
        self._strangers = strangers
        return adopted

    def cpu_ns(self, members: Iterable[int] | None = None) -> int:
        """Returns the CPU time of all its processes so far, of those that ended too; it never falls.

        A process that ended between two looks and was not waited for is not counted.
        """
        seen: dict[int, int] = {}
        buried_ns = 0
        for pid in self.members() if members is None else members:
            stat = process_stat(pid)
            if stat is not None:
                seen[pid] = _cpu_ns(pid)
                buried_ns += stat.buried_ns
        self._gone_ns += sum(ns for pid, ns in self._cpu_seen.items() if pid not in seen)
        self._cpu_seen = seen
        self._buried_ns = max(self._buried_ns, buried_ns)
        self._most_cpu_ns = max(self._most_cpu_ns, sum(seen.values()) + max(self._gone_ns, self._buried_ns))
        return self._most_cpu_ns

    def known_cpu_ns(self) -> int:
        """Returns the same without looking for new processes: what those have used is missing until the next look."""
        seen = self._cpu_seen
        for pid, before_ns in seen.items():
            seen[pid] = max(before_ns, _cpu_ns(pid))
        self._most_cpu_ns = max(self._most_cpu_ns, sum(seen.values()) + max(self._gone_ns, self._buried_ns))
        return self._most_cpu_ns

    def kill(self) -> None:
        """Kills every process of the tree but zombies, and looks again until it finds no other."""
        killed: set[tuple[int, int]] = set()
        for _ in range(_ROUNDS):
            fresh = [(pid, self._known[pid]) for pid in self.members() if pid in self._known]
            fresh = [process for process in fresh if process not in killed]
            if not fresh:
                break
            for pid, started in fresh:
                _signal(pid, started, signal.SIGKILL)
            killed.update(fresh)

    def signal(self, members: Iterable[int], number: signal.Signals) -> None:
        """Sends a signal to processes that it has found."""
        for pid in members:
            if pid in self._known:
                _signal(pid, self._known[pid], number)


def started_at(pid: int) -> int | None:
    """Returns when a process started, in ticks since the machine did; None if there is none with this number."""
    stat = process_stat(pid)
    return None if stat is None else stat.started


def thread_count(members: Iterable[int]) -> int:
    """Returns how many threads processes have."""
    return sum(len(listed(f"/proc/{pid}/task")) for pid in members)


def memory(members: Iterable[int]) -> Memory:
    """Returns between which bounds the memory of processes lies, at little cost."""
    resident = tables = own = 0
    for pid in members:
        kib = _kib(read_or_nothing(f"/proc/{pid}/status"), (b"VmRSS", b"VmPTE", b"VmSwap", b"RssAnon"))
        tables += kib[b"VmPTE"]
        resident += kib[b"VmRSS"] + kib[b"VmSwap"]
        own = max(own, kib[b"RssAnon"])
    return Memory(resident + tables >> 10, own + tables >> 10)


def proportional_mib(members: Iterable[int]) -> int:
    """Returns the memory of processes with their page tables, each page once however many share it.

    It takes a millisecond for a small process, and 0.2 s for one of 2 GiB or of many mappings. A process that may not
    be asked counts with its resident memory.
    """
    return sum(map(_proportional, members)) >> 10


class Scales:
    """Weighs processes by `proportional_mib` in a thread: 0.2 s for a large one, while the clocks of a game run.

    It rests between, so that weighing takes no more than a part of a core. The rest is measured in CPU time: on a busy
    machine weighing takes long, and may not be done less often for that. If the processes may have grown to more than
    they may have since they were weighed, the rest is short.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self.spent_ns = 0  # the CPU time of all weighing, up to the process that is being weighed
        self._mib = 0
        self._cpu_ns = 0
        self._begun_ns = 0
        self._ended_ns = 0
        self._most_mib = 0
        self._faults: dict[int, int] = {}

    def weigh(self, members: Sequence[int], most_mib: int, limit_mib: int) -> int | None:
        """Begins to weigh, or returns what was weighed since the last call; None if nothing was."""
        now = time.monotonic_ns()
        if self._thread is None:
            rested_ns = now - self._ended_ns
            if rested_ns < self._cpu_ns:
                return None
            faults = _faults(members)
            if rested_ns < _REST_SHARE * self._cpu_ns and self._mib + self._grown_mib(most_mib, faults) <= limit_mib:
                return None
            thread = threading.Thread(target=self._work, args=(members,), daemon=True)
            with suppress(RuntimeError):  # the machine has no thread left: later, then
                thread.start()
                self._thread, self._begun_ns, self._most_mib, self._faults = thread, now, most_mib, faults
            return None
        if self._thread.is_alive():
            return None
        self._thread = None
        self._ended_ns = now
        return self._mib

    def are_slow(self) -> bool:
        """Tells whether weighing has been under way for long."""
        return self._thread is not None and time.monotonic_ns() - self._begun_ns > _SLOW_NS

    def _grown_mib(self, most_mib: int, faults: dict[int, int]) -> int:
        """Returns by how much the processes may have grown since weighing began, if the system gives page by page."""
        pages = sum(count - self._faults.get(pid, 0) for pid, count in faults.items())
        return max(most_mib - self._most_mib, pages * _PAGE >> 20)

    def _work(self, members: Sequence[int]) -> None:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, _EAGER)  # on Linux, of this thread
        begun_ns = time.thread_time_ns()
        spent_ns = self.spent_ns

        def counted() -> Iterator[int]:
            for pid in members:
                yield pid
                self.spent_ns = spent_ns + time.thread_time_ns() - begun_ns

        self._mib = proportional_mib(counted())
        self._cpu_ns = time.thread_time_ns() - begun_ns


def _faults(members: Iterable[int]) -> dict[int, int]:
    return {pid: stat.faults for pid in members if (stat := process_stat(pid)) is not None}


def own_wait_ns() -> int:
    """Returns how long this thread has been ready and was not given a core, in its life; 0 if nobody knows."""
    with suppress(OSError, ValueError):
        return int(os.pread(_schedstat(threading.get_native_id()), 64, 0).split()[1])
    return 0


@functools.cache
def _schedstat(thread: int) -> int:
    return os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)


class Denied:
    """How long the machine kept a tree from running.

    A thread is denied while it is ready and others run in its place. One that has not run since the last look and is
    ready now has waited since then. Of that, what its own tree ran meanwhile is its
    own doing, and a thread that asked for a lower priority or for fewer cores is not counted at all. A tree that got
    the CPU time of a whole core was not denied, however many threads it has. Nor is time counted in which it started
    processes: they may have run and be gone before anybody counts what they ran. So no tree can make itself denied.
    """

    def __init__(self) -> None:
        self.total_ns = 0
        self.crowd_ns = 0  # what it ran beside its busiest thread: so long it may have kept everybody else from a core
        self._threads: dict[tuple[int, int], _Thread] = {}
        self._cpu_ns = 0
        self._restless_ns = 0
        self._at_ns = time.monotonic_ns()

    def add(self, members: Iterable[int], cpu_ns: int, restless_ns: int = 0) -> None:
        """Adds what was denied since the last call.

        Args:
            members: The processes of the tree.
            cpu_ns: The CPU time of the tree so far, counted after the members were found, with what looking at it took:
                how long that takes a bot decides.
            restless_ns: The time so far in which `cpu_ns` may be too little, since processes were started.
        """
        now = time.monotonic_ns()
        threads = dict(_threads(members))
        for number, thread in threads.items():  # the system counts a wait when it is over
            before = self._threads.get(number)
            if before is not None and before.ran_ns == thread.ran_ns and _is_ready(*number):
                waited_ns = max(thread.waited_ns, before.waited_ns + now - self._at_ns)
                threads[number] = thread._replace(waited_ns=waited_ns)
        ran_ns = cpu_ns - self._cpu_ns
        quiet_ns = now - self._at_ns - (restless_ns - self._restless_ns)
        self.total_ns += max(0, min(quiet_ns - ran_ns, self._longest_ns(threads, ran_ns)))
        busiest_ns = max((one.ran_ns - self._threads.get(at, _NEW).ran_ns for at, one in threads.items()), default=0)
        self.crowd_ns += max(0, ran_ns - busiest_ns)
        self._threads, self._cpu_ns, self._restless_ns, self._at_ns = threads, cpu_ns, restless_ns, now

    def _longest_ns(self, threads: dict[tuple[int, int], _Thread], ran_ns: int) -> int:
        """Returns how long the thread was denied that was denied longest."""
        longest_ns = 0
        for number, thread in threads.items():
            before = self._threads.get(number, _NEW)
            if not (thread.is_modest or before.is_modest):
                others_ns = ran_ns - (thread.ran_ns - before.ran_ns)
                longest_ns = max(longest_ns, thread.waited_ns - before.waited_ns - max(0, others_ns))
        return longest_ns


_NEW: Final = _Thread(0, 0, False)


def _is_ready(pid: int, tid: int) -> bool:
    return read_or_nothing(f"/proc/{pid}/task/{tid}/stat").rpartition(b") ")[2].startswith(b"R")


def _threads(members: Iterable[int]) -> Iterator[tuple[tuple[int, int], _Thread]]:
    cores = len(os.sched_getaffinity(0))
    priority, policy = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    for pid in members:
        for name in listed(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError):
                tid = int(name)
                ran, waited, _ = _read(f"/proc/{pid}/task/{tid}/schedstat").split()
                is_modest = (
                    os.getpriority(os.PRIO_PROCESS, tid) > priority
                    or os.sched_getscheduler(tid) != policy
                    or len(os.sched_getaffinity(tid)) < cores
                )
                yield (pid, tid), _Thread(int(ran), int(waited), is_modest)


def _descendants(root: int) -> list[int]:
    """Returns a process and all that descend from it: parents before children."""
    found = [root]
    for pid in found:
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for name in listed(f"/proc/{pid}/task")
        for child in read_or_nothing(f"/proc/{pid}/task/{name}/children").split()
    ]


def process_stat(pid: int) -> Stat | None:
    """Reads /proc/PID/stat; None if there is no such process."""
    # The second field is the program's name in parentheses, and may hold anything.
    fields = read_or_nothing(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    buried = int(fields[13]) + int(fields[14])
    return Stat(int(fields[1]), buried * _NS_PER_TICK, int(fields[19]), fields[0] in (b"Z", b"X"), int(fields[7]))


def _cpu_ns(pid: int) -> int:
    """Returns the CPU time of the threads of a process, by its clock: /proc counts in ticks of 10 ms."""
    with suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | 2)
    return 0


def _kib(data: bytes, names: Iterable[bytes]) -> dict[bytes, int]:
    """Returns figures of a file of /proc that has a line for each; 0 for those that it does not have.

    >>> _kib(b"VmRSS:\\t     184 kB\\nVmPTE:\\t 4 kB\\n", [b"VmPTE", b"VmSwap"])
    {b'VmPTE': 4, b'VmSwap': 0}
    """
    found = {}
    for name in names:
        at = data.find(b"\n" + name + b":")
        found[name] = int(data[at + len(name) + 2 : data.index(b"kB", at)]) if at >= 0 else 0
    return found


def _proportional(pid: int) -> int:
    of_status = _kib(read_or_nothing(f"/proc/{pid}/status"), (b"VmRSS", b"VmPTE"))
    try:
        shares = _kib(_read(f"/proc/{pid}/smaps_rollup"), (b"Pss", b"SwapPss"))
    except (PermissionError, FileNotFoundError):
        return sum(of_status.values())
    except OSError:
        return 0  # it is just ending
    return sum(shares.values()) + of_status[b"VmPTE"]


def _token(pid: int) -> bytes:
    """Returns the entry with the bot's token in the environment that a process was started with."""
    entries = read_or_nothing(f"/proc/{pid}/environ").split(b"\0")
    return next((entry for entry in entries if entry.startswith(_TOKEN)), b"")


def _signal(pid: int, started: int, number: signal.Signals) -> None:
    """Signals a process if it is still the one that started then: its number may be another's by now."""
    with suppress(OSError):
        if not hasattr(os, "pidfd_open"):
            if started_at(pid) == started:
                os.kill(pid, number)
            return
        descriptor = os.pidfd_open(pid)
        try:
            if started_at(pid) == started:
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def listed(path: str) -> list[str]:
    """Returns the names in a folder; none if it is not there."""
    with suppress(OSError):
        return os.listdir(path)
    return []


def read_or_nothing(path: str) -> bytes:
    """Returns the same as `_read`; nothing if that cannot be read."""
    with suppress(OSError):
        return _read(path)
    return b""


def _read(path: str) -> bytes:
    """Reads the beginning of a file of /proc, in which all that is asked for stands."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _READ)
    finally:
        os.close(descriptor)
