"""Makes the command that starts a bot in a sandbox: bubblewrap's `bwrap`, with exactly the options that were tried.

In the box a program sees the system's programs and the trees that it was given, all read-only, a small empty `/tmp` and
`/dev/shm`, its own processes, and the folder of its own socket at `/run/arena`. It has no network, no capability and
no other descriptor than 0, 1 and 2; the filter of `filter.py` refuses what else leads to other processes. Nothing in it
counts what the machine or another box uses: two bots could read each other's signals there.

Laws:
1. `bwrap` is process 1 of the box. It has none of the limits, and a bot that could write to its memory (`/proc/1/mem`)
   had none either. So an empty folder covers `/proc/1`. All the same its options go through a descriptor, and its
   environment has nothing but the mark of its worker (`custody.py`).
2. The order of the options is the order of the mounts. Trees may lie below `/tmp`, so they come after it. `/dev` and
   `/` are made read-only last: `/dev` is a tmpfs without a limit otherwise.
3. As root, start it as another user (`accounts.py`): in a box that root's `bwrap` makes, `/proc/sys` can be written to.
   The change of user is a program of its own: a fork of the worker that changes it would take several milliseconds.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import msgspec

from arena.core.face import confining, errors, machine_fault, plain
from arena.sandbox import filter

SOCKET_FOLDER: Final = "/run/arena"
"""Path at which a bot finds the folder of its socket."""
ENDPOINT: Final = f"ipc://{SOCKET_FOLDER}/referee"
"""Value of `ARENA_ENDPOINT` in a box."""
TMP_MIB: Final = 32
SHM_MIB: Final = 16
MAX_DESCRIPTORS: Final = 256
MAX_SIGNALS: Final = 256
"""Limit of timers and pending signals: so few that no box takes what the user of all has."""
HOSTNAME: Final = "seat"
USER: Final = "bot"
NAMED: Final = {"USER": USER, "LOGNAME": USER, "HOME": "/tmp"}
"""Variables by which programs know their user."""
PROGRAM_FOLDERS: Final = ("/usr/bin", "/bin", "/usr/local/bin")
"""Folders in which `bwrap` and its helpers are looked for. `PATH` is not asked: it may name a folder of a bot."""
_PROGRAMS: Final = ("/bin", "/lib", "/lib64", "/lib32", "/libx32", "/sbin")
"""Folders of the system's programs beside `/usr`. On most systems they are links into it."""
_ETC: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/openssl.cnf")
"""All of `/etc` that programs of the system need to start. Java's is added where there is one."""
_HIDDEN_FILES: Final = (
    "buddyinfo", "cgroups", "diskstats", "interrupts", "kallsyms", "kcore", "key-users", "keys", "kmsg", "locks",
    "modules", "pagetypeinfo", "partitions", "sched_debug", "schedstat", "slabinfo", "softirqs", "swaps",
    "sysrq-trigger", "timer_list", "vmallocinfo", "vmstat", "zoneinfo",
)  # fmt: skip
"""Files of `/proc` that tell of the machine."""
_HIDDEN_FOLDERS: Final = (
    "1", "acpi", "asound", "bus", "driver", "fs", "irq", "pressure", "scsi", "sys", "sysvipc", "tty",
)  # fmt: skip
"""Folders of it that do, and that of process 1."""
_DEVICES: Final = {**{name: name for name in ("full", "null", "random", "urandom")}, "zero": "full"}
"""All of `/dev`, beside `shm` and links, and what it is on the machine. There are no pseudo-terminals: their numbers
are the whole machine's. `zero` gives memory that nobody can count; `full` reads as zeros, and gives none."""
_LINKS: Final = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
"""Links in `/dev` to `/proc/self/fd`, each with the part that it leads to."""
_GONE: Final = {
    "bwrap": "install bubblewrap (apt install bubblewrap)",
    "prlimit": "install util-linux (apt install util-linux)",
    "setpriv": "install util-linux (apt install util-linux)",
}


class BoxCommand:
    """A command that starts a box. Use it in a `with`: when the process is started, its descriptors are closed.

    Start it with the worker's mark as its environment, `cwd="/"` and `pass_fds=command.descriptors`.
    """

    def __init__(
        self,
        program: Sequence[str],
        options: Sequence[str],
        words: Sequence[str],
        allowed: frozenset[str] = frozenset(),
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Writes the options, the filter and the content of `files` to files without a name.

        `program` makes the box, by way of another that changes the user perhaps; `words` is what runs in it. Calls
        `allowed` are not filtered. `files` are read-only in the box, by their paths there; what is there already is
        covered.

        Raises:
            MachineFault: The machine has no descriptor or no memory left.
        """
        self.descriptors: tuple[int, ...] = ()
        try:
            rules = self._write(filter.program(allowed=allowed))
            given = _words("--ro-bind-data", [(str(self._write(data)), path) for path, data in (files or {}).items()])
            words_of_box = (*options, *given, "--remount-ro", "/", "--seccomp", str(rules))
            told = self._write(b"".join(os.fsencode(word) + b"\0" for word in words_of_box))
            status = self._write(b"")
        except OSError as error:
            self._close()
            raise machine_fault("make a sandbox", error) from None
        self.status = status
        """Descriptor on which `bwrap` tells what becomes of the box (`status`). It is the caller's to close."""
        self.words = (*program, "--json-status-fd", str(status), "--args", str(told), "--", *words)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.descriptors = tuple(number for number in self.descriptors if number != self.status)
        self._close()

    def _write(self, content: bytes) -> int:
        descriptor = os.memfd_create("arena")
        self.descriptors += (descriptor,)
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def _close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()


def command(
    program: Sequence[str],
    *,
    folder: str,
    trees: Mapping[str, str],
    environment: Mapping[str, str],
    processes: int,
    memory_mib: int,
    data_mib: int | None = None,
    socket_folder: str | None = None,
    user: int | None = None,
    writable: Mapping[str, str] | None = None,
    descriptors: int = MAX_DESCRIPTORS,
    allowed: frozenset[str] = frozenset(),
    empty: Iterable[str] = (),
) -> BoxCommand:
    """Returns the command that runs `program` in a box.

    `folder` is the working directory. `trees` are the folders and files that it sees beside the system's programs: each
    path, and where the content of it can be reached (the same path, unless `staging.py` had to make another). None may
    lie in another. `environment` is all it gets, beside `NAMED` and `TMPDIR`. `processes` is how many processes and
    threads the box may have, `memory_mib` how much memory `/proc/meminfo` tells of, `data_mib` how much each process
    may reserve. `socket_folder` is the folder of its socket, as the seat's user can reach it. `user` is that user; None
    for this process's own. `writable` are trees that it may change, `/tmp` among them if it is not to be a small one in
    memory. `descriptors` is how many each process may have, and calls `allowed` are not filtered. `empty` are folders
    that are empty in the box, though they lie in what it sees.

    Raises:
        MachineFault: The machine lacks `bwrap`, or descriptors. Show the message to the operator: it says what to do.
    """
    options = [
        *_NAMESPACES,
        *_words("--setenv", {**environment, **NAMED, "TMPDIR": "/tmp"}.items()),
        *_system(),
        *("--proc", "/proc", *_masks(), *_DEV),
        *("--size", str(TMP_MIB << 20), "--tmpfs", "/tmp", "--size", str(SHM_MIB << 20), "--tmpfs", "/dev/shm"),
        *_words("--bind", [(reached, tree) for tree, reached in sorted((writable or {}).items())]),
        *_words("--ro-bind", [(reached, tree) for tree, reached in sorted(trees.items())]),
        *(word for folder in empty for word in ("--tmpfs", folder, "--remount-ro", folder)),
        *(("--ro-bind", socket_folder, SOCKET_FOLDER) if socket_folder is not None else ()),
        *("--chdir", folder, "--remount-ro", "/dev"),
    ]
    limits = {
        "nofile": (resource.RLIMIT_NOFILE, descriptors),
        "nproc": (resource.RLIMIT_NPROC, processes),
        "sigpending": (resource.RLIMIT_SIGPENDING, MAX_SIGNALS),
    }
    if data_mib is not None:
        limits["data"] = (resource.RLIMIT_DATA, data_mib << 20)
    bounds = [f"--{name}={confining.lowered(number, value)}" for name, (number, value) in limits.items()]
    change = [_program("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user is not None else []
    return BoxCommand(
        [*change, _program("bwrap")],
        options,
        [_program("prlimit"), *bounds, "--core=0", "--", *program],
        allowed,
        _counters(memory_mib) | _accounts(*((user, user) if user is not None else (os.getuid(), os.getgid()))),
    )


class BoxStatus(msgspec.Struct, frozen=True):
    """What `bwrap` has said of a box."""

    pid: int | None
    """The number of the box's process 1, as this process sees it; None if there is no such process yet."""
    exit_code: int | None
    """Exit status of the program, or 128 plus the number of the signal that ended it; None if it has not ended, or
    if it was never started."""


def status(descriptor: int) -> BoxStatus:
    """Returns what `bwrap` has written to the `status` of a command.

    If the process has ended and there is no exit code, the program was never started: the box could not be made.
    """
    told: dict[str, int] = {}
    for line in os.pread(descriptor, 4096, 0).splitlines():
        with suppress(msgspec.DecodeError):  # it is being written
            told |= msgspec.json.decode(line, type=dict[str, int])
    return BoxStatus(told.get("child-pid"), told.get("exit-code"))


_NAMESPACES: Final = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--hostname", HOSTNAME, "--clearenv"),
)

_DEV: Final = (
    *("--tmpfs", "/dev"),
    *(word for name, ours in _DEVICES.items() for word in ("--dev-bind", f"/dev/{ours}", f"/dev/{name}")),
    *(word for name, part in _LINKS.items() for word in ("--symlink", f"/proc/self/fd{part}", f"/dev/{name}")),
)


def _words(option: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for first, second in pairs:
        yield from (option, first, second)


@functools.cache
def _system() -> tuple[str, ...]:
    """Returns the options that bind the system's programs, and what they need of `/etc`."""
    options = ["--ro-bind", "/usr", "/usr"]
    for path in _PROGRAMS:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    for path in _etc():
        options += ["--ro-bind-try", path, path]
    return tuple(options)


def system_trees() -> tuple[str, ...]:
    """Returns the same where there is no box: the folders of the system's programs, and what they need of `/etc`."""
    return ("/usr", *(path for path in _PROGRAMS if os.path.isdir(path) and not os.path.islink(path)), *_etc())


def _etc() -> tuple[str, ...]:
    java = (entry.path for entry in os.scandir("/etc") if entry.name.startswith(("java-", "jvm-")))
    return (*_ETC, *sorted(java))


@functools.cache
def _proc() -> tuple[dict[str, str], list[str]]:
    """Returns what a box has in `/proc`: kind and mode of each entry that may have to be hidden, and lines about cores.

    A box is looked into for that. The operator's own `/proc` may lack what a box's has: a service often sees no process
    but its own there, and a container covers parts of it.

    Raises:
        MachineFault: The machine makes no box. Show the message to the operator.
    """
    look = 'stat 1 >&2 && { stat -c "%A %n" "$@"; echo; cat cpuinfo; }'  # without `stat` there is no box
    words = [_program("bwrap"), *_NAMESPACES, *_system(), "--proc", "/proc", "--chdir", "/proc", "/bin/sh", "-c", look]
    try:
        done = subprocess.run(
            [*words, "sh", *_HIDDEN_FILES, *_HIDDEN_FOLDERS],
            env={}, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise machine_fault("make a sandbox", error) from None
    if done.returncode:
        said = " ".join((done.stderr + done.stdout).decode(errors="replace").split())
        raise errors.MachineFault(
            f"expected a sandbox, got: {plain(said) or f'exit status {done.returncode}'}; "
            "`arena doctor --level isolated` says what is missing"
        )
    found, _, kinds = done.stdout.decode(errors="replace").partition("\n\n")
    modes = {name: mode for mode, name in (line.split() for line in found.splitlines())}
    return modes, [line for line in kinds.splitlines() if not line.startswith("cpu MHz")]


def _masks() -> Iterator[str]:
    """Yields the options that hide what `/proc` tells of the machine.

    Each costs a start 0.1 ms. What only root may read needs none: in a box nobody is root.
    """
    for name, mode in _proc()[0].items():
        if mode.startswith("d"):
            yield from ("--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")
        elif mode[-3] == "r":
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")


def _accounts(user: int, group: int) -> dict[str, bytes]:
    """Returns the files in which programs look for their user's name: it is all that is in them."""
    return {
        "/etc/passwd": f"{USER}:x:{user}:{group}:{USER}:{NAMED['HOME']}:/bin/sh\n".encode(),
        "/etc/group": f"{USER}:x:{group}:\n".encode(),
    }


@functools.cache
def _counters(memory_mib: int) -> dict[str, bytes]:
    """Returns files of `/proc` in which runtimes count cores and memory: the machine's cores, and the box's memory.

    Nothing in them ever changes, and nothing that is used is in them.
    """
    kinds = _proc()[1]
    cores = range(sum(line.startswith("processor") for line in kinds))
    zeros = " 0" * 10
    times = [f"cpu {zeros}", *(f"cpu{core}{zeros}" for core in cores), "ctxt 0", "btime 0", "processes 1"]
    memory = [f"{name + ':':15} {memory_mib << 10:8} kB" for name in ("MemTotal", "MemFree", "MemAvailable")]
    memory += [f"{name + ':':15} {0:8} kB" for name in ("Buffers", "Cached", "SwapTotal", "SwapFree")]
    found = {"stat": times, "meminfo": memory, "cpuinfo": kinds, "loadavg": ["0.00 0.00 0.00 1/1 1"]}
    found["uptime"] = ["0.00 0.00"]
    return {f"/proc/{name}": "".join(f"{line}\n" for line in lines).encode() for name, lines in found.items()}


@functools.cache
def _program(name: str) -> str:
    """Returns the path of a program of the system. A MachineFault says that there is none."""
    path = shutil.which(name, path=":".join(PROGRAM_FOLDERS))
    if path is None:
        raise errors.MachineFault(
            f"expected the program {name} in {', '.join(PROGRAM_FOLDERS)}, got: none; {_GONE[name]}"
        )
    return path
