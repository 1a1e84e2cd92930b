"""Confinement: how a bot's program is started, fenced, counted, probed and ended at a level of protection.

Level `trusted` is here: a process of this user, with the limits that `_WRAPPER` sets. The levels above it are brought
by the plug `levels`.

Law: no bot runs at a lower level than was asked for. `confinement` is the one place that turns a level into what
confines; what nothing brings is refused, and no implementation inherits another level's behaviour from here.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

from arena.core import plugs
from arena.core.errors import ConfigError, LevelError
from arena.core.link.bots import BotSpec
from arena.core.link.custody import Custody
from arena.core.link.faults import is_of_the_program, machine_fault
from arena.core.link.fence import Fence, WatchedFence
from arena.core.link.runtimes import find, resolved, search_path
from arena.core.types import Level
from arena.core.wire.variables import FIXED

LEVELS: Final = (Level.TRUSTED, Level.FENCED, Level.ISOLATED, Level.STRICT)
"""Levels that a machine gives by itself, the weakest first."""
INHERITED: Final = ("HOME", "LD_LIBRARY_PATH", "TMPDIR")
"""The variables of the referee's environment that a trusted bot gets beside `PATH`.

Without them runtimes do not find what their user has installed, or where they may write, or would be others than those
that the user starts. A bot in a box gets none of them.
"""
_WRAPPER: Final = 'read -r go || exit 1; ulimit -c 0; ulimit -f "$1"; trap "" XFSZ; shift; exec "$@" </dev/null'
"""Waits to be registered with the warden (or ends, if the worker died first), sets the limits, becomes the bot.

A bot that ignores SIGXFSZ sees an error when it writes too much, and plays on.
"""
_BLOCK: Final = 512  # bytes of a block, the unit of `ulimit -f` in a POSIX shell


class Launch(NamedTuple):
    """A start of a bot: its program, its streams, its user."""

    spec: BotSpec
    environment: dict[str, str]
    custody: Custody
    """The reaper that ends it if this process cannot."""
    output: int
    socket_folder: Path | None = None
    user: int | None = None
    bare: bool = False
    """Whether it gets no variables beside `environment` but `PATH`."""


class Process(Protocol):
    """A child of this process, as `subprocess.Popen` is one."""

    @property
    def pid(self) -> int:
        """Returns its number, which is its process group's too."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Returns its standard input: it waits for a line there before it does anything."""

    def poll(self) -> int | None:
        """Returns the exit status, or minus the number of the signal that ended it; None while it lives."""

    def wait(self) -> int:
        """Waits for the end, and returns the same."""


class Started:
    """A process that was started at a level, and how its status is read. This one is the bot itself."""

    def __init__(self, process: Process, told: int = -1) -> None:
        """Takes the process, and a descriptor at which it tells what became of it, where it is not the bot itself."""
        self.process = process
        self._told = told

    def bot_status(self, status: int) -> int | None:
        """Returns the exit status of the bot, given that of the process; None if it ended before it was confined."""
        return status

    def init_pid(self) -> int | None:
        """Returns process 1 of the bot's PID namespace; None where it has none, or while there is none yet."""
        return None


class Confinement(Protocol):
    """The means of one level, for each bot. It has no state: a bot's is in its `Fence` and its `Started`."""

    level: Level

    def check(self, specs: Sequence[BotSpec], hidden: Iterable[Path]) -> None:
        """Probes whether this machine gives the level now, and checks that bots can be started at it.

        Args:
            hidden: Files and folders of the operator that no bot may see: the database, the logs.

        Raises:
            LevelError: It does not. Show the message to the operator: it names what is missing and what to do.
            BotError: A bot needs or would see too much. Show the message to the operator.
        """

    def allot_user(self) -> int | None:
        """Returns the user as whom a bot is to run, to be released in the end; None for this process's own.

        Raises:
            MachineFault: There is none to give. Show the message to the operator.
        """

    def release_user(self, user: int | None) -> None:
        """Ends the use of a user: all its processes have ended."""

    def fence(self, spec: BotSpec) -> Fence:
        """Makes what limits and measures a bot that is about to start.

        Raises:
            MachineFault: The machine cannot give it.
        """

    def start(self, launch: Launch, held: ExitStack) -> Started:
        """Starts a bot, in a session of its own. It waits for a line on its standard input before it does anything.

        Args:
            held: Called back when the process is gone, or was not started.

        Raises:
            OSError: The bot's own program or folder is the reason that it could not be started.
            MachineFault: The machine is the reason. No bot is to blame.
            BotError: It cannot be started at this level. Show the message to the operator.
        """


class _Trusted:
    """A process of this user: nothing is probed, and nothing held but by its limits."""

    level = Level.TRUSTED

    def check(self, specs: Sequence[BotSpec], hidden: Iterable[Path]) -> None:
        """Finds nothing: whoever trusts a bot lets it see what they see."""

    def allot_user(self) -> int | None:
        return None

    def release_user(self, user: int | None) -> None:
        """Does nothing."""

    def fence(self, spec: BotSpec) -> Fence:
        return WatchedFence(spec) if os.path.exists("/proc/self/stat") else Fence()

    def start(self, launch: Launch, held: ExitStack) -> Started:
        environment = launch.environment
        if not launch.bare:
            environment = FIXED | {name: os.environ[name] for name in INHERITED if name in os.environ} | environment
        environment = {"PATH": ":".join(search_path())} | environment
        program, *arguments = resolved(launch.spec.command)
        words = [find(program) or program, *arguments]
        return Started(spawn(launch, words, cwd=launch.spec.folder, env=environment))


_TRUSTED: Final = _Trusted()


def confinement(level: Level) -> Confinement:
    """Returns what confines bots at a level.

    Raises:
        LevelError: No loaded wing brings it. Show the message to the operator.
    """
    if level is Level.TRUSTED:
        return _TRUSTED
    if level not in LEVELS:
        raise LevelError(f"expected a level that this machine can give ({', '.join(LEVELS)}), got: {level}")
    return _brought(level, os.environ.get(plugs.VARIABLE))


@cache
def _brought(level: Level, _wings: str | None) -> Confinement:
    """Returns what the loaded wings bring for a level. It is kept: each start of a bot asks."""
    try:
        found: Confinement = plugs.find("levels", what=f"level {level}")(level)
    except ConfigError as error:
        raise LevelError(f"{error}. Nothing was played or stored") from error
    if found.level is not level:
        raise LevelError(f"expected what confines bots at level {level}, got: that of level {found.level}")
    return found


def require(level: Level, specs: Sequence[BotSpec] = (), hidden: Iterable[Path] = ()) -> None:
    """Checks before anything is played that bots can be confined at a level: see `Confinement.check`."""
    confinement(level).check(specs, hidden)


def spawn(launch: Launch, words: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Starts the wrapper of a command, with `how` for `Popen`.

    Raises:
        OSError: The bot's program or folder is the reason that it could not be started.
        MachineFault: The machine is.
    """
    limit = lowered(resource.RLIMIT_FSIZE, launch.spec.file_mib << 20)
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", _WRAPPER, "sh", str(limit // _BLOCK), *words],
            stdin=subprocess.PIPE,
            stdout=launch.output,
            stderr=launch.output,
            start_new_session=True,
            **how,
        )
    except OSError as error:
        if is_of_the_program(error):
            raise
        raise machine_fault(f"start {launch.spec.name}", error) from None


def lowered(kind: int, limit: int) -> int:
    """Returns a limit, or this process's own if it is lower: nobody but root may raise that again."""
    hard = resource.getrlimit(kind)[1]
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)
