"""What a seat saw and did in a game, as one digest: the seat's *receipt* (`protocol/SPEC.md`, section 8.10).

The referee sends it in `game_over` and writes it into the log. It follows from the records of the log, so that a log
that was changed after the game has another one; and from the messages of the seat, so that a bot can compute it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from arena.core.record import log
from arena.core.types import Event, LoggedForfeit, Payload, Seat

WITHOUT_MARKS: Final = frozenset({"0.1.0", "0.2.0"})
"""The versions of arena whose receipts do not say which forfeits were the machine's."""


class Receipt(log.LoggedReceipt, frozen=True, kw_only=True):
    """The receipt of a seat, with the times that the seat is told."""

    used_ns: list[int]
    """Nanoseconds that were charged for each of its answers."""

    @property
    def logged(self) -> log.LoggedReceipt:
        """What the log says of it."""
        return log.LoggedReceipt(self.seat, self.digest, self.notes, self.forfeits)


def receipts_of(
    header: log.Header,
    records: Iterable[log.Record],
    termination: str,
    ranks: Sequence[int],
    scores: Sequence[int] | None,
) -> list[Receipt | None]:
    """Returns by seat the receipt of a game that is over; None for a seat that forfeited.

    Args:
        records: The records between it and the outcome. An outcome among them is passed over.
        scores: The score of each seat, if the game has scores.
    """
    settings = header.settings
    seats = range(settings.players)
    acted: list[log.ActionRecord | log.LateRecord] = []
    happened: list[Event] = []
    forfeits: dict[Seat, LoggedForfeit] = {}
    for record in records:
        kind = type(record)
        if kind is log.ActionRecord or kind is log.LateRecord:
            acted.append(record)  # type: ignore[arg-type]
        elif kind is log.ForfeitRecord:
            forfeits |= {one.seat: one for one in record.forfeits}  # type: ignore[union-attr]
        if kind is not log.LateRecord and kind is not log.OutcomeRecord:
            happened += record.events  # type: ignore[union-attr]
    answers: list[list[bytes]] = [[] for _ in seats]
    events: list[list[bytes]] = [[] for _ in seats]
    said = log.canonical_lines(
        [{"action": ordered(one.action), "kind": one.kind, "used_ns": one.used_ns} for one in acted]
    )
    for record, line in zip(acted, said, strict=True):
        answers[record.seat].append(line)
    for event, line in zip(happened, log.canonical_lines([event.data for event in happened]), strict=True):
        for seat in seats if event.to is None else event.to:
            events[seat].append(line)
    over = log.canonical(
        {
            "forfeits": [{"seat": one.seat, "code": one.code} for one in forfeits.values()],
            "ranks": ranks,
            "scores": scores,
            "termination": termination,
        }
    )
    marked = forfeits_digest(forfeits.values())
    common = {
        "board": msgspec.Raw(log.canonical(header.board)),
        "options": settings.options,
        "rules": settings.rules,
        "rules_version": settings.rules_version,
        "ruleset": settings.ruleset,
        "seats": settings.players,
    }
    found: list[Receipt | None] = []
    for seat in seats:
        if seat in forfeits:
            found.append(None)
            continue
        start = log.canonical(common | {"bot_seed": header.bots[seat].bot_seed, "seat": seat})
        whole = sha256(
            b'{"answers":[%b],"events":[%b],"over":%b,"start":%b}'
            % (b",".join(answers[seat]), b",".join(events[seat]), over, start)
        )
        own = [record for record in acted if record.seat == seat]
        notes = [record.note for record in own]
        noted = None if all(note is None for note in notes) else sha256(log.canonical(notes)).hexdigest()
        found.append(Receipt(seat, whole.hexdigest(), noted, marked, used_ns=[record.used_ns for record in own]))
    return found


def forfeits_digest(forfeits: Iterable[Any]) -> str | None:
    """Returns the SHA-256 (hex) of forfeits with what marks them as the machine's; None if there are none."""
    marks = [
        {"code": one.code, "denied_ms": one.denied_ms, "overloaded": one.overloaded, "seat": one.seat}
        for one in forfeits
    ]
    return sha256(log.canonical(marks)).hexdigest() if marks else None


def ordered(action: Payload) -> Payload:
    """Returns an action with each array that is a value in a play in ascending order of its elements' canonical JSON.

    Where several values were chosen their order means nothing, and the log has them in another than the bot sent.
    """
    for play in action["plays"]:
        for value in play.values():
            if type(value) is list:  # most actions have none, and this is done for every one
                plays = [{key: _sorted(one) for key, one in play.items()} for play in action["plays"]]
                return action | {"plays": plays}
    return action


def _sorted(value: Any) -> Any:
    return sorted(value, key=log.canonical) if type(value) is list else value


def contradictions(header: log.Header, records: Sequence[log.Record], outcome: log.OutcomeRecord) -> Iterable[str]:
    """Yields where the receipts in an outcome do not follow from the records of the log.

    The notes of a seat of which the log has none are not compared: others than its bot's author are not shown them.
    """
    if header.chance:  # since 0.3.0, whatever version the log says that it is of
        if outcome.receipts is None:
            yield "expected receipts, which every log has that says its version of CHANCE, got none"
        if not header.attempt:
            yield "expected an `attempt`, which every log has that says its version of CHANCE, got none"
    if outcome.receipts is None:
        return
    may_lack_marks = header.arena in WITHOUT_MARKS and not header.chance
    computed = receipts_of(header, records, outcome.termination, outcome.ranks, outcome.scores)
    found = [receipt for receipt in computed if receipt is not None]
    if (named := [logged.seat for logged in outcome.receipts]) != (seats := [receipt.seat for receipt in found]):
        yield f"expected the receipts of the seats that did not forfeit, {seats}, got: those of {named}"
        return
    for receipt, logged in zip(found, outcome.receipts, strict=True):
        if receipt.digest != logged.digest:
            yield (
                f"what seat {receipt.seat} saw and did gives the receipt {receipt.digest}, the log says {logged.digest}"
            )
        if receipt.forfeits != logged.forfeits and not (logged.forfeits is None and may_lack_marks):
            yield (
                f"the forfeits, with `overloaded` and `denied_ms`, give seat {receipt.seat} the digest "
                f"{receipt.forfeits}, the log says {logged.forfeits}"
            )
        if receipt.notes is not None and receipt.notes != logged.notes:
            yield f"the notes of seat {receipt.seat} give the digest {receipt.notes}, the log says {logged.notes}"
