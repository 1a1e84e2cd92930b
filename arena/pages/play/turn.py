"""A decision in the making: which choice is next, what it may be, and what was chosen so far. Pure.

Laws:
1. Whoever chooses among what is offered makes a legal action, whichever way they go.
2. `undo` takes the last choice back, and everything is as it was before it.
3. The engine says what is legal. It is tried on a guessed state, which agrees with all that the seat knows; a game that
   offers none has turns of one play.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from arena.core.face import Payload, Seat, errors, game_kit, value_types


class Choice(msgspec.Struct, frozen=True):
    """What is to be chosen next."""

    key: str
    values: tuple[Any, ...]
    left: int = 1

    def numbered(self) -> list[tuple[str, Any]]:
        """Returns the values with the numbers by which they are chosen: their own, if they are numbers."""
        is_own = all(type(value) is int for value in self.values)
        return [(str(value if is_own else place), value) for place, value in enumerate(self.values, 1)]


class _Step(msgspec.Struct, frozen=True):
    """All that a choice can change."""

    state: Any
    """The guessed state after the plays; None if the game offers none."""
    plays: tuple[Any, ...]
    chosen: tuple[tuple[str, Any], ...] = ()
    events: tuple[Payload, ...] = ()
    """Events that the last play brings about, as its seat would be told."""


class Turn:
    """A decision in the making. Call `choose` until `is_whole`, or until it `may_end` and is to."""

    def __init__(self, rules: game_kit.Rules[Any], request: Payload) -> None:
        """Begins the decision that a request asks for.

        Args:
            request: The message, with `kind`, `view` and `legal`.
        """
        self._rules = rules
        self._kind: str = request["kind"]
        self._legal: Sequence[Payload] = request["legal"]
        self.view: Payload = request["view"]
        self.seat: Seat = self.view.get("seat", 0)
        state = rules.guess(self.view, self._kind)
        self._steps = [_Step(state, ())]
        self._choices: dict[int, tuple[_Step, Choice | None]] = {}
        """Choices by depth: a front asks again and again."""
        self._written: tuple[Any, Sequence[Payload]] = (None, ())
        """The last state whose legal plays were written, and these."""

    @property
    def rules(self) -> game_kit.Rules[Any]:
        """The game."""
        return self._rules

    @property
    def is_begun(self) -> bool:
        """Whether there is anything to undo."""
        return len(self._steps) > 1

    @property
    def number(self) -> int:
        """The number of the turn; 0 where there is none, or it is not known."""
        state = self._steps[0].state
        return 0 if state is None else self._rules.turn(state)

    @property
    def is_race(self) -> bool:
        """Whether others compete for it: then nobody has time to think twice."""
        state = self._steps[0].state
        return state is not None and any(
            due.race for due in self._rules.pending(state) if (due.seat, due.kind) == (self.seat, self._kind)
        )

    @property
    def kind(self) -> str:
        """Which decision it is."""
        return self._kind

    @property
    def chosen(self) -> tuple[tuple[str, Any], ...]:
        """Keys and values of the play in the making."""
        return self._steps[-1].chosen

    @property
    def plays(self) -> list[Payload]:
        """The plays that are whole, as maps; one that has no form on the wire is left out."""
        step = self._steps[-1]
        return list(step.plays) if step.state is None else [self._rules.write_play(play) for play in step.plays]

    @property
    def events(self) -> tuple[Payload, ...]:
        """What the plays so far bring about, as far as it is not left to chance."""
        events: list[Payload] = []
        for step in self._steps:
            events += step.events
        return tuple(events)

    @property
    def is_whole(self) -> bool:
        """Whether nothing more can be played in this decision."""
        step = self._steps[-1]
        return bool(step.plays) and not step.chosen and (step.state is None or not self._is_due(step.state))

    @property
    def may_end(self) -> bool:
        """Whether the decision may end here: with what was played, or by doing nothing."""
        step = self._steps[-1]
        if step.chosen:
            return False
        if self.is_whole:
            return True
        begun = self._steps[0].state
        if begun is None:
            return False
        try:
            after = self._rules.act(begun, self.seat, step.plays)
        except errors.IllegalAction:
            return False
        return not self._is_due(after)

    def choice(self) -> Choice | None:
        """Returns what is to be chosen next, or None if the decision is whole."""
        depth, step = len(self._steps), self._steps[-1]
        known = self._choices.get(depth)
        if known is None or known[0] is not step:
            known = self._choices[depth] = step, self._next_choice()
        return known[1]

    def _next_choice(self) -> Choice | None:
        if self.is_whole:
            return None
        products = [product for product in self._products() if self._fits(product)]
        if not products:
            return None
        key, given = next((key, given) for key, given in products[0].items() if self._is_open(key, given))
        if isinstance(given, dict):
            return self._part(key, given)
        values = {json.dumps(value): value for product in products for value in product.get(key, ())}
        return Choice(key, tuple(values.values()))

    def choose(self, value: Any) -> None:
        """Chooses one of the values that `choice` offers."""
        choice = self.choice()
        assert choice is not None
        assert value in choice.values
        step = self._steps[-1]
        chosen = (*step.chosen, (choice.key, value))
        self._steps.append(msgspec.structs.replace(step, chosen=chosen, events=()))
        if self.choice() is None:
            self._play()

    def fill(self, choose: game_kit.Choose) -> int:
        """Chooses by chance until a play more is made and the turn may end. Returns how many values were chosen."""
        plays, count = len(self._steps[-1].plays), 0
        while (choice := self.choice()) is not None and not (len(self._steps[-1].plays) > plays and self.may_end):
            self.choose(choice.values[choose(len(choice.values))])
            count += 1
        return count

    def undo(self) -> None:
        """Takes the last choice back, if there is one."""
        if self.is_begun:
            self._steps.pop()

    def action(self) -> Payload:
        """Returns the action that is sent."""
        step = self._steps[-1]
        if step.state is None:
            return {"plays": list(step.plays)}
        return self._rules.write_action(step.plays)

    def preview(self, value: Any) -> tuple[Payload, tuple[Payload, ...]] | None:
        """Returns the view, and what happens, if a value is chosen that makes a play whole; else None.

        Whether something is turned or not can still be open, and what leaves no choice.
        """
        if self._steps[-1].state is None:
            return None
        depth = len(self._steps)
        plays = len(self._steps[-1].plays)
        try:
            self.choose(value)
            while len(self._steps[-1].plays) == plays:
                choice = self.choice()
                if choice is None or not _is_open_still(choice):
                    return None
                self.choose(choice.values[0])
            return self.shown(), self.events
        finally:
            del self._steps[depth:]

    def shown(self) -> Payload:
        """Returns what the seat would see after the plays so far, before chance does anything."""
        step = self._steps[-1]
        view = self.view
        if step.state is None:
            return view
        for event in self.events:
            view = self._rules.fold(view, event)
        return view

    def _play(self) -> None:
        step = self._steps.pop()
        made: Payload = {}
        for key, value in step.chosen:
            if isinstance(self._products_of(step)[0].get(key), dict):
                made.setdefault(key, []).append(value)
            else:
                made[key] = value
        if step.state is None:
            self._steps.append(_Step(None, (*step.plays, made)))
            return
        play = self._rules.read_play(step.state, made, "$")
        events: list[value_types.Event] = []
        state = self._rules.apply(step.state, self.seat, play, events)
        told = tuple(event.data for event in events if event.reaches(self.seat))
        self._steps.append(_Step(state, (*step.plays, play), events=told))

    def _is_due(self, state: Any) -> bool:
        """Returns whether a state still asks the seat for this decision."""
        rules, begun = self._rules, self._steps[0].state
        if rules.outcome(state) is not None or rules.draw_wanted(state) is not None:
            return False
        if rules.turn(state) != rules.turn(begun):
            return False
        return any((due.seat, due.kind) == (self.seat, self._kind) for due in rules.pending(state))

    def _products(self) -> Sequence[Payload]:
        return self._products_of(self._steps[-1])

    def _products_of(self, step: _Step) -> Sequence[Payload]:
        if step.state is None:
            return self._legal
        if self._written[0] is not step.state:
            self._written = step.state, self._rules.write_legal(step.state, self.seat)
        return self._written[1]

    def _fits(self, product: Payload) -> bool:
        """Returns whether a product has all that was chosen, and leaves something to choose."""
        chosen = self.chosen
        has_all = all(key in product and _is_among(value, product[key]) for key, value in chosen)
        return has_all and any(self._is_open(key, given) for key, given in product.items())

    def _is_open(self, key: str, given: Any) -> bool:
        """Returns whether values of a key are still to be chosen."""
        had = sum(name == key for name, _ in self.chosen)
        return had < (given["choose"] if isinstance(given, dict) else 1)

    def _part(self, key: str, given: Payload) -> Choice:
        had = Counter(json.dumps(value) for name, value in self.chosen if name == key)
        left: dict[str, Any] = {}
        for value in given["of"]:
            text = json.dumps(value)
            if had[text]:
                had[text] -= 1
            else:
                left.setdefault(text, value)
        return Choice(key, tuple(left.values()), given["choose"] - sum(name == key for name, _ in self.chosen))


def _is_open_still(choice: Choice) -> bool:
    """Returns whether a preview can do without a choice."""
    return len(choice.values) == 1 or all(isinstance(value, bool) for value in choice.values)


def _is_among(value: Any, given: Any) -> bool:
    """Returns whether a product offers a value for a key."""
    return value in (given["of"] if isinstance(given, dict) else given)


class Choosing:
    """Goes through a turn for a front that lists what may be chosen: what leaves no choice is chosen by itself.

    Whatever can be played can be reached so, and nothing else can. A value is chosen by its place in the list; a number
    that is no place changes nothing. The first choice of a play is always somebody's, even if there is one value only.
    `undo` takes back what somebody chose, together with all that followed by itself.
    """

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._made: list[int] = []
        """Number of values that were chosen with a choice of somebody."""

    @property
    def choice(self) -> Choice | None:
        """What is to be chosen next; None if the turn is whole."""
        return self.turn.choice()

    @property
    def is_begun(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self._made)

    def choose(self, place: int) -> bool:
        """Chooses the value at a place of the list. Returns False, and does nothing, if there is none."""
        choice = self.choice
        if choice is None or not 0 <= place < len(choice.values):
            return False
        self.turn.choose(choice.values[place])
        count = 1
        while (forced := self._forced()) is not None:
            self.turn.choose(forced.values[0])
            count += 1
        self._made.append(count)
        return True

    def fill(self, choose: game_kit.Choose) -> bool:
        """Chooses the rest of a play by chance, as one choice of somebody. Returns False if nothing is left."""
        count = self.turn.fill(choose)
        if count:
            self._made.append(count)
        return count > 0

    def undo(self) -> bool:
        """Takes the last choice back. Returns False if there is none."""
        if not self._made:
            return False
        for _ in range(self._made.pop()):
            self.turn.undo()
        return True

    def _forced(self) -> Choice | None:
        """Returns the next choice of a play that has begun, if it has one value."""
        choice = self.choice if self.turn.chosen else None
        return choice if choice is not None and len(choice.values) == 1 else None
