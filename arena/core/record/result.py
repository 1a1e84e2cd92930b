"""Makes the result of a game from its records: the one that the referee returns, and that anybody finds in the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import asdict

from arena.core.record import log
from arena.core.types import NS_PER_MS, Forfeit, GameResult, Seat, SeatResult, Termination


def result_of(
    header: log.Header,
    records: Sequence[log.Record],
    log_sha256: str,
    margins: Sequence[int] | None = None,
    last_words: Mapping[Seat, tuple[str, ...]] | None = None,
    numbers: Mapping[str, Sequence[float | None]] = {},
) -> GameResult:
    """Returns the result of a game.

    Args:
        records: All records after it. Nothing contradicts them, as `verify` finds out; the last is an outcome.
        margins: By seat its leads over all others, if the game counts them. They follow from the last state.
        last_words: By seat that forfeited the last lines that its process wrote. No log has them.
        numbers: Numbers by seat that wings bring, by name, as `plugs.numbers` computes them.
    """
    outcome = records[-1]
    assert isinstance(outcome, log.OutcomeRecord)
    teams = None if header.settings.teams is UNSET else header.settings.teams
    used_ns: list[list[int]] = [[] for _ in header.bots]
    costs = [Counter[str]() for _ in header.bots]
    forfeits: dict[Seat, Forfeit] = {}
    for record in records:
        if isinstance(record, log.ActionRecord | log.LateRecord):
            used_ns[record.seat].append(record.used_ns)
            if record.note:  # most have none, and this is done for every decision
                costs[record.seat].update(log.cost_of(record.note))
        elif isinstance(record, log.ForfeitRecord):
            forfeits |= _forfeits(record, last_words or {})
    return GameResult(
        game=header.game,
        termination=Termination(outcome.termination),
        seats=tuple(
            SeatResult(
                rank=outcome.ranks[seat],
                decisions=len(used),
                total_ms=sum(used) / NS_PER_MS,
                max_ms=max(used, default=0) / NS_PER_MS,
                forfeit=forfeits.get(seat),
                score=_of(outcome.scores, seat),
                margin=_of(margins, seat),
                team=_of(teams, seat),
                cost=dict(costs[seat]) or None,
                numbers={name: value for name, found in numbers.items() if (value := found[seat]) is not None} or None,
                **{name: _of(getattr(outcome, name), seat) for name in log.MEASURED},
            )
            for seat, used in enumerate(used_ns)
        ),
        turns=outcome.turns,
        actions=outcome.actions,
        seconds=outcome.ms / 1000,
        play_digest=outcome.play_digest,
        log=f"{header.game}{log.SUFFIX}",
        log_sha256=log_sha256,
        transcripts=tuple(transcript_name(header.game, seat) for seat in forfeits),
        level=header.level,
    )


def transcript_name(game: str, seat: Seat) -> str:
    """Returns the name of the file with the messages of a seat that forfeited; it lies beside the log."""
    return f"{game}.seat{seat}.transcript"


def _forfeits(record: log.ForfeitRecord, last_words: Mapping[Seat, tuple[str, ...]]) -> dict[Seat, Forfeit]:
    return {
        told.seat: Forfeit(
            **asdict(told) | {"code": Termination(told.code)}, turn=record.turn, stderr=last_words.get(told.seat, ())
        )
        for told in record.forfeits
    }


def _of(by_seat: Sequence[Any] | None, seat: Seat) -> Any:
    return None if by_seat is None else by_seat[seat]
