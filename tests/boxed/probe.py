"""A bot that tries what no bot may do, and prints as JSON what came of each try: an error's name, or what it got.

Called with a file of JSON: `calls`, the numbers of system calls by name, and `paths`, what it should not see. It needs
nothing but the standard library. It tries by system call, since a library may refuse for reasons of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import platform
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
WANTED = json.loads(Path(sys.argv[1]).read_text())
CALLS: dict[str, int] = WANTED["calls"]
SHARED = os.open("/usr/bin/env", os.O_RDONLY)  # a file that every box can read
MIB = 1 << 20


def name_of(number: int) -> str:
    return errno.errorcode.get(number, str(number))


def call(number: int, *arguments: int | bytes) -> str:
    """The error's name, or what the call returned."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *words)
    return name_of(ctypes.get_errno()) if result == -1 else str(result)


def attempt(work: Callable[[], object]) -> str:
    try:
        return str(work())
    except OSError as error:
        return name_of(error.errno or 0)


def in_child(work: Callable[[], None]) -> str:
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return signal.Signals(status & 127).name if status & 127 else f"exit {status >> 8}"


def by_int_80() -> None:
    """getpid by the gate of 32-bit programs."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("53b814000000cd805bc3"))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def read(path: str) -> object:
    return os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes()


def filled(folder: str) -> str:
    """How many MiB go into a folder, and the error that ends it."""
    made: list[str] = []
    try:
        for number in range(100):
            path = f"{folder}/fill{number}"
            made.append(path)
            with open(path, "wb") as file:
                file.write(bytes(MIB))
        return f"{len(made)} and more"
    except OSError as error:
        return f"{len(made) - 1} {name_of(error.errno or 0)}"
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                os.unlink(path)


def forked() -> str:
    """How many processes there can be beside this one, and the error that ends it."""
    children: list[int] = []
    reader, writer = os.pipe()
    try:
        while len(children) < 500:
            child = os.fork()
            if child == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
            children.append(child)
        return f"{len(children)} and more"
    except OSError as error:
        return f"{len(children)} {name_of(error.errno or 0)}"
    finally:
        os.close(writer)
        for child in children:
            os.waitpid(child, 0)


def abstract() -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(f"\0{WANTED['abstract']}")


def capabilities() -> str:
    lines = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return " ".join(lines[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs"))


def descriptors() -> list[int]:
    found = {int(name) for name in os.listdir("/proc/self/fd")} - {SHARED}
    return sorted(number for number in found if os.path.exists(f"/proc/self/fd/{number}"))


def locked(command: int) -> str:
    return call(CALLS["fcntl"], SHARED, command, struct.pack("hhqqi4x", 0, 0, 0, 1, 0))


def main() -> None:
    found = {"folder": os.getcwd(), "descriptors": str(descriptors())}
    # With only zeros no call does any harm, and each is refused before it looks at them.
    for name, number in WANTED["refused"].items():
        found[f"call {name}"] = call(number, 0, 0, 0, 0, 0, 0)
    for name, command in {
        "F_GETLK": 5,
        "F_SETLK": 6,
        "F_OFD_SETLK": 37,
        "F_SETLEASE": 1024,
        "F_GET_RW_HINT": 1035,
    }.items():
        found[f"fcntl {name}"] = locked(command)
    found["fcntl F_GETFD"] = call(CALLS["fcntl"], SHARED, 1, 0)
    found["clone CLONE_NEWUSER"] = call(CALLS["clone"], 0x1000_0011, 0, 0, 0, 0)
    found["prlimit64 of process 1"] = call(CALLS["prlimit64"], 1, 7, 0, bytes(16))
    found["prlimit64 of itself"] = call(CALLS["prlimit64"], 0, 7, 0, bytes(16))
    found["personality ADDR_NO_RANDOMIZE"] = call(CALLS["personality"], 0x4_0000)
    found["ioctl TIOCSTI"] = call(CALLS["ioctl"], 0, 0x5412, b"x")
    vector = struct.pack("PP", ctypes.addressof(ctypes.create_string_buffer(1)), 1)
    found["preadv2 RWF_NOWAIT"] = call(CALLS["preadv2"], SHARED, vector, 1, 0, 0, 8)
    found["fallocate FALLOC_FL_KEEP_SIZE"] = call(CALLS["fallocate"], 1, 1, 0, 4096)
    found["call newer than the table"] = call(WANTED["newest"] + 1)
    if platform.machine() == "x86_64":
        found["int 0x80"] = in_child(by_int_80)
        found["x32"] = in_child(lambda: print(call(0x4000_0000 + 39)))
    for family in (
        socket.AF_INET,
        socket.AF_INET6,
        socket.AF_NETLINK,
        socket.AF_PACKET,
        socket.AF_VSOCK,
        socket.AF_ALG,
    ):
        found[f"socket {family.name}"] = call(CALLS["socket"], family, socket.SOCK_STREAM, 0)
    found["abstract socket of the referee"] = attempt(abstract)
    for path in WANTED["paths"]:
        found[f"read {path}"] = attempt(lambda path=path: read(path))
    for folder in ("/", "/dev", "/usr", "/run/arena", "/proc/sys", os.getcwd(), "/tmp", "/dev/shm"):
        found[f"write {folder}"] = filled(folder)
    found["sparse file"] = attempt(lambda: os.truncate(os.open("/tmp/sparse", os.O_CREAT | os.O_RDWR), 1 << 40))
    found["set-user-id"] = attempt(lambda: os.setuid(0))
    found["hostname"] = os.uname().nodename
    found["processes"] = str(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
    for name in ("environ", "cmdline", "mem"):
        found[f"{name} of process 1"] = attempt(lambda name=name: os.open(f"/proc/1/{name}", os.O_RDWR))
    found["devices"] = str(sorted(os.listdir("/dev")))
    found["counters"] = json.dumps({name: Path(f"/proc/{name}").read_text() for name in ("meminfo", "stat", "loadavg")})
    found["cores"] = str([os.cpu_count(), len(os.sched_getaffinity(0)), os.sysconf("SC_NPROCESSORS_CONF")])
    found["capabilities"] = capabilities()
    found["own output"] = attempt(lambda: open("/dev/stderr", "a").close())
    found["forks"] = forked()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
