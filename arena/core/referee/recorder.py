"""Records what happens in a game, fact by fact, and writes the records as the log when the game is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from arena import __version__
from arena.core.link.base import Link
from arena.core.record.log import (
    BEGUN,
    SUFFIX,
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LateRecord,
    LoggedBot,
    LoggedForfeit,
    OutcomeRecord,
    Record,
    begin,
    play_digest,
    write_log,
)
from arena.core.record.receipts import Receipt, receipts_of
from arena.core.record.result import result_of
from arena.core.referee.chance import VERSION, bot_seed, commitment
from arena.core.referee.job import Job
from arena.core.referee.table import Answer
from arena.core.rules import course
from arena.core.rules.base import Outcome
from arena.core.types import NS_PER_MS, Event, Forfeit, GameResult, Payload, Seat

Watch: TypeAlias = Callable[[Header | Record], None]
"""Called with each record, between decisions: no clock runs while it works."""


class Recorder:
    """The records of one game. Times are counted from `begin`."""

    def __init__(self, link: Link, watch: Watch | None = None) -> None:
        self.begun_ns = 0
        """When the game began, on the link's clock."""
        self._link = link
        self._watch = watch
        self._watched = 0
        self._records: list[Header | Record] = []

    def begin(self, job: Job, board: Payload | None, deal: bytes, salt: bytes) -> None:
        """Records the header: the game begins now.

        Args:
            job: What is played.
            board: The board as bots are sent it, if there is one.
            deal: The deal's secret.
            salt: What was put before it in the commitment that bots are told.
        """
        attempt = job.begun + begin(Path(job.logs) / f"{job.game}{SUFFIX}")
        self.begun_ns = self._link.now_ns()
        self._records.append(
            Header(
                arena=__version__,
                game=job.game,
                tournament=job.tournament,
                settings=job.settings,
                board=board,
                bots=[
                    LoggedBot(
                        name=bot.name,
                        version=bot.version,
                        digest=bot.identity,
                        bot_seed=bot_seed(job.secret, job.game, job.tournament, job.mix, seat),
                        entropy=job.entropy[seat] if job.entropy else None,
                        parameters=job.chosen(seat),
                    )
                    for seat, bot in enumerate(job.bots)
                ],
                deal=job.deal,
                rotation=job.rotation,
                commitment=commitment(deal),
                salt=salt.hex(),
                mix=job.mix.hex(),
                beacon=job.beacon,
                level=job.level,
                attempt=attempt,
                chance=VERSION,
            )
        )

    def drawn(self, due: course.Chance, index: int, events: list[Event]) -> None:
        """Records a draw."""
        ms, draw = self._ms(self._link.now_ns()), due.draw
        tied = list(due.tied) or None
        self._records.append(Chance(stream=draw.stream, n=draw.n, draw=index, tied=tied, events=events, ms=ms))

    def acted(self, answered: course.Accepted | course.Late, answer: Answer, note: str | None) -> None:
        """Records an action that was accepted, or that came too late in a race."""
        told: dict[str, Any] = {
            "seat": answered.decision.seat,
            "kind": answered.decision.kind,
            "turn": answered.turn,
            "action": answered.action,
            "note": note,
            "used_ns": answer.used_ns,
            "ms": self._ms(answer.at_ns),
        }
        self._records.append(
            LateRecord(**told) if isinstance(answered, course.Late) else ActionRecord(**told, events=answered.events)
        )

    def forfeited(self, forfeits: Iterable[Forfeit], turn: int, events: list[Event]) -> None:
        """Records that seats forfeited, all at the same moment."""
        self._records.append(
            ForfeitRecord(
                forfeits=[
                    LoggedForfeit(f.seat, f.code, f.sentence, f.overloaded, f.rule, f.denied_ms) for f in forfeits
                ],
                turn=turn,
                events=events,
                ms=self._ms(self._link.now_ns()),
            )
        )

    @property
    def forfeits(self) -> list[LoggedForfeit]:
        """Those that were recorded, in order."""
        return [one for record in self._records if isinstance(record, ForfeitRecord) for one in record.forfeits]

    def receipts(self, game: course.Course, outcome: Outcome) -> list[Receipt | None]:
        """Returns by seat the receipt of the game, which is over; None for one that forfeited."""
        header, *records = self._records
        assert isinstance(header, Header)
        return receipts_of(header, records, game.termination, outcome.ranks, outcome.scores)  # type: ignore[arg-type]

    def over(
        self,
        game: course.Course,
        outcome: Outcome,
        off_turn_cpu_ms: list[int] | None,
        receipts: list[Receipt | None],
    ) -> None:
        """Records how the game ended.

        Args:
            game: The course of the game.
            outcome: Its outcome.
            off_turn_cpu_ms: By seat the CPU time that its bot used while it had no open request, if that was measured.
            receipts: What `receipts` returned.
        """
        record = OutcomeRecord(
            termination=game.termination,
            ranks=list(outcome.ranks),
            scores=None if outcome.scores is None else list(outcome.scores),
            turns=game.turn,
            actions=game.accepted,
            play_digest="",
            off_turn_cpu_ms=off_turn_cpu_ms,
            receipts=[receipt.logged for receipt in receipts if receipt is not None],
            ms=self._ms(self._link.now_ns()),
        )
        digest = play_digest([*self._records, record])
        self._records.append(replace(record, play_digest=digest))

    def show(self) -> None:
        """Shows onlookers what is new. Call it while no seat is asked."""
        if self._watch is not None:
            for record in self._records[self._watched :]:
                self._watch(record)
            self._watched = len(self._records)

    def write(
        self, path: Path, margins: Sequence[int] | None, last_words: Mapping[Seat, tuple[str, ...]]
    ) -> GameResult:
        """Writes the log. Returns the result of the game, which is that of the log.

        Args:
            path: The log.
            margins: By seat its leads over all others, if the game counts them.
            last_words: By seat that forfeited the last lines that its process wrote.

        Raises:
            OSError: It could not be written. Nothing is left.
        """
        header, *records = self._records
        assert isinstance(header, Header)
        sha256 = write_log(path, self._records)
        if header.attempt == 1:
            path.with_suffix(BEGUN).unlink()
        return result_of(header, [one for one in records if not isinstance(one, Header)], sha256, margins, last_words)

    def _ms(self, at_ns: int) -> int:
        return (at_ns - self.begun_ns) // NS_PER_MS
