"""Composes what a seat is told of its game: `game_start`, `request` and `game_over`, from the course."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from arena.core.record.receipts import Receipt
from arena.core.rules.base import Decision, Outcome, Rules
from arena.core.rules.course import Course
from arena.core.types import GameSettings, LoggedForfeit, Seat, Termination, TimeControl
from arena.core.wire.messages import ForfeitNotice, GameOver, GameStart, ReceiptNotice, Request, RequestClock, Time


def game_start(
    rules: Rules[Any],
    settings: GameSettings,
    seat: Seat,
    *,
    game: int,
    commitment: str,
    bot_seed: int,
    parameters: Mapping[str, str] | None = None,
    time: TimeControl | None = None,
) -> GameStart:
    """Returns the `game_start` that tells a seat what is played.

    Args:
        game: The number of the game in the seat's session.
        commitment: SHA-256 (hex) of the game's salt and the deal's secret.
        bot_seed: The seed for the bot's own randomness.
        time: The time that the seat has; None means the settings' time.
    """
    time = time or settings.time
    return GameStart(
        game=game,
        rules=rules.name,
        rules_version=rules.version,
        ruleset=settings.ruleset,
        options=dict(rules.options),
        seat=seat,
        seats=rules.seats,
        board=rules.board_payload,
        time=Time(
            bank_ms=time.bank_ms,
            increment_ms=time.increment_ms,
            limit_ms=time.limit_ms,
            margin_ms=settings.margin_ms,
            window_us=settings.race_window_us if rules.has_race else None,
            cpu_ms=None if time.cpu_ms is UNSET else time.cpu_ms,
            off=None if time.off is UNSET else time.off,
        ),
        commitment=commitment,
        bot_seed=bot_seed,
        parameters=dict(parameters or {}),
    )


def request(course: Course, decision: Decision, wants: Collection[str], id: int, clock: RequestClock) -> Request:
    """Returns the request for a decision that is due in the current state.

    Args:
        course: The game. The seat's news are marked as sent.
        wants: What the request carries: any of `view`, `events`, `legal`.
        id: The number of the request in the seat's session.
    """
    rules, state, seat = course.rules, course.state, decision.seat
    return Request(
        id=id,
        kind=decision.kind,
        clock=clock,
        view=rules.view(state, seat) if "view" in wants else None,
        events=course.news(seat) if "events" in wants else None,
        legal=rules.write_legal(state, seat) if "legal" in wants else None,
    )


def game_over(
    course: Course,
    seat: Seat,
    wants: Collection[str],
    game: int,
    *,
    interrupted: bool = False,
    receipt: Receipt | None = None,
    forfeits: Sequence[LoggedForfeit] = (),
) -> GameOver:
    """Returns the `game_over` for a seat whose game has ended or is interrupted.

    Args:
        game: The number of the game in the seat's session.
        interrupted: Whether the game was stopped from outside.
        receipt: The seat's receipt of a game that has ended.
        forfeits: Those of the game, as its log has them.
    """
    outcome: Outcome | None = None if interrupted else course.outcome
    marks = {one.seat: (one.overloaded, one.denied_ms) for one in forfeits}
    return GameOver(
        game=game,
        termination=Termination.INTERRUPTED if outcome is None else course.termination,
        ranks=[] if outcome is None else list(outcome.ranks),
        forfeits=[ForfeitNotice(guilty, code, *marks.get(guilty, ())) for guilty, code in course.gone.items()],
        events=course.news(seat) if "events" in wants else None,
        scores=None if outcome is None or outcome.scores is None else list(outcome.scores),
        receipt=None
        if receipt is None
        else ReceiptNotice(receipt.digest, receipt.notes, receipt.used_ns, receipt.forfeits),
    )
