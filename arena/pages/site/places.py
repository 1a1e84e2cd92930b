"""Keeps the organiser's folders out of pages: those of a tournament's bots, of what they run, of its logs and database.

Law: what is hidden follows from the database alone. So a site is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from arena.core.link.bots import COMMAND, BotSpec, bundled_folders
from arena.core.places import ELSEWHERE, Places
from arena.core.record.log import ActionRecord, ForfeitRecord, LateRecord, Log, Record
from arena.core.store.records import Entrant, Tournament


def refs_by_name(entrants: Sequence[Entrant]) -> list[str]:
    """Returns how pages name bots on the command line: bundled ones as always, others as if they lay in this folder.

    A bot that was a command line is named by its program alone.
    """
    bundled = bundled_folders()
    return [_ref(msgspec.convert(entrant.spec, BotSpec), bundled) for entrant in entrants]


def _ref(spec: BotSpec, bundled: Mapping[str, Path]) -> str:
    if not spec.version:  # a manifest must have one
        return f"{COMMAND}{spec.name} {ELSEWHERE}"
    own = bundled.get(spec.own_name)
    is_bundled = own is not None and own.parts[-2:] == Path(spec.folder).parts[-2:]  # wherever it is installed
    return (spec.own_name if is_bundled else f"./{spec.own_name}") + spec.suffix


def hide_in(log: Log, places: Places) -> Log:
    """Returns a log without some places, in what bots said and in what is said of them."""
    return msgspec.structs.replace(log, records=[_record(record, places) for record in log.records])


def _record(record: Record, places: Places) -> Record:
    if isinstance(record, ForfeitRecord):
        said = [msgspec.structs.replace(one, sentence=places.hide(one.sentence)) for one in record.forfeits]
        return msgspec.structs.replace(record, forfeits=said)
    if isinstance(record, ActionRecord | LateRecord) and record.note is not None:
        return msgspec.structs.replace(record, note=places.hide(record.note))
    return record


def places_of(row: Tournament, entrants: Sequence[Entrant], database: Path) -> Places:
    """Returns the places of a tournament."""
    names = [(row.logs, row.id), (str(Path(row.logs).parent), "logs"), (str(database), database.name)]
    for entrant, ref in zip(entrants, refs_by_name(entrants), strict=True):
        spec = msgspec.convert(entrant.spec, BotSpec)
        names.append((spec.folder, "." if ref.startswith(COMMAND) else ref))
        names += [(path, PurePosixPath(path).name) for path in (*spec.command, *spec.reads)]
    return Places((path, name) for path, name in names if path.startswith("/"))
