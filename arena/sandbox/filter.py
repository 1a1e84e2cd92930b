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
from collections.abc import Iterable, Iterator
from enum import Enum, StrEnum
from typing import Final

import msgspec

from arena.core.face import errors


class Treatment(Enum):
    """What happens to a call: its name in the documentation, and the filter's answer to the kernel."""

    KILLED = ("ends the process (SIGSYS)", 0x8000_0000)
    PRETENDS = ("does nothing and reports success", 0x0005_0000)
    EPERM = ("fails with EPERM", 0x0005_0000 | errno.EPERM)
    EINVAL = ("fails with EINVAL", 0x0005_0000 | errno.EINVAL)
    EAFNOSUPPORT = ("fails with EAFNOSUPPORT", 0x0005_0000 | errno.EAFNOSUPPORT)
    ENOSYS = ("fails with ENOSYS", 0x0005_0000 | errno.ENOSYS)
    EOPNOTSUPP = ("fails with EOPNOTSUPP", 0x0005_0000 | errno.EOPNOTSUPP)
    ENOTTY = ("fails with ENOTTY", 0x0005_0000 | errno.ENOTTY)
    ASKED = ("is answered outside of the box", 0x7FC0_0000)

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
    ALL_BITS = "with all of the bits"
    NO_BIT = "without the bit"
    ONE_OF = "with one of"
    NOT_ONE_OF = "with anything but"


class Condition(msgspec.Struct, frozen=True):
    """A call that is treated only with certain values of one argument, of which the kernel reads 32 bits."""

    call: str
    numbers: Numbers
    argument: int
    match: Match
    values: dict[str, int]
    """Values by the names that people know. One, the mask, if any of its bits decides."""
    treatment: Treatment
    why: str
    spared: dict[str, int] = {}
    """Bits of the argument, by their names: with any of them the call is not treated."""


class Sized(Condition, frozen=True, kw_only=True):
    """One that also asks for a size, in argument 1."""

    most: int
    """With this size or less the call is not treated."""


MACHINES: Final = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""Each machine that the table knows, in the order of `Numbers`, with the number that the kernel has for it."""
NEWEST: Final = 469
"""The highest number that was reviewed: `file_setattr`, Linux 6.17. All above fail with ENOSYS."""
UNUSED: Final = {"x86_64": (337, 423), "aarch64": (295, 423)}
"""Numbers below it that no call has, first and last. They fail with ENOSYS too, should one be given out."""
X32: Final = 0x4000_0000
"""From this number on, calls on x86_64 are those of the x32 interface, which the table does not know."""

SHARED: Final = 65_536
"""Bytes of shared memory without a file that a bot may have at once. Each mapping of any counts as so many."""

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
    Group(Treatment.ENOSYS, "the machine has one count of events that all may have, and it is exact", {
        "io_setup": (206, 0), "io_destroy": (207, 1), "io_getevents": (208, 4), "io_submit": (209, 2),
        "io_cancel": (210, 3), "io_pgetevents": (333, 292),
    }),
    Group(Treatment.ENOSYS, "its inode number counts the processes and threads of the machine; programs take waitid", {
        "pidfd_open": (434, 434),
    }),
    Group(Treatment.ENOSYS, "tells how many programs want the core", {
        "sched_rr_get_interval": (148, 127),
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
    Group(Treatment.EPERM, "watches on files that both bots can read carry signals from one to the other", {
        "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
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
    Group(Treatment.EINVAL, "a byte of a page in a pipe or socket keeps all of it, up to 2 MiB; programs write", {
        "vmsplice": (278, 75), "splice": (275, 76), "tee": (276, 77), "sendfile": (40, 71),
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
    Group(Treatment.ASKED, "counts what the machine uses, and another box with it: the answer is the box's memory", {
        "sysinfo": (99, 179), "statfs": (137, 43), "fstatfs": (138, 44),
    }),
    Group(Treatment.EOPNOTSUPP, "a list of who may read a file takes 128 KiB that no file system counts", {
        "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    }),
    Group(Treatment.ENOSYS, "its flags are in memory, where a filter cannot read them; glibc, Go and Java take clone", {
        "clone3": (435, 435),
    }),
    Group(Treatment.PRETENDS, "libzmq ends the bot if it fails; it would take CPU from others", {
        "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    }),
    Group(Treatment.PRETENDS, "a lock on a file that both can read is a signal, but without any SQLite reads nothing", {
        "flock": (73, 32),
    }),
    Group(Treatment.PRETENDS, "makes the whole machine write its files to disk; a bot has none there", {
        "sync": (162, 81), "syncfs": (306, 267),
    }),
)

CONDITIONS: Final = (
    Condition("clone", (56, 220), 0, Match.ANY_BIT, {"CLONE_NEW* and CLONE_PIDFD": 0x7E02_1080}, Treatment.EPERM,
        "a new namespace, as unshare, and the number of pidfd_open; threads and processes are made without these"),
    Sized("mmap", (9, 222), 3, Match.ALL_BITS, {"MAP_SHARED": 0x01, "MAP_ANONYMOUS": 0x20}, Treatment.EPERM,
        "of more than 64 KiB: memory that stays when no process maps its pages any more; programs take a file in /tmp "
        "or /dev/shm instead", most=SHARED),
    Condition("socket", (41, 198), 0, Match.NOT_ONE_OF, {"AF_UNIX": 1}, Treatment.EAFNOSUPPORT,
        "only the referee's socket is to be reached: no internet, vsock, netlink, packets, kernel crypto"),
    Condition("socketpair", (53, 199), 0, Match.NOT_ONE_OF, {"AF_UNIX": 1}, Treatment.EAFNOSUPPORT, "as socket"),
    Condition("setsockopt", (54, 208), 2, Match.ONE_OF,
        {"SO_SNDBUF": 7, "SO_RCVBUF": 8, "SO_SNDBUFFORCE": 32, "SO_RCVBUFFORCE": 33}, Treatment.PRETENDS,
        "a socket's buffer is memory that no process has; its size is the system's usual one"),
    Condition("setsockopt", (54, 208), 2, Match.ONE_OF, {"SO_PASSPIDFD": 76}, Treatment.EPERM, "as pidfd_open"),
    Condition("getsockopt", (55, 209), 2, Match.ONE_OF,
        {"SO_INCOMING_CPU": 49, "SO_COOKIE": 57, "SO_NETNS_COOKIE": 71, "SO_PEERPIDFD": 77}, Treatment.EPERM,
        "numbers from counters of the machine"),
    Condition("mmap", (9, 222), 3, Match.ANY_BIT, {"MAP_HUGETLB": 0x4_0000}, Treatment.EPERM,
        "the machine has so many large pages and no more, and they are not seen as a process's memory"),
    Condition("prctl", (157, 167), 0, Match.ONE_OF, {"PR_SCHED_CORE": 62, "PR_SET_MEMORY_MERGE": 67}, Treatment.EPERM,
        "keeps others off the other half of a core; shares equal pages with others"),
    Condition("prctl", (157, 167), 0, Match.ONE_OF,
        {"PR_SET_DUMPABLE": 4, "PR_SET_PTRACER": 0x5961_6D61, "PR_SET_VMA": 0x5356_4D41}, Treatment.EPERM,
        "hides a process's memory and descriptors, or the kind of a mapping, from whoever counts them"),
    Condition("fcntl", (72, 25), 1, Match.ONE_OF,
        {"F_SETLK": 6, "F_SETLKW": 7, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}, Treatment.PRETENDS, "as flock"),
    Condition("fcntl", (72, 25), 1, Match.NOT_ONE_OF, {
            "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_SETOWN": 8, "F_GETOWN": 9,
            "F_SETSIG": 10, "F_GETSIG": 11, "F_SETOWN_EX": 15, "F_GETOWN_EX": 16, "F_GETOWNER_UIDS": 17,
            "F_DUPFD_QUERY": 1027, "F_CREATED_QUERY": 1028, "F_DUPFD_CLOEXEC": 1030, "F_SETPIPE_SZ": 1031,
            "F_GETPIPE_SZ": 1032, "F_ADD_SEALS": 1033, "F_GET_SEALS": 1034,
        }, Treatment.EPERM,
        "questions for locks, leases, delegations, notices and write hints on files that both can read carry signals"),
    Condition("preadv2", (327, 286), 5, Match.ANY_BIT, {"RWF_NOWAIT": 8}, Treatment.EOPNOTSUPP,
        "tells whether a page of a shared file is in memory, as mincore"),
    Condition("fallocate", (285, 47), 1, Match.ANY_BIT, {"FALLOC_FL_KEEP_SIZE": 1}, Treatment.EOPNOTSUPP,
        "takes disk beyond the size of a file, which alone is limited; programs write zeros instead"),
    Condition("madvise", (28, 233), 2, Match.ONE_OF, {"MADV_COLD": 20, "MADV_PAGEOUT": 21, "MADV_MERGEABLE": 12},
        Treatment.EPERM, "takes pages of shared files from memory, or shares pages with other processes: a signal"),
    Condition("prlimit64", (302, 261), 0, Match.NOT_ONE_OF, {"the caller itself": 0}, Treatment.EPERM,
        "limits of another process"),
    Condition("personality", (135, 92), 0, Match.NOT_ONE_OF, {"the question": 0xFFFF_FFFF}, Treatment.EPERM,
        "emulations of other systems, with protections off"),
    Condition("ioctl", (16, 29), 1, Match.NOT_ONE_OF, {
            "TCGETS": 0x5401, "TCSETS": 0x5402, "TCSETSW": 0x5403, "TCSETSF": 0x5404, "TIOCGPGRP": 0x540F,
            "TIOCSPGRP": 0x5410, "TIOCOUTQ": 0x5411, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421,
            "FIONCLEX": 0x5450, "FIOCLEX": 0x5451, "FIOASYNC": 0x5452, "FIOQSIZE": 0x5460, "TCGETS2": 0x802C_542A,
        }, Treatment.ENOTTY,
        "types into a terminal, asks the machine's network cards, has processes of the user signalled"),
)
# fmt: on

OPEN: Final = {
    "pipe pipe2 socket socketpair mmap": "each core has one counter of inode numbers, which `fstat` and, for shared "
    "memory without a file, `/proc/self/maps` show: on one core 300 that one made are 300 for the other",
    "eventfd eventfd2": "`/proc/self/fdinfo` has the lowest number that is free on the machine",
    "pipe pipe2 fcntl": "the room in pipes is the user's",
    "sendmsg sendmmsg": "descriptors that were sent and not received are counted for the user; whoever has 256 "
    "descriptors may send no more than 256 in all",
    "epoll_ctl": "watches are counted for the user",
    "timer_create kill tgkill rt_sigqueueinfo": "waiting signals are counted for the user; a seat may have 256, and "
    "none at `fenced` where seats share a user, so nobody comes to the user's limit",
    "clone fork vfork": "processes are counted for the user, and a seat's limit is far below the user's; in a box "
    "their numbers are its own, at `fenced` the machine's",
    "mmap read pread64 preadv": "files of the system are in memory once for all: `/proc/self/smaps` shows whether "
    "another program has mapped a page, the time and the faults of a read whether it was there",
    "mmap mprotect brk write": "memory and disks are the machine's: a bot sees when they are used up, with "
    "`vm.overcommit_memory=2` to the page",
    "futex": "two programs can wait for each other on such a page",
    "sched_setaffinity getcpu nanosleep clock_gettime getrusage": "who computes delays who wants the same core",
    "stat fstat newfstatat statx": "the numbers of devices and mounts are the machine's, but no bot can change one; at "
    "`fenced` also what `/proc` has of others",
    "access faccessat readlink readlinkat": "at `fenced` whether a path of others is there, and where a link leads",
    "uname": "at `fenced` the machine's name, which no bot can change",
}
"""Calls that are allowed although they tell, or take of, what is counted for the machine or the user, and how.

All others that are allowed were looked at, up to `NEWEST`, and do neither."""

SHOWN_MIB: Final = 16
"""Size of each file system that a bot asks about."""
_TMPFS: Final = 0x0102_1994
_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data` of what the filter reads. Both machines store the low half first."""

Instruction = tuple[int, int, int, int]
"""Operation, operand, and how many instructions are skipped if a test holds and if it does not."""
_ALLOWED: Final = (_RETURN, 0x7FFF_0000, 0, 0)


FOR_BUILDS: Final = frozenset({"flock", "fcntl", "fadvise64", "readahead", "madvise", "sysinfo", "statfs", "fstatfs"})
"""Calls that a build may make, although a bot may not: compilers lock the files that they share. Nobody plays against a
build, so there is nobody to signal to."""


class Profile(msgspec.Struct, frozen=True, eq=False):
    """What the filter of a level treats."""

    groups: tuple[Group, ...]
    conditions: tuple[Condition, ...]


BOX: Final = Profile(tuple(group for group in GROUPS if group.treatment is not Treatment.ASKED), CONDITIONS)
"""The profile of a box. What has to be answered is not in it: `bwrap` does not pass on who answers, see `asked`."""


@functools.cache
def program(machine: str = "", allowed: frozenset[str] = frozenset(), profile: Profile = BOX) -> bytes:
    """Returns a filter as `bwrap --seccomp` reads it: for a machine, or for this one, without calls `allowed`.

    Raises:
        MachineFault: The table does not have that machine's numbers.
    """
    return _assembled(machine, calls(profile.groups), profile.conditions, allowed)


@functools.cache
def asked(treatment: Treatment = Treatment.ASKED, machine: str = "") -> bytes:
    """Returns the filter that comes before it, of the calls that have to be answered, or are treated otherwise.

    Raises:
        MachineFault: As `program`.
    """
    found = [(name, numbers, treatment) for name, numbers, of in calls(GROUPS) if of is Treatment.ASKED]
    return _assembled(machine, found, ())


@functools.cache
def answers(memory_mib: int, room_mib: int) -> dict[int, tuple[int, bytes]]:
    """Returns what these are answered: by number, which argument says where, and the structure that comes there.

    Nothing in them ever changes, as in the files of `/proc`.

    Raises:
        MachineFault: As `program`.
    """
    column = _column(platform.machine())
    size, blocks = memory_mib << 20, SHOWN_MIB << 8
    memory = struct.pack("q3Q6QHHxxxx2QIxxxx", 0, 0, 0, 0, size, size, 0, 0, 0, 0, 1, 0, 0, 0, 1)
    system = struct.pack("7q8x3q32x", _TMPFS, 4096, blocks, room_mib << 8, room_mib << 8, 2000, 2000, 255, 4096, 0x26)
    told = {"sysinfo": (0, memory), "statfs": (1, system), "fstatfs": (1, system)}
    return {number: told[name] for name, numbers, _ in calls(GROUPS) if name in told and (number := numbers[column])}


def calls(groups: Iterable[Group]) -> Iterator[tuple[str, Numbers, Treatment]]:
    """Yields each call of some groups with its numbers and its treatment."""
    for group in groups:
        yield from ((name, numbers, group.treatment) for name, numbers in group.calls.items())


def _assembled(
    machine: str,
    named: Iterable[tuple[str, Numbers, Treatment]],
    conditions: Iterable[Condition],
    allowed: frozenset[str] = frozenset(),
) -> bytes:
    """Returns a filter of calls that are `named`, which are treated whatever their arguments, and `conditions`.

    Of two rows for one call the first that treats it counts.

    Raises:
        MachineFault: The table does not have that machine's numbers.
    """
    machine = machine or platform.machine()
    column = _column(machine)
    code = _of_machine(machine)
    for name, numbers, treatment in named:
        if name not in allowed:
            code += _for_call(numbers[column], [_return(treatment)])
    for row in conditions:
        if row.call not in allowed:
            code += _for_call(row.numbers[column], list(_tests(row)))
    return b"".join(struct.pack("<HBBI", code, yes, no, value) for code, value, yes, no in [*code, _ALLOWED])


def _column(machine: str) -> int:
    if machine not in MACHINES:
        raise errors.MachineFault(
            f"expected a machine among {', '.join(MACHINES)}, whose system calls the filter knows, got: {machine}; "
            "only level trusted can be had here"
        )
    return list(MACHINES).index(machine)


def _of_machine(machine: str) -> list[Instruction]:
    """Returns what the machine and the range of the number alone decide."""
    first, last = UNUSED[machine]
    code = [(_LOAD, _MACHINE, 0, 0), (_EQUAL, MACHINES[machine], 1, 0), _return(Treatment.KILLED)]
    code.append((_LOAD, _NUMBER, 0, 0))
    if machine == "x86_64":
        code += [(_AT_LEAST, X32, 0, 1), _return(Treatment.KILLED)]
    code += [(_AT_LEAST, NEWEST + 1, 0, 1), _return(Treatment.ENOSYS)]
    return [*code, (_AT_LEAST, first, 0, 2), (_AT_LEAST, last + 1, 1, 0), _return(Treatment.ENOSYS)]


def _for_call(number: int | None, body: list[Instruction]) -> list[Instruction]:
    return [] if number is None else [(_EQUAL, number, 0, len(body)), *body]


def _tests(row: Condition) -> Iterator[Instruction]:
    """Yields the tests of an argument. A call that passes them goes on to the instructions below, with its number."""
    yield (_LOAD, _ARGUMENTS + 8 * row.argument, 0, 0)
    yield from _all_bits(row) if row.match is Match.ALL_BITS else _one_value(row)
    yield _return(row.treatment)
    yield (_LOAD, _NUMBER, 0, 0)


def _one_value(row: Condition) -> Iterator[Instruction]:
    """Yields tests of which one decides."""
    bits = row.match in (Match.ANY_BIT, Match.NO_BIT)
    goes_on = row.match in (Match.NOT_ONE_OF, Match.NO_BIT)
    """Whether a test that holds lets the call through."""
    tests = [(_BITS, value, True) for value in row.spared.values()]
    tests += [(_BITS if bits else _EQUAL, value, goes_on) for value in row.values.values()]
    for left, (operation, value, lets_through) in zip(range(len(tests) - 1, -1, -1), tests, strict=True):
        # What lets the call through skips the refusal, too; the last test decides what happens if none holds.
        yield (operation, value, left + 1 if lets_through else left, 0 if left or goes_on else 1)


def _all_bits(row: Condition) -> Iterator[Instruction]:
    """Yields tests that all have to hold: one that fails lets the call through."""
    tests = [(_BITS, mask, 0, -1) for mask in row.values.values()]
    if isinstance(row, Sized):
        large = [(_LOAD, _ARGUMENTS + 12, 0, 0), (_AT_LEAST, 1, 2, 0)]  # the high half, then the low one
        tests += [*large, (_LOAD, _ARGUMENTS + 8, 0, 0), (_AT_LEAST, row.most + 1, 0, -1)]
    for left, (operation, value, yes, no) in zip(range(len(tests) - 1, -1, -1), tests, strict=True):
        yield (operation, value, yes, left + 1 if no < 0 else no)


def _return(treatment: Treatment) -> Instruction:
    return (_RETURN, treatment.answer, 0, 0)
