"""Confines bots at levels above `trusted`, and says what keeps this machine from that, by the probes of `doctor`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.core.face import Level, bot_manifests, confining, connections, errors, fences, machine_fault, wire_variables
from arena.sandbox import accounts, binds, box, fenced, filter, staging
from arena.sandbox.fence import data_limit_mib, fence, process_limit
from arena.sandbox.fenced_filter import FENCED
from arena.sandbox.filter import SHOWN_MIB, answers
from arena.sandbox.probes import TABLE

if TYPE_CHECKING:
    from arena.sandbox.doctor import Examination


class _Confined:
    """What the levels above `trusted` share, whose `start` each has of its own."""

    def __init__(self, level: Level) -> None:
        self.level = level

    def check(self, specs: Sequence[bot_manifests.BotSpec], hidden: Iterable[Path]) -> None:
        """Asks the probes, and looks at what bots would see. A process asks them once."""
        missing = level_in_force(self.level)
        if missing:
            raise errors.LevelError(
                f"expected a machine that gives level {self.level}, got one on which {len(missing)} of its probes "
                f"fail, first {missing[0]} ({TABLE[missing[0]].holds}: {lack(self.level)}). Nothing was played or "
                f"stored. `arena doctor --level {self.level}` shows all of them"
                + (f". {sentence}" if (sentence := instead(self.level)) else "")
            )
        binds.check(specs, hidden)

    def allot_user(self) -> int | None:
        return accounts.seat_user(self.level)

    def release_user(self, user: int | None) -> None:
        accounts.give_back(user)

    def fence(self, spec: bot_manifests.BotSpec) -> fences.Fence:
        return fence(self.level, spec)


class _Fenced(_Confined):
    """One process that has given up what it could do (`fenced.py`)."""

    def check(self, specs: Sequence[bot_manifests.BotSpec], hidden: Iterable[Path]) -> None:
        """Also refuses bots that need a second process."""
        super().check(specs, hidden)
        for spec in specs:
            fenced.check(spec.name, spec.command)

    def start(self, launch: confining.Launch, held: ExitStack) -> confining.Started:
        spec, user = launch.spec, launch.user
        links = launch.custody.directory if user is None else accounts.run_folder()
        placed = fenced.placed(spec, binds.given(spec), links, user)
        try:
            status = os.memfd_create("arena")
        except OSError as error:
            raise machine_fault("start a bot", error) from None
        held.callback(os.close, status)
        ruleset = fenced.ruleset(placed.granted)
        process = fenced.start(
            "a bot",
            placed.command,
            placed.environment | wire_variables.FIXED | launch.environment,
            (launch.output, status, ruleset.descriptor),
            {
                "NOFILE": box.MAX_DESCRIPTORS,
                "DATA": data_limit_mib(spec.memory_mib) << 20,
                "FSIZE": spec.file_mib << 20,
                "CORE": 0,
                "MSGQUEUE": 0,
                # Where seats share a user, how many of these that user has left would tell one what the other took.
                "SIGPENDING": 0 if user is None else box.MAX_SIGNALS,
                # It counts a user's threads on the whole machine: of use only where the seat has a user of its own.
                **({} if user is None else {"NPROC": process_limit()}),
            },
            folder=os.fsencode(placed.folder),
            ways={os.fsencode(over): [os.fsencode(path) for path in paths] for over, paths in placed.ways.items()},
            socket=b"" if launch.socket_folder is None else os.fsencode(launch.socket_folder / connections.SOCKET_NAME),
            user=user,
            filter=filter.program(profile=FENCED),
            answers=answers(spec.memory_mib, 0),
        )
        return _FencedIn(process, status)


class _FencedIn(confining.Started):
    """A process that fences itself in, and then becomes the bot."""

    def bot_status(self, status: int) -> int | None:
        """Returns the status of a process that was fenced in, or killed."""
        return None if status > 0 and not fenced.is_fenced_in(self._told) else status


class Boxed(_Confined):
    """A box of bubblewrap's (`box.py`); as a user of its own if the referee is root's."""

    def start(self, launch: confining.Launch, held: ExitStack) -> confining.Started:
        """Starts the bot in a box."""
        spec, needs = launch.spec, binds.given(launch.spec)
        environment, reached = launch.environment, None
        if launch.socket_folder is not None:
            environment = environment | {wire_variables.ENDPOINT: box.ENDPOINT}
            reached = reach(str(launch.socket_folder), launch.user)
            held.callback(staging.leave, str(launch.socket_folder))
        command = self.command(
            launch,
            needs,
            needs.command,
            folder=needs.folder,
            environment=environment,
            processes=process_limit(),
            socket_folder=reached,
        )
        with command:
            process = fenced.start(
                "a sandbox",
                command.words,
                launch.custody.mark,
                (launch.output, *command.descriptors),
                {"FSIZE": spec.file_mib << 20, "CORE": 0},
                numbers=list(command.descriptors),
                mounts=staging.has_mounts(),
                socket=b"",
                user=launch.user,
                filter=filter.asked(),
                otherwise=filter.asked(filter.Treatment.ENOSYS),
                answers=answers(spec.memory_mib, SHOWN_MIB),
            )
        held.callback(os.close, command.status)
        return InBox(process, command.status)

    def command(
        self,
        launch: confining.Launch,
        needs: binds.Needs,
        words: Sequence[str],
        *,
        environment: dict[str, str],
        **how: Any,
    ) -> box.BoxCommand:
        """Returns the command that makes a box for `words`, with `how` for `box.command`."""
        return box.command(
            words,
            trees={tree: reach(place, launch.user) for tree, place in needs.trees.items()},
            empty=needs.empty,
            environment=wire_variables.FIXED | needs.environment | {"PATH": needs.path} | environment,
            memory_mib=launch.spec.memory_mib,
            data_mib=data_limit_mib(launch.spec.memory_mib) if self.level is Level.ISOLATED else None,
            user=launch.user,
            **how,
        )


class InBox(confining.Started):
    """A process that makes a box, in which the bot runs: killing it ends all that is in the box."""

    def bot_status(self, status: int) -> int | None:
        """Returns what the bot ended with; None if there was no box."""
        if status < 0:
            return status  # it was killed, and the box with it
        code = box.status(self._told).exit_code
        # bwrap adds 128 to the number of a signal. Above the last one it is what the bot itself said.
        return 128 - code if code is not None and 128 < code < 128 + signal.NSIG else code

    def init_pid(self) -> int | None:
        """Returns the number of the box's process 1."""
        return box.status(self._told).pid


def reach(path: str, user: int | None) -> str:
    """Returns where a bot's user can reach what `path` names.

    Raises:
        OSError: It is not there, or this process may not see it either.
    """
    if user is not None:
        return staging.reach(path)
    os.stat(path)
    return path


_CONFINEMENTS: Final[Mapping[Level, confining.Confinement]] = {
    Level.FENCED: _Fenced(Level.FENCED),
    Level.ISOLATED: Boxed(Level.ISOLATED),
    Level.STRICT: Boxed(Level.STRICT),
}


def confinement(level: Level) -> confining.Confinement:
    """Returns what confines bots at a level: the plug `levels` of this wing."""
    return _CONFINEMENTS[level]


@cache
def _examined(level: Level) -> Examination:
    from arena.sandbox.doctor import examine

    return examine((level,))


def level_in_force(level: Level) -> tuple[str, ...]:
    """Returns the names of the probes that keep this machine from giving a level; none if it gives it.

    A process finds it out once.
    """
    if level is Level.TRUSTED:
        return ()
    return _examined(level).levels[level].missing


def lack(level: Level) -> str:
    """Returns what keeps this machine from giving a level, and what to do about it; nothing if it gives the level."""
    missing = level_in_force(level)
    first = (each for each in (_examined(level).probes if missing else ()) if each.name in missing and not each.ok)
    return next((f"{each.detail}; {each.remedy}" for each in first), "")


_INSTEAD: Final = {Level.FENCED: (Level.ISOLATED,), Level.ISOLATED: (Level.FENCED,), Level.STRICT: (Level.FENCED,)}
"""Other levels that may do where one cannot be had, by level."""
_NEEDS: Final = {
    Level.FENCED: "no sandbox and no root, and docs/safety.md says what stays open there",
    Level.ISOLATED: "no Landlock",
}
"""Parts that each of these does without."""


def other(level: Level) -> Level | None:
    """Returns the level that this machine gives in place of another; None if it gives none."""
    return next((each for each in _INSTEAD.get(level, ()) if not level_in_force(each)), None)


def instead(level: Level) -> str:
    """Returns a sentence that names that level; nothing if there is none."""
    given = other(level)
    return "" if given is None else f"Level {given} can be had here: --level {given} needs {_NEEDS[given]}"
