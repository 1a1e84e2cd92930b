"""Plays a game with the bot in one seat. Chance and the other seats are drawn here, at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from random import Random
from typing import Any, Final

from arena.author.conform.dialogue import Dialogue
from arena.author.conform.findings import Finding
from arena.author.conform.frames import Form
from arena.author.conform.report import Verdict
from arena.core.face import (
    NS_PER_MS,
    GameSettings,
    Payload,
    Seat,
    TimeControl,
    catalogue,
    chance,
    clocks,
    courses,
    errors,
    game_kit,
    referee_table,
    telling,
    wire_messages,
    wire_session,
)


class Plan:
    """What is played, and where the bot sits."""

    def __init__(
        self,
        rules: str,
        time: TimeControl,
        *,
        ruleset: str | None = None,
        seats: int | None = None,
        seat: Seat = 0,
        seed: int = 1,
    ) -> None:
        """Chooses what is not given: the game's first ruleset, and its smallest number of seats.

        `seed` determines chance, the other seats, and the bot's own seed.
        """
        loaded = catalogue.game(rules)
        self.settings: Final = GameSettings(
            rules=rules,
            rules_version=loaded.version,
            ruleset=ruleset or next(iter(loaded.rulesets)),
            options=dict(catalogue.find_ruleset(rules, ruleset).options),
            players=seats or loaded.seat_counts[0],
            board=catalogue.default_board(rules),
            time=time,
        )
        self.rules: Final[game_kit.Rules[Any]] = catalogue.rules_of(self.settings)
        self.seat: Final = seat
        self.seed: Final = seed


class TrialGame:
    """One game of a dialogue."""

    def __init__(
        self,
        dialogue: Dialogue,
        plan: Plan,
        *,
        avoided: Container[tuple[str, str]] = (),
        form: Form | None = None,
        bot_seed: int | None = None,
        blame: Callable[[str], str] | None = None,
    ) -> None:
        """Prepares the game; nothing is sent yet.

        Args:
            avoided: Kinds of decisions before which the game is stopped.
            form: How the messages of this game are written.
            bot_seed: `game_start.bot_seed`; the plan's seed unless given.
            blame: Returns the id of the check that a bad action fails, by kind of decision; None for the one that runs.
        """
        self.clock: Final = clocks.Clock(plan.settings.time)
        self.kinds: Counter[str] = Counter()
        """Number of decisions of each kind that the bot has answered."""
        self.actions: list[Payload] = []
        self.stopped: str = ""
        """The kind of decision before which the game was stopped; empty unless it was."""
        self._dialogue = dialogue
        self._plan = plan
        self._rules = plan.rules
        self._seat = plan.seat
        self._avoided = avoided
        self._form = form
        self._blame = blame
        self._bot_seed = plan.seed if bot_seed is None else bot_seed
        self._chance = Random(f"chance {plan.seed}")
        self._others = Random(f"others {plan.seed}")
        self._course = courses.Course(plan.rules)
        self._asked: game_kit.Decision | None = None

    @property
    def rules(self) -> str:
        """Returns the name of the game."""
        return self._rules.name

    @property
    def used_ms(self) -> float:
        """Returns the time that the bot has used in all."""
        return self.clock.total_ns / NS_PER_MS

    def announce(self) -> None:
        """Sends the `game_start`, and does not wait for `ready`."""
        plan, hello, rules = self._plan, self._dialogue.hello, self._rules
        if hello is not None and not hello.plays(rules.name, rules.version):
            raise Finding(
                f"expected a bot that plays {rules.name} {rules.version}, got: a hello whose `rules` do not name it",
                "Name it in `rules` of the hello, or leave it out of `rules` in bot.toml.",
                "§8.1-6",
                verdict=Verdict.UNIMPLEMENTED,
            )
        message = telling.game_start(
            rules,
            plan.settings,
            plan.seat,
            game=self._dialogue.session.next_game(),
            commitment=chance.commitment(str(plan.seed).encode()),
            bot_seed=self._bot_seed,
            parameters=self._dialogue.spec.parameters,
        )
        self._dialogue.send(message, self._form)

    def start(self) -> None:
        """Sends the `game_start`, and waits for `ready`."""
        self.announce()
        self._dialogue.ready(self._rules.name)

    def ask(self) -> str | None:
        """Plays on until the bot owes a decision, and requests it. Returns its kind; None if the game asks no more."""
        while True:
            due = self._course.due
            match due:
                case courses.Chance():
                    self._course.draw(self._chance.randrange(due.draw.n))
                case courses.Ask():
                    own = next((decision for decision in due.decisions if decision.seat == self._seat), None)
                    if own is None:
                        self._course.ask()
                    elif (self._rules.name, own.kind) in self._avoided:
                        self.stopped = own.kind
                        return None
                    else:
                        self._request(own, due)
                        return own.kind
                case courses.Answers():
                    self._answer_for(due.seats[0])
                case courses.Forfeits():
                    self._course.forfeit()
                case courses.Over():
                    return None

    def answer(self, wait_ms: int) -> None:
        """Waits for the action, judges it, and makes it. Raises Finding: no action came, or the rules refuse it."""
        assert self._asked is not None
        kind = self._asked.kind
        message = self._dialogue.action(wait_ms)
        if message is None:
            raise self.no_answer(wait_ms)
        if self._asked.race:
            self._compete(message.action)
        answered = self._course.answer(self._seat, message.action)
        self.clock.charge(self._dialogue.used_ns, goes_on=self._seat in self._course.unfinished)
        if isinstance(answered, courses.Refused):
            raise self._bad_action(kind, message, answered.error)
        if isinstance(answered, courses.Accepted):
            self.kinds[kind] += 1
            self.actions.append(message.action)

    def play(
        self, wait_ms: int, *, most: int | None = None, until: str | None = None, limit_ms: int | None = None
    ) -> bool:
        """Asks and waits, again and again; tells the bot how the game ended, and returns whether it did.

        Args:
            wait_ms: How long an answer is awaited.
            most: The most decisions.
            until: Stop when a decision of this kind was answered.
            limit_ms: Stop when the bot has used so much time.
        """
        while most is None or self.kinds.total() < most:
            if (until and self.kinds[until]) or (limit_ms is not None and self.used_ms > limit_ms):
                break
            if self.ask() is None:
                break
            self.answer(wait_ms)
        over = isinstance(self._course.due, courses.Over)
        self.over()
        return over

    def over(self) -> None:
        """Sends the `game_over`: finished if the game is, else interrupted."""
        dialogue = self._dialogue
        if dialogue.session.state not in (
            wire_session.State.PREPARING,
            wire_session.State.PLAYING,
            wire_session.State.ASKED,
        ):
            return
        number = dialogue.session.next_game() - 1
        ended = isinstance(self._course.due, courses.Over)
        message = telling.game_over(self._course, self._seat, self._wants(), number, interrupted=not ended)
        dialogue.send(message, self._form)

    def _request(self, own: game_kit.Decision, due: courses.Ask) -> None:
        """Asks the seats that are due, and sends the bot its request. Unless it races, the others answer at once."""
        self._course.ask()
        session = self._dialogue.session
        goes_on = self._seat in self._course.unfinished
        if not goes_on:
            self.clock.begin()
        message = telling.request(self._course, own, self._wants(), session.next_request(), self.clock.told())
        self._asked = own
        if not own.race:
            for decision in due.decisions:
                if decision is not own:
                    self._answer_for(decision.seat)
        self._dialogue.send(message, self._form, goes_on=goes_on)

    def _wants(self) -> frozenset[str]:
        hello = self._dialogue.hello
        return hello.wants(self._rules.name) if hello else frozenset()

    def _answer_for(self, seat: Seat) -> None:
        """Answers for another seat, at random."""
        rules, state = self._rules, self._course.asked[seat].state
        legal = rules.legal(state, seat)
        play = legal[self._others.randrange(len(legal))]
        self._course.answer(seat, rules.write_action([play]))

    def _compete(self, action: Payload) -> None:
        """Lets another seat be faster now and then in a race, with the very same action if it may make it."""
        rivals = [seat for seat in self._course.asked if seat != self._seat]
        if not rivals or self._others.random() < 0.5:
            return
        try:
            plays = self._rules.read_action(self._course.state, rivals[0], action)
            self._rules.act(self._course.state, rivals[0], plays)
        except errors.ActionError:
            return  # the bot's own action is judged next
        self._course.answer(rivals[0], action)

    # Verdicts

    def _where(self, kind: str) -> str:
        rules = self._rules
        return f"{rules.name} {self._plan.settings.ruleset}, {rules.seats} seats, decision {kind!r}"

    def no_answer(self, wait_ms: int) -> Finding:
        """Returns the verdict on a bot that was asked, and sent no action in so many milliseconds."""
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
            f"{self.clock.told().limit_ms:,} ms",
            "Answer every request within `clock.limit_ms`.",
            "§9-3",
            about=about,
            excuse=self._dialogue.excuse(wait_ms),
        )

    def _bad_action(self, kind: str, message: wire_messages.Action, error: errors.ActionError) -> Finding:
        about = self._blame(kind) if self._blame else None
        if not message.action:
            return Finding(
                f"{self._where(kind)}: expected an action, got: an empty one",
                "Answer this kind of decision, or leave the rules out of `rules` in bot.toml.",
                verdict=Verdict.UNIMPLEMENTED,
                about=about,
            )
        cause = referee_table.refused(error)
        if isinstance(error, errors.IllegalAction):
            remedy = "Take what you play from `legal` of the request, or correct how you work it out (see `options`)."
        else:
            remedy = f"Send the form that protocol/rules/{self._rules.name}.md gives for {kind!r}."
        return Finding(f"{self._where(kind)}: {cause.detail}", remedy, cause.rule, about=about)


def kinds_of(rules: str) -> tuple[str, ...]:
    """Returns the kinds of decisions of a game, in the order in which they come up, whatever the ruleset."""
    kinds: dict[str, None] = {}
    for ruleset in catalogue.game(rules).rulesets:
        plan = Plan(rules, TimeControl(limit_ms=1), ruleset=ruleset)
        for decision, _ in courses.playout(plan.rules, Random(0).randrange):
            if decision is not None:
                kinds[decision.kind] = None
    return tuple(kinds)
