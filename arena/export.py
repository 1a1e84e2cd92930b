"""Makes a table of the decisions in logged games, for programs that learn from them: one row for each.

Laws:
1. A row holds what the seat was shown when it was asked, and what came of it; nothing that it could not know then but
   the outcome. So what learns from a table cannot learn from secrets.
2. A log is played again for it: a table of a log that breaks the rules is not made.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from arena.record.log import ActionRecord, Log, read_log
from arena.referee.replay import replay
from arena.rules.base import Decision
from arena.rules.course import Course
from arena.types import NS_PER_MS, Payload, Seat, Termination

if TYPE_CHECKING:
    import pyarrow

SUFFIX: Final = ".parquet"
_FEW: Final = 8  # logs that one process reads sooner than others start
_CHUNK: Final = 16  # logs for a process at a time


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A decision of a logged game."""

    game: str
    """The game's identifier."""
    rules: str
    ruleset: str
    players: int
    seat: int
    bot: str
    version: str
    turn: int
    kind: str
    """Which decision."""
    view: str
    """JSON: all that the seat could know when it was asked."""
    legal: str
    """JSON: the legal plays, as products."""
    action: str
    """JSON: what it did."""
    used_ms: float
    """The time that it took, in milliseconds."""
    rank: int
    """The seat's rank in the end; 1 is best."""
    score: int | None
    """Its score in the end; None in a game without scores."""


def decisions(log: Log) -> Iterator[DecisionRow]:
    """Yields the decisions of a logged game, in their order; none of a game that was interrupted.

    Raises:
        ReplayMismatch: The log breaks the rules of the game.
    """
    header, outcome = log.header, log.outcome
    if outcome.termination == Termination.INTERRUPTED:
        return
    asked: dict[Seat, tuple[str, str]] = {}

    def listen(course: Course, decision: Decision) -> None:
        rules, state, seat = course.rules, course.state, decision.seat
        asked[seat] = _json(rules.view(state, seat)), _json(rules.write_legal(state, seat))

    for step in replay(log, listen):
        record = step.record
        if not isinstance(record, ActionRecord):
            continue
        seat = record.seat
        view, legal = asked[seat]
        bot = header.bots[seat]
        yield DecisionRow(
            game=header.game,
            rules=header.settings.rules,
            ruleset=header.settings.ruleset,
            players=header.settings.players,
            seat=seat,
            bot=bot.name,
            version=bot.version,
            turn=record.turn,
            kind=record.kind,
            view=view,
            legal=legal,
            action=_json(record.action),
            used_ms=record.used_ns / NS_PER_MS,
            rank=outcome.ranks[seat],
            score=None if outcome.scores is None else outcome.scores[seat],
        )


def write_lines(paths: Sequence[str], file: BinaryIO) -> Iterator[int]:
    """Writes the decisions of logs as lines of JSON. Yields after each log how many it had."""
    for path in paths:
        rows = list(decisions(read_log(Path(path))))
        file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        yield len(rows)


def write_parquet(paths: Sequence[str], file: BinaryIO, processes: int) -> Iterator[int]:
    """Writes the decisions of logs as a Parquet file. Yields after each log how many it had.

    Args:
        paths: The logs.
        file: What is written to.
        processes: How many processes read logs.
    """
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(file, _schema(), compression="zstd") as writer:
        for batch in _batches(paths, processes):
            writer.write_batch(batch)
            yield batch.num_rows


def _batches(paths: Sequence[str], processes: int) -> Iterator[pyarrow.RecordBatch]:
    if processes < 2 or len(paths) < _FEW:
        yield from map(_batch, paths)
        return
    context = multiprocessing.get_context("spawn")
    leave = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(processes, mp_context=context, initializer=leave) as workers:
        yield from workers.map(_batch, paths, chunksize=_CHUNK)


def _batch(path: str) -> pyarrow.RecordBatch:
    """Returns the decisions of a log as columns."""
    import pyarrow

    rows = list(decisions(read_log(Path(path))))
    schema = _schema()
    columns = [pyarrow.array([getattr(row, field.name) for row in rows], field.type) for field in schema]
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _schema() -> pyarrow.Schema:
    import pyarrow

    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "int | None": pyarrow.int64()}
    return pyarrow.schema([(name, types[kind]) for name, kind in DecisionRow.__annotations__.items()])


def _json(value: Payload | list[Payload] | Any) -> str:
    return msgspec.json.encode(value).decode()
