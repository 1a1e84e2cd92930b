"""Makes the seat's filter of system calls from a table that says of each call what happens to it, and why.

A sandbox of namespaces leaves ways by which two bots can meet: a lock on a file of the system that both can read, a
key ring, a socket of the machine itself. The filter closes those that are known. Everything else is allowed, up to
`NEWEST`: what later kernels add does not exist in a box until somebody has read about it and raised that number.

`docs/filter.md` is generated from this table. A test compares the numbers with libseccomp's.
"""

from __future__ import annotations

import errno
import functools
import platform
import struct
from collections.abc import Iterator
from enum import Enum, StrEnum
from typing import Final

import msgspec

from arena.errors import MachineFault


class Treatment(Enum):
    """What happens to a call: its name in the documentation, and the filter's answer to the kernel."""

    KILLED = ("ends the process (SIGSYS)", 0x8000_0000)
    PRETENDS = ("does nothing and reports success", 0x0005_0000)
    EPERM = ("fails with EPERM", 0x0005_0000 | errno.EPERM)
    EAFNOSUPPORT = ("fails with EAFNOSUPPORT", 0x0005_0000 | errno.EAFNOSUPPORT)
    ENOSYS = ("fails with ENOSYS", 0x0005_0000 | errno.ENOSYS)
    EOPNOTSUPP = ("fails with EOPNOTSUPP", 0x0005_0000 | errno.EOPNOTSUPP)
    ASKED = ("is answered by the referee", 0x7FC0_0000)

    def __init__(self, says: str, answer: int) -> None:
        self.says = says
        self.answer = answer


Numbers = tuple[int | None, int | None]
"""A call's number on x86_64 and on aarch64; None where there is no such call."""


class Group(msgspec.Struct, frozen=True):
    """Calls that are treated alike, whatever their arguments."""

    treatment: Treatment
    why: str
    calls: dict[str, Numbers]


class Match(StrEnum):
    """How an argument decides whether a call is treated."""

    ANY_BIT = "with any of the bits"
    NO_BIT = "without the bit"
    ONE_OF = "with one of"
    NOT_ONE_OF = "with anything but"


class Condition(msgspec.Struct, frozen=True):
    """A call that is treated only with certain values of one argument, of which the kernel reads 32 bits."""

    call: str
    numbers: Numbers
    argument: int
    """Which argument decides, from 0."""
    match: Match
    values: dict[str, int]
    """By the names that people know. One, the mask, if bits are tested."""
    treatment: Treatment
    why: str


MACHINES: Final = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""Each machine that the table knows, in the order of `Numbers`, with the number that the kernel has for it."""
NEWEST: Final = 469
"""The highest number that was reviewed: `file_setattr`, Linux 6.17. All above fail with ENOSYS."""
UNUSED: Final = {"x86_64": (337, 423), "aarch64": (295, 423)}
"""Numbers below it that no call has, first and last. They fail with ENOSYS too, should one be given out."""
X32: Final = 0x4000_0000
"""From this number on, calls on x86_64 are those of the x32 interface, which the table does not know."""

# fmt: off
GROUPS: Final = (
    Group(Treatment.EPERM, "reads, changes or compares other processes", {
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
        "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    }),
    Group(Treatment.EPERM, "key rings belong to the user: two boxes of one user could share them", {
        "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    }),
    Group(Treatment.EPERM, "large interfaces of the kernel that a bot does not need, and attacks do", {
        "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
        "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
        "landlock_create_ruleset": (444, 444), "lsm_set_self_attr": (460, 460),
    }),
    Group(Treatment.EPERM, "changes what files are seen: the box would not be the one that was made", {
        "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
        "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467), "fsopen": (430, 430),
        "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
        "statmount": (457, 457), "listmount": (458, 458), "mknod": (133, None), "mknodat": (259, 33),
    }),
    Group(Treatment.EPERM, "a new namespace has capabilities, and so more of the kernel to attack", {
        "unshare": (272, 97), "setns": (308, 268),
    }),
    Group(Treatment.EPERM, "locks and watches on files that both bots can read carry signals from one to the other", {
        "flock": (73, 32), "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
        "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "name_to_handle_at": (303, 264),
        "open_by_handle_at": (304, 265),
    }),
    Group(Treatment.EPERM, "tells or changes which pages of a shared file are in memory: a signal to the other bot", {
        "mincore": (27, 232), "cachestat": (451, 451), "fadvise64": (221, 223), "readahead": (187, 213),
    }),
    Group(Treatment.EPERM, "message queues and shared memory of System V and POSIX live outside any folder", {
        "mq_open": (240, 180), "mq_unlink": (241, 181), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
        "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186),
        "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    }),
    Group(Treatment.EPERM, "takes CPU, disk or memory nodes from others", {
        "setpriority": (141, 140), "ioprio_set": (251, 30), "move_pages": (279, 239), "migrate_pages": (256, 238),
        "mbind": (237, 235), "set_mempolicy": (238, 237), "set_mempolicy_home_node": (450, 450),
    }),
    Group(Treatment.EPERM, "memory that no process maps is missed where only processes are measured", {
        "memfd_secret": (447, 447),
    }),
    Group(Treatment.ENOSYS, "memory that no process maps, too; programs take a file in /tmp or /dev/shm instead", {
        "memfd_create": (319, 279),
    }),
    Group(Treatment.EPERM, "an administrator's, of the whole machine", {
        "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "kexec_load": (246, 104),
        "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
        "delete_module": (176, 106), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
        "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
        "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    }),
    Group(Treatment.EPERM, "old: programs of today do not use them", {
        "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "lookup_dcookie": (212, 18),
        "nfsservctl": (180, 42), "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None),
    }),
    Group(Treatment.ENOSYS, "counts what the machine uses, and another box with it; /proc/meminfo tells the box's", {
        "sysinfo": (99, 179), "statfs": (137, 43), "fstatfs": (138, 44),
    }),
    Group(Treatment.ENOSYS, "its flags are in memory, where a filter cannot read them; glibc, Go and Java take clone", {
        "clone3": (435, 435),
    }),
    Group(Treatment.PRETENDS, "libzmq ends the bot if it fails; it would take CPU from others", {
        "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    }),
    Group(Treatment.PRETENDS, "makes the whole machine write its files to disk; a bot has none there", {
        "sync": (162, 81), "syncfs": (306, 267),
    }),
)

CONDITIONS: Final = (
    Condition(
        "clone", (56, 220), 0, Match.ANY_BIT, {"CLONE_NEW*": 0x7E02_0080}, Treatment.EPERM,
        "a new namespace, as unshare; threads and processes are made without these",
    ),
    Condition(
        "socket", (41, 198), 0, Match.NOT_ONE_OF, {"AF_UNIX": 1}, Treatment.EAFNOSUPPORT,
        "only the referee's socket is to be reached: no internet, vsock, netlink, packets, kernel crypto",
    ),
    Condition(
        "socketpair", (53, 199), 0, Match.NOT_ONE_OF, {"AF_UNIX": 1}, Treatment.EAFNOSUPPORT, "as socket",
    ),
    Condition(
        "setsockopt", (54, 208), 2, Match.ONE_OF,
        {"SO_SNDBUF": 7, "SO_RCVBUF": 8, "SO_SNDBUFFORCE": 32, "SO_RCVBUFFORCE": 33}, Treatment.PRETENDS,
        "a socket's buffer is memory that no process has; its size is the system's usual one",
    ),
    Condition(
        "fcntl", (72, 25), 1, Match.NOT_ONE_OF, {
            "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_SETOWN": 8, "F_GETOWN": 9,
            "F_SETSIG": 10, "F_GETSIG": 11, "F_SETOWN_EX": 15, "F_GETOWN_EX": 16, "F_GETOWNER_UIDS": 17,
            "F_DUPFD_QUERY": 1027, "F_CREATED_QUERY": 1028, "F_DUPFD_CLOEXEC": 1030, "F_SETPIPE_SZ": 1031,
            "F_GETPIPE_SZ": 1032, "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034,
        }, Treatment.EPERM,
        "locks, leases, delegations, notices and write hints on files that both bots can read carry signals",
    ),
    Condition(
        "preadv2", (327, 286), 5, Match.ANY_BIT, {"RWF_NOWAIT": 8}, Treatment.EOPNOTSUPP,
        "tells whether a page of a shared file is in memory, as mincore",
    ),
    Condition(
        "fallocate", (285, 47), 1, Match.ANY_BIT, {"FALLOC_FL_KEEP_SIZE": 1}, Treatment.EOPNOTSUPP,
        "takes disk beyond the size of a file, which alone is limited; programs write zeros instead",
    ),
    Condition(
        "madvise", (28, 233), 2, Match.ONE_OF, {"MADV_COLD": 20, "MADV_PAGEOUT": 21, "MADV_MERGEABLE": 12},
        Treatment.EPERM, "takes pages of shared files from memory, or shares pages with other processes: a signal",
    ),
    Condition(
        "prlimit64", (302, 261), 0, Match.NOT_ONE_OF, {"the caller itself": 0}, Treatment.EPERM,
        "limits of another process",
    ),
    Condition(
        "personality", (135, 92), 0, Match.NOT_ONE_OF, {"the question": 0xFFFF_FFFF}, Treatment.EPERM,
        "emulations of other systems, with protections off",
    ),
    Condition(
        "ioctl", (16, 29), 1, Match.ONE_OF, {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}, Treatment.EPERM,
        "types into a terminal",
    ),
)
# fmt: on

_ALLOW: Final = 0x7FFF_0000
_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where the kernel's `struct seccomp_data` has what the filter reads. Both machines store the low half first."""

Instruction = tuple[int, int, int, int]
"""Operation, operand, and how many instructions are skipped if a test holds and if it does not."""


FOR_BUILDS: Final = frozenset(
    {"flock", "fcntl", "memfd_create", "fadvise64", "readahead", "madvise", "sysinfo", "statfs", "fstatfs"}
)
"""What a build may do, although a bot may not: compilers lock the files that they share. Nobody plays against a build,
so there is nobody to signal to."""


@functools.cache
def program(machine: str = "", allowed: frozenset[str] = frozenset()) -> bytes:
    """Returns the filter as `bwrap --seccomp` reads it: for a machine, or for this one, without calls `allowed`.

    Raises:
        MachineFault: The table does not have that machine's numbers.
    """
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise MachineFault(
            f"expected a machine among {', '.join(MACHINES)}, whose system calls the filter knows, got: {machine}; "
            "only level trusted can be had here"
        )
    return b"".join(
        struct.pack("<HBBI", code, yes, no, value) for code, value, yes, no in _instructions(machine, allowed)
    )


def _instructions(machine: str, allowed: frozenset[str]) -> Iterator[Instruction]:
    """Yields the filter: first what the number alone decides, then what an argument does."""
    column = list(MACHINES).index(machine)
    first, last = UNUSED[machine]
    yield from [(_LOAD, _MACHINE, 0, 0), (_EQUAL, MACHINES[machine], 1, 0), _return(Treatment.KILLED)]
    yield (_LOAD, _NUMBER, 0, 0)
    if machine == "x86_64":
        yield from [(_AT_LEAST, X32, 0, 1), _return(Treatment.KILLED)]
    yield from [(_AT_LEAST, NEWEST + 1, 0, 1), _return(Treatment.ENOSYS)]
    yield from [(_AT_LEAST, first, 0, 2), (_AT_LEAST, last + 1, 1, 0), _return(Treatment.ENOSYS)]
    for group in GROUPS:
        for name, numbers in group.calls.items():
            if name not in allowed:
                yield from _for_call(numbers[column], [_return(group.treatment)])
    for condition in (condition for condition in CONDITIONS if condition.call not in allowed):
        yield from _for_call(condition.numbers[column], list(_tests(condition)))
    yield (_RETURN, _ALLOW, 0, 0)


def _for_call(number: int | None, body: list[Instruction]) -> Iterator[Instruction]:
    """Yields instructions that are skipped for all other calls. The last of them returns."""
    if number is not None:
        yield (_EQUAL, number, 0, len(body))
        yield from body


def _tests(condition: Condition) -> Iterator[Instruction]:
    """Yields the tests of an argument: those that hold jump to the last instruction."""
    treated, allowed = _return(condition.treatment), (_RETURN, _ALLOW, 0, 0)
    operation = _BITS if condition.match is Match.ANY_BIT else _EQUAL
    yield (_LOAD, _ARGUMENTS + 8 * condition.argument, 0, 0)
    for left, value in zip(range(len(condition.values), 0, -1), condition.values.values(), strict=True):
        yield (operation, value, left, 0)
    yield from (treated, allowed) if condition.match is Match.NOT_ONE_OF else (allowed, treated)


def _return(treatment: Treatment) -> Instruction:
    return (_RETURN, treatment.answer, 0, 0)
