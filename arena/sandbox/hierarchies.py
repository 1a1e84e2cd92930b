"""Reads which hierarchies of control groups are mounted here, and in which groups of them this process is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

CONTROLLERS: Final = ("memory", "pids", "cpuacct")
"""What version 1 needs; on version 2 the CPU time needs no controller."""


class Mount(NamedTuple):
    """A hierarchy, where it is mounted."""

    folder: Path
    """The mount point."""
    root: str
    """Which of its groups is mounted there."""
    controllers: frozenset[str]
    """Of version 1; empty for the unified hierarchy."""
    is_unified: bool


def mounts(text: str | None = None) -> list[Mount]:
    """Returns the hierarchies that are mounted, from the text of /proc/self/mountinfo."""
    found = []
    for line in lines("/proc/self/mountinfo") if text is None else text.splitlines():
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
    for line in lines("/proc/self/cgroup") if text is None else text.splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def lines(path: str) -> list[str]:
    """Returns the lines of a file; none if it is not there."""
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8").splitlines()
    return []
