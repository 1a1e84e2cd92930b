"""Writes down what happens in a game: each fact as a record, and all of them as the log when the game is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from arena import __version__
from arena.link.base import Link
from arena.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LateRecord,
    LogEvent,
    LoggedBoard,
    LoggedBot,
    LoggedForfeit,
    OutcomeRecord,
    Record,
    play_digest,
    write_log,
)
from arena.referee.chair import Answer
from arena.referee.clock import NS_PER_MS
from arena.referee.job import Job
from arena.rules.base import Decision, Draw, Event, Rules
from arena.types import Forfeit, Ranks, Seat, Termination
from arena.wire.messages import Action

Watch: TypeAlias = Callable[[Header | Record], None]
"""Is told each record, between decisions: no clock runs while it works."""


class Scribe:
    """The records of one game. Times count from `begin`."""

    def __init__(self, link: Link, watch: Watch | None = None) -> None:
        self.begun_ns = 0
        """When the game began, on the link's clock."""
        self.actions = 0
        """How many actions were accepted."""
        self._link = link
        self._watch = watch
        self._watched = 0
        self._records: list[Header | Record] = []

    def begin(self, job: Job, rules: Rules[Any], commitment: str) -> None:
        """The game begins now."""
        self.begun_ns = self._link.now_ns()
        board = rules.board_payload()
        self._records.append(
            Header(
                arena=__version__,
                game=job.game,
                tournament=job.tournament,
                rules=job.rules,
                rules_version=rules.version,
                ruleset=job.ruleset,
                options=dict(rules.options),
                seats=rules.seats,
                board=LoggedBoard(job.board_name, board["hash"], job.board_text),
                bots=[LoggedBot(bot.name, bot.version, bot.digest) for bot in job.bots],
                time=str(job.time),
                deal=job.deal,
                rotation=job.rotation,
                commitment=commitment,
            )
        )

    def drawn(self, draw: Draw, index: int, events: Sequence[Event], tied: list[Seat] | None = None) -> None:
        """Chance drew; in a race, the order of the seats that were `tied`."""
        self._records.append(
            Chance(
                stream=draw.stream,
                n=draw.n,
                draw=index,
                tied=tied,
                events=list(map(log_event, events)),
                ms=self._ms(self._link.now_ns()),
            )
        )

    def acted(self, decision: Decision, turn: int, answer: Answer, events: Sequence[Event]) -> None:
        """An action was accepted."""
        message = answer.message
        assert isinstance(message, Action)
        self.actions += 1
        self._records.append(
            ActionRecord(
                seat=decision.seat,
                kind=decision.kind,
                turn=turn,
                action=message.action,
                events=list(map(log_event, events)),
                note=message.note,
                used_ms=answer.used_ns / NS_PER_MS,
                ms=self._ms(answer.at_ns),
            )
        )

    def late(self, decision: Decision, turn: int, answer: Answer) -> None:
        """An action came too late in a race."""
        message = answer.message
        assert isinstance(message, Action)
        self._records.append(
            LateRecord(
                seat=decision.seat,
                kind=decision.kind,
                turn=turn,
                action=message.action,
                note=message.note,
                used_ms=answer.used_ns / NS_PER_MS,
                ms=self._ms(answer.at_ns),
            )
        )

    def forfeited(self, forfeits: Iterable[Forfeit], turn: int, events: Sequence[Event]) -> None:
        """Seats forfeited, all at the same moment."""
        self._records.append(
            ForfeitRecord(
                forfeits=[LoggedForfeit(f.seat, f.code, f.sentence, f.overloaded) for f in forfeits],
                turn=turn,
                events=list(map(log_event, events)),
                ms=self._ms(self._link.now_ns()),
            )
        )

    def over(self, termination: Termination, ranks: Ranks, turns: int) -> str:
        """The game is over: its play digest."""
        outcome = OutcomeRecord(
            termination=termination,
            ranks=list(ranks),
            turns=turns,
            actions=self.actions,
            play_digest="",
            ms=self._ms(self._link.now_ns()),
        )
        digest = play_digest([*self._records, outcome])
        self._records.append(replace(outcome, play_digest=digest))
        return digest

    def show(self) -> None:
        """Let whoever watches see what is new. Call it while no seat is asked."""
        if self._watch is not None:
            for record in self._records[self._watched :]:
                self._watch(record)
            self._watched = len(self._records)

    def write(self, path: Path) -> str:
        """Write the log: its SHA-256 (hex).

        Raises:
            OSError: It could not be written. Nothing is left.
        """
        return write_log(path, self._records)

    def _ms(self, at_ns: int) -> int:
        return (at_ns - self.begun_ns) // NS_PER_MS


def log_event(event: Event) -> LogEvent:
    """An event as the log holds it."""
    return event.data if event.audience is None else event.data | {"only": list(event.audience)}
