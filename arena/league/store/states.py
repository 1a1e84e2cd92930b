"""The states of a version, and every change between them: one table, from which `docs/league.md` shows it.

Laws:
1. What the table lacks does not happen: `find` refuses it.
2. Each change says who may cause it, and what the author is told. `arena.league.store.changes` makes them, and nothing
   else does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from arena.core.face import errors


class State(StrEnum):
    """Where a version stands."""

    RECEIVED = "received"
    BUILDING = "building"
    CHECKING = "checking"
    QUALIFYING = "qualifying"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    SUSPENDED = "suspended"
    REJECTED = "rejected"
    RETIRED = "retired"


class Actor(StrEnum):
    """Who causes a change."""

    AUTHOR = "author"
    SERVICE = "service"
    OPERATOR = "operator"


PREPARED: Final = (State.BUILDING, State.CHECKING, State.QUALIFYING)
"""The steps between a submission and its first game."""
PENDING: Final = (State.RECEIVED, *PREPARED)
"""The states of versions that the service has to do something about."""
MOST_ATTEMPTS: Final = 3
"""After how many faults of the machine in one step the operator is told."""


class Change(msgspec.Struct, frozen=True):
    """A change that there is."""

    old: State | None
    """None: the version is new."""
    new: State
    actors: tuple[Actor, ...]
    """Who may cause it."""
    cause: str
    """When it happens, for the docs."""
    stored: str
    """What is stored with it, for the docs."""
    told: str
    """What the author is told. `{name}` is the version, `{reason}` the cause; empty: nothing."""


_SERVICE = (Actor.SERVICE,)
_ANYBODY = (Actor.AUTHOR, Actor.OPERATOR)
_R, _B, _C, _Q, _A = State.RECEIVED, State.BUILDING, State.CHECKING, State.QUALIFYING, State.ACTIVE
_MACHINE = "a fault of the machine; after 3 the operator is told"
_AGAIN = "{name}: {reason}. That is not your fault: it is tried again"
_REJECTED = "{name} is rejected: {reason}. The report says more: `arena league report {name}`"
_FAULT = "the bot failed in the step"
_BROKEN = "5 forfeits in 20 games, 3 in a row, files that were changed, or the operator"
_SUSPENDED = "{name} is suspended: {reason}"
_BACK = "{name} plays again: {reason}"
_RETIRED = "{name} is retired: {reason}"

CHANGES: Final = (
    Change(None, _R, _ANYBODY, "its author submits it", "archive, number", "{name} is received; {reason}"),
    Change(_R, State.SUPERSEDED, _SERVICE, "a newer one is received", "", "{name} is not tried: {reason}"),
    Change(_R, _B, _SERVICE, "nothing of the bot is being prepared", "", ""),
    Change(_B, _C, _SERVICE, "the build ends with 0, and makes what `built` names", "report, output, tree digest", ""),
    Change(_C, _Q, _SERVICE, "the check passes at Core", "report", ""),
    Change(_Q, _A, _SERVICE, "4 matches with `random` without a forfeit", "report, entrant, rating", "{name} plays"),
    *(
        Change(step, State.REJECTED, _SERVICE, _FAULT, "report, the last 64 KiB of output", _REJECTED)
        for step in PREPARED
    ),
    *(Change(step, step, _SERVICE, _MACHINE, "report, attempt", _AGAIN) for step in PREPARED),
    Change(_A, State.SUPERSEDED, _SERVICE, "another version of the bot becomes active", "", "{name} rests: {reason}"),
    Change(_A, State.SUSPENDED, (Actor.SERVICE, Actor.OPERATOR), _BROKEN, "the games", _SUSPENDED),
    Change(State.SUPERSEDED, _A, _SERVICE, "the active one is suspended, and this is the last good", "", _BACK),
    Change(State.SUSPENDED, _A, (Actor.OPERATOR,), "the operator lifts it", "reason", _BACK),
    *(
        Change(old, State.RETIRED, _ANYBODY, "its author or the operator takes it out", "", _RETIRED)
        for old in State
        if old not in (State.REJECTED, State.RETIRED)
    ),
)
"""Every change that there is."""

_BY_STATES: Final = {(change.old, change.new): change for change in CHANGES}


def find(old: State | None, new: State, actor: Actor, name: str) -> Change:
    """Returns a change of the table.

    Args:
        old: The version's state; None if it is new.
        name: The version, for the error.

    Raises:
        Refused: There is no such change, or it is not for this actor.
    """
    found = _BY_STATES.get((old, new))
    if found is None:
        possible = ", ".join(change.new for change in CHANGES if change.old == old) or "nothing"
        raise errors.Refused(
            "state",
            f"expected a version that can become {new}, got: {name}, which is {old or 'new'}",
            f"it can become: {possible}",
        )
    if actor not in found.actors:
        allowed = " or ".join(found.actors)
        raise errors.Refused(
            "state", f"expected the {allowed} to make a version of state {old} {new}, got: the {actor}"
        )
    return found


def table() -> str:
    """Returns the table in Markdown, as `docs/league.md` has it. Changes that differ only in `from` share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for change in CHANGES:
        new = "the same" if change.old is change.new else str(change.new)
        told = change.told and f"“{change.told.replace('{name}', 'fox/2')}”"
        rest = (new, " or ".join(change.actors), change.cause, change.stored, told)
        rows.setdefault(rest, []).append(change.old or "-")
    lines = ["| from | to | by | cause | stored with it | the author is told |", "|---|---|---|---|---|---|"]
    lines += [f"| {' | '.join((', '.join(olds), *rest))} |" for rest, olds in rows.items()]
    return "\n".join(lines) + "\n"
