"""Attacks on hidden information: covert channels between seats, names, secrets, probing."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import mmap
import os
import resource
import shutil
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from processes import X86, call
from resources import attacking
from seat import Message, Seat, target

BITS = 12
LIBC = ctypes.CDLL(None, use_errno=True)


def h7(seat: Seat, _: Message) -> None:
    """Looks for the log, the secret, the database while the game is played."""
    logs = target()["logs"]

    def secret() -> str | None:
        os.listdir(logs)
        for parent, _folders, names in os.walk(logs):
            if "secret.json" in names:
                return Path(parent, "secret.json").read_text()[:80]
        return None

    seat.attempt("look into the folder of logs", lambda: str(os.listdir(logs)))
    seat.attempt("read the secret of the deals", secret)
    seat.attempt("read the database", lambda: Path(target()["database"]).read_bytes()[:15].decode())


class Channel(NamedTuple):
    """Something that two seats may both be able to touch, and that stays as it is while nobody touches it."""

    name: str
    write: Callable[[int], Any]
    read: Callable[[], int]
    step: int = 1
    """By how much what is read grows with a 1. What others of the machine use is in it, too."""


def h11() -> None:
    carry([*all_channels(), *counters()])


def f8() -> None:
    """The same over a pipe in its folder, which the stage has put there."""
    path = Path(__file__).parent / "pipe"
    held: list[int] = []

    def write(bit: int) -> None:
        if not held:
            held.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        with suppress(BlockingIOError):
            os.read(held[0], 9)
        os.write(held[0], b"x" * bit)

    def read() -> int:
        found = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        waiting = fcntl.ioctl(found, 0x541B, bytes(4))  # FIONREAD
        os.close(found)
        return int.from_bytes(waiting, "little")

    carry([Channel("a pipe in its folder", write, read)])


def carry(channels: list[Channel]) -> None:
    """Seat 0 leaves a bit in every channel at each of its turns, and seat 1 looks what it finds there at its own."""
    seat = Seat()
    seat.greet()
    seats = [0]
    seat.on_start = lambda message: seats.__setitem__(0, message["seat"])  # type: ignore[method-assign]
    got: dict[str, list[int]] = {channel.name: [] for channel in channels}
    shut: dict[str, str] = {}
    turn = 0
    for request in seat.requests():
        if request["kind"] == "turn" and turn <= BITS:
            for channel in channels:
                try:
                    if seats[0] == 0:
                        channel.write(pattern(channel.name)[min(turn, BITS - 1)])
                    else:
                        got[channel.name].append(channel.read())
                except (OSError, KeyError) as error:
                    shut[channel.name] = str(error)
            turn += 1
            if turn == BITS + 1:
                for channel in channels:
                    if seats[0] == 0:
                        with suppress(OSError):
                            channel.write(0)
                        continue
                    sent, seen = pattern(channel.name), got[channel.name]
                    seen = [int(value - min(seen) >= channel.step) for value in seen]
                    matches = any(seen[at : at + BITS - 1] == sent[: BITS - 1] for at in (0, 1))
                    seat.report(channel.name, matches, shut.get(channel.name, ""))
        seat.send(seat.answer(request))


def pattern(name: str) -> list[int]:
    """The bits that go over a channel: about as many ones as zeros."""
    number = int.from_bytes(hashlib.sha256(f"{target()['marker']} {name}".encode()).digest()[:2], "big")
    return [1, 0, *(number >> bit & 1 for bit in range(BITS - 2))]


def all_channels() -> Iterator[Channel]:
    """The channels that were found open between sandboxes, and some that everybody tries."""
    shared = os.open(os.path.realpath(shutil.which("sh") or "/bin/sh"), os.O_RDONLY)
    yield Channel(
        "flock on a file of the system",
        lambda bit: fcntl.flock(shared, fcntl.LOCK_SH if bit else fcntl.LOCK_UN),
        lambda: refused(
            lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB), lambda: fcntl.flock(shared, fcntl.LOCK_UN)
        ),
    )

    def region(kind: int) -> bytes:
        return struct.pack("hhqqi4x", kind, 0, 0, 0, 0)

    yield Channel(
        "a POSIX lock on a file of the system",
        lambda bit: fcntl.fcntl(shared, fcntl.F_SETLK, region(fcntl.F_RDLCK if bit else fcntl.F_UNLCK)),
        lambda: int(
            struct.unpack_from("h", fcntl.fcntl(shared, fcntl.F_GETLK, region(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK
        ),
    )
    other = os.open(os.path.realpath(shutil.which("ls") or "/bin/ls"), os.O_RDONLY)
    yield Channel(
        "a lock of an open file on a file of the system",
        lambda bit: fcntl.fcntl(other, 37, region(fcntl.F_RDLCK if bit else fcntl.F_UNLCK)),
        lambda: int(struct.unpack_from("h", fcntl.fcntl(other, 36, region(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK),
    )
    yield Channel(
        "a lease on a file of the system",
        lambda bit: fcntl.fcntl(other, 1024, fcntl.F_RDLCK if bit else fcntl.F_UNLCK),
        lambda: int("LEASE" in Path("/proc/locks").read_text()),
    )
    mark = f"arena-hostile-{target()['marker']}"
    for folder in dict.fromkeys(("/tmp", "/dev/shm", "/var/tmp", "/run/arena", os.environ.get("TMPDIR", "/tmp"))):
        path = os.path.join(folder, mark)
        yield Channel(
            f"a file in {folder}",
            lambda bit, path=path: Path(path).touch() if bit else (os.path.exists(path) and os.unlink(path)),
            lambda path=path: int(os.path.exists(path)),
        )
    held: list[socket.socket] = []

    def bind(bit: int) -> None:
        while held:
            held.pop().close()
        if bit:
            held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            held[-1].bind(f"\0{mark}")

    def connects() -> int:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as found:
            try:
                found.connect(f"\0{mark}")
            except ConnectionRefusedError:
                return 0
        return 1

    yield Channel("an abstract socket", bind, connects)

    def port(bit: int) -> None:
        while held:
            held.pop().close()
        if bit:
            held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            held[-1].bind(("127.0.0.1", 20_000 + number % 20_000))

    def is_taken() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
            return refused(lambda: found.bind(("127.0.0.1", 20_000 + number % 20_000)), lambda: None)

    number = int.from_bytes(hashlib.sha256(mark.encode()).digest()[:3], "big")
    yield Channel("a port of this machine", port, is_taken)

    def segment(bit: int) -> None:
        found = LIBC.shmget(number, 4096, 0o1666)
        if found == -1:
            raise OSError(ctypes.get_errno(), "refused")
        if not bit:
            LIBC.shmctl(found, 0, None)

    yield Channel("a System V segment", segment, lambda: int(LIBC.shmget(number, 0, 0) != -1))

    def key(bit: int) -> None:
        found = LIBC.syscall(248, b"user", mark.encode(), b"x", 1, -4)
        if found == -1:
            raise OSError(ctypes.get_errno(), "refused")
        if not bit:
            LIBC.syscall(250, 3, found)

    yield Channel("a key of the kernel", key, lambda: int(LIBC.syscall(250, 10, -4, b"user", mark.encode(), 0) > 0))


def counters() -> Iterator[Channel]:
    """What the machine counts of all boxes together."""
    held: dict[str, list[Any]] = {}

    def holds(what: str, take: Callable[[], Any], drop: Callable[[Any], None], count: int) -> Callable[[int], None]:
        """Holds so many of something while the bit is 1."""
        kept = held.setdefault(what, [])

        def write(bit: int) -> None:
            while kept:
                drop(kept.pop())
            while bit and len(kept) < count:
                kept.append(take())

        return write

    def terminal() -> int:
        return os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)

    def of_meminfo(name: str) -> int:
        with open("/proc/meminfo") as file:
            return int(dict(line.split(":") for line in file)[name].split()[0]) >> 10

    path = "/dev/shm/arena-hostile-shmem"

    def fill() -> None:
        with open(path, "wb") as file:
            file.write(bytes(12 << 20))

    shared = holds("a file", fill, lambda _: os.unlink(path), 1)
    yield Channel(
        "numbers of pseudo-terminals",
        holds("terminals", terminal, os.close, 6),
        lambda: int(Path("/proc/sys/kernel/pty/nr").read_text()),
        4,
    )
    yield Channel("Shmem of /proc/meminfo", shared, lambda: of_meminfo("Shmem"), 8)
    yield Channel(
        "Committed_AS of /proc/meminfo",
        holds("memory", lambda: mmap.mmap(-1, 256 << 20, mmap.MAP_PRIVATE), lambda kept: kept.close(), 1),
        lambda: of_meminfo("Committed_AS"),
        200,
    )

    if not X86:  # their numbers are given here
        return

    def most(works: Callable[[int], bool]) -> int:
        """The most of something that can be had."""
        low, high = 0, 1 << 16
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if works(middle) else (low, middle - 1)
        return low

    def events(count: int) -> int:
        context = ctypes.c_ulong(0)
        call(206, count, ctypes.byref(context))
        return context.value

    def can_have(count: int) -> bool:
        with suppress(BlockingIOError):
            return call(207, events(count))
        return False

    yield Channel(
        "events of asynchronous I/O",
        holds("events", lambda: events(50), lambda context: call(207, context), 1),
        lambda: (1 << 16) - most(can_have),
        40,
    )

    def timer() -> int:
        number = ctypes.c_int(0)
        call(222, 1, 0, ctypes.byref(number))
        return number.value

    def may_have_as_limit(count: int) -> bool:
        """Whether no timer can be had with such a limit: then the user has as many signals."""
        hard = resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (min(count, hard), hard))
        try:
            return not call(226, timer())
        except BlockingIOError:
            return True

    yield Channel(
        "signals that wait for the user",
        holds("timers", timer, lambda number: call(226, number), 50),
        lambda: most(may_have_as_limit),
        40,
    )

    def since_the_last(read: Callable[[], int]) -> Callable[[], int]:
        """By how much a counter has grown: each write makes it grow."""
        last = [0]

        def grown() -> int:
            before, last[0] = last[0], read()
            return min(last[0] - before, 1 << 16)

        return grown

    def repeat(work: Callable[[], Any], count: int) -> Callable[[int], None]:
        return lambda bit: [work() for _ in range(bit * count)] and None

    def thread() -> None:
        made = threading.Thread(target=int)
        made.start()
        made.join()

    def newest() -> int:
        child = os.fork()
        if child == 0:
            time.sleep(20)
            os._exit(0)
        try:
            found = os.pidfd_open(child)
            number = os.fstat(found).st_ino
            os.close(found)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return number

    def cookie() -> int:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        with socket.socket(socket.AF_UNIX) as found:
            return struct.unpack("Q", found.getsockopt(socket.SOL_SOCKET, 57, 8))[0]  # SO_COOKIE

    yield Channel("inode numbers of processes", repeat(thread, 200), since_the_last(newest), 150)
    yield Channel("cookies of sockets", repeat(cookie, 200), since_the_last(cookie), 150)


def h16(seat: Seat, _: Message) -> None:
    """Reads what the machine counts, whatever it is: a bot could be told something by it."""

    def read(path: str) -> str | None:
        with open(path, "rb") as file:
            return file.readline().decode()[:40].strip() or None

    seat.attempt("count the machine's memory and processes by sysinfo", sysinfo)
    seat.attempt("count free blocks of a file system", blocks)
    for path in ("/proc/vmstat", "/proc/sys/kernel/pty/nr", "/proc/sys/fs/file-nr", "/proc/cgroups"):
        seat.attempt(f"read {path}", lambda path=path: read(path))
    seat.attempt("open a pseudo-terminal", lambda: os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)) or True)
    for name in ("meminfo", "stat", "loadavg", "uptime"):
        covered = os.stat(f"/proc/{name}").st_dev != os.stat("/proc").st_dev
        seat.attempt(
            f"read /proc/{name} of the machine",
            lambda name=name, hidden=covered: None if hidden else read(f"/proc/{name}"),
        )


def sysinfo() -> int | None:
    """The machine's memory, if that is what the answer tells."""
    told = ctypes.create_string_buffer(368)
    if LIBC.sysinfo(told):
        raise OSError(ctypes.get_errno(), "refused")
    memory = struct.unpack_from("8xQQQQ", told)[3]
    return memory if memory == target()["memory"] else None


def blocks() -> int | None:
    """The size of the machine's file system, if that is what the answer tells."""
    found = os.statvfs("/usr").f_blocks
    return found if found == target()["blocks"] else None


def h11_shared() -> None:
    """What docs/safety.md says that two bots can still use."""
    carry([*shared()])


def shared() -> Iterator[Channel]:
    """Numbers of the machine that no filter can hide."""
    held: list[Any] = []

    def pages(bit: int) -> None:
        held.clear()
        if bit:
            held.append(mmap.mmap(file, 0, prot=mmap.PROT_READ))
            held[0][5]

    def is_mapped_by_others() -> int:
        with mmap.mmap(file, 0, prot=mmap.PROT_READ) as page, open("/proc/self/smaps") as told:
            page[5]
            of_it = told.read().split(path)[-1].split()
        return int(of_it[of_it.index("Pss:") + 1] < of_it[of_it.index("Rss:") + 1])

    path = small_file()
    file = os.open(path, os.O_RDONLY)
    yield Channel("a page of a system's file that another has mapped", pages, is_mapped_by_others)

    def events(bit: int) -> None:
        while held_events:
            os.close(held_events.pop())
        held_events.extend(os.eventfd(0) for _ in range(100 * bit))

    def lowest_event() -> int:
        found = os.eventfd(0)
        try:
            with open(f"/proc/self/fdinfo/{found}") as told:
                return next(int(line.split()[1]) for line in told if line.startswith("eventfd-id"))
        finally:
            os.close(found)

    held_events: list[int] = []
    yield Channel("the lowest free number of an eventfd", events, lowest_event, 60)

    def send(bit: int) -> None:
        for end in ends:
            end.close()
        ends[:] = socket.socketpair()
        for _ in range(50 * bit):
            socket.send_fds(ends[0], [b"x"], [file])

    def sent_by_others() -> int:
        first, second = socket.socketpair()
        first.setblocking(False)
        mine = 0
        with first, second, suppress(OSError):
            while socket.send_fds(first, [b"x"], [file]):
                mine += 1
        return 300 - mine

    ends: list[socket.socket] = []
    yield Channel("descriptors of the user that were sent and not received", send, sent_by_others, 40)


def small_file() -> str:
    """A small file of the system that no other program has mapped."""
    return next(
        os.path.join(folder, name)
        for folder, _, names in os.walk("/usr/share")
        for name in sorted(names)
        if 1000 < os.stat(os.path.join(folder, name), follow_symlinks=False).st_size < 4096
        and not os.path.islink(os.path.join(folder, name))
    )


def refused(call: Callable[[], Any], undo: Callable[[], Any]) -> int:
    """1 if something is taken by another."""
    try:
        call()
    except (BlockingIOError, OSError) as error:
        if isinstance(error, BlockingIOError) or error.errno == 98:
            return 1
        raise
    undo()
    return 0


def h12(seat: Seat, _: Message) -> None:
    """Looks what environment, arguments, numbers and names say about the referee and the machine."""
    wanted = {
        "ARENA_ENDPOINT",
        "ARENA_TOKEN",
        "PATH",
        "PYTHONPATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TMPDIR",
        "TZ",
        "PWD",
        "OLDPWD",
        "_",
        "SHLVL",
        "USER",
        "LOGNAME",
    }
    seat.report(
        "find more in its environment than it needs", bool(set(os.environ) - wanted), sorted(set(os.environ) - wanted)
    )
    seat.report("know the operator's time zone", os.environ.get("TZ") != "UTC", os.environ.get("TZ"))
    first, arguments = of_the_first("environ"), of_the_first("cmdline")
    words = [word for word in first.split(b"\0") if word and not word.startswith(b"PWD=")]
    seat.report("read the environment of process 1", bool(words), words[:3])
    seat.report("read the referee's paths in arguments", target()["logs"].encode() in arguments)
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    seat.report("see other processes", len(processes) > 6, len(processes))
    with open("/proc/self/mountinfo") as file:
        seat.report("see the operator's paths in its mounts", target()["logs"] in file.read())


KEPT: list[int] = []


def h11_stat(seat: Seat, _: Message) -> None:
    """Holds a number of descriptors, and asks how many other processes have: a number for the bot in the other seat."""
    KEPT.extend(os.open("/dev/null", os.O_RDONLY) for _ in range(150))
    found = []
    for process in range(max(1, os.getpid() - 500), os.getpid() + 500):
        with contextlib.suppress(OSError):
            if process != os.getpid() and os.stat(f"/proc/{process}/fd").st_size >= len(KEPT):
                found.append(process)
    seat.report("read a number from another process", bool(found), found[:3])


def h12_name(seat: Seat, _: Message) -> None:
    """Asks for the machine's name."""
    seat.report("know the machine's name", os.uname().nodename == target()["host"])


def of_the_first(name: str) -> bytes:
    """What process 1 shows."""
    with suppress(OSError), open(f"/proc/1/{name}", "rb") as file:
        return file.read()
    return b""


def h13() -> None:
    """Looks for its opponent's name and version in all that it is sent."""
    seat = Seat()
    seat.greet()
    found = []
    take = seat._frame

    def frame() -> tuple[int, bytes]:
        flags, body = take()
        found.extend(word for word in target()["names"] if word.encode() in body)
        return flags, body

    seat._frame = frame  # type: ignore[method-assign]
    for number, request in enumerate(seat.requests()):
        if number == 8:
            seat.report("learn who its opponent is", bool(found), found[:3])
        seat.send(seat.answer(request))


def h14(*_: Any) -> None:
    """Ends, as if it did not like its hand."""
    os._exit(3)


ATTACKS = {
    "H7": attacking(h7),
    "H11": h11,
    "H11-stat": attacking(h11_stat),
    "H11-shared": h11_shared,
    "H12": attacking(h12),
    "H12-name": attacking(h12_name),
    "H13": h13,
    "H14": attacking(h14),
    "H16": attacking(h16),
    "F8": f8,
}
