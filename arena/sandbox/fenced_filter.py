"""The profile of the filter at level `fenced`: the table of `filter.py`, and what no namespace makes harmless there.

At `fenced` a bot has the machine's files, processes and names around it. Landlock governs which files it opens. The
rows here close what Landlock does not govern in every version: what needs no open file, other processes, sockets with a
name.

Laws:
1. A bot is one process. Then nothing that it starts can stay, and its own number says whom it may signal
   (`launcher.py` has that filter, because only the process itself knows its number in time).
2. The rows come before those of `filter.py`, and a call that they let through is treated as its table says.
"""

from __future__ import annotations

from typing import Final

from arena.sandbox import filter
from arena.sandbox.filter import Condition, Group, Match, Profile, Treatment

# fmt: off
GROUPS: Final = (
    Group(Treatment.EPERM, "modes, owners, times and attributes of files, which Landlock leaves to every process", {
        "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
        "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
        "futimesat": (261, None), "utimensat": (280, 88), "getxattr": (191, 8), "lgetxattr": (192, 9),
        "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
        "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "getxattrat": (464, 464),
        "listxattrat": (465, 465), "removexattrat": (466, 466), "file_getattr": (468, 468), "file_setattr": (469, 469),
        "truncate": (76, 45),
    }),
    Group(Treatment.EPERM, "other processes of the user, and their ends", {
        "pidfd_send_signal": (424, 424), "rt_sigqueueinfo": (129, 138),
        "rt_tgsigqueueinfo": (297, 240), "tkill": (200, 130),
    }),
    Group(Treatment.EPERM, "a name that is taken is a signal, and there is nobody to be listened to", {
        "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242),
    }),
    Group(Treatment.EPERM, "a bot is one process, with as many threads as it needs", {
        "fork": (57, None), "vfork": (58, None),
    }),
    Group(Treatment.ENOSYS, "its flags are in memory, where a filter cannot read them; programs take openat", {
        "openat2": (437, 437),
    }),
    Group(Treatment.ASKED, "it gets its own seat's socket, whatever it names, or is refused", {
        "connect": (42, 203),
    }),
)


_STREAMS: Final = {
    "SOCK_STREAM": 1, "with SOCK_NONBLOCK": 0x801, "with SOCK_CLOEXEC": 0x8_0001, "with both": 0x8_0801,
}
_A_DATAGRAM: Final = "a datagram names its receiver by itself"
_CLOCK: Final = {"the clock of a process": 1 << 31}
_OF_A_THREAD: Final = {"the clock of a thread of its own": 4}
_A_CLOCK: Final = "the CPU time of another process"
_TRUNCATES: Final = {"O_TRUNC": 0x200}
_TO_WRITE: Final = {"O_WRONLY or O_RDWR": 3}
_EMPTIES: Final = "before its version 3, Landlock lets a file that may be read be emptied"

CONDITIONS: Final = (
    Condition("clone", (56, 220), 0, Match.NO_BIT, {"CLONE_THREAD": 0x1_0000}, Treatment.EPERM,
        "a bot is one process, with as many threads as it needs"),
    Condition("socket", (41, 198), 1, Match.NOT_ONE_OF, _STREAMS, Treatment.EAFNOSUPPORT, _A_DATAGRAM),
    Condition("socketpair", (53, 199), 1, Match.NOT_ONE_OF, _STREAMS, Treatment.EAFNOSUPPORT, _A_DATAGRAM),
    Condition("clock_gettime", (228, 113), 0, Match.ANY_BIT, _CLOCK, Treatment.EPERM, _A_CLOCK, _OF_A_THREAD),
    Condition("clock_getres", (229, 114), 0, Match.ANY_BIT, _CLOCK, Treatment.EPERM, _A_CLOCK, _OF_A_THREAD),
    Condition("clock_nanosleep", (230, 115), 0, Match.ANY_BIT, _CLOCK, Treatment.EPERM, _A_CLOCK, _OF_A_THREAD),
    Condition("timer_create", (222, 107), 0, Match.ANY_BIT, _CLOCK, Treatment.EPERM, _A_CLOCK, _OF_A_THREAD),
    Condition("sched_setaffinity", (203, 122), 0, Match.NOT_ONE_OF, {"the caller itself": 0}, Treatment.EPERM,
        "cores of another process"),
    Condition("sched_getaffinity", (204, 123), 0, Match.NOT_ONE_OF, {"the caller itself": 0}, Treatment.ENOSYS,
        "the same: who sets its own tells others a number; the C library does without"),
    Condition("fcntl", (72, 25), 1, Match.ONE_OF, {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15}, Treatment.EPERM,
        "any signal to any process of the user"),
    Condition("open", (2, None), 1, Match.ANY_BIT, _TRUNCATES, Treatment.EPERM, _EMPTIES, _TO_WRITE),
    Condition("openat", (257, 56), 2, Match.ANY_BIT, _TRUNCATES, Treatment.EPERM, _EMPTIES, _TO_WRITE),
)
# fmt: on

FENCED: Final = Profile((*GROUPS, *filter.GROUPS), (*CONDITIONS, *filter.CONDITIONS))
