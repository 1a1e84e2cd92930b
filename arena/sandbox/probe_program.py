"""Runs in a seat, as a bot does, and tries what a bot must not be able to do. Standard library only.

Its one argument is JSON: whose probes it tries (`PROFILES`), the version of the Python that runs arena, the system
calls that the filters treat, a file of the operator's that nobody in the seat may open, the seat's own folder, sockets
of a stranger, the number of the referee's process, and how many processes there may be. It sends one JSON map over its
socket: for each probe whether the seat holds, and what was seen. The referee looks afterwards at what was attacked:
nothing here is believed alone. Then it does what is asked for, a line for each: `spin` computes until it is killed,
`allocate` takes memory until it is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

MIB = 1 << 20
_MOST_ROOM = 64
"""MiB that may fit into each folder that can be written to."""
_PIECE = 4
"""Size of the files with which that is tried, in MiB: less than a file may have."""
_SECRETS = ("kallsyms", "kcore", "keys", "key-users", "kmsg", "locks", "modules", "timer_list", "vmallocinfo")
"""Files of `/proc` that tell of the machine and of others."""
_COUNTERS = ("cpuinfo", "loadavg", "meminfo", "stat", "uptime")
"""Files of `/proc` that must be the seat's own, because they count what the machine uses."""
_EMPTY = ("/proc/1", "/proc/sys")
"""Folders in which there must be nothing: what process 1 is, and settings and counters of the machine."""
_DEVICES = {"fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"}
"""All that may be in `/dev`."""
_SYSTEM = ("/", "/dev", "/usr", "/etc", "/proc/1", "/proc/sys", "/run/arena")
"""Folders that a bot must not write to, beside its own."""
_HIDDEN = ("/etc/shadow", "/etc/hostname", "/sys/kernel", "/var/run/docker.sock")
_HOMES = ("/root", "/home")
"""In them there may be what leads to the bot's own trees."""
_FAMILIES = {"internet": 2, "internet 6": 10, "netlink": 16, "packets": 17, "kernel crypto": 38, "vsock": 40}

_GET_NO_NEW_PRIVS, _GET_SECCOMP, _FILTERED = 39, 21, 2
_FORKS, _CLONE, _CAPGET = {"x86_64": ((57, 58), 56, 125), "aarch64": ((), 220, 90)}.get(os.uname().machine, ((), 0, 0))
_OTHERS_FILES = ("/etc/passwd", "/etc/shadow", "/proc/self/status", "/proc/1/environ", "/proc/loadavg", "/dev/tty")
_OTHERS_FOLDERS = ("/", "/home", "/root", "/tmp", "/dev", "/dev/shm", "/proc", "/sys", "/run")

Told = tuple[bool, str]
"""Whether the seat holds, and what was seen."""
Attack = Callable[[], object]

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(number: int, arguments: list[int]) -> int:
    """Makes a system call, and returns the number of its error, or 0."""
    ctypes.set_errno(0)
    return 0 if _libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) != -1 else ctypes.get_errno()


def python_is_the_one_asked_for(told: dict[str, Any]) -> Told:
    """Compares this Python with that which runs arena."""
    ok = sys.version == told["python"]
    return ok, sys.version if ok else f"{sys.version} instead of {told['python']}"


def filter_is_loaded(_told: dict[str, Any]) -> Told:
    """Looks whether the kernel filters the calls of this process, and it can get no more rights."""
    with open("/proc/self/status", encoding="ascii") as status:
        found = {name: value.strip() for name, _, value in (line.partition(":") for line in status)}
    is_on = found.get("Seccomp") == "2" and found.get("NoNewPrivs") == "1"
    return is_on, f"Seccomp {found.get('Seccomp', 'unknown')}, NoNewPrivs {found.get('NoNewPrivs', 'unknown')}"


def calls_are_treated(told: dict[str, Any]) -> Told:
    """Makes each call of the filter's table."""
    names = {**errno.errorcode, 0: "OK"}
    wrong = [
        f"{name}: {names.get(got, got)} instead of {names.get(expected, expected)}"
        for name, number, arguments, expected in told["calls"]
        if (got := call(number, arguments)) != expected
    ]
    return not wrong, _few(wrong) or f"{len(told['calls'])} calls end as the filter's table says"


def other_entries_are_shut(told: dict[str, Any]) -> Told:
    """Enters the kernel by the ways of other machines, and by a number that is newer than the filter."""
    entries = {"a number above the table": lambda: call(told["newest"] + 1, [-1] * 6) == 0}
    if platform.machine() == "x86_64":
        entries |= {"32-bit entry": _enter_32_bit, "x32": lambda: call(0x4000_0000 + 39, []) == 0}
    wrong = [name for name, enter in entries.items() if _in_a_child(enter)]
    return not wrong, f"open: {_few(wrong)}" if wrong else f"shut: {', '.join(entries)}"


def _enter_32_bit() -> bool:
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("53b814000000cd805bc3"))  # getpid by int 0x80
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    return True


def _in_a_child(enter: Callable[[], bool]) -> bool:
    """Tells whether something works; what is killed for it does not."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if enter() else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def there_is_no_network(_told: dict[str, Any]) -> Told:
    """Opens sockets of all families but the one of the referee's."""
    opened = [name for name, family in _FAMILIES.items() if _opens(family)]
    return not opened, f"open: {', '.join(opened)}" if opened else f"none of {', '.join(_FAMILIES)}"


def _opens(family: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            return True
        except OSError:
            continue
    return False


def processes_are_its_own(_told: dict[str, Any]) -> Told:
    """Looks which processes there are."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return len(seen) <= 4, f"{len(seen)} seen, all of the seat"


def files_are_its_own(told: dict[str, Any]) -> Told:
    """Reads what the referee, the system and other people have."""
    seen = [path for path in (told["canary"], *_HIDDEN) if os.path.lexists(path)]
    with open("/etc/passwd", encoding="utf-8") as accounts:
        seen += ["/etc/passwd of the machine"] if len(accounts.readlines()) != 1 else []
    own = (told["folder"], sys.executable, os.path.realpath(sys.executable), sys.base_prefix, *sys.path)
    for home in _HOMES:
        inside = [os.path.join(home, name) for name in (os.listdir(home) if os.path.isdir(home) else ())]
        seen += [path for path in inside if not any(f"{tree}/".startswith(f"{path}/") for tree in own)]
    return not seen, f"seen: {_few(seen)}" if seen else "none of the referee's, of homes, of /etc or /sys"


def secrets_are_masked(_told: dict[str, Any]) -> Told:
    """Reads what `/proc` tells of the machine."""
    read = []
    for name in _SECRETS:
        try:
            with open(f"/proc/{name}", "rb") as file:
                if file.read(1):
                    read.append(name)
        except OSError:
            continue
    read += [name for name in _EMPTY if os.listdir(name)]
    return not read, f"readable: {', '.join(read)}" if read else "empty or not there"


def nothing_is_counted(_told: dict[str, Any]) -> Told:
    """Looks for what is counted of the whole machine: its memory, its processes, its pseudo-terminals."""
    whole = os.stat("/proc").st_dev
    wrong = [f"/proc/{name}" for name in _COUNTERS if os.stat(f"/proc/{name}").st_dev == whole]
    wrong += [f"/dev/{name}" for name in sorted(set(os.listdir("/dev")) - _DEVICES)]
    return not wrong, f"open: {_few(wrong)}" if wrong else "cores, memory and devices are its own"


def questions_are_answered(_told: dict[str, Any]) -> Told:
    """Asks for the size of a disk, which must have an answer that is the same for each."""
    try:
        sizes = {os.statvfs(path).f_blocks for path in ("/usr", "/tmp", "/proc")}
    except OSError as error:
        return False, f"asked for the size of a disk: {error.strerror}"
    return len(sizes) == 1, f"each disk has {', '.join(map(str, sorted(sizes)))} blocks"


def nothing_can_be_written(told: dict[str, Any]) -> Told:
    """Writes everywhere but to `/tmp` and `/dev/shm`."""
    written = [folder for folder in (*_SYSTEM, told["folder"]) if _writes(folder)]
    return not written, f"writable: {', '.join(written)}" if written else "read-only"


def _writes(folder: str) -> bool:
    path = os.path.join(folder, "arena-probe")
    try:
        with open(path, "wb") as file:
            file.write(b"x")
        os.unlink(path)
    except OSError:
        return False
    return True


def room_is_small(_told: dict[str, Any]) -> Told:
    """Takes what there is of `/tmp` and `/dev/shm`, to which it must be able to write."""
    sizes = {folder: _room_in(folder) for folder in ("/tmp", "/dev/shm")}
    told = ", ".join(f"{folder} {f'{size} MiB' if size else 'not writable'}" for folder, size in sizes.items())
    return all(0 < size <= _MOST_ROOM for size in sizes.values()), told


def _room_in(folder: str) -> int:
    """Returns how many MiB can be taken in a folder, or a little more than may be."""
    taken = 0
    made = []
    try:
        while taken <= _MOST_ROOM:
            path = os.path.join(folder, f"arena-probe-{taken}")
            made.append(path)
            with open(path, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, _PIECE * MIB)
            taken += _PIECE
    except OSError:
        pass
    for path in made:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return taken


def a_box_has_no_rights(_told: dict[str, Any]) -> Told:
    """Looks for capabilities, and tries to become root and to open the terminal."""
    with open("/proc/self/status", encoding="ascii") as status:
        rights = [line.split() for line in status if line.startswith("Cap")]
    wrong = [f"{name} {value}" for name, value in rights if int(value, 16)]
    if os.getuid() != 0 and not _fails(lambda: os.setuid(0)):
        wrong.append("setuid(0) works")
    if not _fails(lambda: os.close(os.open("/dev/tty", os.O_RDWR))):
        wrong.append("a terminal")
    return not wrong, _few(wrong) or "no capability, no terminal"


def _fails(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def descriptors_are_its_own(told: dict[str, Any]) -> Told:
    """Looks which descriptors it began with."""
    return told["open"] == [0, 1, 2], f"it began with {', '.join(map(str, told['open']))}"


def processes_are_limited(told: dict[str, Any]) -> Told:
    """Starts processes until it may not, and no more than a few above the limit."""
    most = told["processes"]
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(most + 16):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                os.read(reader, 1)  # until the pipe is closed
                os._exit(0)
            children.append(pid)
    except OSError:
        pass
    os.close(writer)
    os.close(reader)
    for pid in children:
        os.waitpid(pid, 0)
    return len(children) < most + 16, f"{len(children)} started, {most} allowed"


def limits_are_set(told: dict[str, Any]) -> Told:
    """Looks at the limits, which it cannot raise. That of data is one of processes: strict limits the whole seat."""
    kinds = resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_DATA
    files, core, data = (max(resource.getrlimit(kind)) for kind in kinds)
    is_fenced = told["profile"] == "fenced-"
    said = f"{files} descriptors, core files of {core} bytes" + (f", {data >> 20} MiB of data" if is_fenced else "")
    return 0 < files <= 1024 and core == 0 and (0 < data < 1 << 40 or not is_fenced), said


# Only at level fenced


def nothing_of_others_is_opened(told: dict[str, Any]) -> Told:
    """Reads, writes, makes, removes, lists and changes what is not its own, and writes to its own."""
    canary, own = told["canary"], told["folder"]
    folder = os.path.dirname(canary)
    new, mine = os.path.join(folder, "made"), os.path.join(own, "made")
    attacks: dict[str, Attack] = {
        **{f"read {path}": partial(_opened, path, os.O_RDONLY) for path in (canary, *_OTHERS_FILES)},
        **{f"list {path}": partial(os.listdir, path) for path in (folder, *_OTHERS_FOLDERS)},
        **{f"make a file in {path}": partial(_made, f"{path}/arena-probe") for path in ("/tmp", "/dev/shm")},
        "write a file": lambda: _opened(canary, os.O_WRONLY),
        "empty a file": lambda: _opened(canary, os.O_RDONLY | os.O_TRUNC),
        "truncate a file": lambda: os.truncate(canary, 0),
        "remove a file": lambda: os.unlink(canary),
        "rename a file": lambda: os.rename(canary, new),
        "link a file": lambda: os.link(canary, mine),
        "make a file": lambda: _made(new),
        "make a folder": lambda: os.mkdir(new),
        "make a pipe": lambda: os.mkfifo(new),
        "change a mode": lambda: os.chmod(canary, 0o777),
        "change an owner": lambda: os.chown(canary, os.getuid(), os.getgid()),
        "change a time": lambda: os.utime(canary, (0, 0)),
        "change an attribute": lambda: os.setxattr(canary, "user.arena", b"x"),
        "read an attribute": lambda: os.getxattr(canary, "user.arena"),
        "write to its own folder": lambda: _made(mine),
        "change its own program": lambda: _opened(sys.argv[0], os.O_WRONLY),
    }
    return _all_fail(attacks, "nothing of others, nothing to write")


def connections_are_the_seat_s(told: dict[str, Any]) -> Told:
    """Connects to a stranger by path, by an abstract name and by TCP, makes other sockets, and takes a name."""
    attacks: dict[str, Attack] = {
        "connect by path": lambda: _connected(socket.AF_UNIX, told["path"]),
        "connect by an abstract name": lambda: _connected(socket.AF_UNIX, "\0" + told["abstract"]),
        "connect by TCP": lambda: _connected(socket.AF_INET, ("127.0.0.1", told["port"])),
        "make a socket for datagrams": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close(),
        "make one over IP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "take a name": _take_a_name,
        "make a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW).close(),
        "ask netlink": lambda: socket.socket(16, socket.SOCK_RAW).close(),
    }
    return _all_fail(attacks, "none but the referee's")


def _take_a_name() -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"\0arena-probe-{os.getpid()}")


def other_processes_are_out_of_reach(told: dict[str, Any]) -> Told:
    """Signals the referee, reads its CPU time, changes its priority, cores and limits."""
    referee = told["referee"]
    reader, writer = os.pipe()
    attacks: dict[str, Attack] = {
        "signal the referee": lambda: os.kill(referee, signal.SIGURG),
        "ask whether it can signal the referee": lambda: os.kill(referee, 0),
        "signal everybody": lambda: os.kill(-1, 0),
        "signal the referee's group": lambda: os.killpg(referee, 0),
        "open the referee": lambda: os.close(os.pidfd_open(referee)),
        "have the kernel signal the referee": lambda: fcntl.fcntl(reader, fcntl.F_SETOWN, referee),
        "read the CPU time of the referee": lambda: time.clock_gettime((~referee << 3) | 2),
        "change the priority of the referee": lambda: os.setpriority(os.PRIO_PROCESS, referee, 5),
        "change the cores of the referee": lambda: os.sched_setaffinity(referee, {0}),
        "change a limit of the referee": lambda: resource.prlimit(referee, resource.RLIMIT_CORE, (0, 0)),
    }
    found = _all_fail(attacks, "no signal, no clock, no limit of another")
    os.close(reader)
    os.close(writer)
    return found


def it_is_one_process(_told: dict[str, Any]) -> Told:
    """Starts processes in each way that there is, and a thread, which must work."""
    started = [name for name, start in (("fork", _fork), ("clone", lambda: _raw(_CLONE))) if start()]
    if not started:
        started = [f"call {number}" for number in _FORKS if _raw(number)]
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    return not started, f"started one by {_few(started)}" if started else "no other process; threads start"


def _fork() -> bool:
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def _raw(number: int) -> bool:
    result = _libc.syscall(ctypes.c_long(number), ctypes.c_long(signal.SIGCHLD), *[ctypes.c_long(0)] * 4)
    if result == 0:
        os._exit(0)
    return bool(result > 0)


def a_fence_leaves_no_rights(_told: dict[str, Any]) -> Told:
    """Looks for capabilities and filters, and tries to become root."""
    held = ctypes.create_string_buffer(24)
    head = ctypes.create_string_buffer(struct.pack("Ii", 0x2008_0522, 0))
    wrong = [] if _libc.syscall(ctypes.c_long(_CAPGET), head, held) == 0 else ["its capabilities cannot be seen"]
    wrong += ["capabilities"] if any(held.raw) else []
    wrong += ["new privileges"] if _libc.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 else []
    wrong += ["no filter"] if _libc.prctl(_GET_SECCOMP, 0, 0, 0, 0) != _FILTERED else []
    if os.getuid() != 0 and not _fails(lambda: os.setuid(0)):
        wrong.append("setuid(0) works")
    return not wrong, _few(wrong) or "no capability, and none can be got"


Probes = dict[str, Callable[[dict[str, Any]], Told]]
PROFILES: dict[str, Probes] = {
    "": {
        "python": python_is_the_one_asked_for,
        "filter": filter_is_loaded,
        "system-calls": calls_are_treated,
        "kernel-entries": other_entries_are_shut,
        "network": there_is_no_network,
        "other-processes": processes_are_its_own,
        "files": files_are_its_own,
        "kernel-secrets": secrets_are_masked,
        "counters": nothing_is_counted,
        "answers": questions_are_answered,
        "read-only": nothing_can_be_written,
        "room": room_is_small,
        "rights": a_box_has_no_rights,
        "descriptors-inherited": descriptors_are_its_own,
        "processes": processes_are_limited,
        "limits": limits_are_set,
    },
    "fenced-": {
        "python": python_is_the_one_asked_for,
        "system-calls": calls_are_treated,
        "files": nothing_of_others_is_opened,
        "sockets": connections_are_the_seat_s,
        "other-processes": other_processes_are_out_of_reach,
        "one-process": it_is_one_process,
        "rights": a_fence_leaves_no_rights,
        "descriptors": descriptors_are_its_own,
        "limits": limits_are_set,
    },
}
"""Profiles by the prefix of their probes in `arena/sandbox/probes.py`, which says which level needs each."""


def _all_fail(attacks: dict[str, Attack], otherwise: str) -> Told:
    """Tries all attacks. Only an error of the system counts as a failure."""
    worked = [name for name, attack in attacks.items() if not _fails(attack)]
    return not worked, f"it can {_few(worked)}" if worked else f"{len(attacks)} attacks fail: {otherwise}"


def _opened(path: str, flags: int) -> None:
    os.close(os.open(path, flags))


def _made(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def _connected(family: int, address: Any) -> None:
    with socket.socket(family) as made:
        made.connect(address)


def _few(found: list[str]) -> str:
    """Returns the first of what was found, for a line."""
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ", ".join(found[:3]) + more


def results(told: dict[str, Any]) -> Iterator[tuple[str, Told]]:
    """Yields what each probe found."""
    for name, probe in PROFILES[told["profile"]].items():
        try:
            yield name, probe(told)
        except Exception as error:  # a probe that breaks has shown nothing
            yield name, (False, f"the probe failed: {type(error).__name__}: {error}")


def main() -> None:
    """Sends the report, and does what is asked for then."""
    told = json.loads(sys.argv[1])
    told["open"] = [number for number in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]) if _is_open(number)]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as referee:
        referee.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
        lines = referee.makefile("rw", encoding="utf-8")
        lines.write(json.dumps(dict(results(told))) + "\n")
        lines.flush()
        for order in lines:
            if order == "spin\n" and os.fork() == 0:
                lines.write("\n")
                lines.flush()
                while True:
                    pass
            if order == "allocate\n":
                taken = []
                while True:
                    taken.append(bytes(os.urandom(1)) * MIB)


def _is_open(number: int) -> bool:
    return not _fails(lambda: os.fstat(number))


if __name__ == "__main__":
    main()
