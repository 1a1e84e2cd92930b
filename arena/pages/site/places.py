"""Keeps the organiser's folders out of pages: those of a tournament's bots, of what they run, of its logs and database.

Law: what is hidden follows from the database alone. So a site is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from arena.core.face import bot_manifests, game_rows, log_records, places


def refs_by_name(entrants: Sequence[game_rows.Entrant]) -> list[str]:
    """Returns how pages name bots on the command line: bundled ones as always, others as if they lay in this folder.

    A bot that was a command line is named by its program alone.
    """
    specs = [msgspec.convert(entrant.spec, bot_manifests.BotSpec) for entrant in entrants]
    return [(f"{spec.name}=" if spec.own else "") + ref for spec, ref in zip(specs, _refs(specs), strict=True)]


def _refs(specs: Sequence[bot_manifests.BotSpec]) -> list[str]:
    bundled = bot_manifests.bundled_folders()
    return [_ref(spec, bundled) for spec in specs]


def _ref(spec: bot_manifests.BotSpec, bundled: Mapping[str, Path]) -> str:
    if not spec.version:  # a manifest must have one
        return f"{bot_manifests.COMMAND}{spec.name} {places.ELSEWHERE}"
    own = bundled.get(spec.own_name)
    is_bundled = own is not None and own.parts[-2:] == Path(spec.folder).parts[-2:]  # wherever it is installed
    return (spec.own_name if is_bundled else f"./{spec.own_name}") + spec.suffix


def hide_in(log: log_records.Log, places: places.Places) -> log_records.Log:
    """Returns a log without some places, in what bots said and in what is said of them."""
    return msgspec.structs.replace(log, records=[_record(record, places) for record in log.records])


def _record(record: log_records.Record, places: places.Places) -> log_records.Record:
    if isinstance(record, log_records.ForfeitRecord):
        said = [msgspec.structs.replace(one, sentence=places.hide(one.sentence)) for one in record.forfeits]
        return msgspec.structs.replace(record, forfeits=said)
    if isinstance(record, log_records.ActionRecord | log_records.LateRecord) and record.note is not None:
        return msgspec.structs.replace(record, note=places.hide(record.note))
    return record


def places_of(row: game_rows.Tournament, entrants: Sequence[game_rows.Entrant], database: Path) -> places.Places:
    """Returns the places of a tournament."""
    names = [(row.logs, row.id), (str(Path(row.logs).parent), "logs"), (str(database), database.name)]
    specs = [msgspec.convert(entrant.spec, bot_manifests.BotSpec) for entrant in entrants]
    for spec, ref in zip(specs, _refs(specs), strict=True):
        names.append((spec.folder, "." if ref.startswith(bot_manifests.COMMAND) else ref))
        names += [(path, PurePosixPath(path).name) for path in (*spec.command, *spec.reads)]
    return places.Places((path, name) for path, name in names if path.startswith("/"))
