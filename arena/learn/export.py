"""Makes a table of the decisions in logged games, for programs that learn from them: one row for each play.

Laws:
1. A row holds what the seat was shown when it was asked, and what came of it; nothing that it could not know then but
   the outcome. So what learns from a table cannot learn from secrets.
2. A log is played again for it: a table of a log that breaks the rules is not made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from arena.core.face import (
    NS_PER_MS,
    Payload,
    Seat,
    Termination,
    courses,
    errors,
    game_kit,
    log_records,
    numbering,
    processor_cores,
    stepping,
)

if TYPE_CHECKING:
    import pyarrow

SUFFIX: Final = ".parquet"
_CHUNK: Final = 32  # logs that become columns together, and that a process reads at a time
_GROUP: Final = 65_536  # rows that are compressed together, and that readers can skip together


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A play of a logged game: a decision is one or more."""

    game: str
    """The game's identifier."""
    rules: str
    rules_version: int
    ruleset: str
    options: str
    """JSON: every option of the rules, with its value."""
    board: str
    """The board's name; empty in a game without boards."""
    board_hash: str
    players: int
    seat: int
    bot: str
    version: str
    turn: int
    kind: str
    """Which decision."""
    step: int
    """Which play of its decision it is, from 0."""
    view: str
    """JSON: all that the seat could know before the play."""
    legal: str
    """JSON: the legal plays, as products."""
    play: str
    """JSON: the play; `{}` ends a turn or a scoring."""
    action: str
    """JSON: all that it did in the decision, as it answered."""
    used_ms: float
    """The time that the decision took, in milliseconds."""
    rank: int
    """The seat's rank in the end; 1 is best."""
    score: int | None
    """Its score in the end; None in a game without scores."""
    termination: str
    """End of the game: its termination."""


class NumberedRow(DecisionRow, frozen=True, kw_only=True):
    """The same in numbers, as environments have them (`arena.learn.adapters`)."""

    observation: list[int]
    number: int
    """The number of the play, as an action."""
    mask: list[bool]
    """Whether each action was legal."""


def decisions(log: log_records.Log, *, numbers: bool = False) -> Iterator[DecisionRow]:
    """Yields the plays of a logged game, in their order; none of a game that was interrupted.

    Args:
        log: The log.
        numbers: Whether rows are `NumberedRow`.

    Raises:
        ReplayMismatch: The log breaks the rules of the game.
        ConfigError: The game has no numbers.
    """
    header, outcome = log.header, log.outcome
    if outcome.termination == Termination.INTERRUPTED:
        return
    asked: dict[Seat, tuple[courses.Course, Any]] = {}

    def listen(course: courses.Course, decision: game_kit.Decision) -> None:
        asked[decision.seat] = course, course.state

    numbering, settings = None, header.settings
    every: dict[str, Any] = {
        "game": header.game,
        "rules": settings.rules,
        "rules_version": settings.rules_version,
        "ruleset": settings.ruleset,
        "options": _json(settings.options),
        "board": settings.board.name if settings.board else "",
        "board_hash": settings.board.hash if settings.board else "",
        "players": settings.players,
        "termination": outcome.termination,
    }
    for step in stepping.replay(log, listen):
        record = step.record
        if not isinstance(record, log_records.ActionRecord):
            continue
        course, state = asked[record.seat]
        rules, seat, bot = course.rules, record.seat, header.bots[record.seat]
        numbering = numbering or (_numbering(rules) if numbers else None)
        of_decision = every | {
            "seat": seat,
            "bot": bot.name,
            "version": bot.version,
            "turn": record.turn,
            "kind": record.kind,
            "action": _json(record.action),
            "used_ms": record.used_ns / NS_PER_MS,
            "rank": outcome.ranks[seat],
            "score": None if outcome.scores is None else outcome.scores[seat],
        }
        for at, (before, play) in enumerate(_plays(rules, state, seat, record.action)):
            row = of_decision | {
                "step": at,
                "view": _json(rules.view(before, seat)),
                "legal": _json(rules.write_legal(before, seat)),
                "play": _json(rules.write_play(play)),
            }
            if numbering is None:
                yield DecisionRow(**row)
                continue
            mask, legal = [False] * len(numbering), numbering.of(rules.relative(before, seat))
            for number in legal:
                mask[number] = True
            made = next(one for one in legal if rules.absolute(before, seat, numbering.play(one)) == play)
            yield NumberedRow(**row, observation=list(rules.observe(before, seat) or ()), number=made, mask=mask)


def _plays(rules: game_kit.Rules[Any], state: Any, seat: Seat, action: Payload) -> list[tuple[Any, Any]]:
    """Returns the plays of an action, those that the rules add at its end too, each with the state before it."""
    found: list[tuple[Any, Any]] = []

    def apply(state: Any, seat: Seat, play: Any, events: list[game_kit.Event] | None = None) -> Any:
        found.append((state, play))
        return rules.apply(state, seat, play, events)

    watched = copy(rules)
    watched.apply = apply  # type: ignore[method-assign]
    watched.act(state, seat, rules.read_action(state, seat, action))
    return found


def _numbering(rules: game_kit.Rules[Any]) -> numbering.Numbering:
    every = rules.every_play()
    if every is None or rules.observe(rules.start(), 0) is None:
        played = any("tensor" in option.values for option in rules.option_list)
        raise errors.ConfigError(
            f"expected a game that says what programs learn from, got: {rules.name}; leave out --numbers"
            + ", or play it with --rule view=tensor" * played
        )
    return numbering.Numbering(every)


def write_lines(paths: Sequence[str], file: BinaryIO, *, numbers: bool = False) -> Iterator[int]:
    """Writes the plays of logs as lines of JSON. Yields after each log how many it had."""
    for path in paths:
        rows = list(decisions(log_records.read_log(Path(path)), numbers=numbers))
        file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        yield len(rows)


def write_parquet(paths: Sequence[str], file: BinaryIO, processes: int, *, numbers: bool = False) -> Iterator[int]:
    """Writes the plays of logs as a Parquet file. Yields after each log how many it had.

    Args:
        paths: The logs.
        file: What is written to.
        processes: How many processes read logs.
        numbers: Whether rows are `NumberedRow`.
    """
    import pyarrow
    import pyarrow.parquet

    chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
    group: list[pyarrow.RecordBatch] = []
    with pyarrow.parquet.ParquetWriter(file, _schema(numbers), compression="zstd") as writer:
        for batch, counts in _batches(chunks, processes, numbers):
            group.append(batch)
            if sum(part.num_rows for part in group) >= _GROUP:
                writer.write_table(pyarrow.Table.from_batches(group))
                group = []
            yield from counts
        if group:
            writer.write_table(pyarrow.Table.from_batches(group))


def _batches(
    chunks: Sequence[Sequence[str]], processes: int, numbers: bool
) -> Iterator[tuple[pyarrow.RecordBatch, Sequence[int]]]:
    batch = partial(_batch, numbers)
    if processes < 2 or len(chunks) < 2:  # one is read sooner than other processes start
        yield from map(batch, chunks)
        return
    with processor_cores.Readers(processes) as workers:
        yield from workers.map(batch, chunks)


def _batch(numbers: bool, paths: Sequence[str]) -> tuple[pyarrow.RecordBatch, Sequence[int]]:
    """Returns the decisions of some logs as columns, and how many each log had."""
    import pyarrow

    schema = _schema(numbers)
    logs = [list(decisions(log_records.read_log(Path(path)), numbers=numbers)) for path in paths]
    rows = [msgspec.structs.astuple(row) for log in logs for row in log]
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema), [len(log) for log in logs]


def _schema(numbers: bool) -> pyarrow.Schema:
    import pyarrow

    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "int | None": pyarrow.int64()}
    types |= {"list[int]": pyarrow.list_(pyarrow.int32()), "list[bool]": pyarrow.list_(pyarrow.bool_())}
    kinds = DecisionRow.__annotations__ | (NumberedRow.__annotations__ if numbers else {})
    return pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])


def _json(value: Payload | list[Payload] | Any) -> str:
    return msgspec.json.encode(value).decode()
