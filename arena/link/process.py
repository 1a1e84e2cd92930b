"""One bot process: started in a group of its own, watched, and killed with its whole group.

What it gets: the folder of its manifest as working directory, an environment with no more than `INHERITED` and
`ARENA_*`, an empty standard input, one capped file for standard output and error, no other descriptor, no core dumps,
and a limit on the size of any file it writes. This is the level `trusted`: a process that leaves its group
(`setsid`) is out of reach, unless it was seen before as one of the tree that the bot's fence looks at.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.link.bots import BotSpec
from arena.link.custody import Custody
from arena.link.sandbox.fence import fence
from arena.text import plain
from arena.types import Level, Termination

INHERITED: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
"""The variables of the referee's environment that a bot gets: what interpreters need to start."""

_WRAPPER: Final = 'read -r go || exit 1; ulimit -c 0; ulimit -f "$1"; trap "" XFSZ; shift; exec "$@" </dev/null'
"""Waits to be registered with the warden (or ends, if the worker died first), sets the limits, becomes the bot.

A bot that ignores SIGXFSZ sees an error when it writes too much, and plays on.
"""
_BLOCK: Final = 512
"""Bytes of a block, the unit of `ulimit -f` in a POSIX shell."""
KEPT_BYTES: Final = 32_768
"""Of what a bot writes in a game no more is kept: the first half of it, and the last."""
_TAIL_BYTES: Final = 8_192
_TAIL_LINES: Final = 20
_TAIL_LINE: Final = 400
_CAN_PEEK: Final = hasattr(os, "waitid")
"""Whether an end can be seen without reaping. Else the number may be another's a moment before we forget it."""


class End(msgspec.Struct, frozen=True):
    """How a process ended."""

    code: Termination
    """CRASHED, or OUT_OF_MEMORY if the system seems to have killed it for its memory."""
    detail: str
    """The rest of a sentence: "exited with status 3", "was killed by SIGSEGV"."""


class BotProcess:
    """A running bot. `kill`, `kill_in` and `reap` end it; nothing else does.

    Raises:
        OSError: The process could not be started.
    """

    def __init__(self, spec: BotSpec, custody: Custody, environment: dict[str, str]) -> None:
        """Starts the bot, with `environment` beside `INHERITED`."""
        self._custody = custody
        self._spec = spec
        self._end: End | None = None
        self._killed = False
        self._reaped = False
        self._words: tuple[str, ...] = ()
        self.fence = fence(Level.TRUSTED, spec)
        """What limits and measures it, with all that it starts."""
        self._output = _capture(custody.directory)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WRAPPER, "sh", str(spec.file_mib * 2**20 // _BLOCK), *spec.command],
                cwd=spec.folder,
                env={name: os.environ[name] for name in INHERITED if name in os.environ} | environment,
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._output)
            self.fence.close()
            raise
        self.pid = self._process.pid
        """Its process, and its process group."""
        custody.add(self.pid)
        self.fence.adopt(self.pid)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"go\n")
            self._process.stdin.close()
        self.pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        """Becomes readable when the process ends; None where the system has no such thing."""

    def end(self) -> End | None:
        """Returns how the process ended, or None while it lives. It is not reaped by that: its number stays its own."""
        if self._end is None:
            status = self._status()
            if status is not None:
                self._end = _end(status)
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
            if not wait and self.end() is None:
                return False
            self.kill()
            if wait and _CAN_PEEK:
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            self._custody.discard(self.pid)
            self._process.wait()
            self.fence.close()
            self._words = self.last_words()
            self._reaped = True
            os.close(self._output)
            if self.pidfd is not None:
                os.close(self.pidfd)
        return True

    def forget_output(self) -> None:
        """Empties the captured output: a new game begins."""
        os.ftruncate(self._output, 0)

    def last_words(self) -> tuple[str, ...]:
        """Returns the last lines of the captured output, control characters escaped. Only the file's tail is read."""
        if self._reaped:
            return self._words
        start = max(0, os.fstat(self._output).st_size - _TAIL_BYTES)
        lines = os.pread(self._output, _TAIL_BYTES, start).decode(errors="backslashreplace").splitlines()
        if start and len(lines) > 1:
            del lines[0]  # it is cut
        return tuple(plain(line)[-_TAIL_LINE:] for line in lines[-_TAIL_LINES:])

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
            return _lines(os.pread(self._output, KEPT_BYTES, 0))
        ends = _lines(os.pread(self._output, half, 0)), _lines(os.pread(self._output, half, size - half))
        return f"\n... {size - KEPT_BYTES} bytes are left out ...\n".join(ends)

    def _status(self) -> int | None:
        """Returns the exit status, or minus the number of the signal that killed it; None while it lives."""
        if not _CAN_PEEK:
            return self._process.poll()
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _lines(output: bytes) -> str:
    """Escapes all but the ends of lines."""
    return "\n".join(map(plain, output.decode(errors="backslashreplace").splitlines()))


def _end(status: int) -> End:
    """Says in words what a status means: an exit status, or minus the number of a signal."""
    if status >= 0:
        return End(Termination.CRASHED, f"exited with status {status}")
    if -status == signal.SIGKILL:
        # Not by us, or nobody would ask. Nearly always it is the kernel, which leaves no other trace.
        return End(Termination.OUT_OF_MEMORY, "was killed by SIGKILL, probably because the machine ran out of memory")
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return End(Termination.CRASHED, f"was killed by {name}")


def _capture(directory: Path) -> int:
    """Opens a file without a name, for output. It is appended to, so that emptying it makes no hole."""
    path = directory / "output"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    path.unlink()
    return descriptor
