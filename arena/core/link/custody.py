"""What must not outlive a worker process: its private directory, its bots' process groups, and what bots leave behind.

Laws:
1. Whatever a bot starts ends with it, in a session of its own too (`setsid`, two forks). The worker is the system's
   "child subreaper": an orphan below it becomes its child. A bot begins in another session than the worker's, and no
   process can come back to that. So a child of the worker in another session, which is no bot itself, was left by one.
   If its environment has the token of a bot that lives, it ends with that bot, else with the next bot that ends. While
   a process starts a program, its environment reads as empty for a moment: then it is looked at again.
2. So whatever else a worker starts must stay in the worker's session, or be registered here. The warden stays in it,
   too: if its worker dies, it may become the child of a process that is itself a subreaper, and must clean up in peace.
3. The warden does the same when the worker dies. It is another process, so it may be killed itself: then it is started
   anew at once, with all that it guarded, by a thread that does nothing but wait for its end.
4. If a warden and its worker are killed at the same moment, the next custody on the machine ends what they have left.
   A process holds a lock on its private directory; one that nobody holds is abandoned. What it has started names the
   directory in its environment: a bot does, and the processes that make a box do (`mark`), though nothing in the box
   does. Nobody in the box can change theirs, and who names the directory of others is ended in their place.
5. Without Linux there is no subreaper and no table of children: then only the process groups end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena.core import remedies, scratch
from arena.core.link import warden
from arena.core.link.faults import machine_fault
from arena.core.types import NS_PER_MS
from arena.core.wire.variables import TOKEN

_PREFIX: Final = "arena-w."
_MARK: Final = "ARENA_WORKER"
_RETRY_S: Final = 0.05  # the shortest time between two starts of a warden
_TOKEN: Final = f"{TOKEN}=".encode()
_PR_SET_CHILD_SUBREAPER: Final = 36

_known: dict[int, bytes] = {}
"""The bots of this process: by number their tokens, as they stand in environments; nothing if it is dead."""
_custodies = 0  # how many there are in this process, whose orphans it wants
_lock: Final = threading.RLock()
"""Held while a bot is started and registered, and while strays are looked for: until a bot is registered it looks like
one. It is the process's, as its children are, so that threads with custodies of their own spare each other's bots."""


class Custody:
    """A private directory, and a warden process that removes it and kills all registered groups when this process ends.

    Make one in each process, never before a fork: the warden waits until nobody holds its pipe.
    """

    def __init__(self) -> None:
        """Makes both.

        Raises:
            MachineFault: The machine cannot give them.
        """
        try:
            self.directory, self._hold = scratch.make(_PREFIX)
        except OSError as error:
            raise machine_fault("make a temporary folder", error, remedy=remedies.ROOM) from error
        """Open to this user only."""
        self._groups: dict[int, int | None] = {}
        """Groups that are registered, and when (in nanoseconds) the warden was told to kill each, if it was."""
        self._closed = False
        self._writer = -1
        self._warden: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._replace_dead_wardens, daemon=True)
        try:
            self._start_warden()
            self._thread.start()
        except (OSError, RuntimeError) as error:
            self._leave_directory()
            raise machine_fault(_NO_WARDEN, error) from error
        _be_subreaper(+1)
        _end_abandoned()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Holds back the search for strays, while a bot is started and registered."""
        with _lock:
            yield

    def add(self, group: int, token: str) -> None:
        """Registers a process group. Do it before the group's program runs.

        Args:
            token: The value of `ARENA_TOKEN` in its environment, by which is known what it starts.

        Raises:
            MachineFault: The warden is dead, and no other can be started.
        """
        with _lock:
            self._groups[group] = None
            _known[group] = _TOKEN + token.encode()
            self._tell(f"+{group}\n")

    def discard(self, group: int) -> None:
        """Ends what a dead bot has left, and forgets its process group.

        Do it before the group's leader is reaped: afterwards the number may be another's.
        """
        with _lock:
            self._groups.pop(group, None)
            _known[group] = b""
            self._tell(f"-{group}\n")
            self._end_strays()
            del _known[group]

    def kill_in(self, group: int, ms: int) -> None:
        """Has the warden kill a registered process group in `ms` milliseconds, unless it is discarded before.

        It does so even while this process is busy, blocked or stopped.
        """
        with _lock:
            due = time.monotonic_ns() + ms * NS_PER_MS
            if group in self._groups:
                self._groups[group] = min(due, self._groups[group] or due)
            self._tell(f"!{group} {ms}\n")

    @property
    def mark(self) -> dict[str, str]:
        """Returns variables by which a process is known to be this one's. What makes a box gets no others."""
        return {_MARK: str(self.directory)}

    def seat_folder(self) -> Path:
        """Makes a folder for one process, in it `tmp` for its temporary files. `remove` ends it.

        Its name cannot be guessed, and who knows it may enter: a socket can lie in it for a process of another user.

        Raises:
            MachineFault: The machine has no room for it.
        """
        try:
            folder = Path(tempfile.mkdtemp(prefix="", dir=self.directory))
            folder.chmod(0o711)
            (folder / "tmp").mkdir(0o700)
        except OSError as error:
            raise machine_fault("make a bot's temporary folder", error, at=self.directory) from error
        return folder

    def remove(self, folder: Path) -> None:
        """Removes the folder of a process that has ended, with whatever the process made in it."""
        warden.remove_tree(str(folder))

    def close(self) -> None:
        """Kills what is still registered and removes the directory."""
        with _lock:
            if self._closed:
                return
            self._closed = True
            for group in self._groups:
                _known[group] = b""
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
            self._end_strays()
            self._leave_directory()
            assert self._warden is not None
            self._warden.kill()  # it has nothing left to do
            os.close(self._writer)
        self._thread.join()
        self._warden.wait()  # the thread may have waited for the one before it
        _be_subreaper(-1)
        for group in self._groups:
            _known.pop(group, None)

    def _leave_directory(self) -> None:
        warden.remove_tree(str(self.directory))
        os.close(self._hold)

    def _tell(self, line: str) -> None:
        """Gives the warden an order. If it does not read any more, another takes its place and learns what it knew."""
        try:
            os.write(self._writer, line.encode())
        except (BrokenPipeError, BlockingIOError):
            try:
                self._start_warden()
            except OSError as error:
                raise machine_fault(_NO_WARDEN, error) from error

    def _replace_dead_wardens(self) -> None:
        """Starts the warden anew whenever it has died. Runs as a thread until `close`."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the first thread
        while True:
            dead = self._warden
            assert dead is not None
            dead.wait()
            with _lock:
                if self._closed:
                    return
                if self._warden is dead:
                    with suppress(OSError):
                        self._start_warden()
            time.sleep(_RETRY_S)

    def _start_warden(self) -> None:
        """Starts a warden with all that is registered, instead of the one before.

        Raises:
            OSError: The machine cannot give it.
        """
        reader, writer = os.pipe()
        try:
            os.set_blocking(writer, False)
            started = subprocess.Popen(
                [sys.executable, "-I", "-S", warden.__file__, str(self.directory)],
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                process_group=0,  # in the worker's session: see the laws
            )
        except BaseException:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        now = time.monotonic_ns()
        for group, due in self._groups.items():
            order = f"+{group}\n" if due is None else f"+{group}\n!{group} {max(0, due - now) // NS_PER_MS}\n"
            os.write(writer, order.encode())
        if self._warden is not None:
            # One that was only stopped must not see the end of its pipe: it would kill all that it guards.
            self._warden.kill()
            self._warden.wait()
            os.close(self._writer)
        self._warden, self._writer = started, writer

    def _end_strays(self) -> None:
        """Kills and reaps what dead bots have left. What it has not seen the end of, it kills the next time."""
        for _ in range(warden.ROUNDS):
            strays, undecided = _strays()
            if not strays and not undecided:
                return
            for pid in strays:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not all(map(_reap, strays)) or undecided:
                time.sleep(warden.ROUND_S)


def _end_abandoned() -> None:
    """Ends what processes have left that were killed together with their wardens."""
    for directory in scratch.abandoned(_PREFIX):
        with suppress(OSError):
            warden.end_all_of(str(directory))


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _strays() -> tuple[list[int], list[int]]:
    """Returns the children of this process that it did not start and that no living bot answers for.

    The second list is of those of which this cannot be said yet.
    """
    own, alive = os.getsid(0), {token for token in _known.values() if token}
    strays, undecided = [], []
    for pid in warden.children(os.getpid()):
        with suppress(OSError):
            if pid in _known or warden.Status(pid).session == own:
                continue
            variables = warden.environment(pid) if alive else b""
            if variables is None:
                undecided.append(pid)
            elif alive.isdisjoint(variables.split(b"\0")):
                strays.append(pid)
    return strays, undecided


def _be_subreaper(change: int) -> None:
    """Counts the custodies of this process. While there is one, orphans below it become its children."""
    global _custodies
    _custodies += change
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(_custodies > 0), 0, 0, 0)


_NO_WARDEN = "start the process that ends what a worker leaves behind"
