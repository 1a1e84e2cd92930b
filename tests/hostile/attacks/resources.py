"""Attacks on memory, disk, processes, descriptors."""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import fcntl
import glob
import mmap
import os
import resource
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from seat import Message, Seat

MIB = 2**20
PAGE = 4096
KEPT: list[Any] = []


def attacking(attack: Callable[[Seat, Message], bool | None]) -> Callable[[], None]:
    """Makes a bot of what it does at its third request."""

    def bot() -> None:
        seat = Seat()
        seat.greet()
        seat.play(lambda request: attack(seat, request))

    return bot


def grab(mib: int) -> list[bytearray]:
    """Takes memory, and touches every page of it."""
    kept = []
    for _ in range(0, mib, 8):
        block = bytearray(8 * MIB)
        block[::PAGE] = b"x" * (8 * MIB // PAGE)
        kept.append(block)
    return kept


def r1(seat: Seat, _: Message) -> None:
    """4 GiB at once."""
    kept = seat.attempt("take 4 GiB", lambda: grab(4096))
    time.sleep(1 if kept else 0)


def r2(seat: Seat, _: Message) -> None:
    """Eight children with 32 MiB each, where the bot may have 64; all hold it for two seconds at the same time."""
    listen, tell = os.pipe()
    children = []
    for _number in range(8):
        child = os.fork()
        if child == 0:
            try:
                kept = grab(32)
            except MemoryError:
                os._exit(1)
            os.write(tell, b"x")
            time.sleep(20 if kept else 0)
            os._exit(0)
        children.append(child)
    os.close(tell)
    holding = 0
    while holding < len(children) and (ready := os.read(listen, len(children))):
        holding += len(ready)
    time.sleep(2)
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in alive:
        os.kill(child, signal.SIGKILL)
    seat.report("hold 256 MiB in eight children", len(alive) == len(children), f"{len(alive)} held it")


def fill(folder: str, mib: int) -> Callable[[], int | None]:
    """Writes files of 8 MiB into a folder; returns how many MiB fit, or None if it was fewer than `mib`."""

    def write() -> int | None:
        written = 0
        try:
            for number in range(mib // 8):
                with open(f"{folder}/arena-hostile-{os.getpid()}-{number}", "wb", buffering=0) as file:
                    written += file.write(bytes(8 * MIB)) // MIB
            return written if written >= mib else None
        finally:
            for path in glob.glob(f"{folder}/arena-hostile-{os.getpid()}-*"):
                os.unlink(path)

    return write


def r3(seat: Seat, _: Message) -> None:
    """Fills every folder that it can write to."""
    for folder in (os.environ.get("TMPDIR", "/tmp"), "/dev/shm", "/", "/dev", "/run", os.getcwd(), "/var/tmp"):
        seat.attempt(f"write 64 MiB to {folder if folder.count('/') < 3 else 'its own folder'}", fill(folder, 64))


def r4(seat: Seat, _: Message) -> None:
    """256 MiB in files that only memory holds, where the bot may have 64."""
    kept = []

    def hold() -> int:
        for number in range(32):
            descriptor = os.memfd_create(f"memory-{number}")
            kept.append(descriptor)
            for _ in range(8):
                os.write(descriptor, bytes(MIB))
        return 256

    if seat.attempt("hold 256 MiB in memfds", hold):
        time.sleep(1.5)


def r5(seat: Seat, _: Message) -> None:
    """A fork bomb; it stops by itself at 400."""
    count = 0
    with contextlib.suppress(OSError):
        while count < 400:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            count += 1
    seat.report("start 400 processes", count == 400, f"{count} were started")


def r6(seat: Seat, _: Message) -> None:
    """A bomb of threads; it stops by itself at 400."""
    _thread.stack_size(64 * 1024)
    count = 0
    with contextlib.suppress(RuntimeError):
        while count < 400:
            _thread.start_new_thread(time.sleep, (60,))
            count += 1
    time.sleep(0.5 if count == 400 else 0)  # it is to hold them, too
    seat.report("start 400 threads", count == 400, f"{count} were started")


def r7(_: Seat, __: Message) -> None:
    """Computes for ever, deaf to every signal that asks it to end."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def r8(seat: Seat, _: Message) -> None:
    """50 files of 4 MiB, the largest that the bot may write."""
    folder = os.environ.get("TMPDIR", "/tmp")
    paths = []

    def write() -> int:
        for number in range(50):
            paths.append(f"{folder}/arena-hostile-{number}")
            with open(paths[-1], "wb", buffering=0) as file:
                if file.write(bytes(4 * MIB)) < 4 * MIB:
                    raise OSError(28, "a short write")
        return 200

    seat.attempt("write 200 MiB in 50 files", write)
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def r9(seat: Seat, _: Message) -> None:
    """Opens files until there are no more descriptors; it stops by itself at 50,000."""
    kept = []
    with_error = ""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (50_000, 50_000))
    try:
        for _ in range(50_000):
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        with_error = f", then {error.strerror}"
    for descriptor in kept:
        os.close(descriptor)
    seat.report("open 50,000 files", len(kept) >= 50_000, f"{len(kept)}{with_error}")


def flood(descriptor: int) -> Callable[[Seat, Message], None]:
    def attack(seat: Seat, _: Message) -> None:
        """Writes as much as it can for a second."""
        block, written, failed = b"spam " * 2**18, 0, 0
        until = time.monotonic() + 1
        while time.monotonic() < until:
            try:
                written += os.write(descriptor, block)
            except OSError:
                failed += 1
        seat.report("write more than 64 MiB of output", written > 64 * MIB, f"{written // MIB} MiB")

    return attack


def r12(seat: Seat, _: Message) -> None:
    """Allows itself core dumps, and lets a child dump one into its folder."""

    def raise_limits() -> bool:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return True

    seat.attempt("allow core dumps", raise_limits)

    def raise_files() -> bool:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return True

    seat.attempt("allow files of any size", raise_files)
    child = os.fork()
    if child == 0:
        os.abort()
    status = os.waitpid(child, 0)[1]
    seat.report("dump core", os.WCOREDUMP(status) and bool(glob.glob("core*")), f"status {status}")


def r13(seat: Seat, _: Message) -> None:
    """A file of 1 TiB with nothing in it."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "arena-hostile-sparse")

    def make() -> bool:
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
        try:
            os.ftruncate(descriptor, 2**40)
        finally:
            os.close(descriptor)
            os.unlink(path)
        return True

    seat.attempt("make a sparse file of 1 TiB", make)


def r14(seat: Seat, _: Message) -> None:
    """Empty files until something stops it; it stops by itself at 200,000, or after some seconds."""
    folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), "arena-hostile-many")
    number = 0
    until = time.monotonic() + 6

    def make() -> int:
        nonlocal number
        os.mkdir(folder)
        while number < 200_000 and time.monotonic() < until:
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
            number += 1
        return number

    seat.attempt("make as many empty files as there is time for", make)


def r17(seat: Seat, _: Message) -> None:
    """Memory that belongs to no process: System V segments and POSIX queues, which outlive their maker."""
    libc = ctypes.CDLL(None, use_errno=True)

    def segment() -> Any:
        found = libc.shmget(0, 64 * MIB, 0o1600)
        if found == -1:
            raise OSError(ctypes.get_errno(), "shmget")
        libc.shmctl(found, 0, None)
        return True

    seat.attempt("make a segment of shared memory", segment)


def r18(seat: Seat, _: Message) -> None:
    """300 MiB of page tables, where the bot may have 64: of each 2 MiB of address space one page is read."""
    space = mmap.mmap(-1, 150 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ)
    until = time.monotonic() + 1
    read = sum(space[at] for at in range(0, len(space), 2 * MIB))
    while time.monotonic() < until:
        time.sleep(0.1)
    with open("/proc/self/status") as status:
        tables = [line for line in status if line.startswith("VmPTE")]
    seat.report("hold 300 MiB of page tables", read == 0, tables)


def r19(seat: Seat, _: Message) -> None:
    """Eight children that share memory below the limit of 256 MiB, and make the machine busy, take their own copies."""
    shared = grab(160)
    listen, tell = os.pipe()
    began = time.monotonic()
    children = []
    for _number in range(8):
        child = os.fork()
        if child == 0:
            while time.monotonic() < began + 1:
                pass
            for block in shared:
                block[::PAGE] = b"y" * (len(block) // PAGE)
            os.write(tell, b"x")
            while time.monotonic() < began + 20:
                pass
            os._exit(0)
        children.append(child)
    holding = 0
    while holding < len(children):
        holding += len(os.read(listen, len(children)))
    time.sleep(1)
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in alive:
        os.kill(child, signal.SIGKILL)
    seat.report("hold 1,280 MiB in eight children for a second", len(alive) == len(children), f"{len(alive)} held it")


def r20(seat: Seat, _: Message) -> None:
    """256 MiB in the buffers of sockets, where the bot may have 64: four children fill as many as they may open."""

    def fill() -> None:
        pairs, held = [], 0
        with contextlib.suppress(OSError):
            while True:
                pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
                for end in pairs[-1]:
                    end.setblocking(False)
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            held += end.send(b"x" * PAGE)
        os.write(tell, held.to_bytes(8, "big"))
        time.sleep(20)

    listen, tell = os.pipe()
    children = []
    for _number in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            fill()
            os._exit(0)
    held = sum(int.from_bytes(os.read(listen, 8), "big") for _ in children)
    time.sleep(0.5)
    for child in children:
        os.kill(child, signal.SIGKILL)
    seat.report("hold 64 MiB in the buffers of sockets", held > 64 * MIB, f"{held // MIB} MiB")


def r26(seat: Seat, _: Message) -> None:
    """256 MiB of shared memory, where the bot may have 64: its pages are in no process's tables any more."""

    def hold(shared: mmap.mmap) -> int:
        for at in range(0, len(shared), 8 * MIB):
            shared[at : at + 8 * MIB : PAGE] = b"x" * (8 * MIB // PAGE)
            shared.madvise(mmap.MADV_DONTNEED, at, 8 * MIB)
        time.sleep(1)
        return len(shared) // MIB

    def device() -> int:
        zero = os.open("/dev/zero", os.O_RDWR)
        return hold(mmap.mmap(zero, 256 * MIB))

    seat.attempt("hold 256 MiB of shared memory", lambda: hold(mmap.mmap(-1, 256 * MIB)))

    def pieces() -> int:
        libc = mapping()
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: others of its user may not look into it
        for _ in range(4096):
            at = libc.mmap(None, 65_536, 3, 0x21, -1, 0)
            if at in (None, 2**64 - 1):
                raise OSError(ctypes.get_errno(), "mmap")
            ctypes.memset(at, 1, 65_536)
            libc.munmap(at + PAGE, 65_536 - PAGE)
        time.sleep(3)
        return 256

    seat.attempt("hold 256 MiB of /dev/zero", device)
    seat.attempt("hold 256 MiB of shared memory in pieces", pieces)


def r29(seat: Seat, _: Message) -> None:
    def slivers() -> int:
        """A byte of each large page, in pipes: they keep all of a page when no process has it any more."""
        libc = mapping()
        for number in range(128):
            at = libc.mmap(None, 4 * MIB, 3, 0x22, -1, 0)
            page = at + -at % (2 * MIB)
            libc.madvise(page, 2 * MIB, 14)  # MADV_HUGEPAGE
            ctypes.memset(page, 1, 2 * MIB)
            if number % 8 == 0:
                KEPT.append(os.pipe())
            if libc.vmsplice(KEPT[-1][1], (ctypes.c_size_t * 2)(page, 1), ctypes.c_size_t(1), 0) < 0:
                raise OSError(ctypes.get_errno(), "vmsplice")
            libc.munmap(at, 4 * MIB)
        time.sleep(1)
        return 256

    def lists() -> int:
        """Who may read a file, 8,000 times: the kernel keeps 128 KiB for each file."""
        user = struct.pack("HHI", 2, 4, os.getuid())
        last = b"".join(struct.pack("HHi", kind, 4, -1) for kind in (4, 16, 32))
        for number in range(1_500):
            with open(f"/tmp/listed-{number}", "w") as file:
                named = struct.pack("IHHi", 2, 1, 6, -1) + user * 8_000 + last
                os.setxattr(file.fileno(), "system.posix_acl_access", named)
        time.sleep(1)
        return 187

    seat.attempt("hold 256 MiB behind pipes", slivers)
    seat.attempt("hold 187 MiB in lists of who may read a file", lists)


def mapping() -> ctypes.CDLL:
    """The C library, with calls that map memory by numbers."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mprotect.argtypes = libc.madvise.argtypes = [*libc.munmap.argtypes, ctypes.c_int]
    return libc


def watch() -> None:
    """Watches each of 50 files by 60 epolls under 100 numbers: the kernel keeps 60 MB for it."""
    libc = ctypes.CDLL(None)
    event = ctypes.create_string_buffer(12)
    polls = [select.epoll() for _ in range(60)]
    KEPT.extend(files := [os.pipe()[0] for _ in range(50)])
    for file in files:
        for number in range(150, 250):
            os.dup2(file, number)
            for poll in polls:
                libc.epoll_ctl(poll.fileno(), 1, number, event)
    KEPT.append(polls)


def split() -> None:
    """Splits what it reserves into 60,000 mappings: the kernel keeps 12 MB for them."""
    libc = mapping()
    start = libc.mmap(None, 60_000 * 2 * PAGE, 0, 0x4022, -1, 0)
    for number in range(30_000):
        libc.mprotect(start + number * 4 * PAGE, PAGE, 1)


def kernel(what: str, take: Callable[[], None], children: int) -> Callable[[Seat, Message], None]:
    """Memory that the kernel takes for children, who hold it until the time is nearly over."""

    def attack(seat: Seat, _: Message) -> None:
        def start() -> bool:
            for _number in range(children):
                if os.fork() == 0:
                    take()
                    time.sleep(30)
                    os._exit(0)
            return True

        if (started := seat.attempt("start children", start)) is None:
            take()  # it is one process
        time.sleep(12)
        seat.report(what, started is not None)

    return attack


def quick(what: str) -> Callable[[Seat, Message], None]:
    """An attack in C, which the stage has compiled."""

    def attack(seat: Seat, _: Message) -> None:
        words = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "quick"), what]
        listen, tell = os.pipe()
        try:
            child = os.fork()
        except PermissionError:
            if what == "fork":
                raise
            os.execv(words[0], words)  # it is one process: then it becomes the other program
        if child == 0:
            os.dup2(tell, 1)
            os.execv(words[0], words)
        os.close(tell)
        got = os.read(listen, 200).decode().strip()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        seat.report(f"{what} as fast as a machine can", status == 0, f"{got or 'nothing'}, status {status}")

    return attack


def r21(seat: Seat, _: Message) -> None:
    """All that can be done to the open file of its output, which may be the referee's too; then it ends."""
    os.write(2, b"x" * 20_000 + b"\n")
    flags = fcntl.fcntl(2, fcntl.F_GETFL)
    fcntl.fcntl(2, fcntl.F_SETFL, flags & ~os.O_APPEND | os.O_DIRECT | os.O_NONBLOCK | os.O_ASYNC)
    for change in (
        lambda: os.fchmod(2, 0),
        lambda: os.ftruncate(2, 2**20),
        lambda: os.lseek(2, 2**50, os.SEEK_SET),
        lambda: fcntl.flock(2, fcntl.LOCK_EX),
        lambda: fcntl.fcntl(2, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        lambda: fcntl.ioctl(2, 0x4008_6602, b"\x30\0\0\0\0\0\0\0"),  # FS_IOC_SETFLAGS: immutable, append only
    ):
        with contextlib.suppress(OSError):
            change()
    os._exit(3)


def r22(seat: Seat, _: Message) -> None:
    """Disk behind the end of its output, of which only the size is limited."""
    libc = ctypes.CDLL(None, use_errno=True)

    def reserve() -> bool:
        if libc.fallocate(2, 1, ctypes.c_long(0), ctypes.c_long(2**28)):  # FALLOC_FL_KEEP_SIZE
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        os.ftruncate(2, 0)
        return True

    seat.attempt("take 256 MiB of disk with an output of a few bytes", reserve)


ATTACKS = {
    attack.__name__.upper(): attacking(attack)
    for attack in (r1, r2, r3, r4, r5, r6, r7, r8, r9, r12, r13, r14, r17, r18, r19, r20, r21, r22, r26, r29)
} | {
    "R27": attacking(kernel("watch 1,200,000 times", watch, 4)),
    "R28": attacking(kernel("have 720,000 mappings", split, 12)),
    "R10": attacking(flood(2)),
    "R11": attacking(flood(1)),
    "R1-c": attacking(quick("memory")),
    "R5-c": attacking(quick("fork")),
}
