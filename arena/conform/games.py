"""A game through the rules engine with the bot in one seat. Chance and the other seats are played here, by chance."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Container
from random import Random
from typing import Any

from arena.conform.dialogue import Dialogue
from arena.conform.encodings import Form
from arena.conform.finding import Finding
from arena.conform.report import Verdict
from arena.conform.setting import Clock, Setting
from arena.errors import ActionError, IllegalAction
from arena.referee.announcement import game_start
from arena.referee.game import is_late
from arena.rules.base import Decision, Event
from arena.types import Payload, Seat
from arena.wire.messages import (
    Action,
    ForfeitNotice,
    GameOver,
    Request,
)
from arena.wire.session import State


class Table:
    """One game of a dialogue."""

    def __init__(
        self,
        dialogue: Dialogue,
        setting: Setting,
        clock: Clock,
        *,
        avoided: Container[tuple[str, str]] = (),
        form: Form | None = None,
        bot_seed: int | None = None,
        blame: Callable[[str], str] | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            dialogue: With a process between two games.
            setting: What is played.
            clock: The time.
            avoided: Kinds of decisions before which the game is broken off.
            form: How the messages of this game are written.
            bot_seed: `game_start.bot_seed`; the setting's seed unless given.
            blame: The id of the check that a bad action is held against, by kind; None for the one that runs.
        """
        self.clock = clock
        self.kinds: Counter[str] = Counter()
        """How many decisions of each kind the bot has answered."""
        self.actions: list[Payload] = []
        """Its actions."""
        self.used_ms = 0.0
        """Its time in all."""
        self._dialogue = dialogue
        self._setting = setting
        self._rules = setting.rules
        self._seat = setting.seat
        self._avoided = avoided
        self._form = form
        self._blame = blame
        self._bot_seed = setting.seed if bot_seed is None else bot_seed
        self._chance = Random(f"chance {setting.seed}")
        self._others = Random(f"others {setting.seed}")
        self._news: list[Payload] = []
        self._state = self._rules.start()
        self._asked: Decision | None = None
        self._asked_in: Any = None

    def announce(self) -> None:
        """Send the `game_start`, and do not wait for `ready`."""
        self._dialogue.send(
            game_start(
                self._rules,
                self._seat,
                game=self._dialogue.session.next_game(),
                ruleset=self._setting.ruleset,
                time=self.clock.control,
                commitment=hashlib.sha256(str(self._setting.seed).encode()).hexdigest(),
                bot_seed=self._bot_seed,
            ),
            self._form,
        )

    def start(self) -> None:
        """Send the `game_start`, and wait for `ready`."""
        self.announce()
        self._dialogue.ready(self._rules.name)

    def ask(self) -> str | None:
        """Go on until the bot owes a decision, and send the request: its kind; None if the game comes to no more."""
        decision = self._advance()
        if decision is None or (self._rules.name, decision.kind) in self._avoided:
            return None
        wants = self._dialogue.hello.want if self._dialogue.hello else ()
        state, seat = self._state, self._seat
        self._asked, self._asked_in = decision, state
        self._dialogue.send(
            Request(
                id=self._dialogue.session.next_request(),
                kind=decision.kind,
                clock=self.clock.request(),
                view=self._rules.view(state, seat) if "view" in wants else None,
                events=self._take_news() if "events" in wants else None,
                legal=self._rules.write_legal(state, seat) if "legal" in wants else None,
            ),
            self._form,
        )
        return decision.kind

    def answer(self, wait_ms: int) -> None:
        """Wait for the action, judge it, and make it.

        Raises:
            Finding: There is none, or the rules refuse it.
        """
        assert self._asked is not None
        kind = self._asked.kind
        message = self._dialogue.action(wait_ms)
        if message is None:
            raise self.no_answer(wait_ms)
        used_ms = self._dialogue.used_ns / 1e6
        self.used_ms += used_ms
        self.clock.charge(used_ms)
        if self._asked.race:
            self._compete(message.action)
        events: list[Event] = []
        try:
            state = self._rules.act(self._state, self._seat, message.action, events)
        except ActionError as error:
            if is_late(self._rules, self._seat, message.action, self._asked_in, self._state):
                return
            raise self._bad_action(kind, message, error) from None
        self._state = state
        self._learn(events)
        self.kinds[kind] += 1
        self.actions.append(message.action)

    def play(
        self, wait_ms: int, *, most: int | None = None, until: str | None = None, limit_ms: int | None = None
    ) -> bool:
        """Ask and wait, again and again; tell the bot how the game ended, if it is over.

        Args:
            wait_ms: How long an answer is awaited.
            most: Stop after so many decisions.
            until: Stop when a decision of this kind was answered.
            limit_ms: Stop when the bot has used so much time.

        Returns:
            Whether the game was played to its end.
        """
        while most is None or self.kinds.total() < most:
            if (until and self.kinds[until]) or (limit_ms is not None and self.used_ms > limit_ms):
                break
            if self.ask() is None:
                break
            self.answer(wait_ms)
        over = self._rules.ranks(self._state) is not None
        self.over()
        return over

    def over(self, *, forfeit: bool = False) -> None:
        """Send the `game_over`: finished if the game is, else interrupted; or the next seat forfeits, which ends one
        of two seats."""
        dialogue = self._dialogue
        if dialogue.session.state not in (State.PREPARING, State.PLAYING, State.ASKED):
            return
        notices: list[ForfeitNotice] = []
        if forfeit:
            notices = [ForfeitNotice(self._forfeit_of_next(), "timeout")]
        ranks = self._rules.ranks(self._state)
        termination = "interrupted" if ranks is None else notices[0].code if notices else "finished"
        wants = dialogue.hello.want if dialogue.hello else ()
        dialogue.send(
            GameOver(
                game=dialogue.session.next_game() - 1,
                termination=termination,
                ranks=list(ranks or ()),
                forfeits=notices,
                events=self._take_news() if "events" in wants else None,
            ),
            self._form,
        )

    # The engine

    def _advance(self) -> Decision | None:
        """Let chance and the other seats decide until the bot has to."""
        rules = self._rules
        while rules.ranks(self._state) is None:
            events: list[Event] = []
            draw = rules.draw_wanted(self._state)
            if draw is not None:
                self._state = rules.draw(self._state, self._chance.randrange(draw.n), events)
            else:
                pending = rules.pending(self._state)
                own = next((decision for decision in pending if decision.seat == self._seat), None)
                if own is not None:
                    return own
                self._play_for(pending[0].seat, events)
            self._learn(events)
        return None

    def _play_for(self, seat: Seat, events: list[Event]) -> None:
        legal = self._rules.legal(self._state, seat)
        self._state = self._rules.apply(self._state, seat, legal[self._others.randrange(len(legal))], events)

    def _forfeit_of_next(self) -> Seat:
        guilty = (self._seat + 1) % self._rules.seats
        events: list[Event] = []
        self._state = self._rules.forfeit(self._state, (guilty,), events)
        self._learn(events)
        return guilty

    def _compete(self, action: Payload) -> None:
        """In a race another seat is now and then faster, with the very same action if it is a legal one."""
        rivals = [decision.seat for decision in self._rules.pending(self._state) if decision.seat != self._seat]
        if not rivals or self._others.random() < 0.5:
            return
        events: list[Event] = []
        try:
            self._state = self._rules.act(self._state, rivals[0], action, events)
        except ActionError:
            return  # of the bot's own action too, which is judged next
        self._learn(events)

    def _learn(self, events: list[Event]) -> None:
        self._news += [event.data for event in events if event.reaches(self._seat)]

    def _take_news(self) -> list[Payload]:
        news, self._news = self._news, []
        return news

    # Verdicts

    def _where(self, kind: str) -> str:
        rules = self._rules
        return f"{rules.name} {self._setting.ruleset}, {rules.seats} seats, decision {kind!r}"

    def no_answer(self, wait_ms: int) -> Finding:
        """The verdict on a bot that was asked, and sent no action in so many milliseconds."""
        assert self._asked is not None
        kind = self._asked.kind
        about = self._blame(kind) if self._blame else None
        remarks = self._dialogue.remarks
        if remarks:
            return Finding(
                f"{self._where(kind)}: expected an action, got: an error of the bot, {remarks[-1][:200]}",
                "Answer this kind of decision, or leave the rules out of `rules` in bot.toml.",
                verdict=Verdict.UNIMPLEMENTED,
                about=about,
            )
        return Finding(
            f"{self._where(kind)}: expected an action, got: nothing in {wait_ms:,} ms, where the request allowed "
            f"{self.clock.request().limit_ms:,} ms",
            "Answer every request within `clock.limit_ms`.",
            "§9-3",
            about=about,
        )

    def _bad_action(self, kind: str, message: Action, error: ActionError) -> Finding:
        about = self._blame(kind) if self._blame else None
        if not message.action:
            return Finding(
                f"{self._where(kind)}: expected an action, got: an empty one",
                "Answer this kind of decision, or leave the rules out of `rules` in bot.toml.",
                verdict=Verdict.UNIMPLEMENTED,
                about=about,
            )
        if isinstance(error, IllegalAction):
            return Finding(
                f"{self._where(kind)}: expected a legal action, got: {error}",
                "Take what you play from `legal` of the request, or mend how you work it out (see `options`).",
                "§8.6-5",
                about=about,
            )
        return Finding(
            f"{self._where(kind)}: expected an action as protocol/rules/{self._rules.name}.md says, got: {error}",
            f"Send the form that the page gives for {kind!r}.",
            "§8.6-4",
            about=about,
        )
