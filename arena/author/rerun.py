"""Reconstructs from a log what a seat was asked, and asks a bot again, to see where it answers differently now.

The requests are those of the log, whatever the bot answers: the game goes on as it did then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import (
    NS_PER_MS,
    Level,
    LocalLink,
    Payload,
    Seat,
    TimeControl,
    bot_manifests,
    clocks,
    confining,
    courses,
    errors,
    game_kit,
    link_base,
    log_records,
    referee_table,
    stepping,
    telling,
    value_types,
    wire_messages,
    worker_pool,
)

_EVERYTHING: Final = ("view", "events", "legal")


class AskedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its answer."""

    turn: int
    """The number of the turn; 0 is the set-up."""
    begins: bool
    """Whether it begins a decision; else it asks for the rest of one."""
    request: wire_messages.Request
    """The request with everything that it can carry. Its `id` counts the seat's requests in this game, from 1."""
    state: Any
    """The state in which the seat was asked."""
    answer: log_records.ActionRecord | log_records.LateRecord | None = None
    """The seat's answer; None if it forfeited."""
    forfeit: value_types.LoggedForfeit | None = None
    goes_on: bool = False
    """Whether the decision goes on after it."""


def requests_of(log: log_records.Log, seat: Seat) -> Iterator[AskedRequest]:
    """Yields the requests of a seat, in order, without a request that was not sent because the bot did not start.

    Raises:
        ReplayMismatch: The log disagrees with the rules.
    """
    clock = clocks.Clock(log.header.time(seat))
    open_requests: list[AskedRequest] = []
    number = 0
    unfinished: set[Seat] = set()

    def listen(course: courses.Course, decision: game_kit.Decision) -> None:
        nonlocal number, unfinished
        if decision.seat == seat:
            unfinished = course.unfinished
            begins = seat not in unfinished
            if begins:
                clock.begin()
            number += 1
            message = telling.request(course, decision, _EVERYTHING, number, clock.told())
            open_requests.append(AskedRequest(turn=course.turn, begins=begins, request=message, state=course.state))

    for step in stepping.replay(log, listen):
        if open_requests and (answered := _answered(open_requests[0], step.record, seat)):
            if answered.answer is not None:
                clock.charge(answered.answer.used_ns, goes_on=seat in unfinished)
            open_requests.clear()
            yield msgspec.structs.replace(answered, goes_on=seat in unfinished)


def _answered(asked: AskedRequest, record: log_records.Record, seat: Seat) -> AskedRequest | None:
    """Returns a request with its answer or forfeit from a record, or None if the record holds neither."""
    if isinstance(record, log_records.ActionRecord | log_records.LateRecord) and record.seat == seat:
        return msgspec.structs.replace(asked, answer=record)
    if isinstance(record, log_records.ForfeitRecord):
        for forfeit in record.forfeits:
            if forfeit.seat == seat and forfeit.code != value_types.Termination.START_FAILED:
                return msgspec.structs.replace(asked, forfeit=forfeit)
    return None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the bot answered to a request of the log."""

    asked: AskedRequest
    action: Payload | None
    """Its action, or None if it gave none."""
    note: str | None
    used_ms: float
    fault: str | None
    """Reason for which it would forfeit: "sent an illegal action: space 17 is taken". Its subject is the seat."""

    @property
    def same(self) -> bool:
        """Whether the action is the one in the log."""
        return self.asked.answer is not None and self.asked.answer.action == self.action

    @property
    def same_fault(self) -> bool:
        """Whether the seat forfeited here as the bot would now."""
        then = self.asked.forfeit
        return then is not None and then.sentence == f"seat {then.seat} {self.fault}"


class Rerun:
    """One bot in one seat of a logged game. Iterate over `replies`, then look at `output`."""

    def __init__(
        self,
        log: log_records.Log,
        seat: Seat,
        spec: bot_manifests.BotSpec,
        *,
        time: TimeControl | None = None,
        level: Level | None = None,
        hidden: Iterable[Path] = (),
    ) -> None:
        """Checks that the bot can play this seat. The bot is not started yet.

        Args:
            seat: The seat whose requests are sent.
            time: The bot's time control; None means the time that the seat had.
            level: How far the bot is confined; None means as the bots of the game were.
            hidden: Files of the operator that the bot must not see.

        Raises:
            ConfigError: The game has no such seat, or is of other rules than the bot's.
            LevelError: This machine cannot confine the bot so.
            BotError: The bot cannot be confined so, or would see what is hidden.
            ReplayMismatch: The log describes no game.
        """
        settings = log.header.settings
        if not 0 <= seat < settings.players:
            raise errors.ConfigError(
                f"expected a seat of the game, 0 to {settings.players - 1}, got: {seat}; use --seat"
            )
        if spec.rules and settings.rules not in spec.rules:
            raise errors.ConfigError(
                f"expected a bot that plays {settings.rules}, got: {spec.name}, which plays {', '.join(spec.rules)}"
            )
        self.level = log.header.level if level is None else level
        try:
            confining.require(self.level, [spec], hidden)
        except errors.LevelError as error:
            if level is not None:
                raise
            raise errors.LevelError(
                f"{error}; the game was played at {self.level}, and --level chooses another"
            ) from None
        self.output = ""
        """Output of the bot, once `replies` has ended."""
        self._log = log
        self._seat = seat
        self._spec = spec
        self._time = time
        self._rules: game_kit.Rules[object] = stepping.rules_of(log.header, log.source)
        self._bot_seed = log.header.bots[seat].bot_seed

    def replies(self, until_turn: int | None = None) -> Iterator[Reply]:
        """Asks request by request, to the end of the game or of a turn, and yields each reply.

        It ends early when the bot cannot go on; the last reply then has the fault.

        Raises:
            ConfigError: The bot did not start, or was not ready for the game.
            ReplayMismatch: The log disagrees with the rules.
        """
        pool = worker_pool()
        pool.enter("rerun", self.level)
        link = LocalLink(pool, [self._spec])
        chair = referee_table.Chair(0, link, TimeControl())
        table = referee_table.Table([chair], link)
        try:
            self._start(chair, table, link)
            clock = None if self._time is None else clocks.Clock(self._time)
            for asked in requests_of(self._log, self._seat):
                if until_turn is not None and asked.turn > until_turn:
                    break
                reply = self._ask(chair, table, asked, clock)
                yield reply
                if chair.fault is not None:
                    return
            number = chair.session.next_game() - 1
            chair.send(
                telling.game_over(courses.Course(self._rules), self._seat, chair.wants, number, interrupted=True)
            )
        finally:
            self.output = link.output(0)
            link.close(keep=frozenset({0}) if chair.fault is None else frozenset())

    def _start(self, chair: referee_table.Chair, table: referee_table.Table, link: LocalLink) -> None:
        hello = link.open()[0]
        if isinstance(hello, link_base.Fault):
            raise errors.ConfigError(_failed(self._spec, hello.detail, link))
        header = self._log.header
        chair.greet(hello, header.settings.rules, header.settings.rules_version)
        if chair.fault is not None:
            raise errors.ConfigError(_failed(self._spec, chair.fault.detail, link))
        own, logged = self._spec.parameters, header.bots[self._seat].parameters
        start = telling.game_start(
            self._rules,
            header.settings,
            self._seat,
            game=chair.session.next_game(),
            commitment=header.commitment,
            bot_seed=self._bot_seed,
            parameters=own | {name: value for name, value in logged.items() if name in own},
            time=self._time,
        )
        table.ask([(0, start, self._spec.start_ms * NS_PER_MS)])
        answer = table.collect("was not ready for the game in time (limits.start_ms in bot.toml)")[0]
        if isinstance(answer, link_base.Cause):
            raise errors.ConfigError(_failed(self._spec, answer.detail, link))

    def _ask(
        self, chair: referee_table.Chair, table: referee_table.Table, asked: AskedRequest, clock: clocks.Clock | None
    ) -> Reply:
        whole = asked.request
        if clock is not None and asked.begins:
            clock.begin()
        times = whole.clock if clock is None else clock.told()
        message = msgspec.structs.replace(
            whole,
            id=chair.session.next_request(),
            clock=times,
            **{name: None for name in ("view", "events", "legal") if name not in chair.wants},
        )
        began_ns = time.monotonic_ns()
        table.ask([(0, message, (times.limit_ms + self._log.header.settings.margin_ms) * NS_PER_MS)])
        answer = table.collect(f"did not answer within {times.limit_ms} ms")[0]
        if isinstance(answer, link_base.Cause):
            chair.fault = answer
            used_ms = (time.monotonic_ns() - began_ns) / NS_PER_MS
            return Reply(asked=asked, action=None, note=None, used_ms=used_ms, fault=answer.cited)
        if clock is not None:
            clock.charge(answer.used_ns, goes_on=asked.goes_on)
        return self._judge(asked, answer)

    def _judge(self, asked: AskedRequest, answer: referee_table.Answer) -> Reply:
        message = answer.message
        assert isinstance(message, wire_messages.Action)
        action, fault = message.action, None
        try:
            plays = self._rules.read_action(asked.state, self._seat, action)
            self._rules.act(asked.state, self._seat, plays)
            action = self._rules.write_action(plays)
        except errors.ActionError as error:
            fault = referee_table.refused(error).cited
        used_ms = answer.used_ns / NS_PER_MS
        return Reply(asked=asked, action=action, note=message.note, used_ms=used_ms, fault=fault)


def _failed(spec: bot_manifests.BotSpec, detail: str, link: LocalLink) -> str:
    words = "".join(f"; its last words: {line}" for line in link.last_words(0)[-1:])
    return f"{spec.name} {detail}{words}"
