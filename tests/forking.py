"""Starts the command `arena` as a fork of a process that has imported it, which takes a sixth of a new one's time.

Each process of pytest has one such server. It runs no command, so none sees what another left in memory; it has one
thread, and nothing open but its socket. A fork has the arguments, folder, environment, streams, cores and process group
of a new process, and does what `python -m arena` does. But its parent is the server, whose command line `/proc` shows,
and its modules are not torn down.

A new process is started where a variable is read before the command begins (another PYTHONPATH or locale, wings that
are away), or something is done between fork and exec. Tests that start one by themselves need what only that has: first
imports, a terminal, a parent, a wheel, limits, a wrapper around it.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from struct import Struct
from typing import Any

ROOT = Path(__file__).parents[1]
ARENA = (sys.executable, "-m", "arena")
_BEFORE = ("PYTHON", "LC_", "LANG", "LD_", "ARENA_WINGS")  # how variables begin that are read before a command begins
_WARM = ("core", "games", "cli", "author", "sandbox", "league", "pages/live", "learn", "cluster")
_HELD = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_NUMBER = Struct("i")
_MOST = 100_000  # bytes of an order

# Hundreds of processes are started: none of them, and no run of the tests, should compile arena and the tests anew.
# What a command prints into a full file fails where it is flushed: that must be tried with the buffers of users.
for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
    os.environ.pop(name, None)


def environment() -> dict[str, str]:
    """That of this process; arena is that of this checkout, and paints nothing."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}


_OWN = environment()


def _before(variables: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(name, value) for name, value in variables.items() if name.startswith(_BEFORE)}


class Command(subprocess.Popen[str]):
    """`Popen` of `[*ARENA, …]` with a `cwd` and an `env`; other programs are started as ever."""

    _told: socket.socket | None = None

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        # of `rest`: executable, preexec_fn, close_fds, pass_fds, cwd, env, 3 of Windows, 6 ends of pipes, 6 more, group
        (preexec, _, passed, folder, env), ends, (*special, new_session, group) = rest[1:6], rest[9:15], rest[16:]
        is_plain = not (preexec or passed or new_session) and special == [None, None, None, -1]
        order = pickle.dumps(
            (folder, env, [os.fsencode(word) for word in args[len(ARENA) :]], os.sched_getaffinity(0), group)
        )
        if tuple(args[:3]) != ARENA or not is_plain or _before(env) != _before(_OWN) or len(order) > _MOST:
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        self._told, theirs = socket.socketpair()
        streams = [number if end < 0 else end for number, end in enumerate((ends[0], ends[3], ends[5]))]
        with theirs:
            socket.send_fds(_server(), [order], [*streams, theirs.fileno()])
        self.pid = self._number()
        assert self.pid > 0, "the server of forks says what is wrong"
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]

    def _number(self) -> int:
        assert self._told is not None
        return int(*_NUMBER.unpack(self._told.recv(_NUMBER.size)))

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._told is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc, no-any-return]
        if wait_flags & os.WNOHANG and not select.select([self._told], [], [], 0)[0]:
            return 0, 0
        with self._told:
            return self.pid, ~self._number()

    def _internal_poll(self, *dead: Any, **state: Any) -> int | None:
        if self._told is None:
            return super()._internal_poll(*dead, **state)  # type: ignore[misc, no-any-return]
        lock: threading.Lock = self._waitpid_lock  # type: ignore[attr-defined]
        if self.returncode is None and lock.acquire(False):
            with suppress(RuntimeError):
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            lock.release()
        return self.returncode


def run(command: Sequence[str], *, timeout: float | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """`subprocess.run`, unchecked, with both outputs as text; `stdin` is empty unless it is given."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Command(command, **{**pipes, **options}, text=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())], env=_OWN, pass_fds=[theirs.fileno()]
        )
    atexit.register(server.wait)
    atexit.register(ours.close)  # the last is called first
    return ours


def _warm() -> None:
    """Imports what commands import. Nothing of it starts a thread, or opens what a fork would share."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command has it
    for part in _WARM[:3] if "ARENA_WINGS" in os.environ else _WARM:
        for path in sorted((ROOT / "arena" / part).rglob("*.py")):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    assert len(os.listdir("/proc/self/task")) == 1
    gc.collect()
    gc.freeze()  # a fork does not touch what was there before it


def _serve(orders: socket.socket) -> None:
    """Forks a process for each order, and returns in it. The server ends with the process that started it."""
    living: dict[int, tuple[int, socket.socket]] = {}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    while True:
        ready, _, _ = select.select([orders.fileno(), *living], [], [])
        for ended in living.keys() & ready:
            pid, told = living.pop(ended)
            os.close(ended)
            with told, suppress(BrokenPipeError):
                told.send(_NUMBER.pack(~os.waitpid(pid, 0)[1]))
        if orders.fileno() not in ready:
            continue
        order, ends, _, _ = socket.recv_fds(orders, _MOST, 4)
        if not order:
            os._exit(0)
        if not (pid := os.fork()):
            for end in (orders, *(told for _, told in living.values())):
                end.detach()
            _become(order, ends)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return
        living[os.pidfd_open(pid)] = pid, socket.socket(fileno=ends.pop())
        for number in ends:
            os.close(number)


def _become(order: bytes, ends: list[int]) -> None:
    """Makes this process what a new one would be, and tells its number."""
    folder, variables, given, cores, group = pickle.loads(order)
    words = [*map(os.fsdecode, given)]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(ends[number], number)
        old = getattr(sys, name)
        stream = open(  # noqa: SIM115
            number, "w" if number else "r", 1 if number == 2 else -1, old.encoding, old.errors, "\n", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    if group >= 0:
        os.setpgid(0, group)
    os.sched_setaffinity(0, cores)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    sys.path[0] = os.getcwd()
    sys.orig_argv = [*ARENA, *words]
    sys.argv[1:] = words
    os.write(ends[3], _NUMBER.pack(os.getpid()))
    os.closerange(3, 1 << 16)


def _run() -> None:
    try:
        runpy.run_module("arena", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        with suppress(OSError):  # Python has its own way with what cannot be flushed
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code & 0xFF)
        raise


if __name__ == "__main__":
    _warm()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    _run()
