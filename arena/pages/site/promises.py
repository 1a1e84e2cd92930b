"""What `arena verify` finds out about a tournament that is finished: checked once, and kept in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from arena.core import files
from arena.core.errors import ArenaError
from arena.core.record.log import find_logs
from arena.core.standings.audit import PROMISES, Auditor, examine_all
from arena.core.standings.verdicts import Audit, Fault
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.types import Payload
from arena.pages.site.places import places_of

FILE: Final = "promises.json"
CHECKS: Final = 2
"""Counts up when the audit checks more. What was found out by an earlier one says less, and is found out again."""
MOST_FAULTS: Final = 10
"""How many faults of one check are shown."""


class Findings(msgspec.Struct, frozen=True):
    """What was found out, and when the tournament had finished then."""

    finished: str
    audit: Audit
    checks: int = 1


def kept(folder: Path, row: Tournament) -> Audit | None:
    """Returns what was found out before about a tournament as it is now; None if nothing was."""
    try:
        text = files.read(folder / FILE, "what was verified", files.MOST_DOCUMENT, ArenaError, links=False)
        found = msgspec.json.decode(text, type=Findings)
    except (ArenaError, msgspec.MsgspecError):
        return None
    return found.audit if (found.finished, found.checks) == (row.finished, CHECKS) else None


def check(reader: Reader, row: Tournament, folder: Path, processes: int, advance: Callable[[], object]) -> Audit | None:
    """Plays all games of a finished tournament again, as `arena verify --complete` does, and keeps what was found.

    Args:
        reader: The database.
        row: The tournament.
        folder: Its folder in the site.
        processes: How many may work.
        advance: Called after each game.

    Returns:
        What was found; None if its logs are gone.

    Raises:
        OSError: It could not be kept.
    """
    logs = Path(row.logs)
    found = sorted(map(str, find_logs(logs))) if logs.is_dir() else []
    if not found:
        return None
    auditor = Auditor(logs, reader, None)
    for log in examine_all(found, processes):
        auditor.add(log)
        advance()
    audit = auditor.result(complete=True)
    places = places_of(row, reader.entrants(row.id), reader.path)
    audit = msgspec.structs.replace(
        audit, folder=row.id, faults=tuple(Fault(one.check, places.hide(one.reason)) for one in audit.faults)
    )
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / FILE, msgspec.json.format(msgspec.json.encode(Findings(row.finished or "", audit, CHECKS))))
    return audit


def listed(audit: Audit | None) -> list[Payload]:
    """Returns each promise with its state: `kept`, `broken` or `open`, and what was found wrong."""
    found = []
    for name, promise in PROMISES.items():
        faults = [] if audit is None else [fault.reason for fault in audit.faults if fault.check == name]
        is_checked = audit is not None and name in audit.checked
        state = "broken" if faults else "kept" if is_checked else "open"
        found.append(
            {
                "name": name,
                "promise": promise,
                "state": state,
                "faults": faults[:MOST_FAULTS],
                "more": len(faults) - MOST_FAULTS,
            }
        )
    return found
