"""Who sees what of a league's games: one table for what a log holds, and the logs that are published by it.

Laws:
1. What somebody may see is built from what the table names, field by field. A field that is added to a record stays
   hidden until somebody decides about it, and a test fails until then.
2. Everybody sees what was played: all actions, all events, every draw, and the time that each decision took. So public
   logs verify, and their play digest is that of the original.
3. Only its author sees what a bot said beside its actions: notes, what it printed, the words of its end, and the
   messages that it exchanged.
4. Nothing of a match is seen before its last game is over: its games share the deal. The caller keeps to this.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from arena.core.face import Seat, compression, errors, files, log_records, value_types

R = TypeVar("R", bound=msgspec.Struct)


class Viewer(StrEnum):
    """Who may see something."""

    ALL = "everybody"
    OWN = "the author of the seat's bot"


FIELDS: Final[dict[type[msgspec.Struct], dict[str, Viewer]]] = {
    log_records.Header: dict.fromkeys(
        (
            "format",
            "arena",
            "game",
            "tournament",
            "settings",
            "board",
            "bots",
            "deal",
            "rotation",
            "commitment",
            "salt",
            "mix",
            "beacon",
            "level",
            "attempt",
            "chance",
            "ms",
        ),
        Viewer.ALL,
    ),
    log_records.Chance: dict.fromkeys(("stream", "n", "draw", "tied", "events", "ms"), Viewer.ALL),
    log_records.ActionRecord: dict.fromkeys(("seat", "kind", "turn", "action", "events", "used_ns", "ms"), Viewer.ALL)
    | {"note": Viewer.OWN},
    log_records.LateRecord: dict.fromkeys(("seat", "kind", "turn", "action", "used_ns", "ms"), Viewer.ALL)
    | {"note": Viewer.OWN},
    log_records.ForfeitRecord: dict.fromkeys(("forfeits", "turn", "events", "ms"), Viewer.ALL),
    value_types.LoggedForfeit: dict.fromkeys(("seat", "code", "overloaded", "rule", "denied_ms"), Viewer.ALL)
    | {"sentence": Viewer.OWN},  # it may quote what the bot sent
    log_records.OutcomeRecord: dict.fromkeys(
        (
            "termination",
            "ranks",
            "scores",
            "turns",
            "actions",
            "play_digest",
            "off_turn_cpu_ms",
            "receipts",  # of notes they hold a digest alone
            "limit",
            "ms",
        ),
        Viewer.ALL,
    ),
}  # fmt: skip
"""By record and field who may see it. Fields that are not here, nobody sees."""

BESIDE: Final = ("transcript", "output")
"""What may stand beside a log for each seat, only for its author: `GAME.seatN.output`."""
MOST_BESIDE: Final = 4 * files.MIB
"""Bytes of such a file. Both are bounded when they are written, by less than this."""


def visible(log: log_records.Log, seats: Collection[Seat] = ()) -> list[log_records.Header | log_records.Record]:
    """Returns the records of a log as the author of the bots at `seats` may see them; of none, as everybody may."""
    return [log.header, *(_record(record, seats) for record in log.records)]


def _record(record: log_records.Record, seats: Collection[Seat]) -> log_records.Record:
    if isinstance(record, log_records.ForfeitRecord):
        shown = [  # without words of the bot
            _built(one, one.seat in seats, sentence=f"seat {one.seat} forfeited: {one.code}") for one in record.forfeits
        ]
        return msgspec.structs.replace(_built(record, False), forfeits=shown)
    return _built(
        record, isinstance(record, log_records.ActionRecord | log_records.LateRecord) and record.seat in seats
    )


def _built(record: R, own: bool, **hidden: Any) -> R:
    """Returns a record with the fields that may be seen; the others get a value of `hidden`, or their default."""
    table = FIELDS[type(record)]
    seen = {name: getattr(record, name) for name, who in table.items() if own or who is Viewer.ALL}
    return type(record)(**{**hidden, **seen})


def publish(
    log: log_records.Log, original: Path, folder: Path, authors: Sequence[str | None], *, public: bool = True
) -> str:
    """Writes what may be seen of a game that was logged, compressed, and returns the SHA-256 (hex) of the public log.

    It writes `logs/GAME.jsonl.zst` for everybody, and in `own/AUTHOR/` the log for each author to whom more is shown,
    and what stands beside the log for their seats. It may be called again with the same result.

    With `public=False` there is nothing for everybody, and the log for each author.

    Args:
        original: Where it stands, with or without its compression's ending; transcripts and outputs are beside it.
        folder: The folder to publish in.
        authors: By seat the name of the bot's author, None for the house's. The names are checked by the caller.

    Raises:
        OSError: Something could not be written. The rest may be there.
        LogError: What stands beside the log cannot be read.
    """
    game = log.header.game
    of_all, digest = log_records.log_bytes(visible(log))
    if public:
        _write(folder / "logs" / f"{game}{log_records.SUFFIX}", of_all)
    for author in sorted({author for author in authors if author is not None}):
        seats = [seat for seat, other in enumerate(authors) if other == author]
        shown, _ = log_records.log_bytes(visible(log, seats))
        if shown != of_all or not public:
            _write(folder / "own" / author / f"{game}{log_records.SUFFIX}", shown)
        for seat in seats:
            for kind in BESIDE:
                name = f"{game}.seat{seat}.{kind}"
                if (data := _beside(original.with_name(name))) is not None:
                    _write(folder / "own" / author / name, data)
    return digest


def _beside(path: Path) -> bytes | None:
    """Returns the content of a file beside a log, compressed or not; None if there is none."""
    packed = path.with_name(path.name + compression.SUFFIX)
    if os.path.lexists(path):
        return files.read(path, "a transcript or output", MOST_BESIDE, errors.LogError, links=False)
    if os.path.lexists(packed):
        data = files.read(packed, "a transcript or output", MOST_BESIDE, errors.LogError, links=False)
        return compression.expand(data, str(packed), MOST_BESIDE)
    return None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path.with_name(path.name + compression.SUFFIX), compression.compress(data), durably=True)
