"""The outcome of checks of a whole tournament or season, and what of it holds if a part cannot be checked here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from arena.core.text import plain


class Fault(msgspec.Struct, frozen=True):
    """Something that a check found."""

    check: str
    """Its key in `PROMISES`."""
    reason: str


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one folder."""

    folder: str
    tournament: str | None
    """Its identifier, or None if no commitment says what the folder should hold."""
    logs: int
    games: int | None
    complete: bool
    """Whether every game is there and the secret is out."""
    checked: tuple[str, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()
    """Parts that could not be checked, and why."""
    struck: int = 0
    """Number of results that the organiser took back afterwards."""
    begun: int = 0
    """Number of times that a game was begun and thrown away, as far as logs and files beside them tell."""
    of: Literal["tournament", "season"] = "tournament"
    """Content of the folder: a tournament, or what is published of a league's season."""
    unchecked: dict[str, str] = {}
    """Reason why a check could not be made, by check, where that is not the same for all tournaments."""
    later: tuple[str, ...] = ()
    """Files that were not checked, and why: a later version of arena wrote it, say, or a package is not installed."""


MOST_FAULTS: Final = 10  # most faults of one check that are printed
UNCHECKED_LOG: Final = "unchecked log"
UNCHECKED_DOCUMENT: Final = "unchecked document"
"""The check of a fault that is none: the file cannot be checked here (`Unchecked`)."""
_OF_LOGS: Final = frozenset({"schedule", "results", "standings", "secret", "database"})  # the checks that need all logs


def settled(audit: Audit, certain: Set[str] = frozenset()) -> Audit:
    """Returns an audit in which no check but a `certain` one is a fault, or passed, only by a file not checked."""
    later = [fault for fault in audit.faults if fault.check in (UNCHECKED_LOG, UNCHECKED_DOCUMENT)]
    if not later:
        return audit
    checks, said = set(audit.checked), {fault.check for fault in audit.faults}
    doubtful = checks & _OF_LOGS
    if sum(fault.check == UNCHECKED_LOG for fault in later) == audit.logs:  # no log was read
        doubtful |= checks - said - {"commitment"}
    if any(fault.check == UNCHECKED_DOCUMENT for fault in later):
        doubtful |= checks - {"log", "time"}
    doubtful -= certain
    return replace(
        audit,
        complete=False,
        checked=tuple(check for check in audit.checked if check not in doubtful),
        faults=tuple(fault for fault in audit.faults if fault not in later and fault.check not in doubtful),
        unchecked={**audit.unchecked, **dict.fromkeys(doubtful, "it needs what was not checked")},
        later=tuple(dict.fromkeys(fault.reason for fault in later)),
    )


def check_lines(promises: Mapping[str, str], faults: Sequence[Fault], unchecked: Mapping[str, str]) -> Iterator[str]:
    """Yields a line for each check: its promise with the faults found under it, or why it was not made."""
    for name, promise in promises.items():
        if name in unchecked:
            yield f"  -       {name}: not checked, {unchecked[name]}"
            continue
        found = [fault for fault in faults if fault.check == name]
        yield f"  {'FAILED' if found else 'ok    '}  {name}: {promise}"
        yield from (f"            {fault.reason}" for fault in found[:MOST_FAULTS])
        if len(found) > MOST_FAULTS:
            yield f"            and {len(found) - MOST_FAULTS} more (--json has all)"


def struck_text(struck: Mapping[str, str]) -> str:
    """Returns which results were taken back, by whom, when and why, in words; empty if none was.

    Args:
        struck: By game what is told of it, as JSON.
    """
    told = ((game, msgspec.json.decode(text, type=dict[str, str])) for game, text in struck.items())
    each = [f"{game} ({one['reason']}; by {one['by']}, {one['at'][:10]})" for game, one in told]
    more = f" and {len(each) - MOST_FAULTS} more" if len(each) > MOST_FAULTS else ""
    results = "1 result was" if len(each) == 1 else f"{len(each)} results were"
    return plain(f"{results} taken back: {', '.join(each[:MOST_FAULTS])}{more}") if each else ""


def void_text(games: int, losses: Mapping[str, int]) -> str:
    """Returns how many games are void and whose losses they were, in words; empty if none is."""
    whose = ", ".join(f"{name} {count}" for name, count in sorted(losses.items()))
    are = "game is" if games == 1 else "games are"
    return f"{games} {are} void, lost while the machine was overloaded by: {whose}" if games else ""
