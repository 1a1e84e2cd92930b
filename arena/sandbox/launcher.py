"""Starts the bots of level `fenced`: each is a copy of this process that fences itself in and becomes the bot.

Run as a process of its own, standard library only: `python -I -S launcher.py DESCRIPTOR`. The descriptor is a socket of
the worker's. An order is a dictionary, marshalled: what is imported here costs every worker (`json` and `socket` would
cost as much as all the rest). With it come the descriptors, in this order: standard input, over which comes a line when
the bot may begin; its output; where a dot is written once it is fenced in; the Landlock ruleset. With a box come the
first two, those that it inherits, and the worker's mount namespace if it has one of its own, which may be younger than
this process. The answer is the number of the process, or 0 and why there is none.

The process is a child of the worker, not of this one: the worker waits for it as for any that it has started.

Also, this process answers the bots' `connect`, which the filter leaves to it (SECCOMP_RET_USER_NOTIF): whatever a bot
connects to, it gets a connection to its own seat's socket, put in the place of its own (SECCOMP_IOCTL_NOTIF_ADDFD). The
address is read only to be kind: the C library looks for `nscd` whenever a user's name is asked for, and its bytes would
be a broken greeting. A bot that changes the address meanwhile gains nothing: there is one socket that it can get.

Boxes are started here, too. A filter before bwrap's leaves to this process what a filter cannot answer, because the
answer is in memory: `sysinfo` and `statfs` get numbers of the box, always the same. With an error instead, the C
library would take what lies on the stack for the machine's memory, and sort by another algorithm.

Laws:
1. The order is mounts, limits, user and rights, files, Landlock, filters, exec. What needs rights or opens files comes
   before these are given up; the large filter comes last, because it forbids the calls that load another one.
2. The number of the process stays the same through exec. So it can be part of a filter: `kill` of nobody else.
3. When the worker ends, so does this process.
"""

from __future__ import annotations

import _socket
import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, NoReturn

MOST_ANSWERS = 1_000
"""Number of calls of a bot that are answered here; each millisecond that an answer took is one more. All after them
fail. So nobody waits for long because of another."""
_SECCOMP, _CLONE, _KILL, _TGKILL, _CAPSET, _SETNS, _SETFSUID, _SETFSGID, _UNSHARE, _MOUNT = {
    "x86_64": (317, 56, 62, 234, 126, 308, 122, 123, 272, 165),
    "aarch64": (277, 220, 129, 131, 91, 268, 151, 152, 97, 40),
}.get(os.uname().machine, (0,) * 10)
_OPEN_TREE, _MOVE_MOUNT, _GETFD, _RESTRICT = 428, 429, 438, 446
_CLONE_PARENT, _NEW_MOUNTS, _ALL_SLAVES, _PLAIN = 0x8000, 0x20000, 0x84000, 0x6
_HERE, _COPY_ALL_OF_IT, _THAT_ITSELF = -100, 0x8001, 4
_NO_NEW_PRIVS, _PTRACER, _AMBIENT, _CLEAR_ALL = 38, 0x59616D61, 47, 4
_FILTER, _LISTENER = 1, 8
_CAPABILITIES = 0x2008_0522
_RECEIVE, _SEND, _IS_VALID, _ADD = 0xC050_2100, 0xC018_2101, 0x4008_2102, 0x4018_2103
_IN_PLACE = 1
_ORDER = 1 << 20
_DESCRIPTORS = 64

_libc = ctypes.PyDLL(None, use_errno=True)  # without giving up the interpreter's lock, which a copy could not take
_libc.syscall.restype = ctypes.c_long


def _call(what: str, number: int, *arguments: Any) -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


# A bot


def _load(program: bytes, flags: int = 0) -> int:
    """Loads a filter, and returns the descriptor that answers for it if `flags` ask for one."""
    held = ctypes.create_string_buffer(program, len(program))
    told = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held))
    return _call("load a filter", _SECCOMP, 1, flags, told)


def only_itself(pid: int) -> bytes:
    """Returns a filter that lets a process signal nobody but itself."""
    load, equal, answer, refuse, allow = 0x20, 0x15, 0x06, 0x0005_0001, 0x7FFF_0000
    steps = [
        (load, 0, 0, 0), (equal, 1, 0, _KILL), (equal, 0, 4, _TGKILL),
        (load, 0, 0, 16), (equal, 2, 0, pid), (equal, 1, 0, 0), (answer, 0, 0, refuse), (answer, 0, 0, allow),
    ]  # fmt: skip
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _open_ways(ways: dict[bytes, list[bytes]]) -> None:
    """Mounts, for this process alone, an empty folder over each that is closed to the bot's user, and in it what is
    granted."""
    _call("take a mount namespace", _UNSHARE, _NEW_MOUNTS)
    _call("part from the machine's mounts", _MOUNT, b"none", b"/", None, _ALL_SLAVES, None)
    for over, paths in ways.items():
        links = {path: os.readlink(path) for path in paths if os.path.islink(path)}
        flags = _COPY_ALL_OF_IT | os.O_CLOEXEC
        trees = {path: _call("open a tree", _OPEN_TREE, _HERE, path, flags) for path in paths if path not in links}
        files = {path for path in trees if not os.path.isdir(path)}
        _call("mount a folder", _MOUNT, b"none", over, b"tmpfs", _PLAIN, b"mode=755,size=1m")
        for path in paths:
            os.makedirs(os.path.dirname(path) if path in links or path in files else path, exist_ok=True)
            if path in trees:
                if path in files and not os.path.exists(path):
                    os.mknod(path)
                _call("mount a tree", _MOVE_MOUNT, trees[path], b"", _HERE, path, _THAT_ITSELF)
                os.close(trees[path])
            elif not os.path.lexists(path):
                os.symlink(links[path], path)


def _give_up_rights(user: int | None) -> None:
    """Becomes a user, and gives up all capabilities: those that a user namespace's root has, too."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    _call("drop capabilities", _CAPSET, struct.pack("Ii", _CAPABILITIES, 0), bytes(24))
    if _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError("set no_new_privs")


def _be_the_bot(told: dict[str, Any], given: list[int], tell: int) -> NoReturn:
    """Waits until the bot may begin, fences this process in, and becomes the bot. It does not return."""
    os.setsid()
    for number, descriptor in enumerate((given[0], given[1], given[1])):
        os.dup2(descriptor, number)  # all others are closed by exec
    if not os.read(0, 3):
        os._exit(1)  # the worker is gone
    status, ruleset = given[2:]
    os.umask(0o022)
    try:
        if told["ways"]:
            try:
                _open_ways(told["ways"])
            except OSError as error:
                closed = os.fsdecode(b", ".join(told["ways"]))
                raise OSError(f"{closed} keeps the seat's user out, and no mount can be made: {error}") from None
        for name, limit in told["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
        _give_up_rights(told["user"])
        os.chdir(told["folder"])
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and SIGXFSZ, which stays so
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        _libc.prctl(_PTRACER, ctypes.c_ulong(told["server"]), 0, 0, 0)  # Yama would hide addresses of `connect` from it
        _call("restrict itself by Landlock", _RESTRICT, ruleset, 0)
        os.close(ruleset)
        _load(only_itself(os.getpid()))
        listener = _load(told["filter"], _LISTENER)
        _socket.socket(fileno=tell).sendmsg([b"."], [_rights(listener)])
        os.close(listener)
        os.write(status, b".")
    except Exception as error:
        os.write(2, str(error).encode())
        os._exit(1)
    program = told["command"][0]
    try:
        os.execve(program, told["command"], told["environment"])
    except OSError as error:
        os.write(2, b"%b: %b\n" % (program, (error.strerror or "").encode()))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _be_a_box(told: dict[str, Any], given: list[int], tell: int) -> NoReturn:
    """Waits until the bot may begin, and becomes the program that makes its box. It does not return."""
    os.setsid()
    sources = [given[0], given[1], *given[1:], tell]
    for at, number in enumerate((0, 1, 2, *told["numbers"])):
        for later in range(at + 1, len(sources)):
            if sources[later] == number:
                sources[later] = os.dup(number)  # it makes room
        os.dup2(sources[at], number)
        os.set_inheritable(number, True)
    if not os.read(0, 3):
        os._exit(1)  # the worker is gone
    try:
        if told["mounts"]:
            _call("enter the worker's mounts", _SETNS, sources[-2], _NEW_MOUNTS)
        for name, limit in told["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
        for number in (signal.SIGPIPE, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.umask(0o022)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        if _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError("set no_new_privs")
        try:
            listener = _load(told["filter"], _LISTENER)
            _socket.socket(fileno=sources[-1]).sendmsg([b"."], [_rights(listener)])
            os.close(listener)
        except OSError as error:
            if error.errno != errno.EBUSY:  # one that answers calls of this process, as LXD can, leaves no place
                raise
            _load(told["otherwise"])
        os.execve(told["command"][0], told["command"], told["environment"])
    except Exception as error:
        os.write(2, str(error).encode())
        os._exit(1)


def _rights(descriptor: int) -> tuple[int, int, bytes]:
    return _socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", descriptor)


# The answers to calls


class _Door:
    """Answers for one bot."""

    def __init__(self, listener: int, told: dict[str, Any]) -> None:
        self.listener = listener
        self._path: bytes = told["socket"]
        self._answers: dict[int, tuple[int, bytes]] = told["answers"]
        self._user: int | None = told["user"]
        self._pid: int = told["pid"]
        self._left = MOST_ANSWERS

    def answer(self) -> bool:
        """Answers one call. Never waits, never raises. Returns whether there will be more."""
        asked = ctypes.create_string_buffer(80)
        if _libc.ioctl(self.listener, ctypes.c_ulong(_RECEIVE), asked) < 0:
            return True  # its thread has ended, or another signal came first
        begun_ns = time.monotonic_ns()
        number, thread = struct.unpack_from("QI", asked)
        (call,), words = struct.unpack_from("i", asked, 16), struct.unpack_from("6Q", asked, 32)
        if call in self._answers:
            argument, data = self._answers[call]
            error = self._tell(number, thread, words[argument], data)
        else:
            error = self._put(number, thread, *struct.unpack_from("qQ", asked, 32))
        answer = struct.pack("QqiI", number, 0, -error, 0)
        _libc.ioctl(self.listener, ctypes.c_ulong(_SEND), answer)
        self._left -= 1 + (time.monotonic_ns() - begun_ns) // 1_000_000
        return self._left > 0

    def _put(self, number: int, thread: int, descriptor: int, address: int) -> int:
        """Puts a connection in the place of the bot's socket. Returns the error that the bot sees, 0 for none."""
        try:
            self._see_as(self._user or 0)
            try:
                if not self._names(thread, address):
                    return 111  # ECONNREFUSED
                is_blocking = self._is_blocking(thread, descriptor)
            finally:
                self._see_as(0)
            made = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            try:
                made.setblocking(False)
                made.connect(self._path)
                made.setblocking(is_blocking)
                place = struct.pack("QIIII", number, _IN_PLACE, made.fileno(), descriptor, 0)
                if _libc.ioctl(self.listener, ctypes.c_ulong(_ADD), place) < 0:
                    return ctypes.get_errno()
            finally:
                made.close()
        except OSError as error:
            return error.errno or 5
        return 0

    def _tell(self, number: int, thread: int, address: int, data: bytes) -> int:
        """Writes an answer to the bot's memory. Returns the error that the bot sees, 0 for none."""
        try:
            self._see_as(self._user or 0)
            try:
                memory = os.open(f"/proc/{thread}/mem", os.O_WRONLY)
            finally:
                self._see_as(0)
        except OSError:
            return errno.ENOSYS  # a machine may forbid it
        try:
            if _libc.ioctl(self.listener, ctypes.c_ulong(_IS_VALID), struct.pack("Q", number)) < 0:
                return errno.ENOSYS  # its thread has ended, and the number may be another's
            return 0 if os.pwrite(memory, data, address) == len(data) else errno.EFAULT
        except (OSError, OverflowError):
            return errno.EFAULT
        finally:
            os.close(memory)

    def _see_as(self, user: int) -> None:
        """Has the kernel ask whether this user may look into the bot, where root itself lacks the right (in Docker)."""
        if self._user is not None:
            _libc.syscall(ctypes.c_long(_SETFSGID), ctypes.c_long(user))
            _libc.syscall(ctypes.c_long(_SETFSUID), ctypes.c_long(user))

    def _names(self, thread: int, address: int) -> bool:
        """Tells whether an address in the bot's memory is the socket, as far as can be seen."""
        try:
            memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY)
        except OSError:
            return True  # a machine may forbid it
        try:
            return os.pread(memory, 110, address)[2:].split(b"\0")[0] == self._path
        except (OSError, OverflowError):
            return False
        finally:
            os.close(memory)

    def _is_blocking(self, thread: int, descriptor: int) -> bool:
        """Tells whether a bot's socket waits. `/proc` is asked only where the socket itself may not be: of an epoll
        with a million watches it writes 100 MB before it says a word."""
        try:
            pidfd = os.pidfd_open(self._pid)
            try:
                seen = _call("see a socket", _GETFD, pidfd, descriptor, 0)
            finally:
                os.close(pidfd)
        except OSError:  # root in Docker
            if not os.readlink(f"/proc/{thread}/fd/{descriptor}").startswith("socket:"):
                raise
            with open(f"/proc/{thread}/fdinfo/{descriptor}", "rb") as file:
                words = file.read().split()
            return not int(words[words.index(b"flags:") + 1], 8) & os.O_NONBLOCK
        try:
            return os.get_blocking(seen)
        finally:
            os.close(seen)


# The server


def _start(told: dict[str, Any], given: list[int]) -> tuple[int, _socket.socket]:
    """Starts a copy of this process, and returns its number and the socket over which its listener comes."""
    ours, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    told["server"] = os.getpid()
    pid = _call("start a process", _CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        try:
            (_be_a_box if "numbers" in told else _be_the_bot)(told, given, its.detach())
        finally:
            os._exit(1)
    its.close()
    return pid, ours


def _received(channel: _socket.socket, most: int) -> tuple[bytes, list[int]]:
    data, given, _, _ = channel.recvmsg(most, _socket.CMSG_SPACE(4 * _DESCRIPTORS), _socket.MSG_CMSG_CLOEXEC)
    return data, [number for _, _, numbers in given for number in struct.unpack(f"{len(numbers) // 4}i", numbers)]


def serve(orders: _socket.socket) -> None:
    """Starts bots and answers for them until the worker closes `orders`."""
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    waits: dict[int, tuple[_socket.socket, dict[str, Any]]] = {}
    doors: dict[int, _Door] = {}
    while True:
        for number, event in poll.poll():
            if number == orders.fileno():
                data, given = _received(orders, _ORDER)
                if not data:
                    return
                told = marshal.loads(data)
                try:
                    pid, channel = _start(told, given)
                    told["pid"] = pid
                    waits[channel.fileno()] = channel, told
                    poll.register(channel, select.POLLIN)
                    orders.send(struct.pack("i", pid))
                except OSError as error:
                    orders.send(struct.pack("i", 0) + str(error).encode())
                for descriptor in given:
                    os.close(descriptor)
            elif number in waits:
                channel, told = waits.pop(number)
                poll.unregister(number)
                try:
                    _, given = _received(channel, 1)
                except OSError:
                    given = []
                channel.close()
                for listener in given:  # none if it has ended
                    doors[listener] = _Door(listener, told)
                    poll.register(listener, select.POLLIN)
            elif number in doors and not (event & select.POLLIN and doors[number].answer()):
                poll.unregister(number)
                del doors[number]
                os.close(number)


def main() -> None:
    """Serves the worker whose socket was inherited."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker ends it
    orders = int(sys.argv[1])
    os.set_inheritable(orders, False)
    serve(_socket.socket(fileno=orders))


if __name__ == "__main__":
    main()
