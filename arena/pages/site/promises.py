"""What `arena verify` finds out about a tournament that is finished: checked once, and kept in its folder.

Law: what was found out holds for the facts that were checked, to the byte. When they differ it is not shown any more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import (
    PARTS,
    Payload,
    Reader,
    auditing,
    errors,
    examining,
    files,
    formats,
    game_rows,
    log_records,
    verdicts,
)
from arena.pages.site.places import places_of

FILE: Final = "promises.json"
CHECKS: Final = 3
"""Counts up when the audit checks more. What was found out by an earlier one says less, and is found out again."""
_DEPENDENT: Final = (formats.Extension.__struct_config__.tag, formats.Gauntlet.__struct_config__.tag)
"""The formats whose standings begin with the results of others (`core/standings/report.py`)."""
MOST_FAULTS: Final = 10


class Findings(msgspec.Struct, frozen=True):
    """What was found out, when, and about what."""

    facts: str
    """SHA-256 (hex) of all that was checked."""
    found: str
    audit: verdicts.Audit


def facts_of(reader: Reader, row: game_rows.Tournament) -> str:
    """Returns the SHA-256 (hex) of all that an audit reads: definitions and rows of the database, and files.

    The final ratings can depend on earlier tournaments, so the rows of those are facts too.
    """
    digest = hashlib.sha256(b"%d" % CHECKS)
    with reader.snapshot():
        digest.update(repr(reader.definitions()).encode())
        for one in sources_of(reader, row):
            for table in PARTS:
                columns, key = reader.columns(table)
                for values in reader.rows(table, one.id, columns, key):
                    digest.update(repr(values).encode())
    for path in sorted(path for kind in ("*.json*", "*.begun") for path in Path(row.logs).rglob(kind)):
        digest.update(repr((path.relative_to(row.logs).parts, path.is_symlink())).encode())
        with suppress(errors.ArenaError):  # what cannot be read is a fault, and no mark
            data = files.read(path, "a file of a tournament", files.MOST_LOG, errors.ArenaError)
            digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def sources_of(reader: Reader, row: game_rows.Tournament) -> list[game_rows.Tournament]:
    """Returns a tournament, and those on whose results its standings may depend."""
    return reader.pool(row.id) if row.settings["format"] in _DEPENDENT else [row]


def kept(reader: Reader, row: game_rows.Tournament, folder: Path) -> Findings | None:
    """Returns what was found out before about a tournament as it is now; None if nothing was."""
    try:
        text = files.read(folder / FILE, "what was verified", files.MOST_DOCUMENT, errors.ArenaError, links=False)
        found = msgspec.json.decode(text, type=Findings)
        return found if found.facts == facts_of(reader, row) else None
    except (errors.ArenaError, msgspec.MsgspecError):
        return None


def check(
    reader: Reader, row: game_rows.Tournament, folder: Path, processes: int, advance: Callable[[], object]
) -> Findings | None:
    """Plays all games of a finished tournament again, as `arena verify --complete` does, and keeps what was found.

    Returns:
        What was found; None if its logs are gone.

    Raises:
        OSError: It could not be kept.
    """
    logs = Path(row.logs)
    found = sorted(map(str, log_records.find_logs(logs))) if logs.is_dir() else []
    if not found:
        (folder / FILE).unlink(missing_ok=True)
        return None
    facts = facts_of(reader, row)  # before they are checked: what changes meanwhile is checked again
    auditor = auditing.Auditor(logs, reader, None)
    for log in examining.examine_all(found, processes):
        auditor.add(log)
        advance()
    audit = auditor.result(complete=True)
    places = places_of(row, reader.entrants(row.id), reader.path)
    audit = msgspec.structs.replace(
        audit, folder=row.id, faults=tuple(verdicts.Fault(one.check, places.hide(one.reason)) for one in audit.faults)
    )
    folder.mkdir(parents=True, exist_ok=True)
    findings = Findings(facts, datetime.now(UTC).isoformat(timespec="seconds"), audit)
    files.write(folder / FILE, msgspec.json.format(msgspec.json.encode(findings)))
    return findings


def listed(findings: Findings | None) -> list[Payload]:
    """Returns each promise with its state: `kept`, `broken` or `open`, and what was found wrong."""
    audit, found = None if findings is None else findings.audit, []
    for name, promise in auditing.PROMISES.items():
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
