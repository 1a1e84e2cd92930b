"""Samurai Gardener as the interface of `Rules` asks for it: which part of the rules a state is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from arena.errors import BoardError, IllegalAction
from arena.rules.base import Decision, Draw, Event, Legal, Option, Product, Ruleset
from arena.rules.gardener import actions, rounds, views
from arena.rules.gardener.deck import KINDS, SECTION, Deck, find_problems, parse_deck
from arena.rules.gardener.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.rules.gardener.plays import Done, Plant, Play, Score, Seize
from arena.rules.gardener.state import Phase, State
from arena.rules.gardener.tables import Tables
from arena.types import Payload, Ranks, Seat

_PLAYS: Mapping[Phase, tuple[type[Play], ...]] = {"seize": (Seize,), "plant": (Plant,), "score": (Score, Done)}
"""The plays of each decision. A decision is called like the phase in which it is due."""
_STEPS: Mapping[type[Play], Callable[..., State]] = {
    Seize: rounds.seize,
    Plant: rounds.plant,
    Score: rounds.score,
    Done: rounds.done,
}
"""What each play does."""
_PRODUCTS: Mapping[Phase, Callable[..., list[Product]]] = {
    "seize": rounds.seize_products,
    "plant": rounds.plant_products,
    "score": rounds.score_products,
}
"""The legal plays of each decision."""
_REFUSALS: Mapping[Phase, Callable[..., str | None]] = {
    "seize": rounds.seize_refusal,
    "plant": rounds.plant_refusal,
    "score": rounds.score_refusal,
}
"""Why a play of each decision may be not legal."""


class Gardener:
    """The rules with one deck, for a number of seats, under options."""

    name: ClassVar[str] = "gardener"
    version: ClassVar[int] = 1
    seat_counts: ClassVar[range] = range(2, 6)
    option_list: ClassVar[tuple[Option, ...]] = OPTIONS
    rulesets: ClassVar[Mapping[str, Ruleset]] = RULESETS
    contradictions: ClassVar[tuple[tuple[str, str], ...]] = CONTRADICTIONS
    about: ClassVar[str] = "Lay garden cards so that they make rows of three and more alike; by Hisashi Hayashi."
    board_section: ClassVar[str] = SECTION

    def __init__(self, deck: Deck, seats: int, options: Mapping[str, str]) -> None:
        self.deck = deck
        self.seats = seats
        self.options: Mapping[str, str] = dict(options)
        self.has_race = options["seize"] == "race"
        self.tables = Tables(deck, seats, options)
        self._board_payload = {
            "name": deck.name,
            "hash": deck.hash,
            "cards": [[KINDS[kind] for kind in card] for card in deck.cards],
        }

    @classmethod
    def at(cls, board_text: str, board_name: str, seats: int, options: Mapping[str, str]) -> Gardener:
        """The rules with a deck given as text; every deck is for every number of players.

        Raises:
            BoardError: The text is not a deck.
        """
        return cls(parse_deck(board_text, board_name), seats, options)

    @classmethod
    def board_problems(cls, board_text: str, board_name: str) -> list[BoardError]:
        """Everything that keeps a text from being a deck, in the order of the text."""
        return find_problems(board_text, board_name)

    def board_payload(self) -> Payload:
        """The deck as bots are told it."""
        return self._board_payload

    def start(self) -> State:
        """The state before anything happened: every card is in the deck."""
        return self.tables.start

    def draw_wanted(self, state: State) -> Draw | None:
        """A card of the deck."""
        return self.tables.draws[len(state.deck)] if state.phase in ("deal", "turn_up") else None

    def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
        """The state after chance drew `index`."""
        return rounds.draw(self.tables, state, index, events)

    def pending(self, state: State) -> tuple[Decision, ...]:
        """`seize` of the next seat, or in a race of all without a card; `plant` and `score` of all who are not done."""
        if seats := rounds.owing(self.tables, state):
            decisions = self.tables.decisions[state.phase]
            return tuple([decisions[seat] for seat in seats])
        return ()

    def legal(self, state: State, seat: Seat) -> Legal:
        """The plays that the seat may make next."""
        if seat in rounds.owing(self.tables, state):
            return Legal(_PRODUCTS[state.phase](self.tables, state, seat))
        return Legal([])

    def check(self, state: State, seat: Seat, play: Play) -> None:
        """Refuse a play that is not in `legal`, saying why."""
        kind = type(play)
        if kind not in _PLAYS.get(state.phase, ()):
            raise IllegalAction(f"a {kind.__name__.lower()} is not a play of the decision that is due")
        self._check_owing(state, seat)
        if reason := _REFUSALS[state.phase](self.tables, state, seat, play):
            raise IllegalAction(reason)

    def _check_owing(self, state: State, seat: Seat) -> None:
        if seat not in rounds.owing(self.tables, state):
            raise IllegalAction(f"seat {seat} owes no decision")

    def apply(self, state: State, seat: Seat, play: Play, events: list[Event] | None = None) -> State:
        """The state after a legal play. It is not checked."""
        return _STEPS[type(play)](self.tables, state, seat, play, events)

    def forfeit(self, state: State, seats: Sequence[Seat], events: list[Event] | None = None) -> State:
        """The seats take no more part; their gardens stay. With one seat left the game ends at once."""
        return rounds.forfeit(self.tables, state, seats, events)

    def ranks(self, state: State) -> Ranks | None:
        """The ranks once the game is over."""
        return state.ranks or None

    def turn(self, state: State) -> int:
        """The number of the current round; 0 while the first cards are dealt."""
        return state.round

    def first_view(self, seat: Seat) -> Payload:
        """What a seat knows before the first event."""
        return views.view(self.tables.start, seat)

    def view(self, state: State, seat: Seat) -> Payload:
        """All that the seat may know now."""
        return views.view(state, seat)

    def fold(self, view: Payload, event: Payload) -> Payload:
        """The view after an event's data."""
        return views.fold(view, event)

    def act(self, state: State, seat: Seat, action: Payload, events: list[Event] | None = None) -> State:
        """The state after a whole decision as it came over the wire."""
        self._check_owing(state, seat)
        if state.phase == "seize":
            return self._step(state, seat, actions.read_seize(action), "$.card", events)
        if state.phase == "plant":
            return self._step(state, seat, actions.read_plant(action), "$.at", events)
        for path, play in actions.read_rows(action):
            if seat not in state.due:
                raise IllegalAction(f"the scoring is over: nothing more can be scored - at {path}")
            state = self._step(state, seat, play, path, events)
        return self._step(state, seat, Done(), "$.rows", events) if seat in state.due else state

    def _step(self, state: State, seat: Seat, play: Play, path: str, events: list[Event] | None) -> State:
        try:
            self.check(state, seat, play)
        except IllegalAction as error:
            raise IllegalAction(f"{error} - at {path}") from None
        return self.apply(state, seat, play, events)

    def write_action(self, state: State, seat: Seat, plays: Sequence[Any]) -> Payload:
        """The action for which `act` applies `plays`."""
        return actions.write_action(plays)

    def write_legal(self, state: State, seat: Seat) -> Payload:
        """The legal first plays in the compact form of the protocol."""
        return actions.write_legal(state.phase, self.legal(state, seat))

    def dump(self, state: State) -> bytes:
        """The state as bytes."""
        return msgspec.msgpack.encode(state)

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote."""
        return msgspec.msgpack.decode(data, type=State)
