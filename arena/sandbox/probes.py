"""What must hold on a machine for each level, by probe: what is tried, which level needs it, what to do if it fails.

`doctor.py` runs them. Those that are tried inside a seat are functions of `probe_program.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from arena.core.face import Level
from arena.sandbox import fenced_filter, filter
from arena.sandbox.filter import BOX, MACHINES, Condition, Match, Profile, Treatment

_BUG: Final = "this is a bug of arena's sandbox, or of this kernel: please report it with this line"


class Probe(msgspec.Struct, frozen=True):
    """One thing that must hold."""

    name: str
    level: Level | None
    """The level that needs it, and `strict` all of `isolated`, too; None if it is only worth knowing."""
    holds: str
    remedy: str


_MOUNT: Final = (
    "mount the control groups, or run as root; on version 2 also in a group of your own: "
    "systemd-run --user --scope -p Delegate=yes COMMAND"
)
_UNIFIED: Final = "mount the second version too: mount -t cgroup2 none /sys/fs/cgroup/unified"
_SINCE: Final = "a kernel without seccomp has level trusted only; on any other " + _BUG

FENCED: Final = f"{Level.FENCED}-"
"""Prefix of the names of the probes that run in a seat of that level."""
_ITS_LANDLOCK: Final = (
    "Landlock does not do here what it promises: use another kernel, and please report it with this line"
)
_OTHER_PYTHON: Final = "install arena for a Python of which `env -i PYTHON -VV` prints the same as `PYTHON -VV`"

_ANSWERS: Final = (
    "let arena write to the memory of bots: run as root, or sysctl kernel.yama.ptrace_scope=0; without an answer a "
    "program in C may take the machine's memory for another size"
)

PROBES: Final = (
    Probe("descriptors", None, "the referee may open 1,024 files or more", "raise the limit: ulimit -n 8192"),
    Probe("sqlite", None, "two writers cannot damage a database", "let only arena write to its database"),
    Probe(f"{FENCED}landlock", Level.FENCED, "the kernel has Landlock", "use Linux 5.13 or newer"),
    Probe(f"{FENCED}seat", Level.FENCED, "a program fences itself in and reaches the referee", _BUG),
    Probe(f"{FENCED}python", Level.FENCED, "{python} is the Python that runs arena", _OTHER_PYTHON),
    Probe(f"{FENCED}user", Level.FENCED, "it runs as a user of its own, if the referee is root's", _BUG),
    Probe(f"{FENCED}system-calls", Level.FENCED, "each call of the filters' tables ends as they say", _SINCE),
    Probe(f"{FENCED}files", Level.FENCED, "it opens no file but its own and the system's programs", _ITS_LANDLOCK),
    Probe(f"{FENCED}sockets", Level.FENCED, "it connects to nobody but the referee", _SINCE),
    Probe(f"{FENCED}other-processes", Level.FENCED, "it cannot signal, change or measure another process", _SINCE),
    Probe(f"{FENCED}one-process", Level.FENCED, "it can start no process", _SINCE),
    Probe(f"{FENCED}rights", Level.FENCED, "it has no capability, and can get none", _BUG),
    Probe(f"{FENCED}descriptors", Level.FENCED, "it has no descriptor but 0, 1 and 2", _BUG),
    Probe(f"{FENCED}limits", Level.FENCED, "its memory, descriptors and core files are limited", _BUG),
    Probe(f"{FENCED}measured", Level.FENCED, "the referee sees its memory and CPU", "mount /proc without hidepid"),
    Probe(f"{FENCED}untouched", Level.FENCED, "what it attacked is as it was, and nobody was reached", _BUG),
    Probe(f"{FENCED}ended", Level.FENCED, "it ends when it is killed", _BUG),
    Probe("bwrap", Level.ISOLATED, "bubblewrap 0.8 or newer is installed", "apt install bubblewrap"),
    Probe("seat", Level.ISOLATED, "a program starts in a sandbox", _BUG),
    Probe("socket", Level.ISOLATED, "it reaches the referee's socket", "set TMPDIR to a folder with a shorter path"),
    Probe("python", Level.ISOLATED, "{python} is the Python that runs arena", _OTHER_PYTHON),
    Probe("user", Level.ISOLATED, "it runs as a user of its own, if the referee is root's", _BUG),
    Probe("filter", Level.ISOLATED, "its system calls are filtered", _SINCE),
    Probe("system-calls", Level.ISOLATED, "each call of the filter's table ends as the table says", _SINCE),
    Probe("kernel-entries", Level.ISOLATED, "no other way into the kernel is open", _SINCE),
    Probe("network", Level.ISOLATED, "it has no network", _BUG),
    Probe("other-processes", Level.ISOLATED, "it sees no process but its own", _BUG),
    Probe("files", Level.ISOLATED, "it sees no file but its own and the system's programs", _BUG),
    Probe("kernel-secrets", Level.ISOLATED, "/proc tells it nothing of others", _BUG),
    Probe("counters", Level.ISOLATED, "nothing tells it what the machine uses", _BUG),
    Probe("answers", None, "what it asks about memory and disks is answered", _ANSWERS),
    Probe("read-only", Level.ISOLATED, "it can write to /tmp and /dev/shm only", _BUG),
    Probe("room", Level.ISOLATED, "these two are small", _BUG),
    Probe("rights", Level.ISOLATED, "it has no capability and no terminal", _BUG),
    Probe("descriptors-inherited", Level.ISOLATED, "it has no descriptor but 0, 1 and 2", _BUG),
    Probe("processes", Level.ISOLATED, "the number of processes that it can start is limited", _BUG),
    Probe("limits", Level.ISOLATED, "its descriptors and core files are limited", _BUG),
    Probe("measured", Level.ISOLATED, "the referee sees its memory and CPU", "mount /proc without hidepid"),
    Probe("ended", Level.ISOLATED, "it ends when it is killed", _BUG),
    Probe("control-groups", Level.STRICT, "a control group holds it", _MOUNT),
    Probe("frozen", Level.STRICT, "frozen, it uses no CPU", _UNIFIED),
    Probe("memory-limit", Level.STRICT, "the system ends it at its memory limit, and says so", _MOUNT),
)  # fmt: skip
"""All of them, in the order in which they are shown. If one fails, those after it may not have been tried."""

TABLE: Final[Mapping[str, Probe]] = {probe.name: probe for probe in PROBES}

STARTS: Final = (
    ("uid map", "AppArmor restricts user namespaces: install a profile for bwrap, or run as root"),
    ("No space left on device", "sysctl user.max_user_namespaces=10000"),
    ("ENOSPC", "sysctl user.max_user_namespaces=10000"),
    ("fork for pid 1", "raise the limit of processes: ulimit -u 4096"),
    ("Can't mount proc", "a container hides parts of /proc: run outside it, or with --privileged"),
    ("Can't read /proc/sys",
     "/proc shows processes only: mount it whole, without subset=pid (ProcSubset=all in a unit)"),
    ("No permissions to create new namespace",
     "the system or a container's filter refuses user namespaces: sysctl kernel.unprivileged_userns_clone=1 allows "
     "them on Debian; in a container allow them, or run outside it"),
    ("Operation not permitted", "a container's own filter forbids it: allow user namespaces there, or run outside it"),
    ("Permission denied", "open the folder that is named to others (chmod o+x), move it, or run as root"),
)  # fmt: skip
"""Remedy if a seat does not start, by what `bwrap` says. The first that fits counts."""


FENCED_STARTS: Final = (
    ("user out", "open that folder to others (chmod o+x), give arena CAP_SYS_ADMIN, or run it as an ordinary user"),
    ("resource busy", "a container around arena answers system calls itself, as LXD can: turn its interception off"),
    ("load a filter", "use a kernel with seccomp filters, Linux 5.9 or newer"),
    ("Landlock", "use a kernel or a container that allows Landlock"),
)
"""The same for a seat of level fenced, by what it says itself."""


def needed(level: Level) -> tuple[str, ...]:
    """Returns the names of the probes that a level needs."""
    of = (Level.ISOLATED, Level.STRICT) if level is Level.STRICT else (level,)
    return tuple(probe.name for probe in PROBES if probe.level in of)


def start_remedy(said: str, otherwise: str = "", starts: Sequence[tuple[str, str]] = STARTS) -> str:
    """Returns what to do if a seat did not start and this was said, or what to do `otherwise`."""
    return next((remedy for words, remedy in starts if words in said), otherwise or _BUG)


def calls_to_try(machine: str, profile: Profile = BOX) -> list[tuple[str, int, list[int], int]]:
    """Returns a call for each row of a filter: its name, number, arguments, and the error that it must have, or 0.

    The arguments do no harm if the call is let through. At `fenced` those that start a process are tried by a probe of
    their own.
    """
    column = list(MACHINES).index(machine)
    tried = [(name, numbers, [-1] * 6, each) for name, numbers, each in filter.calls(profile.groups)]
    tried += [(row.call, row.numbers, _arguments(row), row.treatment) for row in profile.conditions]
    alone = _TRIED_ALONE if profile is fenced_filter.FENCED else ()
    return [
        (name, number, arguments, treatment.answer & 0xFFFF)
        for name, numbers, arguments, treatment in tried
        if (number := numbers[column]) is not None and treatment is not Treatment.ASKED and name not in alone
    ]


_TRIED_ALONE: Final = ("fork", "vfork", "clone")


def _arguments(row: Condition) -> list[int]:
    """Returns arguments of which the one that decides is treated."""
    values = row.values.values()
    treated = sum(values) if row.match is Match.ALL_BITS else next(iter(values))
    if row.match is Match.NOT_ONE_OF:
        treated = next(value for value in range(2, 1_000) if value not in values)
    return [treated if number == row.argument else -1 for number in range(6)]
