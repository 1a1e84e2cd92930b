"""Control groups of Linux, made by hand: hard limits for all processes of a bot, and its exact CPU time.

Version 1 has a hierarchy of folders for each controller (memory, pids, cpuacct) and a unified one, which can freeze and
kill. Version 2 has everything in the unified one. A group is a folder in each of them, for one bot.

Laws:
1. A folder is a group only if `cgroup.procs` appears in it. The file system above the hierarchies takes a mkdir, too.
2. Groups lie at the root of what is mounted, if this process may make them there (root), else below its own group
   (delegated to its user). On version 2 a group cannot hold both processes and limited groups: then the processes of a
   delegated group are moved into one of their own.
3. The freezer of version 1 is never used: under it SIGKILL waits.
4. What a dead worker left is removed by the next one. The name of a group says whose it is.
5. A group that only counts lies in this process's own group if it can: the limits of that hold for the bots, too.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from arena.core.face import errors, process_trees

CONTROLLERS: Final = ("memory", "pids", "cpuacct")
"""Controllers that version 1 needs; on version 2 the CPU time needs no controller."""
_V1_FILES: Final = {
    "memory": ("memory.limit_in_bytes", "memory.oom_control"),
    "pids": ("pids.max",),
    "cpuacct": ("cpuacct.usage",),
}
_V2_FILES: Final = {"memory": ("memory.max", "memory.events"), "pids": ("pids.max",)}
_UNIFIED_FILES: Final = ("cgroup.freeze", "cgroup.kill")
_COUNTING_FILES: Final = ("cpu.stat", "cgroup.kill")
_LEAF: Final = "arena.workers"
"""The group of the processes of a delegated group."""
_PREFIX: Final = "arena-"
_NAME: Final = re.compile(_PREFIX + r"(\d+)-(\d+)-(\d+)-(\d+)")
"""A namespace of process numbers, the owner's number in it, when it started, and a count."""
_REMEDY: Final = (
    "run as root where the hierarchies are writable, or on version 2 in a group of your own: "
    "systemd-run --user --scope -p Delegate=yes COMMAND"
)


class Mount(NamedTuple):
    """A hierarchy, where it is mounted."""

    folder: Path
    root: str
    controllers: frozenset[str]
    is_unified: bool


def mounts(text: str | None = None) -> list[Mount]:
    """Returns the hierarchies that are mounted, from the text of /proc/self/mountinfo."""
    found = []
    for line in _lines("/proc/self/mountinfo") if text is None else text.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = [*rest.split(), "", "", ""][:3]
        if kind in ("cgroup", "cgroup2"):
            root, folder = fields.split()[3:5]
            controllers = frozenset(options.split(",")) & frozenset(CONTROLLERS)
            found.append(Mount(Path(folder), root, controllers, kind == "cgroup2"))
    return found


def own_groups(text: str | None = None) -> dict[str, str]:
    """Returns the group of this process in each hierarchy, from the text of /proc/self/cgroup.

    >>> own_groups("4:memory:/a\\n2:cpu,cpuacct:/b\\n0::/c")
    {'memory': '/a', 'cpu': '/b', 'cpuacct': '/b', '': '/c'}
    """
    groups = {}
    for line in _lines("/proc/self/cgroup") if text is None else text.splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _lines(path: str) -> list[str]:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8").splitlines()
    return []


class Ground(msgspec.Struct, frozen=True):
    """The folders in which this process can make groups."""

    version: int
    memory: Path
    pids: Path
    cpu: Path
    unified: Path
    """Folder in which groups are frozen and killed; on version 2 the same as the others."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Returns the different folders."""
        return tuple(dict.fromkeys((self.memory, self.pids, self.cpu, self.unified)))


class _Folders:
    """A group of one bot, as a folder in each hierarchy: empty until a process joins."""

    _count = 0

    def __init__(self, folders: Iterable[Path]) -> None:
        _Folders._count += 1
        self.name = f"{_PREFIX}{_identity()}-{_Folders._count}"
        self._folders = [folder / self.name for folder in folders]
        self._descriptors: list[int] = []

    def join(self, pid: int) -> None:
        """Moves a process into the group, with all that it will start.

        Raises:
            OSError: The system refuses.
        """
        for folder in self._folders:
            _write(folder / "cgroup.procs", str(pid))

    def remove(self) -> bool:
        """Removes the group, and tells whether it is gone. It is not while processes are in it: kill them, and wait."""
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
        return not [folder for folder in self._folders if not _remove(folder)]

    def _open(self, path: Path, flags: int = os.O_RDONLY) -> int:
        descriptor = os.open(path, flags | os.O_CLOEXEC)
        self._descriptors.append(descriptor)
        return descriptor


class ControlGroup(_Folders):
    """A group with limits of memory and processes, which can be frozen."""

    def __init__(self, place: Ground, memory_mib: int, processes: int) -> None:
        """Makes the group, and limits its memory (swap and memory file systems included) and processes.
        After a MachineFault (the system refuses) nothing is left.
        """
        super().__init__(place.folders)
        try:
            for folder in self._folders:
                _make(folder)
            memory, self._unified, size = place.memory / self.name, place.unified / self.name, memory_mib << 20
            _write(place.pids / self.name / "pids.max", str(processes))
            if place.version == 1:
                _write(memory / "memory.limit_in_bytes", str(size))
                _limit_swap(memory / "memory.memsw.limit_in_bytes", size, "boot with swapaccount=1, or swapoff -a")
                self._oom = self._open(memory / "memory.oom_control")
                self._most = self._open(memory / "memory.max_usage_in_bytes")
                self._cpu = self._open(place.cpu / self.name / "cpuacct.usage")
            else:
                _write(memory / "memory.max", str(size))
                _write(memory / "memory.oom.group", "1")
                _limit_swap(memory / "memory.swap.max", 0, "swapoff -a")
                self._oom = self._open(memory / "memory.events")
                peak = memory / "memory.peak"
                self._most = self._open(peak if peak.exists() else memory / "memory.current")
                self._cpu = self._open(place.cpu / self.name / "cpu.stat")
            self._freezer = self._open(self._unified / "cgroup.freeze", os.O_WRONLY)
            self._killer = self._open(self._unified / "cgroup.kill", os.O_WRONLY)
        except OSError as error:
            self.remove()
            raise errors.MachineFault(f"expected to make group {self.name}, got: {error}; {_REMEDY}") from None
        self._version = place.version

    def join(self, pid: int) -> None:
        """Moves a process into the group, with all that it will start.

        Raises:
            MachineFault: The system refuses.
        """
        try:
            super().join(pid)
        except OSError as error:
            raise errors.MachineFault(f"expected process {pid} to join {self.name}, got: {error}; {_REMEDY}") from None

    def members(self) -> list[int]:
        """Returns the numbers of the processes in it."""
        return _members(self._unified)

    def killed_for_memory(self) -> int:
        """Returns how many of its processes the system has killed because of the limit of memory."""
        return _value(os.pread(self._oom, 4096, 0), b"oom_kill")

    def most_mib(self) -> int:
        """Returns the most memory that it has used, in MiB. Includes the page cache."""
        return int(os.pread(self._most, 64, 0)) >> 20

    def cpu_ns(self) -> int:
        """Returns the CPU time of all its processes so far, those that have ended included."""
        data = os.pread(self._cpu, 4096, 0)
        return int(data) if self._version == 1 else _value(data, b"usage_usec") * 1_000

    def freeze(self) -> None:
        """Stops its processes. It takes 0.2 ms on an idle machine; this does not wait for it: see `is_frozen`."""
        os.pwrite(self._freezer, b"1", 0)

    def is_frozen(self) -> bool:
        """Tells whether all its processes stand."""
        return _value((self._unified / "cgroup.events").read_bytes(), b"frozen") == 1

    def thaw(self) -> None:
        """Lets them run again."""
        os.pwrite(self._freezer, b"0", 0)

    def kill(self) -> None:
        """Kills all its processes, frozen or not, without waiting."""
        os.pwrite(self._killer, b"1", 0)


class CpuGroup(_Folders):
    """A group without limits: it counts the CPU time of a bot exactly, its memory where it can, and kills all of it."""

    def __init__(self, place: Path, memory: Path | None = None) -> None:
        """Makes the group, in version 1's hierarchy of memory too if given. After an OSError nothing is left."""
        super().__init__(folder for folder in (place, memory) if folder is not None)
        files = [self._folders[0] / "cpu.stat", self._folders[-1] / "memory.stat"]
        if memory is not None:
            files.append(memory / self.name / "memory.kmem.usage_in_bytes")
        try:
            for folder in self._folders:
                _make(folder)
            self._open(self._folders[0] / "cgroup.kill", os.O_WRONLY)
            for file in filter(Path.exists, files):
                self._open(file)
        except OSError:
            self.remove()
            raise

    def memory_mib(self) -> int | None:
        """Returns its memory now, the kernel's for it included, the page cache not; None if unknown."""
        if len(self._descriptors) < 3:
            return None
        data = os.pread(self._descriptors[2], 8192, 0)
        if len(self._descriptors) > 3:
            kept = int(os.pread(self._descriptors[3], 64, 0))
            return kept + sum(_value(data, key) for key in (b"total_rss", b"total_shmem", b"total_swap")) >> 20
        reclaimable = _value(data, b"slab_reclaimable")
        return sum(_value(data, key) for key in (b"anon", b"shmem", b"kernel", b"sock")) - reclaimable >> 20

    def cpu_ns(self) -> int:
        """Returns the CPU time of all its processes so far, whoever has waited for those that have ended."""
        return _value(os.pread(self._descriptors[1], 4096, 0), b"usage_usec") * 1_000

    def kill(self) -> None:
        """Kills all its processes, without waiting."""
        os.pwrite(self._descriptors[0], b"1", 0)


@cache
def counting_place() -> Path | None:
    """Finds where groups that count can be made, and removes what dead workers left there; None if nowhere."""
    unified = next((mount for mount in mounts() if mount.is_unified), None)
    return _counting_ground(unified, "", _COUNTING_FILES, 2)


@cache
def counting_memory() -> Path | None:
    """Finds the same in version 1's hierarchy of memory. On version 2 a group has what its parent gives it."""
    mount = next((mount for mount in mounts() if "memory" in mount.controllers), None)
    return _counting_ground(mount, "memory", ("memory.kmem.usage_in_bytes",), 1)


def _counting_ground(mount: Mount | None, controller: str, files: tuple[str, ...], version: int) -> Path | None:
    if mount is None:
        return None
    place = _usable(reversed(_places(mount, own_groups().get(controller, "/"))), files)
    if place is not None:
        sweep(Ground(version, place, place, place, place))
    return place


@cache
def ground() -> Ground:
    """Finds where this process can make groups, by making one, and removes what dead workers left there.

    Raises:
        MachineFault: There is no such place. The message says what is missing, and what to do.
    """
    found = find_ground(mounts(), own_groups())
    sweep(found)
    return found


def find_ground(mounted: Sequence[Mount], own: dict[str, str]) -> Ground:
    """Finds where groups can be made.

    Args:
        own: The group of this process in each of them: by controller, that of the unified one by "".

    Raises:
        MachineFault: As `ground`.
    """
    unified = next((mount for mount in mounted if mount.is_unified), None)
    if unified is None:
        raise errors.MachineFault(
            "expected the unified hierarchy of control groups, got: none; mount -t cgroup2 none /sys/fs/cgroup/unified"
        )
    place = _usable(_places(unified, own.get("", "/")), _UNIFIED_FILES)
    if place is None:
        raise errors.MachineFault(f"expected a group with cgroup.kill in {unified.folder}, got: none; {_REMEDY}")
    v1 = {}
    for controller in CONTROLLERS:
        mount = next((mount for mount in mounted if controller in mount.controllers), None)
        if mount is not None:
            v1[controller] = _usable(_places(mount, own.get(controller, "/")), _V1_FILES[controller])
    if len(v1) == len(CONTROLLERS):
        memory, pids, cpu = (v1[controller] for controller in CONTROLLERS)
        if memory is None or pids is None or cpu is None:
            lacking = ", ".join(controller for controller in CONTROLLERS if v1[controller] is None)
            raise errors.MachineFault(f"expected to make control groups for {lacking}, got: none; {_REMEDY}")
        return Ground(1, memory, pids, cpu, place)
    place = v2_place(unified, own.get("", "/"))
    return Ground(2, place, place, place, place)


def v2_place(unified: Mount, own: str, needed: Mapping[str, Sequence[str]] = _V2_FILES) -> Path:
    """Returns a folder of the unified hierarchy whose groups have the controllers.

    Only the root of the whole hierarchy may hold processes beside groups with controllers.

    Args:
        needed: The controllers, and the files that tell that a group has them.

    Raises:
        MachineFault: As `ground`.
    """
    files = (*_UNIFIED_FILES, *itertools.chain.from_iterable(needed.values()))
    for folder in _places(unified, own):
        base = folder.parent if folder.name == _LEAF else folder
        if _enable(base, set(needed)) and _usable([base], files):
            return base
    raise errors.MachineFault(
        f"expected the controllers {' and '.join(needed)} in a group below {unified.folder}, got: no group that may "
        f"have them; {_REMEDY}"
    )


def _enable(base: Path, controllers: set[str]) -> bool:
    """Gives the groups below `base` the controllers, and tells whether they have them."""
    order = " ".join(f"+{controller}" for controller in controllers)
    with suppress(OSError):
        if controllers <= set((base / "cgroup.subtree_control").read_text().split()):
            return True
        if not controllers <= set((base / "cgroup.controllers").read_text().split()):
            return False
        try:
            _write(base / "cgroup.subtree_control", order)
        except OSError:
            if os.geteuid() == 0 or base.stat().st_uid != os.geteuid():
                return False  # it was not delegated to this user, who may not move all its processes
            _make(base / _LEAF)
            for pid in (base / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    _write(base / _LEAF / "cgroup.procs", pid)
            _write(base / "cgroup.subtree_control", order)
        return True
    return False


def _places(mount: Mount, own: str) -> list[Path]:
    """Returns where groups of a hierarchy may lie: its root as mounted, and this process's own group."""
    root = mount.root.rstrip("/")
    if not own.startswith(f"{root}/"):
        return [mount.folder]
    return list(dict.fromkeys((mount.folder, mount.folder / own.removeprefix(root).lstrip("/"))))


def _usable(places: Iterable[Path], files: Sequence[str]) -> Path | None:
    """Returns the first folder in which a new folder becomes a group with these files."""
    for place in places:
        trial = place / f"{_PREFIX}{_identity()}-0"
        try:
            _make(trial)
            if all((trial / name).exists() for name in files):
                return place
        except OSError:
            continue
        finally:
            _remove(trial)
    return None


def sweep(place: Ground) -> None:
    """Removes the groups of workers that have died, with all processes in them."""
    abandoned = [group for folder in place.folders for own in _abandoned(folder) for group in (*_inner(own), own)]
    for group in abandoned:
        with suppress(OSError):
            _write(group / "cgroup.kill", "1")
        for pid in _members(group):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    for group in abandoned:
        _remove(group)  # what is still dying is left to the next one


def _abandoned(folder: Path) -> Iterator[Path]:
    """Yields the groups in a folder whose owner has died. Owners that this process cannot see are left alone."""
    for name in os.listdir(folder):
        found = _NAME.fullmatch(name)
        if found:
            namespace, owner, started, _ = map(int, found.groups())
            if namespace == _namespace() and process_trees.started_at(owner) != started:
                yield folder / name


def _identity() -> str:
    """Returns the part of a group's name that says whose it is."""
    return f"{_namespace()}-{os.getpid()}-{process_trees.started_at(os.getpid())}"


def _namespace() -> int:
    """Returns the number of the namespace in which processes have the numbers that this process sees."""
    return os.stat("/proc/self/ns/pid").st_ino


def _limit_swap(file: Path, size: int, remedy: str) -> None:
    if file.exists():
        _write(file, str(size))
    elif len(_lines("/proc/swaps")) > 1:
        raise OSError(errno.EOPNOTSUPP, f"swapped memory is not counted here: {remedy}")


def _make(folder: Path) -> None:
    """Makes a group. An OSError says that the system refuses, or that what was made is a plain folder."""
    folder.mkdir(exist_ok=True)
    if not (folder / "cgroup.procs").exists():
        folder.rmdir()
        raise FileNotFoundError(errno.ENOENT, "no control group", str(folder))


def _inner(group: Path) -> list[Path]:
    """Returns the groups in a group, innermost first: a worker that runs in another's group makes them there."""
    return [Path(parent, name) for parent, names, _ in os.walk(group, topdown=False) for name in names]


def _remove(folder: Path) -> bool:
    """Removes a group with the groups in it, and tells whether it is gone."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        inner = _inner(folder)
        return bool(inner) and all(map(_remove, inner)) and _remove(folder)
    return True


def _members(group: Path) -> list[int]:
    return list(map(int, _lines(f"{group}/cgroup.procs")))


def _value(data: bytes, key: bytes) -> int:
    """Returns the number behind a key.

    >>> _value(b"oom_kill_disable 0\\nunder_oom 0\\noom_kill 3\\n", b"oom_kill")
    3
    """
    fields = dict(line.split(b" ", 1) for line in data.splitlines() if b" " in line)
    return int(fields.get(key, 0))


def _write(path: Path, text: str) -> None:
    """Writes to a file of the system in one call; it is never created."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
