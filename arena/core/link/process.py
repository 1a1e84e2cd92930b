"""One bot process: started in a group of its own, watched, and killed with its whole group.

What it gets: the folder of its manifest as working directory, an environment with no more than `INHERITED`, `FIXED` and
`ARENA_*`, an empty standard input, one capped file for standard output and error, no other descriptor, no core dumps,
and a limit on the size of any file it writes. Its output is its own to spoil (O_DIRECT, chmod): it is read through
another open file, and what cannot be read is words that the author misses, never an error of the machine.

That is all at level `trusted`: a process that leaves its group (`setsid`) is out of reach there, unless it was seen
before as one of the tree that the bot's fence looks at. Above it a `Confinement` says how the program is started. The
process here is then the one that holds it: killing it ends all that the bot has started.
"""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.core.errors import ArenaError, MachineFault
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import Confinement, Launch, confinement
from arena.core.link.custody import Custody
from arena.core.link.faults import machine_fault
from arena.core.text import plain
from arena.core.types import Level, Termination
from arena.core.wire.variables import TOKEN

KEPT_BYTES: Final = 32_768  # of what a bot writes in a game no more is kept: the first half of it, and the last
_TAIL_BYTES: Final = 8_192
_TAIL_LINES: Final = 20
_TAIL_LINE: Final = 400
_CAN_PEEK: Final = hasattr(os, "waitid")
"""Whether an end can be seen without reaping. Else the number may be another's a moment before we forget it."""


class Exit(msgspec.Struct, frozen=True):
    """How a process ended."""

    code: Termination
    """CRASHED, or OUT_OF_MEMORY if the system seems to have killed it for its memory."""
    detail: str
    """The rest of a sentence: "exited with status 3", "was killed by SIGSEGV"."""


class BotProcess:
    """A running bot. `kill`, `kill_in` and `reap` end it; nothing else does.

    Raises:
        OSError: The bot's own program or folder is the reason that it could not be started.
        MachineFault: The machine is the reason. No bot is to blame.
        BotError: It cannot be started at this level. Show the message to the operator.
    """

    def __init__(
        self,
        spec: BotSpec,
        custody: Custody,
        environment: dict[str, str],
        *,
        level: Level = Level.TRUSTED,
        socket_folder: Path | None = None,
        user: int | None = None,
        confined_by: Confinement | None = None,
        bare: bool = False,
    ) -> None:
        """Starts the bot.

        Args:
            custody: What ends it if this process cannot.
            environment: What it gets beside the variables that all have.
            level: How far it is confined. From `isolated` on `ARENA_ENDPOINT` is where the box has the socket.
            socket_folder: The folder of its socket; only a box needs to know.
            user: What `Confinement.allot_user` returned. It is released when the process has been reaped, or at once
                if it does not start.
            confined_by: What confines it instead of what does so at `level`: for builds.
            bare: Whether it gets nothing beside `environment` but `PATH`.
        """
        self._custody = custody
        self._spec = spec
        self._level = level
        self._confinement = confined_by or confinement(level)
        self._end: Exit | None = None
        self._killed = False
        self._reaped = False
        self._words: tuple[str, ...] = ()
        self.user = user  # as whom it runs; None for this process's user
        with ExitStack() as held, ExitStack() as ours:
            held.callback(self._confinement.release_user, user)
            self._output, written_to = _capture(custody.directory, user)
            held.callback(os.close, self._output)
            ours.callback(os.close, written_to)
            self.fence = self._confinement.fence(spec)  # its limits and measurements, with all that it starts
            held.callback(self.fence.close)
            launch = Launch(spec, environment, custody, written_to, socket_folder, user, bare)
            with custody.starting():
                self._started = self._confinement.start(launch, held)
                self._process = self._started.process
                self.pid = self._process.pid  # its process, and its process group
                with ExitStack() as begun:
                    begun.callback(self._abandon)
                    token = environment.get(TOKEN, "")
                    custody.add(self.pid, token)
                    self.fence.adopt(self.pid, token)
                    self.pidfd = self._open_pidfd()
                    """Becomes readable when the process ends; None where the system has no such thing."""
                    begun.pop_all()
            if self.pidfd is not None:
                held.callback(os.close, self.pidfd)
            self._held = held.pop_all()  # resources of its level, released when the process is gone
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"go\n")
            self._process.stdin.close()

    def end(self) -> Exit | None:
        """Returns how the process ended, or None while it lives. It is not reaped by that: its number stays its own.

        Raises:
            MachineFault: The bot was never started, because it could not be confined. No bot is to blame.
        """
        if self._end is None:
            status = self._status()
            if status is not None:
                own = self._started.bot_status(status)
                if own is None:
                    said = " ".join(self.last_words()) or f"exit status {status}"
                    raise MachineFault(
                        f"expected {self._spec.name} to start at level {self._level}, got: {said}; "
                        f"`arena doctor --level {self._level}` says what is missing"
                    )
                self._end = _end(own)
        return self._end

    def kill(self) -> None:
        """Kills the process's group and tree, without waiting. Those of a dead process too: the rest may live on."""
        if not self._killed and not self._reaped:
            self._killed = True
            self.fence.kill()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def kill_in(self, ms: int) -> None:
        """Has the warden kill the whole process group in `ms` milliseconds, whatever this process does meanwhile."""
        if not self._killed and not self._reaped:
            self._custody.kill_in(self.pid, ms)

    def reap(self, *, wait: bool = False) -> bool:
        """Buries the killed process, and tells whether it is gone for good. With `wait`, it is."""
        if not self._reaped:
            if not wait and self._status() is None:
                return False
            self.kill()
            if wait and _CAN_PEEK:
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            self._custody.discard(self.pid)
            self._process.wait()
            self._reaped = True  # whatever fails from here on, the number may be another's
            self._words = self._tail()
            self._held.close()
        return True

    def forget_output(self) -> None:
        """Empties the captured output, unless the bot has closed it to all: a new game begins."""
        with suppress(OSError):
            os.ftruncate(self._output, 0)

    def last_words(self) -> tuple[str, ...]:
        """Returns the last lines of the captured output, control characters escaped. Only the file's tail is read."""
        return self._words if self._reaped else self._tail()

    def output_bytes(self) -> int:
        """Returns how many bytes the process wrote in this game; 0 once it is gone."""
        return 0 if self._reaped else os.fstat(self._output).st_size

    def output(self) -> str:
        """Returns what the process wrote in this game, control characters escaped but for ends of lines.

        Of more than `KEPT_BYTES` it is the beginning and the end, with a line between that says how much is left out.
        """
        if self._reaped:
            return "\n".join(self._words)
        size, half = os.fstat(self._output).st_size, KEPT_BYTES // 2
        if size <= KEPT_BYTES:
            return _lines(self._read(KEPT_BYTES, 0))
        ends = _lines(self._read(half, 0)), _lines(self._read(half, size - half))
        return f"\n... {size - KEPT_BYTES} bytes are left out ...\n".join(ends)

    def init_pid(self) -> int | None:
        """Returns process 1 of the box, which all in it end with; None where there is none, or none yet."""
        return self._started.init_pid()

    def last_output(self, most: int) -> bytes:
        """Returns the last bytes that the process wrote, as they are."""
        if self._reaped:
            return b""
        return self._read(most, max(0, os.fstat(self._output).st_size - most))

    def _tail(self) -> tuple[str, ...]:
        start = max(0, os.fstat(self._output).st_size - _TAIL_BYTES)
        lines = self._read(_TAIL_BYTES, start).decode(errors="backslashreplace").splitlines()
        if start and len(lines) > 1:
            del lines[0]  # it is cut
        return tuple(plain(line)[-_TAIL_LINE:] for line in lines[-_TAIL_LINES:])

    def _read(self, most: int, start: int) -> bytes:
        """Returns a part of the captured output. If it cannot be read, that stands in its place: no game ends by it."""
        try:
            return os.pread(self._output, most, start)
        except OSError as error:
            return f"(what it wrote cannot be read: {error.strerror})".encode()

    def _open_pidfd(self) -> int | None:
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            return os.pidfd_open(self.pid)
        except OSError as error:
            raise machine_fault(f"watch {self._spec.name}", error) from None

    def _abandon(self) -> None:
        self.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(ArenaError):  # another one is on its way
            self._custody.discard(self.pid)
        self._process.wait()

    def _status(self) -> int | None:
        """Returns the exit status, or minus the number of the signal that killed it; None while it lives."""
        if not _CAN_PEEK:
            return self._process.poll()
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _lines(output: bytes) -> str:
    return "\n".join(map(plain, output.decode(errors="backslashreplace").splitlines()))


def _end(status: int) -> Exit:
    if status >= 0:
        return Exit(Termination.CRASHED, f"exited with status {status}")
    if -status == signal.SIGKILL:
        # Not by us, or nobody would ask. Nearly always it is the kernel, which leaves no other trace.
        return Exit(Termination.OUT_OF_MEMORY, "was killed by SIGKILL, probably because the machine ran out of memory")
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return Exit(Termination.CRASHED, f"was killed by {name}")


def _capture(directory: Path, user: int | None) -> tuple[int, int]:
    """Makes a file without a name, for output, and opens it twice: to be read here, and to be written by the bot.

    Each is an open file of its own, so that no flag that the bot sets is ours. The bot's is appended to, so that
    emptying it makes no hole. The file belongs to the bot's user, since programs open `/dev/stderr`.

    Raises:
        MachineFault: The machine has no room for it.
    """
    path = directory / "output"
    with ExitStack() as opened:
        try:
            ours = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            opened.callback(os.close, ours)
            opened.callback(path.unlink, missing_ok=True)
            theirs = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            opened.callback(os.close, theirs)
            path.unlink()
            if user is not None:
                os.fchown(ours, user, -1)
        except OSError as error:
            raise machine_fault("capture a bot's output", error) from None
        opened.pop_all()
    return ours, theirs
