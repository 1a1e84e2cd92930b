"""One game: the only place where state, seats, clocks and links meet.

Laws:
1. One synchronous loop: chance draws, else the seats that owe a decision are asked and waited for.
2. Whatever a bot does becomes a value. Nothing that a bot does raises through `play`.
3. A seat's time runs from the moment its request is handed to the link to the moment its answer has arrived.
4. A fault counts when the seat is next asked, or is being asked: so that a game does not depend on when in an
   opponent's turn a process happened to die.
5. Seats that fail in the same decision forfeit at the same moment.
6. In a race, who took less time is served first, and equal times are for chance. What was legal when a seat was asked,
   and is so no longer because others were served, is late: the seat is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.errors import ActionError
from arena.link.base import LAST_MESSAGE_MS, Link
from arena.referee.announcement import game_start
from arena.referee.chair import Answer, Cause, Chair, refused
from arena.referee.chance import Deal, bot_seed, commitment, deal_secret, tie_draw, tie_order
from arena.referee.clock import MARGIN_NS, NS_PER_MS
from arena.referee.job import Job
from arena.referee.race import Race
from arena.referee.scribe import Scribe, Watch
from arena.referee.table import Table
from arena.referee.transcript import Tap, Wiretap
from arena.rules.base import Decision, Draw, Event, Rules
from arena.types import Forfeit, GameResult, Payload, Ranks, Seat, SeatResult, Termination
from arena.wire.messages import (
    Action,
    Error,
    ForfeitNotice,
    GameOver,
    GameStart,
    Request,
    RequestClock,
)

PROXY = "proxy"
"""Prefix of the streams that decide for seats that forfeited."""
_NO_ANSWER = "did not answer in time"


class Game:
    """One game in progress. Make it, call `play` once."""

    def __init__(
        self, job: Job, rules: Rules[Any], link: Link, watch: Watch | None = None, tap: Tap | None = None
    ) -> None:
        """`watch` is told of each record, between decisions, and `tap` of each message."""
        self._job = job
        self._rules = rules
        self._link = link
        secret = deal_secret(job.secret, job.deal)
        self._deal = Deal(secret)
        self._commitment = commitment(secret)
        self._path = Path(job.logs) / f"{job.game}.jsonl"
        self._scribe = Scribe(link, watch)
        self._state = rules.start()
        self._chairs = [Chair(seat, link, job.time) for seat in range(rules.seats)]
        self._table = Table(self._chairs, link)
        self._wiretap = tap and Wiretap([chair.transcript for chair in self._chairs], tap)
        self._forfeits: dict[Seat, Forfeit] = {}
        self._termination = Termination.FINISHED

    def play(self) -> GameResult:
        """Play the game to its end, write its log, and say what it came to."""
        keep: frozenset[Seat] = frozenset()
        try:
            self._open()
            while (ranks := self._rules.ranks(self._state)) is None:
                draw = self._rules.draw_wanted(self._state)
                if draw is not None:
                    self._draw(draw)
                else:
                    self._decide(self._rules.pending(self._state))
                self._show()
            result = self._finish(ranks)
            keep = frozenset(chair.seat for chair in self._chairs if chair.fault is None)
            return result
        except KeyboardInterrupt:
            self._say_over([], Termination.INTERRUPTED)
            raise
        finally:
            self._link.close(keep=keep if self._job.keep_bots else frozenset())

    # The beginning

    def _open(self) -> None:
        hellos = self._link.open()
        self._scribe.begin(self._job, self._rules, self._commitment)
        for chair in self._chairs:
            chair.greet(hellos[chair.seat])
        self._table.ask(
            [
                (chair.seat, self._game_start(chair), self._job.bots[chair.seat].start_ms * NS_PER_MS)
                for chair in self._chairs
                if chair.seated
            ]
        )
        for seat, answer in self._table.collect("was not ready for the game").items():
            if isinstance(answer, Cause) and answer.code is Termination.TIMEOUT:
                self._chairs[seat].fault = replace(answer, code=Termination.START_FAILED)
        self._forfeit_if_any({chair.seat: chair.fault for chair in self._chairs if chair.fault is not None})

    def _game_start(self, chair: Chair) -> GameStart:
        job = self._job
        return game_start(
            self._rules,
            chair.seat,
            game=chair.session.next_game(),
            ruleset=job.ruleset,
            time=job.time,
            commitment=self._commitment,
            bot_seed=bot_seed(job.secret, job.deal, chair.seat),
        )

    # Chance

    def _draw(self, draw: Draw) -> None:
        index = self._deal.draw(draw.stream, draw.n)
        events: list[Event] = []
        self._state = self._rules.draw(self._state, index, events)
        self._tell(events)
        self._scribe.drawn(draw, index, events)

    def _decide_by_chance(self, seat: Seat) -> None:
        """What a seat that forfeited still owes to the set-up."""
        legal = self._rules.legal(self._state, seat)
        draw = Draw(f"{PROXY}/{seat}", len(legal))
        index = self._deal.draw(draw.stream, draw.n)
        events: list[Event] = []
        self._state = self._rules.apply(self._state, seat, legal[index], events)
        self._tell(events)
        self._scribe.drawn(draw, index, events)

    # Decisions

    def _decide(self, pending: Sequence[Decision]) -> None:
        for decision in pending:
            if decision.seat in self._forfeits:
                self._decide_by_chance(decision.seat)
                return
        causes: dict[Seat, Cause] = {}
        if pending[0].race:
            self._decide_by_race(pending, causes)
        else:
            self._decide_together(pending, causes)
        if causes:
            self._forfeit_if_any(causes)

    def _decide_together(self, decisions: Sequence[Decision], causes: dict[Seat, Cause]) -> None:
        """Ask all, and wait for all before anything is applied. Who fails is added to `causes`."""
        self._ask(decisions, causes)
        answers = self._table.collect(_NO_ANSWER)
        for decision in decisions:
            answer = answers.get(decision.seat)
            if isinstance(answer, Answer):
                answer = self._act(decision, answer)
            if answer is not None:
                causes[decision.seat] = answer

    def _decide_by_race(self, decisions: Sequence[Decision], causes: dict[Seat, Cause]) -> None:
        """Ask all, and apply each answer when nobody can have been faster. Who fails is added to `causes`."""
        race = Race(round(self._job.race_window_ms * NS_PER_MS))
        asked_in: dict[Seat, Any] = {}
        answers: dict[Seat, Answer] = {}
        due = {decision.seat: decision for decision in decisions}

        def ask(decisions: Iterable[Decision]) -> None:
            for seat, sent_ns in self._ask(decisions, causes).items():
                race.ask(seat, sent_ns)
                asked_in[seat] = self._state

        ask(decisions)
        while self._table.waits or race.claimed:
            came = self._table.next(_NO_ANSWER, race.settled_ns())
            if came is not None:
                seat, answer = came
                if isinstance(answer, Answer):
                    race.answer(seat, answer.at_ns)
                    answers[seat] = answer
                else:
                    race.leave(seat)
                    causes[seat] = answer
                continue
            late = set()
            for seat in self._in_order(race.serve()):
                if self._is_late(due[seat], answers[seat], asked_in[seat]):
                    late.add(seat)
                elif cause := self._act(due[seat], answers[seat]):
                    causes[seat] = cause
            ask(decision for decision in self._rules.pending(self._state) if decision.seat in late)

    def _in_order(self, seats: list[Seat]) -> Sequence[Seat]:
        """Seats that were equally fast in a race, as chance puts them."""
        if len(seats) == 1:
            return seats
        draw = tie_draw(seats)
        index = self._deal.draw(draw.stream, draw.n)
        self._scribe.drawn(draw, index, [], tied=seats)
        return tie_order(seats, index)

    def _is_late(self, decision: Decision, answer: Answer, asked_in: Any) -> bool:
        """Whether others made an action illegal since its seat was asked; if so, note it."""
        message, seat = answer.message, decision.seat
        assert isinstance(message, Action)
        if asked_in is self._state or not is_late(self._rules, seat, message.action, asked_in, self._state):
            return False
        self._chairs[seat].clock.charge(answer.used_ns)
        self._scribe.late(decision, self._rules.turn(self._state), answer)
        return True

    def _ask(self, decisions: Iterable[Decision], causes: dict[Seat, Cause]) -> dict[Seat, int]:
        """Send the requests; when each was sent, in nanoseconds. A seat with a fault is added to `causes` instead."""
        requests = []
        for decision in decisions:
            chair = self._chairs[decision.seat]
            if chair.fault is not None:
                causes[chair.seat] = chair.fault
                continue
            limit_ns = chair.clock.limit_ns()
            requests.append((chair.seat, self._request(chair, decision.kind, limit_ns), limit_ns + MARGIN_NS))
        return self._table.ask(requests)

    def _request(self, chair: Chair, kind: str, limit_ns: int) -> Request:
        state, wants, rules = self._state, chair.wants, self._rules
        return Request(
            id=chair.session.next_request(),
            kind=kind,
            clock=RequestClock(limit_ns // NS_PER_MS, chair.clock.bank_ms()),
            view=rules.view(state, chair.seat) if "view" in wants else None,
            events=chair.news(),
            legal=rules.write_legal(state, chair.seat) if "legal" in wants else None,
        )

    def _act(self, decision: Decision, answer: Answer) -> Cause | None:
        """Apply an answer; the cause of a forfeit if it cannot be applied."""
        message, seat = answer.message, decision.seat
        assert isinstance(message, Action)
        self._chairs[seat].clock.charge(answer.used_ns)
        events: list[Event] = []
        turn = self._rules.turn(self._state)
        try:
            self._state = self._rules.act(self._state, seat, message.action, events)
        except ActionError as error:
            return refused(error)
        self._tell(events)
        self._scribe.acted(decision, turn, answer, events)
        return None

    # Forfeits

    def _forfeit_if_any(self, causes: dict[Seat, Cause]) -> None:
        if not causes:
            return
        turn = self._rules.turn(self._state)
        for seat in sorted(causes):
            self._forfeits[seat] = self._forfeit(seat, causes[seat], turn)
        events: list[Event] = []
        self._state = self._rules.forfeit(self._state, sorted(causes), events)
        if self._rules.ranks(self._state) is not None:
            self._termination = causes[min(causes)].code
        self._tell(events)
        self._scribe.forfeited([self._forfeits[seat] for seat in sorted(causes)], turn, events)

    def _forfeit(self, seat: Seat, cause: Cause, turn: int) -> Forfeit:
        """Tell the bot, and stop it: it may still be computing, and nothing it says counts any more."""
        self._chairs[seat].fault = cause
        if cause.code in _CAN_BE_TOLD:
            self._chairs[seat].send(Error(code=cause.error_code or cause.code, message=cause.detail[:1000]))
        has_error_to_read = cause.code in _CAN_BE_TOLD and cause.code is not Termination.TIMEOUT
        self._link.stop(seat, LAST_MESSAGE_MS if has_error_to_read else 0)
        overloaded = " (the machine was overloaded: the referee itself ran late)" if cause.overloaded else ""
        return Forfeit(
            seat=seat,
            code=cause.code,
            sentence=f"seat {seat} {cause.detail}{overloaded}",
            turn=turn,
            stderr=self._link.last_words(seat),
            overloaded=cause.overloaded,
        )

    # The end

    def _finish(self, ranks: Ranks) -> GameResult:
        self._say_over(list(ranks), self._termination)
        turns = self._rules.turn(self._state)
        seconds = (self._link.now_ns() - self._scribe.begun_ns) / 1e9
        digest = self._scribe.over(self._termination, ranks, turns)
        self._show()
        transcripts = [
            self._chairs[seat].transcript.write(
                self._path.with_suffix(f".seat{seat}.transcript"), self._scribe.begun_ns
            )
            for seat in self._forfeits
        ]
        self._keep_output()
        return GameResult(
            game=self._job.game,
            termination=self._termination,
            seats=tuple(self._seat_result(seat, rank) for seat, rank in enumerate(ranks)),
            turns=turns,
            actions=self._scribe.actions,
            seconds=seconds,
            play_digest=digest,
            log=self._path.name,
            log_sha256=self._scribe.write(self._path),
            transcripts=tuple(transcripts),
        )

    def _keep_output(self) -> None:
        """Write down what the bots wrote: for their authors, in a file for each seat that wrote anything."""
        for chair in self._chairs:
            if output := self._link.output(chair.seat):
                self._path.with_suffix(f".seat{chair.seat}.output").write_text(output + "\n", encoding="utf-8")

    def _say_over(self, ranks: list[int], termination: Termination) -> None:
        """Tell every seat that is still in the game. A game may be interrupted before it began."""
        notices = [ForfeitNotice(forfeit.seat, forfeit.code) for forfeit in self._forfeits.values()]
        for chair in self._chairs:
            if chair.seated and chair.fault is None:
                chair.send(
                    GameOver(
                        game=chair.session.next_game() - 1,
                        termination=termination,
                        ranks=ranks,
                        forfeits=notices,
                        events=chair.news(),
                    )
                )

    def _seat_result(self, seat: Seat, rank: int) -> SeatResult:
        clock = self._chairs[seat].clock
        return SeatResult(
            rank=rank,
            decisions=clock.decisions,
            total_ms=clock.total_ns / NS_PER_MS,
            max_ms=clock.max_ns / NS_PER_MS,
            forfeit=self._forfeits.get(seat),
        )

    def _show(self) -> None:
        """Let those who look on see what is new; no seat is asked now."""
        self._scribe.show()
        if self._wiretap:
            self._wiretap.tell(self._scribe.begun_ns)

    def _tell(self, events: Sequence[Event]) -> None:
        """Let each seat learn what it is told."""
        for chair in self._chairs:
            chair.learn(events)


_CAN_BE_TOLD = frozenset(
    {Termination.TIMEOUT, Termination.ILLEGAL_ACTION, Termination.MALFORMED, Termination.PROTOCOL_VIOLATION}
)
"""The forfeits after which there is still somebody to send an `error` to."""


def is_late(rules: Rules[Any], seat: Seat, action: Payload, asked_in: Any, now: Any) -> bool:
    """Whether an action was legal in the state in which its seat was asked, and is not in that of now."""

    def allowed(state: Any) -> bool:
        try:
            rules.act(state, seat, action)
        except ActionError:
            return False
        return True

    return not allowed(now) and allowed(asked_in)
