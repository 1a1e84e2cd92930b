"""Records what happens in a game, fact by fact, and writes the records as the log when the game is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from arena import __version__
from arena.core import plugs
from arena.core.link.base import Link
from arena.core.record import log
from arena.core.record.receipts import Receipt, receipts_of
from arena.core.record.result import result_of
from arena.core.referee.chance import VERSION, bot_seed, commitment
from arena.core.referee.job import Job
from arena.core.referee.table import Answer
from arena.core.rules import course
from arena.core.rules.base import Outcome
from arena.core.types import NS_PER_MS, Event, Forfeit, GameResult, LoggedForfeit, Payload, Seat

Watch: TypeAlias = Callable[[log.Header | log.Record], None]
"""Called with each record, between decisions: no clock runs while it works."""

_OF_THE_JOB: Final = ("game", "tournament", "settings", "deal", "rotation", "beacon", "level")
"""Fields that a header has from its job unchanged."""


class Recorder:
    """The records of one game. Times are counted from `begin`."""

    def __init__(self, link: Link, watch: Watch | None = None) -> None:
        self.begun_ns = 0  # when the game began, on the link's clock
        self._link = link
        self._watch = watch
        self._watched = 0
        self._records: list[log.Header | log.Record] = []

    def begin(self, job: Job, board: Payload | None, deal: bytes, salt: bytes) -> None:
        """Records the header: the game begins now.

        Args:
            board: The board as bots are sent it, if there is one.
            salt: What was put before it in the commitment that bots are told.
        """
        attempt = job.begun + log.begin(Path(job.logs) / f"{job.game}{log.SUFFIX}")
        self.begun_ns = self._link.now_ns()
        self._records.append(
            log.Header(
                arena=__version__,
                **{name: getattr(job, name) for name in _OF_THE_JOB},
                board=board,
                bots=[
                    log.LoggedBot(
                        name=bot.name,
                        version=bot.version,
                        digest=bot.identity,
                        bot_seed=bot_seed(job.secret, job.game, job.tournament, job.mix, seat),
                        entropy=job.entropy[seat] if job.entropy else None,
                        parameters=job.chosen(seat),
                        time=bot.time,
                    )
                    for seat, bot in enumerate(job.bots)
                ],
                commitment=commitment(deal),
                salt=salt.hex(),
                mix=job.mix.hex(),
                attempt=attempt,
                chance=VERSION,
            )
        )

    def drawn(self, due: course.Chance, index: int, events: list[Event]) -> None:
        """Records a draw."""
        ms, draw = self._ms(self._link.now_ns()), due.draw
        tied = list(due.tied) or None
        self._records.append(log.Chance(stream=draw.stream, n=draw.n, draw=index, tied=tied, events=events, ms=ms))

    def answered(self, made: course.Accepted | course.Late, answer: Answer, note: str | None) -> None:
        """Records an action that was accepted, or that came too late in a race."""
        seat, kind = made.decision.seat, made.decision.kind
        turn, action, used_ns, ms = made.turn, made.action, answer.used_ns, self._ms(answer.at_ns)
        self._records.append(
            log.LateRecord(seat=seat, kind=kind, turn=turn, action=action, note=note, used_ns=used_ns, ms=ms)
            if isinstance(made, course.Late)
            else log.ActionRecord(
                seat=seat, kind=kind, turn=turn, action=action, events=made.events, note=note, used_ns=used_ns, ms=ms
            )
        )

    def forfeited(self, forfeits: Iterable[Forfeit], turn: int, events: list[Event]) -> None:
        """Records that seats forfeited, all at the same moment."""
        self._records.append(
            log.ForfeitRecord(
                forfeits=[forfeit.logged for forfeit in forfeits],
                turn=turn,
                events=events,
                ms=self._ms(self._link.now_ns()),
            )
        )

    @property
    def forfeits(self) -> list[LoggedForfeit]:
        """Those that were recorded, in order."""
        return [one for record in self._records if isinstance(record, log.ForfeitRecord) for one in record.forfeits]

    def receipts(self, game: course.Course, outcome: Outcome) -> list[Receipt | None]:
        """Returns by seat the receipt of the game, which is over; None for one that forfeited."""
        header, *records = self._records
        assert isinstance(header, log.Header)
        return receipts_of(header, records, game.termination, outcome.ranks, outcome.scores)  # type: ignore[arg-type]

    def over(
        self,
        game: course.Course,
        outcome: Outcome,
        measured: Mapping[str, list[int] | None],
        receipts: list[Receipt | None],
    ) -> None:
        """Records how the game ended.

        Args:
            measured: By name of `MEASURED` what was measured of each seat.
        """
        record = log.OutcomeRecord(
            termination=game.termination, ranks=list(outcome.ranks),
            scores=None if outcome.scores is None else list(outcome.scores), turns=game.turn, actions=game.accepted,
            limit=game.limit, play_digest="", **measured,
            receipts=[receipt.logged for receipt in receipts if receipt is not None], ms=self._ms(self._link.now_ns()),
        )  # fmt: skip
        digest = log.play_digest([*self._records, record])
        self._records.append(replace(record, play_digest=digest))

    def show(self) -> None:
        """Shows onlookers what is new. Call it while no seat is asked."""
        if self._watch is not None:
            for record in self._records[self._watched :]:
                self._watch(record)
            self._watched = len(self._records)

    def write(
        self, path: Path, packed: bool, margins: Sequence[int] | None, last_words: Mapping[Seat, tuple[str, ...]]
    ) -> GameResult:
        """Writes the log. Returns the result of the game, which is that of the log.

        Args:
            packed: Whether it is compressed, which its name then says.
            margins: By seat its leads over all others, if the game counts them.
            last_words: By seat that forfeited the last lines that its process wrote.

        Raises:
            OSError: It could not be written. Nothing is left.
        """
        header, *records = self._records
        assert isinstance(header, log.Header)
        sha256 = log.write_log(path, self._records, packed=packed)
        if header.attempt == 1:
            path.with_suffix(log.BEGUN).unlink()
        rest = [one for one in records if not isinstance(one, log.Header)]
        return result_of(header, rest, sha256, margins, last_words, plugs.numbers(header, rest))

    def _ms(self, at_ns: int) -> int:
        return (at_ns - self.begun_ns) // NS_PER_MS
