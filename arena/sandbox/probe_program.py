"""Runs in a seat, as a bot does, and tries what a bot must not be able to do. Standard library only.

Its one argument is JSON: the version of the Python that runs arena, the socket, the system calls that the filter
treats, a file that nobody in the box may see, a folder that it may not write to, and how many processes there may be.
It sends one JSON map over its socket: for each probe whether the seat holds, and what was seen. Then it does what is
asked for, a line for each: `spin` computes until it is killed, `allocate` takes memory until it is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import platform
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
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

Told = tuple[bool, str]
"""Whether the seat holds, and what was seen."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(number: int, arguments: list[int]) -> str:
    """Makes a system call, and returns the name of its error, or `OK`. Of two names of one error, it is the first."""
    ctypes.set_errno(0)
    if _libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) != -1:
        return "OK"
    return _first_name(ctypes.get_errno())


def _first_name(number: int) -> str:
    return errno.errorcode.get(number, str(number))


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
    cases = told["calls"]
    wrong = [
        f"{name}: {got} instead of {expected}"
        for name, number, arguments, expected in cases
        if (got := call(number, arguments)) != (_first_name(getattr(errno, expected)) if expected != "OK" else "OK")
    ]
    return not wrong, _few(wrong) or f"{len(cases)} calls end as the filter's table says"


def other_entries_are_shut(told: dict[str, Any]) -> Told:
    """Enters the kernel by the ways of other machines, and by a number that is newer than the filter."""
    entries = {"a number above the table": lambda: call(told["newest"] + 1, [-1] * 6) == "OK"}
    if platform.machine() == "x86_64":
        entries |= {"32-bit entry": _enter_32_bit, "x32": lambda: call(0x4000_0000 + 39, []) == "OK"}
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


def there_are_no_rights(_told: dict[str, Any]) -> Told:
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


def limits_are_set(_told: dict[str, Any]) -> Told:
    """Looks at the limits that no program in the box can raise."""
    files, core = resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE)
    return max(files) <= 1024 and max(core) == 0, f"{files[1]} descriptors, core files of {core[1]} bytes"


PROBES: dict[str, Callable[[dict[str, Any]], Told]] = {
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
    "rights": there_are_no_rights,
    "descriptors-inherited": descriptors_are_its_own,
    "processes": processes_are_limited,
    "limits": limits_are_set,
}
"""By name. `arena/sandbox/probes.py` says of each which level needs it and what to do."""


def _few(found: list[str]) -> str:
    """Returns the first of what was found, for a line."""
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ", ".join(found[:3]) + more


def results(told: dict[str, Any]) -> Iterator[tuple[str, Told]]:
    """Yields what each probe found."""
    for name, probe in PROBES.items():
        try:
            yield name, probe(told)
        except Exception as error:  # a probe that breaks has shown nothing
            yield name, (False, f"the probe failed: {type(error).__name__}: {error}")


def main() -> None:
    """Sends the report, and does what is asked for then."""
    told = json.loads(sys.argv[1])
    told["open"] = _open_descriptors()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as referee:
        referee.connect(told["socket"])
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


def _open_descriptors() -> list[int]:
    """Returns the open descriptors, without that which reads the folder."""
    folder = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
    found = sorted(int(name) for name in os.listdir(folder) if int(name) != folder)
    os.close(folder)
    return [number for number in found if _is_open(number)]


def _is_open(number: int) -> bool:
    return not _fails(lambda: os.fstat(number))


if __name__ == "__main__":
    main()
