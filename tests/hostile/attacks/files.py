"""Attacks on files: of the referee, of other bots, of the system."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from pathlib import Path

from resources import attacking
from seat import Message, Seat, target


def read(path: str, size: int = 60) -> str | None:
    """What a file begins with, or a folder holds."""
    if os.path.isdir(path):
        return str(sorted(os.listdir(path))[:4])
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, size).decode("ascii", "backslashreplace") or None
    finally:
        os.close(descriptor)


def beyond_mounts(folder: str) -> str | None:
    """What a folder holds beside the way to what was mounted for this bot, such as its interpreter."""
    with open("/proc/self/mountinfo") as file:
        mounted = [line.split()[4] for line in file]
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    found = [path for path in paths if not any(f"{place}/".startswith(f"{path}/") for place in mounted)]
    return str(found[:4]) if found else None


def others() -> str | None:
    """The names of other users than its own: in a box there are none."""
    with open("/etc/passwd") as file:
        names = [line.split(":")[0] for line in file if line.split(":")[2] != str(os.getuid())]
    return str(names[:4]) if names else None


def f1(seat: Seat, _: Message) -> None:
    """Reads what is not its own: each of these holds a canary."""
    for what, path in target()["secrets"].items():
        seat.attempt(f"read {what}", lambda path=path: read(path))
    seat.attempt("read /etc/shadow", lambda: read("/etc/shadow"))
    seat.attempt("read of another user in /etc/passwd", others)
    for home in ("/root", "/home"):
        seat.attempt(f"look into {home}", lambda home=home: beyond_mounts(home))
    seat.attempt("look around in the folder of logs", lambda: read(target()["logs"]))


def f2(seat: Seat, _: Message) -> None:
    """Writes into its own folder, and makes new files there."""
    folder = Path(__file__).parent

    def append() -> bool:
        with open(folder / "honest.py", "a") as file:
            file.write("# changed\n")
        return True

    seat.attempt("change its own code", append)
    seat.attempt("make a file in its own folder", lambda: (folder / "planted.py").write_text("x = 1\n"))
    seat.attempt("replace its manifest", lambda: (folder / "other.toml").write_text("") or 1)
    seat.attempt("make its folder writable", lambda: os.chmod(folder, 0o777) or True)


def f3(seat: Seat, _: Message) -> None:
    """Plants links and a FIFO where the referee will write its logs."""
    logs, victim = Path(target()["logs"]), target()["victim"]

    def plant() -> int:
        planted = 0
        for folder in logs.glob("*"):
            for number in range(2):
                name = f"{folder.name}-{number:06}.jsonl"
                for path in (folder / name, folder / f"{name}.part", folder / f".{name}.part"):
                    if not path.exists() and not path.is_symlink():
                        path.symlink_to(victim)
                        planted += 1
        if not planted:
            raise FileNotFoundError(2, "no folder of logs")
        return planted

    seat.attempt("plant links among the logs", plant)


def f4(seat: Seat, _: Message) -> None:
    """What only an administrator may do with files."""
    libc = ctypes.CDLL(None, use_errno=True)
    base = os.environ.get("TMPDIR", "/tmp")

    def checked(result: int) -> bool:
        if result != 0:
            raise OSError(ctypes.get_errno(), "refused")
        return True

    def device() -> bool:
        path = f"{base}/arena-hostile-device"
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 0))
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        finally:
            os.unlink(path)
        return True

    def of_root() -> bool:
        path = f"{base}/arena-hostile-setuid"
        Path(path).write_text("")
        try:
            os.chown(path, 0, 0)
            os.chmod(path, 0o4755)
            return True
        finally:
            os.unlink(path)

    def mount() -> bool:
        place = f"{base}/arena-hostile-mount"
        os.mkdir(place)
        try:
            # A bind mount of a source that does not exist: whether it is allowed shows, and nothing is mounted.
            result = libc.mount(b"/arena-hostile-nowhere", place.encode(), None, 4096, None)
            if result != 0 and ctypes.get_errno() == 2:
                return True
            return checked(result)
        finally:
            os.rmdir(place)

    def chroot() -> bool:
        child = os.fork()
        if child == 0:
            try:
                os.chroot("/")
            except OSError as error:
                os._exit(error.errno or 1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            raise OSError(status, "refused")
        return True

    seat.attempt("make and open a device", device)
    seat.attempt("make a setuid file of root", of_root)
    seat.attempt("mount", mount)
    seat.attempt("chroot", chroot)
    seat.attempt("become root", lambda: os.setuid(0) or os.getuid() == 0 or None)


def f5() -> None:
    """Leaves a mark in one game, and looks for it in the next."""
    seat = Seat()
    seat.greet()
    places = [
        os.environ.get("TMPDIR", "/tmp"),
        os.environ.get("HOME", "/tmp"),
        "/dev/shm",
        "/var/tmp",
        os.getcwd(),
        "/tmp",
    ]
    mark = f"arena-hostile-{target()['marker']}"

    def attack(_: Message) -> None:
        for place in dict.fromkeys(places):
            own = place == os.getcwd()  # where a name without a dot would be another bot's, and end the match
            path, name = Path(place) / f"{'.' * own}{mark}", "its own folder" if own else place
            if path.exists():
                seat.report(f"find its mark in {name}", True)
            else:
                try:
                    path.write_text("I was here")
                except OSError as error:
                    seat.report(f"leave a mark in {name}", False, error.strerror)
                else:
                    seat.report(f"find its mark in {name}", False, "it is new there")

    seat.play(attack)


def f6(seat: Seat, _: Message) -> None:
    """Looks for descriptors that it was not meant to have."""
    own = {0, 1, 2, seat.socket.fileno()}
    found = []
    try:
        names = os.listdir("/proc/self/fd")
    except PermissionError:  # there is no /proc for it: then by their numbers
        for number in set(range(1024)) - own:
            with contextlib.suppress(OSError):
                os.fstat(number)
                found.append(str(number))
        seat.report("inherit a descriptor", bool(found), found)
        return
    for name in names:
        if int(name) not in own:
            with contextlib.suppress(OSError):  # the listing's own is closed by now
                found.append(f"{name} -> {os.readlink(f'/proc/self/fd/{name}')}")
    seat.report("inherit a descriptor", bool(found), found)
    for number, wanted in ((0, "/dev/null"), (1, ""), (2, "")):
        link = os.readlink(f"/proc/self/fd/{number}")
        seat.report(f"have a strange descriptor {number}", bool(wanted) and link != wanted, link if wanted else "")


def f7(seat: Seat, _: Message) -> None:
    """Reads what the kernel tells of the whole machine."""
    for path in ("/proc/kcore", "/dev/kmsg", "/proc/kallsyms", "/proc/keys", "/proc/timer_list", "/proc/locks"):
        seat.attempt(f"read {path}", lambda path=path: read(path))
    seat.attempt("look into /sys", lambda: read("/sys") if os.listdir("/sys") else None)
    seat.attempt("open /proc/sysrq-trigger", lambda: os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY)) or True)
    seat.attempt(
        "open a setting of the kernel", lambda: os.close(os.open("/proc/sys/kernel/hostname", os.O_WRONLY)) or True
    )


def f9(seat: Seat, _: Message) -> None:
    """Asks how large files of others are, since when, and where links lead, without opening them."""
    for name, path in target()["secrets"].items():
        seat.attempt(f"see the size and the time of {name}", lambda path=path: f"{os.stat(path).st_size} bytes")
        seat.attempt(f"see where a link beside {name} leads", lambda path=path: os.readlink(f"{path}.link"))


ATTACKS = {attack.__name__.upper(): attacking(attack) for attack in (f1, f2, f3, f4, f6, f7, f9)}
ATTACKS["F5"] = f5
