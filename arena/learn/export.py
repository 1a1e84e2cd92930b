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

from arena.core.record.log import ActionRecord, Log, read_log
from arena.core.referee.replay import replay
from arena.core.rules.base import Decision
from arena.core.rules.course import Course
from arena.core.types import NS_PER_MS, Payload, Seat, Termination

if TYPE_CHECKING:
    import pyarrow

SUFFIX: Final = ".parquet"
_CHUNK: Final = 32  # logs that become columns together, and that a process reads at a time
_GROUP: Final = 65_536  # rows that are compressed together, and that readers can skip together


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

    chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
    group: list[pyarrow.RecordBatch] = []
    with pyarrow.parquet.ParquetWriter(file, _schema(), compression="zstd") as writer:
        for batch, counts in _batches(chunks, processes):
            group.append(batch)
            if sum(part.num_rows for part in group) >= _GROUP:
                writer.write_table(pyarrow.Table.from_batches(group))
                group = []
            yield from counts
        if group:
            writer.write_table(pyarrow.Table.from_batches(group))


def _batches(chunks: Sequence[Sequence[str]], processes: int) -> Iterator[tuple[pyarrow.RecordBatch, Sequence[int]]]:
    if processes < 2 or len(chunks) < 2:  # one is read sooner than other processes start
        yield from map(_batch, chunks)
        return
    context = multiprocessing.get_context("spawn")
    leave = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(processes, mp_context=context, initializer=leave) as workers:
        yield from workers.map(_batch, chunks)


def _batch(paths: Sequence[str]) -> tuple[pyarrow.RecordBatch, Sequence[int]]:
    """Returns the decisions of some logs as columns, and how many each log had."""
    import pyarrow

    schema = _schema()
    logs = [list(decisions(read_log(Path(path)))) for path in paths]
    rows = [msgspec.structs.astuple(row) for log in logs for row in log]
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema), [len(log) for log in logs]


def _schema() -> pyarrow.Schema:
    import pyarrow

    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "int | None": pyarrow.int64()}
    return pyarrow.schema([(name, types[kind]) for name, kind in DecisionRow.__annotations__.items()])


def _json(value: Payload | list[Payload] | Any) -> str:
    return msgspec.json.encode(value).decode()
