"""Asks the probes of `doctor` which levels this machine gives. `trusted` needs no probe, and loads none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.core.errors import LevelError
from arena.core.link.bots import BotSpec
from arena.core.types import Level
from arena.sandbox import binds, fenced
from arena.sandbox.probes import TABLE

if TYPE_CHECKING:
    from arena.sandbox.doctor import Examination

LEVELS: Final = (Level.TRUSTED, Level.FENCED, Level.ISOLATED, Level.STRICT)
"""Those that a machine gives by itself, the weakest first."""


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


def require(level: Level, specs: Sequence[BotSpec] = (), hidden: Iterable[Path] = ()) -> None:
    """Checks that this machine gives a level now, and that bots can be started at it and see no more than they must.

    Args:
        level: The level.
        specs: The bots.
        hidden: Files and folders of the operator: the database, the logs.

    Raises:
        LevelError: It does not. Show the message to the operator: it names what is missing and what to do.
        BotError: A bot needs or would see too much. Show the message to the operator.
    """
    if level is Level.REMOTE:
        raise LevelError(f"expected a level that this machine can give ({', '.join(LEVELS)}), got: {level}")
    missing = level_in_force(level)
    if missing:
        raise LevelError(
            f"expected a machine that gives level {level}, got one on which {len(missing)} of its probes fail, first "
            f"{missing[0]} ({TABLE[missing[0]].holds}: {lack(level)}). Nothing was played or stored. `arena doctor "
            f"--level {level}` shows all of them" + (f". {sentence}" if (sentence := instead(level)) else "")
        )
    if level is not Level.TRUSTED:
        binds.check(specs, hidden)
    if level is Level.FENCED:
        for spec in specs:
            fenced.check(spec.name, spec.command)


_INSTEAD: Final = {Level.FENCED: (Level.ISOLATED,), Level.ISOLATED: (Level.FENCED,), Level.STRICT: (Level.FENCED,)}
"""By level which others may do where it cannot be had."""
_NEEDS: Final = {
    Level.FENCED: "no sandbox and no root, and docs/safety.md says what stays open there",
    Level.ISOLATED: "no Landlock",
}
"""What each of these does without."""


def other(level: Level) -> Level | None:
    """Returns the level that this machine gives in place of another; None if it gives none."""
    return next((each for each in _INSTEAD.get(level, ()) if not level_in_force(each)), None)


def instead(level: Level) -> str:
    """Returns a sentence that names that level; nothing if there is none."""
    given = other(level)
    return "" if given is None else f"Level {given} can be had here: --level {given} needs {_NEEDS[given]}"
