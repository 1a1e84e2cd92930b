"""One bot process: started in a group of its own, watched, and killed with its whole group.

What it gets: the folder of its manifest as working directory, an environment with no more than `INHERITED`, `FIXED` and
`ARENA_*`, an empty standard input, one capped file for standard output and error, no other descriptor, no core dumps,
and a limit on the size of any file it writes. Its output is its own to spoil (O_DIRECT, chmod): it is read through
another open file, and what cannot be read is words that the author misses, never an error of the machine.

That is all at level `trusted`: a process that leaves its group (`setsid`) is out of reach there, unless it was seen
before as one of the tree that the bot's fence looks at.

At level `fenced` it is one process that has given up what it could do (`sandbox/fenced.py`).

From level `isolated` on it runs in a box (`sandbox/box.py`), and as a user of its own if the referee is root's. The
process here is then the one that made the box: killing it ends all that is in the box.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.errors import ArenaError, MachineFault
from arena.core.link.bots import BotSpec
from arena.core.link.connection import SOCKET_NAME
from arena.core.link.custody import Custody
from arena.core.link.faults import is_of_the_program, machine_fault
from arena.core.link.runtimes import PYTHON, find, python, resolved, search_path
from arena.core.text import plain
from arena.core.types import Level, Termination
from arena.core.wire.variables import ENDPOINT, FIXED, TOKEN
from arena.sandbox import accounts, binds, box, fenced, staging
from arena.sandbox.fence import data_limit_mib, fence, process_limit
from arena.sandbox.filter import FOR_BUILDS, SHOWN_MIB, answers

INHERITED: Final = ("HOME", "LD_LIBRARY_PATH", "TMPDIR")
"""The variables of the referee's environment that a trusted bot gets beside `PATH`.

Without them runtimes do not find what their user has installed, or where they may write, or would be others than those
that the user starts. A bot in a box gets none of them.
"""

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


class BuildNeeds(msgspec.Struct, frozen=True, kw_only=True):
    """What a build needs beside what a bot does."""

    needs: binds.Needs
    """What it sees, read-only: the toolchains of the machine."""
    writable: dict[str, str]
    """What it may change: each path in the box, and where the content of it lies."""
    processes: int
    """How many processes and threads it may have."""
    descriptors: int
    """How many descriptors each process may have."""


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
        build_needs: BuildNeeds | None = None,
        bare: bool = False,
    ) -> None:
        """Starts the bot.

        Args:
            spec: The bot.
            custody: What ends it if this process cannot.
            environment: What it gets beside the variables that all have.
            level: How far it is confined. From `isolated` on `ARENA_ENDPOINT` is where the box has the socket.
            socket_folder: The folder of its socket; only a box needs to know.
            user: What `accounts.seat_user` returned. It is given back when the process has been reaped, or at once if
                it does not start.
            build_needs: What a build needs to see and may change; None for a bot that plays.
            bare: Whether it gets nothing beside `environment` but `PATH`.
        """
        self._build_needs = build_needs
        self._bare = bare
        self._custody = custody
        self._spec = spec
        self._level = level
        self._end: End | None = None
        self._killed = False
        self._reaped = False
        self._words: tuple[str, ...] = ()
        self._status_file: int | None = None
        """Where the box tells what became of it; None where there is no box."""
        self._fenced_file: int | None = None
        """Where it stands that the bot was fenced in; None but at `fenced`."""
        self.user = user
        """As whom it runs; None for this process's user."""
        with ExitStack() as held, ExitStack() as ours:
            held.callback(accounts.give_back, user)
            self._output, self._written_to = _capture(custody.directory, user)
            held.callback(os.close, self._output)
            ours.callback(os.close, self._written_to)
            self.fence = fence(level, spec, processes=None if build_needs is None else build_needs.processes)
            """What limits and measures it, with all that it starts."""
            held.callback(self.fence.close)
            self._process: subprocess.Popen[bytes] | fenced.Started
            with custody.starting():
                if level is Level.TRUSTED:
                    self._process = self._start(environment)
                elif level is Level.FENCED:
                    self._process = self._start_fenced(environment, socket_folder, held)
                else:
                    self._process = self._start_boxed(environment, socket_folder, held)
                self.pid = self._process.pid
                """Its process, and its process group."""
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
            self._held = held.pop_all()
            """What is given back when the process is gone."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"go\n")
            self._process.stdin.close()

    def end(self) -> End | None:
        """Returns how the process ended, or None while it lives. It is not reaped by that: its number stays its own.

        Raises:
            MachineFault: The bot was never started, because it could not be confined. No bot is to blame.
        """
        if self._end is None:
            status = self._status()
            if status is not None:
                self._check_fenced(status)
                self._end = _end(status if self._status_file is None else self._boxed_status(status))
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
        """Empties the captured output: a new game begins."""
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

    def _start(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Starts the bot as a process of this user."""
        if not self._bare:
            environment = FIXED | {name: os.environ[name] for name in INHERITED if name in os.environ} | environment
        environment = {"PATH": ":".join(search_path())} | environment
        program, *arguments = resolved(self._spec.command)
        return self._spawn([find(program) or program, *arguments], cwd=self._spec.folder, env=environment)

    def _start_boxed(
        self, environment: dict[str, str], socket_folder: Path | None, held: ExitStack
    ) -> subprocess.Popen[bytes] | fenced.Started:
        """Starts the bot in a box."""
        build_needs = self._build_needs
        needs = binds.given(self._spec) if build_needs is None else build_needs.needs
        reached = None
        if socket_folder is not None:
            environment = environment | {ENDPOINT: box.ENDPOINT}
            reached = self._reach(str(socket_folder))
            held.callback(staging.leave, str(socket_folder))
        command = box.command(
            needs.command or resolved(self._spec.command, python(PYTHON).program),
            folder=needs.folder if build_needs is None else self._spec.folder,
            trees={tree: self._reach(place) for tree, place in needs.trees.items()},
            empty=needs.empty,
            environment=FIXED | needs.environment | {"PATH": needs.path} | environment,
            processes=process_limit() if build_needs is None else build_needs.processes,
            memory_mib=self._spec.memory_mib,
            data_mib=data_limit_mib(self._spec.memory_mib) if self._level is Level.ISOLATED else None,
            socket_folder=reached,
            user=self.user,
            **({} if build_needs is None else self._of_workshop(build_needs)),
        )
        with command:
            process = self._start_maker(command)
        self._status_file = command.status
        held.callback(os.close, command.status)
        return process

    def _start_maker(self, command: box.Command) -> subprocess.Popen[bytes] | fenced.Started:
        """Starts the program that makes the box. What a build asks the kernel is answered by the kernel."""
        if self._build_needs is not None:
            return self._spawn(
                command.words, cwd="/", env=self._custody.mark, umask=0o022, pass_fds=command.descriptors
            )
        return fenced.start_box(
            command.words,
            self._custody.mark,
            command.descriptors,
            limits={"FSIZE": _file_limit(self._spec.file_mib), "CORE": 0},
            answers=answers(self._spec.memory_mib, SHOWN_MIB),
            user=self.user,
            output=self._written_to,
        )

    def _start_fenced(self, environment: dict[str, str], socket_folder: Path | None, held: ExitStack) -> fenced.Started:
        """Starts the bot as one process without a box."""
        spec = self._spec
        links = self._custody.directory if self.user is None else accounts.run_folder()
        placed = fenced.placed(spec, binds.given(spec), links, self.user)
        process, self._fenced_file = fenced.start(
            placed,
            FIXED | environment,
            socket_path="" if socket_folder is None else str(socket_folder / SOCKET_NAME),
            limits={
                "NOFILE": box.MAX_DESCRIPTORS,
                "DATA": data_limit_mib(spec.memory_mib) << 20,
                "FSIZE": _file_limit(spec.file_mib),
                "CORE": 0,
                "MSGQUEUE": 0,
                # Where seats share a user, how many of these that user has left would tell one what the other took.
                "SIGPENDING": 0 if self.user is None else box.MAX_SIGNALS,
                # It counts a user's threads on the whole machine: of use only where the seat has a user of its own.
                **({} if self.user is None else {"NPROC": process_limit()}),
            },
            answers=answers(spec.memory_mib, 0),
            user=self.user,
            output=self._written_to,
        )
        held.callback(os.close, self._fenced_file)
        return process

    def _of_workshop(self, build_needs: BuildNeeds) -> dict[str, Any]:
        """Returns what a build's box has beside a bot's."""
        writable = {tree: self._reach(reached) for tree, reached in build_needs.writable.items()}
        return {"writable": writable, "descriptors": build_needs.descriptors, "allowed": FOR_BUILDS}

    def box_pid(self) -> int | None:
        """Returns the number of the box's process 1, which all in the box end with; None if it is not known yet."""
        return None if self._status_file is None else box.status(self._status_file).pid

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

    def _spawn(self, words: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
        """Starts the wrapper of a command.

        Raises:
            OSError: The bot's program or folder is the reason that it could not be started.
            MachineFault: The machine is.
        """
        try:
            return subprocess.Popen(
                ["/bin/sh", "-c", _WRAPPER, "sh", str(_file_limit(self._spec.file_mib) // _BLOCK), *words],
                stdin=subprocess.PIPE,
                stdout=self._written_to,
                stderr=self._written_to,
                start_new_session=True,
                **how,
            )
        except OSError as error:
            if is_of_the_program(error):
                raise
            raise machine_fault(f"start {self._spec.name}", error) from None

    def _reach(self, path: str) -> str:
        """Returns where the bot's user can reach what `path` names.

        Raises:
            OSError: It is not there, or this process may not see it either.
        """
        if self.user is not None:
            return staging.reach(path)
        os.stat(path)
        return path

    def _open_pidfd(self) -> int | None:
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            return os.pidfd_open(self.pid)
        except OSError as error:
            raise machine_fault(f"watch {self._spec.name}", error) from None

    def _abandon(self) -> None:
        """Ends a process that was not let go."""
        self.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(ArenaError):  # another one is on its way
            self._custody.discard(self.pid)
        self._process.wait()

    def _check_fenced(self, status: int) -> None:
        """Checks that a process which has ended had become the bot, if it was to be fenced in.

        Raises:
            MachineFault: It had not.
        """
        if self._fenced_file is not None and status > 0 and not fenced.is_fenced_in(self._fenced_file):
            raise self._unconfined(f"{self._spec.name} at level {self._level}", status)

    def _unconfined(self, what: str, status: int) -> MachineFault:
        said = " ".join(self.last_words()) or f"exit status {status}"
        return MachineFault(f"expected {what}, got: {said}; `arena doctor --level {self._level}` says what is missing")

    def _boxed_status(self, status: int) -> int:
        """Returns what the bot itself ended with, given what ended the process that made its box.

        Raises:
            MachineFault: There was no box, and no bot.
        """
        assert self._status_file is not None
        if status < 0:
            return status  # it was killed, and the box with it
        code = box.status(self._status_file).exit_code
        if code is None:
            raise self._unconfined(f"a sandbox for {self._spec.name}", status)
        # bwrap adds 128 to the number of a signal. Above the last one it is what the bot itself said.
        return 128 - code if 128 < code < 128 + signal.NSIG else code

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


def _file_limit(mib: int) -> int:
    """Returns a limit on the size of files in bytes, lowered to the one that this process has."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    return mib << 20 if hard == resource.RLIM_INFINITY else min(mib << 20, hard)
