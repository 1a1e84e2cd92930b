"""The course of a game: what is due, who is asked in which state, and what each answer does to it.

The live game, the replay of a log, the check of a bot and search bots all drive this one class. It has no I/O, no clock
and no source of chance: whoever drives it draws, asks and waits.

::

    course = Course(rules)
    while not isinstance(due := course.due, Over):
        match due:
            case Chance():    course.draw(...one of due.draw.n...)
            case Ask():       course.ask()            # and send a request to each seat of due.decisions
            case Answers():   course.answer(seat, action), or course.fail(seat, code) where none came
            case Forfeits():  course.forfeit()

Laws:
1. Seats that decide at the same time are asked in the same state. None of them is asked again before all have answered.
2. In a race they are served one after another, in an order that the driver gives (`Race` finds it). An action that was
   legal when its seat was asked, and is not any more because others were served, is late: its seat is asked again.
   Seats that were equally fast are tied: chance draws their order (`tie`).
3. Who fails to answer, or sends an action that the rules refuse, forfeits when all others have answered; those of one
   decision at the same moment.
4. Chance decides for a seat that forfeited and still owes something to the set-up.
5. A limit cuts a game between two decisions. Then those who are still in it are ranked by what the game's margin
   counts, or all alike where it counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import factorial
from typing import Any, Final, TypeAlias

import msgspec

from arena.core.errors import ActionError, IllegalAction, InternalError
from arena.core.rules.base import Choose, Decision, Draw, Event, Option, Outcome, Rules
from arena.core.rules.seats import rank
from arena.core.types import Payload, Seat, Termination, sides

LIMITS: Final = {
    "most_decisions": Option(
        "most_decisions", {"none": "never"}, "After how many decisions a game is cut", range(1, 10_000_001)
    ),
    "most_lead": Option("most_lead", {"none": "never"}, "At which lead over all others it is", range(1, 1_000_001)),
}
"""The options that every game has, by name: where it ends that would go on. Settings have them only if they are set."""
PROXY: Final = "proxy"
"""Prefix of the streams that decide for seats that forfeited."""
RACE_STREAM: Final = "race"
"""The stream that orders tied seats."""


class Chance(msgspec.Struct, frozen=True):
    """Chance must draw."""

    draw: Draw
    absent: Seat | None = None
    """The seat that forfeited and that chance decides for."""
    tied: tuple[Seat, ...] = ()
    """The seats whose order is drawn, ascending."""


class Ask(msgspec.Struct, frozen=True):
    """Seats must be asked, all in the state of now."""

    decisions: tuple[Decision, ...]
    again: bool = False
    """Whether they came too late in the race that is on."""


class Answers(msgspec.Struct, frozen=True):
    """Answers are awaited."""

    seats: tuple[Seat, ...]
    """The seats that owe one; after a tie the one whose turn it is."""


class Forfeits(msgspec.Struct, frozen=True):
    """Seats must forfeit, all at this moment."""

    seats: tuple[Seat, ...]


class Over(msgspec.Struct, frozen=True):
    """The game is over."""

    outcome: Outcome


Due: TypeAlias = Chance | Ask | Answers | Forfeits | Over


class Accepted(msgspec.Struct, frozen=True):
    """An action was made."""

    decision: Decision
    turn: int
    action: Payload
    """The action as the rules read it: equal ones are equal byte for byte."""
    events: list[Event]


class Late(msgspec.Struct, frozen=True):
    """An action came too late in a race. Its seat is asked again."""

    decision: Decision
    turn: int
    action: Payload
    """The action as the rules read it."""


class Refused(msgspec.Struct, frozen=True):
    """The rules refuse an action. Its seat will forfeit."""

    error: ActionError


class Asked(msgspec.Struct, frozen=True):
    """A seat was asked, and owes an answer."""

    decision: Decision
    state: Any


class Course:
    """One game in progress. See the module's laws."""

    def __init__(self, rules: Rules[Any]) -> None:
        self.rules = rules
        self.state: Any = rules.start()
        self.asked: dict[Seat, Asked] = {}
        """The seats that owe an answer."""
        self.gone: dict[Seat, Termination] = {}
        """The seats that forfeited, in order, and what each did."""
        self.termination = Termination.FINISHED
        """Why the game is over: the rules ended it, or the forfeit of the first of some seats did."""
        self.accepted = 0
        self.begun = False
        """Whether anything has happened: a draw, a request, a forfeit."""
        self._racing = False
        self._ended: Outcome | None = None
        """The outcome of a game that does not go on after a forfeit."""
        self.limit: str | None = None
        """The option that cut the game, if one did."""
        self._limits = [(name, int(rules.options[name])) for name in LIMITS if name in rules.options]
        self._moments: list[tuple[Seat, ...]] = []
        self.failed: dict[Seat, Termination] = {}
        """The seats that will forfeit when nobody owes an answer any more."""
        self.unfinished: set[Seat] = set()
        """The seats whose decision goes on with another request: their action stopped short, or came too late."""
        self._late: set[Seat] = set()
        """The seats that came too late in a race, and are to be asked again."""
        self._tied: tuple[Seat, ...] = ()
        """The seats whose order must be drawn."""
        self.order: list[Seat] = []
        """The tied seats that are still to be served, in the order that was drawn."""
        self._due: Due | None = None
        """Decisions that are due, if they were worked out since something happened."""
        self._events: list[Event] = []
        self._told: dict[Seat, int] = {}
        """Number of events that each seat has had."""

    # What is known

    @property
    def turn(self) -> int:
        """The number of the current turn; 0 is the set-up."""
        return self.rules.turn(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        return self._ended or self.rules.outcome(self.state) or (self._standing() if self.limit else None)

    @property
    def margins(self) -> tuple[int, ...] | None:
        """By seat its leads over all others when the game is over (`Margin.leads`); None if the game counts none."""
        rules = self.rules
        margin = rules.margin(rules.seats, rules.options)
        if margin is None:
            return None
        losing = {seat for seats in self._losing() for seat in seats}
        return margin.leads([0] * rules.seats if self._ended else rules.amounts(self.state), losing)

    def _standing(self) -> Outcome:
        """Returns how a game stands that is cut now."""
        return Outcome(rank(self._amounts(), self._losing()))

    def _amounts(self) -> list[int]:
        """Returns by seat how much its side has of what the margin counts; nothing where the game counts nothing."""
        rules = self.rules
        counts = rules.margin(rules.seats, rules.options) is not None
        has = rules.amounts(self.state) if counts else (0,) * rules.seats
        teams = sides(rules.teams(rules.seats, rules.options), rules.seats)
        return [sum(own for own, other in zip(has, teams, strict=True) if other == team) for team in teams]

    def _cutting(self) -> str | None:
        """Returns which limit is reached, if one is."""
        rules, has = self.rules, self._amounts()
        teams = sides(rules.teams(rules.seats, rules.options), rules.seats)
        in_game = {teams[seat]: has[seat] for seat in range(rules.seats) if seat not in self.gone}
        best, *others = sorted(in_game.values(), reverse=True)
        reached = {"most_decisions": self.accepted, "most_lead": best - max(others, default=best)}
        return next((name for name, most in self._limits if reached[name] >= most), None)

    @property
    def due(self) -> Due:
        """What must happen next."""
        if self._due is None:
            self._due = self._next_due()
        return self._due

    def _next_due(self) -> Due:
        if self._racing:
            if self._tied:
                return Chance(tie_draw(self._tied), tied=self._tied)
            if self.order:
                return Answers((self.order[0],))
            if self._late:
                again = [decision for decision in self.rules.pending(self.state) if decision.seat in self._late]
                if again:
                    return Ask(tuple(again), again=True)
        if self.asked:
            return Answers(tuple(self.asked))
        if self.failed:
            return Forfeits(tuple(sorted(self.failed)))
        rules, state = self.rules, self.state
        outcome = self._ended or rules.outcome(state)
        if outcome is not None:
            return Over(outcome)
        draw = rules.draw_wanted(state)
        if draw is not None:
            return Chance(draw)
        pending = rules.pending(state)
        if self.gone:
            for decision in pending:
                if decision.seat in self.gone:
                    legal = rules.legal(state, decision.seat)
                    return Chance(Draw(f"{PROXY}/{decision.seat}", len(legal)), absent=decision.seat)
        if self._limits and not self.unfinished and (cut := self._cutting()):
            self.limit = cut
            return Over(self._standing())
        return Ask(pending)

    def news(self, seat: Seat) -> list[Payload]:
        """Returns what a seat was told since this was last called for it."""
        told = self._told.get(seat, 0)
        self._told[seat] = len(self._events)
        return [event.data for event in self._events[told:] if event.reaches(seat)]

    # What happens

    def draw(self, index: int) -> list[Event]:
        """Makes the draw that is due: its outcome is `index`, from 0. Returns what happened.

        Raises:
            IndexError: There is no such outcome.
            InternalError: No draw is due.
        """
        due = self.due
        if not isinstance(due, Chance):
            raise InternalError(f"expected a draw to be due, got: {due}")
        if not 0 <= index < due.draw.n:
            raise IndexError(index)
        self._due = None
        events: list[Event] = []
        if due.tied:
            self._tied = ()
            self.order = list(tie_order(due.tied, index))
        elif due.absent is not None:
            play = self.rules.legal(self.state, due.absent)[index]
            self.state = self.rules.apply(self.state, due.absent, play, events)
        else:
            self.state = self.rules.draw(self.state, index, events)
        self.begun = True
        self._events += events
        return events

    def ask(self) -> Ask:
        """Asks the seats that are to be asked now. Returns who was asked for what.

        Raises:
            InternalError: Nobody is to be asked.
        """
        due = self.due
        if not isinstance(due, Ask):
            raise InternalError(f"expected somebody to be asked, got: {due}")
        self._due = None
        self.begun = True
        for decision in due.decisions:
            self.asked[decision.seat] = Asked(decision, self.state)
        self._racing = decision.race
        if self._late:
            if not due.again:
                self.unfinished.difference_update(self._late)
            self._late = set()
        return due

    def tie(self, seats: Sequence[Seat]) -> None:
        """Says that seats were equally fast in a race: their order is drawn next.

        Raises:
            ValueError: They cannot be tied here.
        """
        tied = tuple(seats)
        possible = self._racing and not self.order and len(tied) > 1 and tied == tuple(sorted({*tied}))
        if not possible or not self.asked.keys() >= {*tied}:
            raise ValueError(f"the seats {list(tied)} cannot be tied here")
        self._due = None
        self._tied = tied

    def answer(self, seat: Seat, action: Payload) -> Accepted | Late | Refused:
        """Makes the action with which a seat answers, as it came over the wire.

        Raises:
            InternalError: The seat owes no answer now.
        """
        asked = self._close(seat)
        rules = self.rules
        turn = rules.turn(self.state)
        events: list[Event] = []
        try:
            plays = rules.read_action(asked.state, seat, action)
            try:
                self.state = rules.act(self.state, seat, plays, events)
            except IllegalAction:
                if not self._racing:
                    raise
                rules.act(asked.state, seat, plays)  # raises unless others have made it illegal
                self._late.add(seat)
                self.unfinished.add(seat)
                return Late(asked.decision, turn, rules.write_action(plays))
        except ActionError as error:
            self.failed[seat] = Termination(error.code)
            return Refused(error)
        self.accepted += 1
        self._events += events
        if rules.turn(self.state) == turn and asked.decision in rules.pending(self.state):
            self.unfinished.add(seat)
        else:
            self.unfinished.discard(seat)
        return Accepted(asked.decision, turn, rules.write_action(plays), events)

    def fail(self, seat: Seat, code: Termination) -> None:
        """Says that a seat that was asked gives no answer, or that it never came to the game.

        Raises:
            InternalError: The seat owes no answer, and the game has begun.
        """
        if self.begun and seat not in self.failed:
            self._close(seat)
        self._due = None
        self.failed[seat] = code

    def forfeit(self) -> list[Event]:
        """Lets the seats that failed forfeit, all at this moment. Returns what happened.

        Raises:
            InternalError: Nobody has failed, or answers are still awaited.
        """
        due = self.due
        if not isinstance(due, Forfeits):
            raise InternalError(f"expected seats to forfeit, got: {due}")
        self._due = None
        seats = due.seats
        events: list[Event] = []
        state = self.rules.forfeit(self.state, seats, events)
        self.begun = True
        self._moments.append(seats)
        self.gone |= {seat: self.failed[seat] for seat in seats}
        self.failed = {}
        if state is None:
            self._ended = Outcome(rank([0] * self.rules.seats, self._losing()))
        else:
            self.state = state
        self._events += events
        if self.outcome is not None:
            self.termination = self.gone[seats[0]]
        return events

    def _losing(self) -> list[list[Seat]]:
        """Returns the seats that lose by forfeits, moment by moment: the whole team of each that forfeited."""
        rules = self.rules
        teams = sides(rules.teams(rules.seats, rules.options), rules.seats)
        gone = [{teams[seat] for seat in seats} for seats in self._moments]
        return [[seat for seat, team in enumerate(teams) if team in losing] for losing in gone]

    def _close(self, seat: Seat) -> Asked:
        """Takes a seat's turn to answer."""
        if seat not in self.asked or self._tied or (self.order and self.order[0] != seat):
            raise InternalError(f"expected an answer to be due of seat {seat}, got: {self.due}")
        self._due = None
        if self.order:
            self.order = self.order[1:]
        return self.asked.pop(seat)


def playout(rules: Rules[Any], choose: Choose, state: Any = None) -> Iterator[tuple[Decision | None, Any]]:
    """Plays a game to its end, play by play. Nobody is asked, nobody is told: this is the quickest way through a game.

    Args:
        choose: Makes every choice: of each draw, and of each play among the legal ones. `lambda n: 0` takes the first.
        state: Where to begin, between two decisions; the start of the game unless given.

    Yields:
        After each step the decision that it was part of, or None for a draw; and the state.
    """
    state = rules.start() if state is None else state
    while True:
        draw = rules.draw_wanted(state)
        if draw is not None:
            state = rules.draw(state, choose(draw.n))
            yield None, state
            continue
        pending = rules.pending(state)
        if not pending:
            return
        decision = pending[0]
        legal = rules.legal(state, decision.seat)
        state = rules.apply(state, decision.seat, legal[choose(len(legal))])
        yield decision, state


def tie_draw(tied: Sequence[Seat]) -> Draw:
    """Returns the draw of an order of seats that were equally fast in a race."""
    return Draw(RACE_STREAM, factorial(len(tied)))


def tie_order(tied: Sequence[Seat], index: int) -> tuple[Seat, ...]:
    """Returns the order that was drawn for seats, given ascending: all orders are counted lexicographically.

    >>> [tie_order((0, 2, 3), index) for index in (0, 1, 5)]
    [(0, 2, 3), (0, 3, 2), (3, 2, 0)]

    Raises:
        IndexError: There are not so many orders.
    """
    if not 0 <= index < factorial(len(tied)):
        raise IndexError(index)
    left = list(tied)
    order = []
    while left:
        at, index = divmod(index, factorial(len(left) - 1))
        order.append(left.pop(at))
    return tuple(order)


class Race:
    """Finds who was first, where seats compete. All times in nanoseconds; nothing here waits.

    A seat's race time is the time that it used itself: from the moment when its request left to the moment when its
    answer arrived, added up over its requests if it came too late and was asked again. So neither the order in which
    requests are sent nor the referee's own work favours anybody.
    """

    def __init__(self, window_ns: int) -> None:
        """Claims whose race times lie within `window_ns` of the fastest are as fast as it."""
        self._window_ns = window_ns
        self._used: dict[Seat, int] = {}
        """Race time before the current request."""
        self._zero: dict[Seat, int] = {}
        """Moment at which the race time of a seat that is asked would have been 0."""
        self._claims: dict[Seat, int] = {}
        """Race time of each seat that has answered and has not been served."""

    def ask(self, seat: Seat, sent_ns: int) -> None:
        """Notes that the seat was sent a request."""
        self._zero[seat] = sent_ns - self._used.get(seat, 0)

    def answer(self, seat: Seat, at_ns: int) -> None:
        """Notes that the seat's answer arrived."""
        self._used[seat] = self._claims[seat] = at_ns - self._zero.pop(seat)

    def leave(self, seat: Seat) -> None:
        """Notes that the seat failed, and will not answer."""
        del self._zero[seat]

    def settled_ns(self) -> int | None:
        """Returns the last moment at which an answer can be as fast as the fastest claim; None if there is no claim."""
        if not self._claims:
            return None
        last = min(self._claims.values()) + self._window_ns
        return max((zero + last for zero in self._zero.values()), default=0)

    def serve(self) -> list[Seat]:
        """Returns the seats with the fastest claim, ascending: several if they are tied. Call it after `settled_ns`."""
        last = min(self._claims.values()) + self._window_ns
        first = sorted(seat for seat, time in self._claims.items() if time <= last)
        for seat in first:
            del self._claims[seat]
        return first
