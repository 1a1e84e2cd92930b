"""Plays one game: the only place where the course of a game, its seats, clocks and links meet.

Laws:
1. One synchronous loop does what is due in the course: it draws, asks seats, and waits for answers.
2. Whatever a bot does becomes a value. Nothing that a bot does raises through `play`.
3. A seat's time runs from the moment its request is handed to the link to the moment its answer has arrived.
4. A fault counts when the seat is next asked, or while it is asked. So a game does not depend on the moment of an
   opponent's turn in which a process happened to die.
5. A bot that forfeited is killed: at once if its time was over, else after a moment in which it can read why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from arena.core import files
from arena.core.errors import MachineFault
from arena.core.link.base import LAST_MESSAGE_MS, START_LIMIT, Cause, Link
from arena.core.record.log import MEASURED
from arena.core.record.receipts import Receipt
from arena.core.record.result import transcript_name
from arena.core.referee.chance import Deal, bot_seed, deal_secret, game_salt, told_commitment
from arena.core.referee.job import Job
from arena.core.referee.recorder import Recorder, Watch
from arena.core.referee.table import Answer, Chair, Table, refused
from arena.core.referee.tell import game_over, game_start, request
from arena.core.referee.transcript import Tap, Wiretap
from arena.core.rules.base import Outcome, Rules
from arena.core.rules.course import Ask, Chance, Course, Due, Forfeits, Over, Race, Refused
from arena.core.types import NS_PER_MS, Forfeit, GameResult, Seat, Termination
from arena.core.wire.messages import Action, Error, GameStart

_NO_ANSWER: Final = "did not answer in time"
_TOLD: Final = frozenset(
    {Termination.TIMEOUT, Termination.ILLEGAL_ACTION, Termination.MALFORMED, Termination.PROTOCOL_VIOLATION}
)
"""The forfeits after which the bot can still be sent an `error`."""


class Game:
    """One game in progress. Call `play` once."""

    def __init__(
        self, job: Job, rules: Rules[Any], link: Link, watch: Watch | None = None, tap: Tap | None = None
    ) -> None:
        """Prepares the game. `watch` is called with each record, between decisions, and `tap` with each message."""
        self._job = job
        self._rules = rules
        self._link = link
        self._secret = deal_secret(job.secret, job.deal, job.mix)
        self._salt = game_salt(job.secret, job.game)
        self._deal = Deal(self._secret)
        self._margin_ns = job.settings.margin_ms * NS_PER_MS
        self._path = Path(job.logs) / f"{job.game}.jsonl"
        self._recorder = Recorder(link, watch)
        self._course = Course(rules)
        times = [bot.time or job.settings.time for bot in job.bots]
        self._chairs = [Chair(seat, link, time, job.level) for seat, time in enumerate(times)]
        self._table = Table(self._chairs, link)
        self._has_onlookers = watch is not None or tap is not None
        self._wiretap = tap and Wiretap([chair.transcript for chair in self._chairs], tap)
        self._forfeits: dict[Seat, Forfeit] = {}
        self._starts_ns: Counter[Seat] = Counter()  # how long each seat's bot was waited for before the game
        self._window_ns = job.settings.race_window_us * 1_000
        self._race: Race | None = None  # the race in progress, if any
        self._claims: dict[Seat, Answer] = {}  # the answers in the race that wait for their turn

    def play(self) -> GameResult:
        """Plays the game to its end, writes its log, and returns the result.

        Raises:
            MachineFault: The machine lacks something that the game needs. There is no result.
            OSError: The log cannot be written. There is no result.
        """
        keep: frozenset[Seat] = frozenset()
        try:
            self._open()
            if self._has_onlookers:
                self._show()
            while not isinstance(due := self._course.due, Over):
                self._go_on(due)
                if self._has_onlookers and not self._course.asked:
                    self._show()
            result = self._finish(due.outcome)
            keep = frozenset(chair.seat for chair in self._chairs if chair.fault is None)
            return result
        except (KeyboardInterrupt, MachineFault):
            self._say_over()
            # They are to read it, and a goodbye after it, which the link's owner says when it ends.
            keep = frozenset(chair.seat for chair in self._chairs if chair.seated and chair.fault is None)
            raise
        finally:
            self._link.close(keep=keep)

    def _go_on(self, due: Due) -> None:
        """Does what is due. What comes most often is tried first."""
        if isinstance(due, Ask):
            self._ask()
            if self._race is None:
                self._await_all()
        elif isinstance(due, Chance):
            self._draw(due)
        elif isinstance(due, Forfeits):
            self._forfeit(due.seats)
        elif self._race is not None:
            self._await_race(self._race)

    # The beginning

    def _open(self) -> None:
        hellos = self._link.open()
        self._recorder.begin(self._job, self._rules.board_payload, self._secret, self._salt)
        for chair in self._chairs:
            chair.greet(hellos[chair.seat], self._rules.name, self._rules.version)
        asked_ns = self._table.ask(
            [
                (chair.seat, self._game_start(chair), self._job.bots[chair.seat].start_ms * NS_PER_MS)
                for chair in self._chairs
                if chair.seated
            ]
        )
        self._starts_ns.update(self._link.waited_ns)
        answers: dict[Seat, Answer | Cause] = {}
        while (came := self._table.next(f"was not ready for the game ({START_LIMIT})")) is not None:
            seat, answers[seat] = came
            self._starts_ns[seat] += self._link.now_ns() - asked_ns[seat]
        for seat, answer in answers.items():
            if isinstance(answer, Cause) and answer.code is Termination.TIMEOUT:
                self._chairs[seat].fault = replace(answer, code=Termination.START_FAILED, rule="§9-6")
            else:
                self._chairs[seat].begin()
        for chair in self._chairs:
            if chair.fault is not None:
                self._course.fail(chair.seat, chair.fault.code)

    def _game_start(self, chair: Chair) -> GameStart:
        job = self._job
        return game_start(
            self._rules,
            job.settings,
            chair.seat,
            game=chair.session.next_game(),
            commitment=told_commitment(self._salt, self._secret),
            bot_seed=bot_seed(job.secret, job.game, job.tournament, job.mix, chair.seat),
            parameters=job.bots[chair.seat].parameters | job.chosen(chair.seat),
            time=job.bots[chair.seat].time,
        )

    # Chance

    def _draw(self, due: Chance) -> None:
        index = self._deal.draw(due.draw.stream, due.draw.n)
        events = self._course.draw(index)
        self._recorder.drawn(due, index, events)

    # Decisions

    def _ask(self) -> None:
        """Sends the requests that are due. A seat that already has a fault is not asked, but fails."""
        ask = self._course.ask()
        requests = []
        for decision in ask.decisions:
            chair = self._chairs[decision.seat]
            if chair.fault is not None:
                self._course.fail(chair.seat, chair.fault.code)
                continue
            if decision.seat not in self._course.unfinished:
                chair.clock.begin()
            message = request(self._course, decision, chair.wants, chair.session.next_request(), chair.clock.told())
            requests.append((chair.seat, message, chair.clock.limit_ns() + self._margin_ns))
        sent = self._table.ask(requests)
        if not ask.again:
            self._race = Race(self._window_ns) if ask.decisions[0].race else None
        if self._race is not None:
            for seat, sent_ns in sent.items():
                self._race.ask(seat, sent_ns)

    def _await_all(self) -> None:
        for seat, answer in sorted(self._table.collect(_NO_ANSWER).items()):
            self._fail(seat, answer) if isinstance(answer, Cause) else self._answer(seat, answer)

    def _await_race(self, race: Race) -> None:
        """Waits for the next answer, or applies the answers that no other seat can have beaten."""
        came = self._table.next(_NO_ANSWER, race.settled_ns())
        if came is not None:
            seat, answer = came
            if isinstance(answer, Cause):
                race.leave(seat)
                self._fail(seat, answer)
            else:
                race.answer(seat, answer.at_ns)
                self._claims[seat] = answer
            return
        first = race.serve()
        if len(first) > 1:
            self._course.tie(first)
            due = self._course.due
            assert isinstance(due, Chance)
            self._draw(due)
        for seat in tuple(self._course.order) or first:
            self._answer(seat, self._claims.pop(seat))

    def _answer(self, seat: Seat, answer: Answer) -> None:
        chair, message = self._chairs[seat], answer.message
        assert isinstance(message, Action)
        answered = self._course.answer(seat, message.action)
        chair.clock.charge(answer.used_ns, goes_on=seat in self._course.unfinished)
        if isinstance(answered, Refused):
            chair.fault = refused(answered.error)
        else:
            self._recorder.answered(answered, answer, message.note)

    def _fail(self, seat: Seat, cause: Cause) -> None:
        self._chairs[seat].fault = cause
        self._course.fail(seat, cause.code)

    # Forfeits

    def _forfeit(self, seats: Sequence[Seat]) -> None:
        turn = self._course.turn
        for seat in seats:
            cause = self._chairs[seat].fault
            assert cause is not None
            self._forfeits[seat] = self._dismiss(seat, cause, turn)
        events = self._course.forfeit()
        self._recorder.forfeited([self._forfeits[seat] for seat in seats], turn, events)

    def _dismiss(self, seat: Seat, cause: Cause, turn: int) -> Forfeit:
        """Tells the bot why it forfeits, and stops it. Nothing that it sends counts any more."""
        self._chairs[seat].leave()
        told = cause.code in _TOLD
        if told:
            self._chairs[seat].send(Error(code=cause.error_code or cause.code, message=cause.detail[:1000]))
        words = self._link.last_words(seat)
        if self._chairs[seat].seated:  # else the link has stopped it, with time to read why
            self._link.stop(seat, LAST_MESSAGE_MS if told and cause.code is not Termination.TIMEOUT else 0)
        excuse = f" ({cause.excuse})" if cause.excuse else ""
        return Forfeit(
            seat=seat,
            code=cause.code,
            sentence=f"seat {seat} {cause.cited}{excuse}",
            turn=turn,
            stderr=words,
            overloaded=cause.overloaded,
            rule=cause.rule,
            denied_ms=cause.denied_ms,
        )

    # The end

    def _finish(self, outcome: Outcome) -> GameResult:
        for chair in self._chairs:
            chair.leave()
        receipts = self._recorder.receipts(self._course, outcome)
        self._say_over(receipts)
        self._recorder.over(self._course, outcome, self._measured(), receipts)
        self._show()
        for seat in self._forfeits:
            path = self._path.with_name(transcript_name(self._job.game, seat))
            self._chairs[seat].transcript.write(path, self._recorder.begun_ns)
        self._keep_output()
        last_words = {seat: forfeit.stderr for seat, forfeit in self._forfeits.items()}
        result = self._recorder.write(self._path, self._job.packed, self._course.margins, last_words)
        return replace(result, starts_ms=tuple(self._starts_ns[chair.seat] // NS_PER_MS for chair in self._chairs))

    def _keep_output(self) -> None:
        """Saves what the bots printed, for their authors: one file for each seat that printed anything."""
        for chair in self._chairs:
            if output := self._link.output(chair.seat):
                files.write(self._path.with_suffix(f".seat{chair.seat}.output"), f"{output}\n".encode())

    def _say_over(self, receipts: Sequence[Receipt | None] = ()) -> None:
        """Sends `game_over` to every seat that is in the game. An interrupted game may not have reached every seat.

        Args:
            receipts: By seat the receipt; none at all if the game is interrupted.
        """
        for chair in self._chairs:
            if chair.is_in_game and chair.fault is None:
                number = chair.session.next_game() - 1
                receipt = receipts[chair.seat] if receipts else None
                message = game_over(
                    self._course,
                    chair.seat,
                    chair.wants,
                    number,
                    interrupted=not receipts,
                    receipt=receipt,
                    forfeits=self._recorder.forfeits,
                )
                chair.send(message)

    def _measured(self) -> dict[str, list[int] | None]:
        """Returns by name what was measured of each seat; None of what the level does not measure."""
        found = [chair.measured() for chair in self._chairs]
        return {name: [one[name] for one in found if name in one] or None for name in MEASURED}

    def _show(self) -> None:
        """Shows onlookers what is new. It is called while no seat is asked."""
        self._recorder.show()
        if self._wiretap:
            self._wiretap.tell(self._recorder.begun_ns)
