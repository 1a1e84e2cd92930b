"""Runs in a seat of level `fenced`, as a bot does, and tries what a bot must not be able to do. Standard library only.

Its one argument is JSON: the version of the Python that runs arena, the system calls that the filters treat, a file of
the operator's, sockets of a stranger, the number of the referee's process and its own folder. It sends one JSON map
over its connection: for each probe whether the seat holds, and what was seen. The referee looks at the file and the
sockets afterwards: nothing here is believed alone.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
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

Told = tuple[bool, str]
"""Whether the seat holds, and what was seen."""
Attack = Callable[[], object]

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_GET_NO_NEW_PRIVS, _GET_SECCOMP = 39, 21
_FILTERED = 2
_FORKS, _CLONE, _CAPGET = {"x86_64": ((57, 58), 56, 125), "aarch64": ((), 220, 90)}.get(os.uname().machine, ((), 0, 0))
_OTHERS_FILES = ("/etc/passwd", "/etc/shadow", "/proc/self/status", "/proc/1/environ", "/proc/loadavg", "/dev/tty")
_OTHERS_FOLDERS = ("/", "/home", "/root", "/tmp", "/dev", "/dev/shm", "/proc", "/sys", "/run")


def call(number: int, arguments: list[int]) -> int:
    """Makes a system call, and returns the number of its error, or 0."""
    ctypes.set_errno(0)
    return 0 if _libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) != -1 else ctypes.get_errno()


def python_is_the_one_asked_for(told: dict[str, Any]) -> Told:
    """Compares this Python with that which runs arena."""
    ok = sys.version == told["python"]
    return ok, sys.version if ok else f"{sys.version} instead of {told['python']}"


def calls_are_treated(told: dict[str, Any]) -> Told:
    """Makes each call of the filters' tables."""
    wrong = [name for name, number, arguments, expected in told["calls"] if call(number, arguments) != expected]
    return not wrong, f"not as the table says: {_few(wrong)}" if wrong else f"{len(told['calls'])} calls end as it says"


def files_are_its_own(told: dict[str, Any]) -> Told:
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


def there_are_no_rights(_told: dict[str, Any]) -> Told:
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


def descriptors_are_its_own(told: dict[str, Any]) -> Told:
    """Looks which descriptors it began with."""
    return told["open"] == [0, 1, 2], f"it began with {', '.join(map(str, told['open']))}"


def limits_are_set(_told: dict[str, Any]) -> Told:
    """Looks at the limits, which it cannot raise."""
    files, data, core = (max(resource.getrlimit(kind)) for kind in (
        resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_CORE
    ))  # fmt: skip
    said = f"{files} descriptors, {data >> 20} MiB of data, core files of {core} bytes"
    return 0 < files <= 1024 and 0 < data < 1 << 40 and core == 0, said


PROBES: dict[str, Callable[[dict[str, Any]], Told]] = {
    "python": python_is_the_one_asked_for,
    "system-calls": calls_are_treated,
    "files": files_are_its_own,
    "sockets": connections_are_the_seat_s,
    "other-processes": other_processes_are_out_of_reach,
    "one-process": it_is_one_process,
    "rights": there_are_no_rights,
    "descriptors": descriptors_are_its_own,
    "limits": limits_are_set,
}
"""By name, without the level's. `arena/sandbox/probes.py` says of each what to do."""


def _all_fail(attacks: dict[str, Attack], otherwise: str) -> Told:
    """Tries all attacks. Only an error of the system counts as a failure."""
    worked = [name for name, attack in attacks.items() if not _fails(attack)]
    return not worked, f"it can {_few(worked)}" if worked else f"{len(attacks)} attacks fail: {otherwise}"


def _fails(attack: Attack) -> bool:
    try:
        attack()
    except OSError:
        return True
    return False


def _opened(path: str, flags: int) -> None:
    os.close(os.open(path, flags))


def _made(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def _connected(family: int, address: Any) -> None:
    with socket.socket(family) as made:
        made.connect(address)


def _few(found: list[str]) -> str:
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
    """Sends the report, and waits for its end."""
    told = json.loads(sys.argv[1])
    told["open"] = [number for number in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]) if _is_open(number)]
    with socket.socket(socket.AF_UNIX) as referee:
        referee.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
        referee.sendall(json.dumps(dict(results(told))).encode() + b"\n")
        referee.recv(1)


def _is_open(number: int) -> bool:
    return not _fails(lambda: os.fstat(number))


if __name__ == "__main__":
    main()
