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

import msgspec

from arena import __version__
from arena.errors import ActionError, IllegalAction, RemoteProtocolError
from arena.link.base import Fault, Frame, Link
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
from arena.referee.chance import Deal, bot_seed, commitment, deal_secret
from arena.referee.clock import MARGIN_NS, NS_PER_MS, Clock
from arena.referee.job import Job
from arena.referee.transcript import Transcript
from arena.rules.base import Decision, Draw, Event, Rules
from arena.types import Forfeit, GameResult, Payload, Ranks, Seat, SeatResult, Termination
from arena.wire.messages import (
    Action,
    Error,
    ForfeitNotice,
    FromReferee,
    GameOver,
    GameStart,
    Ready,
    Request,
    RequestClock,
    Time,
)

PROXY = "proxy"
"""Prefix of the streams that decide for seats that forfeited."""

MAX_IDLE_MESSAGES = 1_000
"""So many messages of a seat in one game may be ignored (unknown types, `error`): enough for any later version of the
protocol, too few to keep a referee busy."""

LATE_NS = 10 * NS_PER_MS
"""A referee that wakes so much later than it asked for runs on an overloaded machine."""


class _Answer(msgspec.Struct, frozen=True):
    message: Action | Ready
    at_ns: int


class _Cause(msgspec.Struct, frozen=True):
    """Why a seat forfeits: the rest of the sentence that begins with the seat."""

    code: Termination
    detail: str
    error_code: str = ""
    """The code of the `error` message, where it differs from the termination."""
    overloaded: bool = False


class Game:
    """One game in progress. Make it, call `play` once."""

    def __init__(self, job: Job, rules: Rules[Any], link: Link) -> None:
        self._job = job
        self._rules = rules
        self._link = link
        self._deal = Deal(deal_secret(job.secret, job.deal))
        self._path = Path(job.logs) / f"{job.game}.jsonl"
        self._records: list[Header | Record] = []
        self._state = rules.start()
        seats = range(rules.seats)
        self._clocks = [Clock(job.time) for _ in seats]
        self._transcripts = [Transcript() for _ in seats]
        self._wants: list[frozenset[str]] = [frozenset() for _ in seats]
        self._news: list[list[Payload]] = [[] for _ in seats]
        """By seat: what it has learnt since its last request, if it wants to be told."""
        self._told: set[Seat] = set()
        """Seats that know of the game: they were sent its `game_start`."""
        self._broken: dict[Seat, _Cause] = {}
        """Seats whose process or protocol failed, not yet asked since."""
        self._forfeits: dict[Seat, Forfeit] = {}
        self._termination = Termination.FINISHED
        self._idle_messages = [0] * rules.seats
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
            keep = frozenset(range(self._rules.seats)) - self._forfeits.keys() - self._broken.keys()
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
        for seat, hello in sorted(hellos.items()):
            if isinstance(hello, Fault):
                self._broken[seat] = _Cause(hello.code, hello.detail)
            else:
                self._wants[seat] = frozenset(hello.want)
                self._told.add(seat)
                due[seat] = self._send(seat, self._game_start(seat)) + self._job.bots[seat].start_ms * NS_PER_MS
        for seat, answer in self._collect(due, "was not ready for the game").items():
            if isinstance(answer, _Cause):
                late = answer.code is Termination.TIMEOUT
                self._broken[seat] = msgspec.structs.replace(answer, code=Termination.START_FAILED) if late else answer
        self._forfeit_if_any(dict(self._broken))

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
                commitment=commitment(deal_secret(job.secret, job.deal)),
            )
        )

    def _game_start(self, seat: Seat) -> GameStart:
        job, rules, time = self._job, self._rules, self._job.time
        return GameStart(
            game=self._link.session(seat).next_game(),
            rules=job.rules,
            rules_version=rules.version,
            ruleset=job.ruleset,
            options=dict(rules.options),
            seat=seat,
            seats=rules.seats,
            board=rules.board_payload(),
            time=Time(time.bank_ms, time.increment_ms, time.limit_ms),
            commitment=commitment(deal_secret(job.secret, job.deal)),
            bot_seed=bot_seed(job.secret, job.deal, seat),
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
        causes: dict[Seat, _Cause] = {}
        sent: dict[Seat, int] = {}
        due: dict[Seat, int] = {}
        for decision in pending:
            seat = decision.seat
            if seat in self._broken:
                causes[seat] = self._broken[seat]
            else:
                limit_ns = self._clocks[seat].limit_ns()
                sent[seat] = self._send(seat, self._request(decision, limit_ns))
                due[seat] = sent[seat] + limit_ns + MARGIN_NS
        answers = self._collect(due, "did not answer in time")
        for decision in pending:
            seat = decision.seat
            answer = answers.get(seat)
            if isinstance(answer, _Answer):
                used_ns = answer.at_ns - sent[seat]
                self._clocks[seat].charge(used_ns)
                answer = self._act(decision, answer, used_ns)
            if isinstance(answer, _Cause):
                causes[seat] = answer
        self._forfeit_if_any(causes)

    def _request(self, decision: Decision, limit_ns: int) -> Request:
        seat, state, rules = decision.seat, self._state, self._rules
        wants = self._wants[seat]
        news = self._news[seat]
        self._news[seat] = []
        return Request(
            id=self._link.session(seat).next_request(),
            kind=decision.kind,
            clock=RequestClock(limit_ns // NS_PER_MS, self._clocks[seat].bank_ms()),
            view=rules.view(state, seat) if "view" in wants else None,
            events=news if "events" in wants else None,
            legal=rules.write_legal(state, seat) if "legal" in wants else None,
        )

    def _act(self, decision: Decision, answer: _Answer, used_ns: int) -> _Cause | None:
        message = answer.message
        assert isinstance(message, Action)
        events: list[Event] = []
        turn = self._rules.turn(self._state)
        try:
            self._state = self._rules.act(self._state, decision.seat, message.action, events)
        except ActionError as error:
            illegal = isinstance(error, IllegalAction)
            code = Termination.ILLEGAL_ACTION if illegal else Termination.MALFORMED
            what = "an illegal action" if illegal else "an action that cannot be read"
            return _Cause(code, f"sent {what}: {error}")
        self._actions += 1
        self._records.append(
            ActionRecord(
                seat=decision.seat,
                kind=decision.kind,
                turn=turn,
                action=message.action,
                events=self._tell(events),
                note=message.note,
                used_ms=used_ns / NS_PER_MS,
                ms=self._elapsed_ms(),
            )
        )
        return None

    def _collect(self, due: dict[Seat, int], late: str) -> dict[Seat, _Answer | _Cause]:
        """Wait until every seat of `due` has answered, failed, or reached its deadline (nanoseconds)."""
        answers: dict[Seat, _Answer | _Cause] = {}
        link = self._link
        while due:
            until_ns = min(due.values())
            arrival = link.receive(until_ns)
            if arrival is None:
                lateness_ns = link.lateness_ns
                for seat in [seat for seat, deadline_ns in due.items() if deadline_ns <= until_ns]:
                    del due[seat]
                    answers[seat] = _Cause(Termination.TIMEOUT, late, overloaded=lateness_ns > LATE_NS)
                continue
            seat = arrival.seat
            answer = self._read(arrival) if isinstance(arrival, Frame) else _Cause(arrival.code, arrival.detail)
            if isinstance(answer, _Cause):
                self._broken.setdefault(seat, answer)
            elif answer is not None and seat in due and answer.at_ns > due[seat]:
                over_ms = (answer.at_ns - due[seat]) / NS_PER_MS
                detail = f"{late}: its answer came {over_ms:.1f} ms after the deadline"
                answer = _Cause(Termination.TIMEOUT, detail, overloaded=link.lateness_ns > LATE_NS)
            if answer is not None and due.pop(seat, None) is not None:
                answers[seat] = answer
        return answers

    def _read(self, frame: Frame) -> _Answer | _Cause | None:
        """What a frame means; None for a message that asks for nothing."""
        seat = frame.seat
        if seat in self._broken or seat in self._forfeits:
            if self._is_flooding(seat):
                self._link.stop(seat)
            return None
        self._transcripts[seat].add("bot", frame.data, frame.at_ns)
        try:
            message = self._link.session(seat).receive(frame.data)
        except RemoteProtocolError as error:
            malformed = error.error_code == Termination.MALFORMED
            code = Termination.MALFORMED if malformed else Termination.PROTOCOL_VIOLATION
            what = "a message that cannot be read" if malformed else "a message that the protocol does not allow"
            return _Cause(code, f"sent {what}: {error}", error.error_code)
        if isinstance(message, Action | Ready):
            return _Answer(message, frame.at_ns)
        if self._is_flooding(seat):
            return _Cause(Termination.PROTOCOL_VIOLATION, f"sent {MAX_IDLE_MESSAGES} messages that ask for nothing")
        return None

    def _is_flooding(self, seat: Seat) -> bool:
        """Count a message that came to nothing."""
        self._idle_messages[seat] += 1
        return self._idle_messages[seat] >= MAX_IDLE_MESSAGES

    # Forfeits

    def _forfeit_if_any(self, causes: dict[Seat, _Cause]) -> None:
        if not causes:
            return
        turn = self._rules.turn(self._state)
        for seat in sorted(causes):
            self._broken.pop(seat, None)
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

    def _forfeit(self, seat: Seat, cause: _Cause, turn: int) -> Forfeit:
        """Tell the bot, and stop it: it may still be computing, and nothing it says counts any more."""
        if cause.code in _CAN_BE_TOLD:
            self._send(seat, Error(code=cause.error_code or cause.code, message=cause.detail[:1000]))
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
        self._records.append(msgspec.structs.replace(outcome, play_digest=digest))
        transcripts = [
            self._transcripts[seat].write(self._path.with_suffix(f".seat{seat}.transcript"), self._begun_ns)
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
        for seat in sorted(self._told):
            if seat not in self._forfeits and seat not in self._broken:
                over = GameOver(
                    game=self._link.session(seat).next_game() - 1,
                    termination=termination,
                    ranks=ranks,
                    forfeits=notices,
                    events=self._news[seat] if "events" in self._wants[seat] else None,
                )
                self._send(seat, over)

    def _seat_result(self, seat: Seat, rank: int) -> SeatResult:
        clock = self._clocks[seat]
        return SeatResult(
            rank=rank,
            decisions=clock.decisions,
            total_ms=clock.total_ns / NS_PER_MS,
            max_ms=clock.max_ns / NS_PER_MS,
            forfeit=self._forfeits.get(seat),
        )

    # Small things

    def _send(self, seat: Seat, message: FromReferee) -> int:
        frame = self._link.session(seat).send(message)
        sent_ns = self._link.send(seat, frame)
        self._transcripts[seat].add("referee", frame, sent_ns)
        return sent_ns

    def _tell(self, events: list[Event]) -> list[LogEvent]:
        """Note the news of each seat that wants events; the events as the log holds them."""
        for seat, wants in enumerate(self._wants):
            if "events" in wants:
                self._news[seat] += [event.data for event in events if event.reaches(seat)]
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
