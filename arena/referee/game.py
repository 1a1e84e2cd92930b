"""One game: the only place where state, seats, clocks and links meet.

Laws:
1. One synchronous loop: chance draws, else the seats that owe a decision are asked and waited for.
2. Whatever a bot does becomes a value. Nothing that a bot does raises through `play`.
3. A seat's time runs from the moment its request is handed to the link to the moment its answer has arrived.
4. A fault counts when the seat is next asked, or is being asked: so that a game does not depend on when in an
   opponent's turn a process happened to die.
5. Seats that fail in the same decision forfeit at the same moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena import __version__
from arena.errors import ActionError, IllegalAction
from arena.link.base import Link
from arena.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LogEvent,
    LoggedBoard,
    LoggedBot,
    LoggedForfeit,
    OutcomeRecord,
    Record,
    play_digest,
    write_log,
)
from arena.referee.chair import Answer, Cause, Chair
from arena.referee.chance import Deal, bot_seed, commitment, deal_secret
from arena.referee.clock import MARGIN_NS, NS_PER_MS
from arena.referee.job import Job
from arena.rules.base import Decision, Draw, Event, Rules
from arena.types import Forfeit, GameResult, Ranks, Seat, SeatResult, Termination
from arena.wire.messages import (
    Action,
    Error,
    ForfeitNotice,
    GameOver,
    GameStart,
    Request,
    RequestClock,
    Time,
)

PROXY = "proxy"
"""Prefix of the streams that decide for seats that forfeited."""

LATE_NS = 10 * NS_PER_MS
"""A referee that wakes so much later than it asked for runs on an overloaded machine."""


class Game:
    """One game in progress. Make it, call `play` once."""

    def __init__(self, job: Job, rules: Rules[Any], link: Link) -> None:
        self._job = job
        self._rules = rules
        self._link = link
        secret = deal_secret(job.secret, job.deal)
        self._deal = Deal(secret)
        self._commitment = commitment(secret)
        self._path = Path(job.logs) / f"{job.game}.jsonl"
        self._records: list[Header | Record] = []
        self._state = rules.start()
        self._chairs = [Chair(seat, link, job.time) for seat in range(rules.seats)]
        self._forfeits: dict[Seat, Forfeit] = {}
        self._termination = Termination.FINISHED
        self._actions = 0
        self._begun_ns = 0

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
        self._begun_ns = self._link.now_ns()
        self._write_header()
        due = {}
        for chair in self._chairs:
            chair.greet(hellos[chair.seat])
            if chair.seated:
                sent_ns = chair.send(self._game_start(chair))
                due[chair.seat] = sent_ns + self._job.bots[chair.seat].start_ms * NS_PER_MS
        for seat, answer in self._collect(due, "was not ready for the game").items():
            if isinstance(answer, Cause) and answer.code is Termination.TIMEOUT:
                self._chairs[seat].fault = replace(answer, code=Termination.START_FAILED)
        self._forfeit_if_any({chair.seat: chair.fault for chair in self._chairs if chair.fault is not None})

    def _write_header(self) -> None:
        job, rules = self._job, self._rules
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
                commitment=self._commitment,
            )
        )

    def _game_start(self, chair: Chair) -> GameStart:
        job, rules, time = self._job, self._rules, self._job.time
        return GameStart(
            game=chair.session.next_game(),
            rules=job.rules,
            rules_version=rules.version,
            ruleset=job.ruleset,
            options=dict(rules.options),
            seat=chair.seat,
            seats=rules.seats,
            board=rules.board_payload(),
            time=Time(time.bank_ms, time.increment_ms, time.limit_ms),
            commitment=self._commitment,
            bot_seed=bot_seed(job.secret, job.deal, chair.seat),
        )

    # Chance

    def _draw(self, draw: Draw) -> None:
        index = self._deal.draw(draw.stream, draw.n)
        events: list[Event] = []
        self._state = self._rules.draw(self._state, index, events)
        self._write_chance(draw, index, events)

    def _decide_by_chance(self, seat: Seat) -> None:
        """What a seat that forfeited still owes to the set-up."""
        legal = self._rules.legal(self._state, seat)
        draw = Draw(f"{PROXY}/{seat}", len(legal))
        index = self._deal.draw(draw.stream, draw.n)
        events: list[Event] = []
        self._state = self._rules.apply(self._state, seat, legal[index], events)
        self._write_chance(draw, index, events)

    def _write_chance(self, draw: Draw, index: int, events: list[Event]) -> None:
        told = self._tell(events)
        self._records.append(Chance(stream=draw.stream, n=draw.n, draw=index, events=told, ms=self._elapsed_ms()))

    # Decisions

    def _decide(self, pending: Sequence[Decision]) -> None:
        for decision in pending:
            if decision.seat in self._forfeits:
                self._decide_by_chance(decision.seat)
                return
        causes: dict[Seat, Cause] = {}
        sent: dict[Seat, int] = {}
        due: dict[Seat, int] = {}
        for decision in pending:
            seat = decision.seat
            chair = self._chairs[seat]
            if chair.fault is not None:
                causes[seat] = chair.fault
            else:
                limit_ns = chair.clock.limit_ns()
                sent[seat] = chair.send(self._request(chair, decision.kind, limit_ns))
                due[seat] = sent[seat] + limit_ns + MARGIN_NS
        answers = self._collect(due, "did not answer in time")
        for decision in pending:
            answer = answers.get(decision.seat)
            if isinstance(answer, Answer):
                answer = self._act(decision, answer, answer.at_ns - sent[decision.seat])
            if answer is not None:
                causes[decision.seat] = answer
        if causes:
            self._forfeit_if_any(causes)

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

    def _act(self, decision: Decision, answer: Answer, used_ns: int) -> Cause | None:
        message, seat = answer.message, decision.seat
        assert isinstance(message, Action)
        self._chairs[seat].clock.charge(used_ns)
        events: list[Event] = []
        turn = self._rules.turn(self._state)
        try:
            self._state = self._rules.act(self._state, seat, message.action, events)
        except ActionError as error:
            illegal = isinstance(error, IllegalAction)
            code = Termination.ILLEGAL_ACTION if illegal else Termination.MALFORMED
            what = "an illegal action" if illegal else "an action that cannot be read"
            return Cause(code, f"sent {what}: {error}")
        self._actions += 1
        self._records.append(
            ActionRecord(
                seat=seat,
                kind=decision.kind,
                turn=turn,
                action=message.action,
                events=self._tell(events),
                note=message.note,
                used_ms=used_ns / NS_PER_MS,
                ms=(answer.at_ns - self._begun_ns) // NS_PER_MS,
            )
        )
        return None

    def _collect(self, due: dict[Seat, int], late: str) -> dict[Seat, Answer | Cause]:
        """Wait until every seat of `due` has answered, failed, or reached its deadline (nanoseconds)."""
        answers: dict[Seat, Answer | Cause] = {}
        link = self._link
        while due:
            until_ns = min(due.values())
            arrival = link.receive(until_ns)
            if arrival is None:
                overloaded = link.lateness_ns > LATE_NS
                for seat in [seat for seat, deadline_ns in due.items() if deadline_ns <= until_ns]:
                    del due[seat]
                    answers[seat] = Cause(Termination.TIMEOUT, late, overloaded=overloaded)
                continue
            seat = arrival.seat
            answer = self._chairs[seat].read(arrival)
            if answer is None or seat not in due:
                continue
            deadline_ns = due.pop(seat)
            if isinstance(answer, Answer) and answer.at_ns > deadline_ns:
                over_ms = (answer.at_ns - deadline_ns) / NS_PER_MS
                detail = f"{late}: its answer came {over_ms:.1f} ms after the deadline"
                answer = Cause(Termination.TIMEOUT, detail, overloaded=link.lateness_ns > LATE_NS)
            answers[seat] = answer
        return answers

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
        forfeits = [self._forfeits[seat] for seat in sorted(causes)]
        self._records.append(
            ForfeitRecord(
                forfeits=[LoggedForfeit(f.seat, f.code, f.sentence, f.overloaded) for f in forfeits],
                turn=turn,
                events=self._tell(events),
                ms=self._elapsed_ms(),
            )
        )

    def _forfeit(self, seat: Seat, cause: Cause, turn: int) -> Forfeit:
        """Tell the bot, and stop it: it may still be computing, and nothing it says counts any more."""
        self._chairs[seat].fault = cause
        if cause.code in _CAN_BE_TOLD:
            self._chairs[seat].send(Error(code=cause.error_code or cause.code, message=cause.detail[:1000]))
        if cause.code is Termination.TIMEOUT:
            self._link.stop(seat)
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
        seconds = (self._link.now_ns() - self._begun_ns) / 1e9
        outcome = OutcomeRecord(
            termination=self._termination,
            ranks=list(ranks),
            turns=turns,
            actions=self._actions,
            play_digest="",
            ms=self._elapsed_ms(),
        )
        digest = play_digest([*self._records, outcome])
        self._records.append(replace(outcome, play_digest=digest))
        transcripts = [
            self._chairs[seat].transcript.write(self._path.with_suffix(f".seat{seat}.transcript"), self._begun_ns)
            for seat in self._forfeits
        ]
        return GameResult(
            game=self._job.game,
            termination=self._termination,
            seats=tuple(self._seat_result(seat, rank) for seat, rank in enumerate(ranks)),
            turns=turns,
            actions=self._actions,
            seconds=seconds,
            play_digest=digest,
            log=self._path.name,
            log_sha256=write_log(self._path, self._records),
            transcripts=tuple(transcripts),
        )

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

    # Small things

    def _tell(self, events: list[Event]) -> list[LogEvent]:
        """Let each seat learn what it is told; the events as the log holds them."""
        for chair in self._chairs:
            chair.learn(events)
        return [log_event(event) for event in events]

    def _elapsed_ms(self) -> int:
        return (self._link.now_ns() - self._begun_ns) // NS_PER_MS


_CAN_BE_TOLD = frozenset(
    {Termination.TIMEOUT, Termination.ILLEGAL_ACTION, Termination.MALFORMED, Termination.PROTOCOL_VIOLATION}
)
"""The forfeits after which there is still somebody to send an `error` to."""


def log_event(event: Event) -> LogEvent:
    """An event as the log holds it."""
    return event.data if event.audience is None else event.data | {"only": list(event.audience)}
