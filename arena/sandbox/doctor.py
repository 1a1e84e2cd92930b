"""Says which levels this machine can give, by probes that run in a real seat.

A level is what the probes show now, never a version and never a guess. `confinement.require` asks before a tournament.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import secrets
import select
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self, TextIO

import msgspec

from arena.core.face import (
    NS_PER_MS,
    Custody,
    Level,
    bot_manifests,
    bot_processes,
    confining,
    errors,
    plain,
    runtimes,
    scratch,
    wire_variables,
)
from arena.sandbox import binds, box, fenced_filter, filter, landlock, probe_program
from arena.sandbox.fence import fence, process_limit
from arena.sandbox.probes import FENCED, FENCED_STARTS, PROBES, STARTS, TABLE, calls_to_try, needed, start_remedy

_PATIENCE_S: Final = 60.0
"""Seconds that a seat may take to start, and to report: one where the machine is idle."""
_BUSY: Final = "the machine is too busy to tell: try again when it has less to do"
_MEMORY_MIB: Final = 128
"""Limit of the seat in which the probes run."""
_OF_A_BOT: Final = "its own words say why; name what it reads beside its folder in `include` or `needs` of bot.toml"
_ONE_PROCESS: Final = (
    f"its own words say why; at level {Level.FENCED} a bot has one process, no /proc and no folder to write to: if it "
    f"needs more, play it at --level {Level.ISOLATED}"
)
_LEAST_BWRAP: Final = (0, 8)
_LEAST_DESCRIPTORS: Final = 1024
_WAL_FAULT: Final = ((3, 7, 0), (3, 51, 2))
"""In these versions of SQLite two connections that write at once can damage a database with a WAL."""
_FROZEN_S: Final = 0.05
"""Seconds for which the CPU time of a frozen seat is watched."""
_SETTLE_S: Final = 2.0
"""Seconds that a seat may take to stand still."""
_OF_A_FILE: Final = ("st_ino", "st_mode", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_nlink")


class ProbeResult(msgspec.Struct, frozen=True):
    """What a probe found."""

    name: str
    ok: bool
    detail: str
    remedy: str


class Given(msgspec.Struct, frozen=True):
    """Whether the machine gives a level."""

    ok: bool
    missing: tuple[str, ...]


class Examination(msgspec.Struct, frozen=True):
    """What the probes show of this machine."""

    levels: dict[Level, Given]
    probes: tuple[ProbeResult, ...]


def examine(levels: Sequence[Level] = confining.LEVELS) -> Examination:
    """Runs the probes of these levels, and says of each level whether the machine gives it."""
    found = {outcome.name: outcome for outcome in _outcomes(levels)}
    given = {}
    for level in levels:
        missing = tuple(name for name in needed(level) if name not in found or not found[name].ok)
        given[level] = Given(not missing, missing)
    return Examination(given, tuple(found[probe.name] for probe in PROBES if probe.name in found))


def _outcomes(levels: Sequence[Level]) -> Iterator[ProbeResult]:
    """Yields what the probes find that levels need, as far as they can be tried, and those worth knowing."""
    yield _descriptors()
    yield _sqlite()
    if Level.FENCED in levels:
        yield from _fenced()
    level = max(levels, key=confining.LEVELS.index)
    if level in (Level.ISOLATED, Level.STRICT):
        yield from _boxed(level)


def _fenced() -> Iterator[ProbeResult]:
    name = f"{FENCED}landlock"
    if sys.platform != "linux" or platform.machine() not in filter.MACHINES:
        yield _found(
            name, False, f"{sys.platform} on {platform.machine()}", f"use Linux on {' or '.join(filter.MACHINES)}"
        )
        return
    try:
        yield _found(name, True, f"version {landlock.version()}")
    except errors.ArenaError as error:
        detail, _, remedy = str(error).partition("; ")
        yield _found(name, False, detail, remedy)
        return
    yield from _in_a_seat(Level.FENCED)


def _boxed(level: Level) -> Iterator[ProbeResult]:
    bwrap = _bwrap()
    yield bwrap
    if not bwrap.ok:
        return
    if level is Level.STRICT:
        held = _control_groups()
        yield held
        if not held.ok:
            level = Level.ISOLATED
    yield from _in_a_seat(level)


def _found(name: str, ok: bool, detail: str, remedy: str = "") -> ProbeResult:
    return ProbeResult(name, ok, detail, "" if ok else remedy or TABLE[name].remedy)


def _descriptors() -> ProbeResult:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _found("descriptors", limit >= _LEAST_DESCRIPTORS, f"{limit:,} may be open")


def _sqlite() -> ProbeResult:
    first, last = _WAL_FAULT
    if not first <= sqlite3.sqlite_version_info <= last:
        return _found("sqlite", True, f"SQLite {sqlite3.sqlite_version}")
    detail = f"SQLite {sqlite3.sqlite_version}: two programs that write at once could damage a database"
    return ProbeResult("sqlite", True, detail, TABLE["sqlite"].remedy)


def _bwrap() -> ProbeResult:
    program = shutil.which("bwrap", path=":".join(box.PROGRAM_FOLDERS))
    if program is None:
        return _found("bwrap", False, f"there is no bwrap in {', '.join(box.PROGRAM_FOLDERS)}")
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    except OSError as error:
        return _found("bwrap", False, f"{program}: {error.strerror}", "install it anew: apt install bubblewrap")
    version = re.search(r"(\d+)\.(\d+)", said)
    is_new = version is not None and (int(version[1]), int(version[2])) >= _LEAST_BWRAP
    return _found("bwrap", is_new, plain(said.strip()) or "it does not tell its version")


def _control_groups() -> ProbeResult:
    try:
        fence(Level.STRICT, _spec(())).close()
    except errors.ArenaError as error:
        detail, _, remedy = str(error).partition("; ")
        return _found("control-groups", False, detail, remedy)
    return _found("control-groups", True, "they limit and count memory, processes and CPU time")


# In a seat


class _Seat:
    """A program that runs in a seat, and the socket at which it calls."""

    def __init__(self, spec: bot_manifests.BotSpec, level: Level, custody: Custody) -> None:
        """Starts it; MachineFault: the machine cannot give it; BotError, OSError: its program cannot be started."""
        self.level = level
        self._folder = custody.directory / secrets.token_hex(8)
        self._folder.mkdir(mode=0o711)
        self._folder.chmod(0o711)
        user = confining.confinement(level).allot_user()
        self._listener = _listen(self._folder / "referee", user)
        environment = {
            wire_variables.ENDPOINT: f"ipc://{self._folder}/referee",
            wire_variables.TOKEN: secrets.token_hex(32),
        }
        try:
            self.process = bot_processes.BotProcess(
                spec, custody, environment, level=level, socket_folder=self._folder, user=user
            )
        except BaseException:
            self._listener.close()
            raise

    def accept(self) -> socket.socket | None:
        """Returns the connection of the program; None if it ended, or did not call in time."""
        until = time.monotonic() + _PATIENCE_S
        self._listener.settimeout(0.02)
        while time.monotonic() < until:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                if self.process.end() is not None:
                    return None
                continue
            connection.settimeout(_PATIENCE_S)
            return connection
        return None

    def said(self) -> str:
        """Returns how the program ended, and its last words."""
        end = self.process.end()
        words = " | ".join(self.process.last_words()[-3:])
        return f"it {end.detail if end is not None else 'did not connect in time'}{words and f': {words}'}"

    def close(self) -> None:
        """Ends it, and waits until it has."""
        self._listener.close()
        self.process.kill()
        self.process.reap(wait=True)


def _listen(path: Path, user: int | None) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    path.chmod(0o600)
    if user is not None:
        os.chown(path, user, user)
    return listener


@contextmanager
def _seat(spec: bot_manifests.BotSpec, level: Level) -> Iterator[_Seat]:
    with closing(Custody()) as custody, closing(_Seat(spec, level, custody)) as seat:
        yield seat


def _spec(arguments: Sequence[str]) -> bot_manifests.BotSpec:
    program = Path(probe_program.__file__).resolve()
    command = (runtimes.PYTHON, "-I", "-S", program.name, *arguments)
    return bot_manifests.BotSpec(
        name="probe", version="", command=command, folder=str(program.parent), digest="", memory_mib=_MEMORY_MIB
    )


def _in_a_seat(level: Level) -> Iterator[ProbeResult]:
    machine = platform.machine()
    if machine not in filter.MACHINES:
        yield _found("filter", False, f"the filter does not know the system calls of {machine}", "use level trusted")
        return
    with scratch.folder("arena-canary-") as folder, Strangers(folder) as strangers:
        canary = folder / "canary"
        canary.write_text("canary")
        prefix, profile, own = ("", filter.BOX, binds.BOT)
        if level is Level.FENCED:
            prefix, profile, own = FENCED, fenced_filter.FENCED, _spec(()).folder
        told = {
            "profile": prefix,
            "python": sys.version,
            "calls": calls_to_try(machine, profile),
            "newest": filter.NEWEST,
            "canary": str(canary),
            "folder": own,
            "processes": process_limit(),
            "referee": os.getpid(),
            **strangers.told,
        }
        spec = _spec([msgspec.json.encode(told).decode()])
        before = state(canary)
        try:
            with _seat(spec, level) as seat:
                yield from _report(seat, prefix)
        except (errors.ArenaError, OSError) as error:
            detail, _, remedy = str(error).partition("; ")
            remedy = "" if "arena doctor" in remedy else remedy
            yield _found(f"{prefix}seat", False, detail, _start_remedy(detail, prefix, remedy))
        if level is Level.FENCED:
            wrong = strangers.touched() + ([] if state(canary) == before else ["a file or its folder has changed"])
            said = "; ".join(wrong) or f"a file and {len(strangers.listeners)} sockets are as they were"
            yield _found(f"{prefix}untouched", not wrong, said)


def _start_remedy(said: str, prefix: str, otherwise: str = "") -> str:
    return start_remedy(said, otherwise, FENCED_STARTS if prefix else STARTS)


def _report(seat: _Seat, prefix: str) -> Iterator[ProbeResult]:
    """Yields what the program in a seat reports, and what is seen of it. `prefix` begins the probes' names."""
    began = time.monotonic()
    connection = seat.accept()
    if connection is None:
        late, said = seat.process.end() is None, seat.said()
        yield _found(f"{prefix}seat", False, said, _BUSY if late else _start_remedy(said, prefix))
        return
    took_ms = (time.monotonic() - began) * 1_000
    with closing(connection), connection.makefile("rw", encoding="utf-8") as lines:
        yield _found(f"{prefix}seat", True, f"a Python program connected after {took_ms:.0f} ms")
        try:
            report: dict[str, tuple[bool, str]] = msgspec.json.decode(
                lines.readline(), type=dict[str, tuple[bool, str]]
            )
        except TimeoutError:
            yield _found(f"{prefix}seat" if prefix else "socket", False, f"no report in {_PATIENCE_S:g} s", _BUSY)
            return
        except (OSError, msgspec.DecodeError):
            yield _found(f"{prefix}seat" if prefix else "socket", False, f"the report was cut off; {seat.said()}")
            return
        if not prefix:
            yield _found("socket", True, "the report of the seat came over it")
        yield _user(seat, prefix)
        for name, (ok, detail) in report.items():
            yield _found(f"{prefix}{name}", ok, plain(detail))
        yield _measured(seat, prefix)
        if seat.level is Level.STRICT:
            yield _frozen(seat, lines)
            yield _memory_limit(seat, lines)
        yield _ended(seat, connection, prefix)


def _user(seat: _Seat, prefix: str) -> ProbeResult:
    user, expected = os.stat(f"/proc/{seat.process.pid}").st_uid, seat.process.user
    return _found(f"{prefix}user", user == (os.geteuid() if expected is None else expected), f"user {user}")


def _measured(seat: _Seat, prefix: str) -> ProbeResult:
    held = seat.process.fence
    excess, cpu_ms = held.excess(), held.cpu_ns() / NS_PER_MS
    ok = excess is None and held.most_mib > 0 and cpu_ms > 0
    return _found(f"{prefix}measured", ok, excess or f"{held.most_mib} MiB, {cpu_ms:.0f} ms of CPU time")


def _frozen(seat: _Seat, lines: TextIO) -> ProbeResult:
    """Lets a program compute, freezes it, and looks at its CPU time."""
    held = seat.process.fence
    _order(lines, "spin")
    lines.readline()
    held.freeze()
    until = time.monotonic() + _SETTLE_S
    while not held.is_frozen() and time.monotonic() < until:
        time.sleep(_FROZEN_S / 50)
    before = held.cpu_ns()
    time.sleep(_FROZEN_S)
    used_ns = held.cpu_ns() - before
    held.thaw()
    stood, until = held.cpu_ns(), time.monotonic() + _PATIENCE_S / 2
    while (goes_on := held.cpu_ns() > stood) is False and time.monotonic() < until:
        time.sleep(0.002)
    detail = f"{used_ns / NS_PER_MS:g} ms of CPU time in {_FROZEN_S * 1_000:g} ms"
    return _found("frozen", used_ns == 0 and goes_on, detail if goes_on else f"{detail}, and none when thawed")


def _memory_limit(seat: _Seat, lines: TextIO) -> ProbeResult:
    _order(lines, "allocate")
    until = time.monotonic() + _PATIENCE_S
    while (excess := seat.process.fence.excess()) is None and time.monotonic() < until:
        time.sleep(0.005)
    return _found("memory-limit", excess is not None, excess or f"it took more than {_MEMORY_MIB} MiB unhindered")


def _order(lines: TextIO, order: str) -> None:
    lines.write(f"{order}\n")
    lines.flush()


def _ended(seat: _Seat, connection: socket.socket, prefix: str) -> ProbeResult:
    """Kills the seat. When all its processes have ended, its connection is closed."""
    began = time.monotonic()
    seat.process.kill()
    connection.settimeout(_PATIENCE_S)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return _found(f"{prefix}ended", False, f"a process of it lives on {_PATIENCE_S:g} s later")
    except OSError:
        pass  # it was reset: closed too
    return _found(f"{prefix}ended", True, f"{(time.monotonic() - began) * 1_000:.0f} ms after it was killed")


# A bot


def examine_bot(spec: bot_manifests.BotSpec, level: Level) -> ProbeResult:
    """Starts a bot in a seat, and says whether it connects to the referee."""
    name = f"bot {spec.name} at {level}"
    began = time.monotonic()
    try:
        with _seat(spec, level) as seat:
            connection = seat.accept()
            if connection is not None:
                connection.close()
                return ProbeResult(name, True, f"connected after {(time.monotonic() - began) * 1_000:.0f} ms", "")
            said = seat.said()
    except (errors.ArenaError, OSError) as error:
        detail, _, remedy = str(error).partition("; ")
        return ProbeResult(name, False, detail, remedy or _remedy_of_a_bot(detail, level))
    return ProbeResult(name, False, said, _remedy_of_a_bot(said, level))


def _remedy_of_a_bot(said: str, level: Level) -> str:
    return _ONE_PROCESS if level is Level.FENCED else start_remedy(said, _OF_A_BOT)


class Strangers:
    """Sockets by path, by an abstract name, by TCP."""

    def __init__(self, folder: Path) -> None:
        """Opens them. That by path is in a folder. ConfigError: its path is too long for a socket."""
        path, abstract = str(folder / "stranger"), f"arena-{secrets.token_hex(8)}"
        if len(os.fsencode(path)) > 103:  # what every system takes, as the seats' own sockets
            raise errors.ConfigError(
                f"expected a temporary folder whose path leaves room for a socket (103 bytes in all), got: {path}; "
                "set TMPDIR to a folder with a shorter path"
            )
        self.listeners = {
            "path": socket.socket(socket.AF_UNIX),
            "abstract name": socket.socket(socket.AF_UNIX),
            "TCP": socket.socket(),
        }
        addresses: tuple[Any, ...] = (path, f"\0{abstract}", ("127.0.0.1", 0))
        for listener, address in zip(self.listeners.values(), addresses, strict=True):
            listener.bind(address)
            listener.listen(4)
        self.told = {"path": path, "abstract": abstract, "port": self.listeners["TCP"].getsockname()[1]}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for listener in self.listeners.values():
            listener.close()

    def touched(self) -> list[str]:
        """Returns a few words for each to which somebody has connected."""
        reached = select.select(list(self.listeners.values()), [], [], 0)[0]
        return [f"a socket was reached by its {name}" for name, one in self.listeners.items() if one in reached]


def state(path: Path) -> list[object]:
    """Returns all that an attack could change of a file and of the folder that it lies in."""
    names = sorted(os.listdir(path.parent))
    try:
        found = path.lstat()
    except FileNotFoundError:
        return [names]
    return [names, path.read_bytes(), *(getattr(found, name) for name in _OF_A_FILE)]
