"""Samurai Gardener as the interface of `Rules` asks for it: which part of the rules a state is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from arena.core.face import Payload, Seat, errors, game_kit
from arena.games.gardener import numbers, payloads, rounds
from arena.games.gardener.deck import KINDS, PLAYERS, Deck, DeckFormat
from arena.games.gardener.geometry import Row
from arena.games.gardener.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.games.gardener.state import Done, Phase, Plant, Play, ScoreRow, Seize, State, Tables

_PLAYS: Mapping[Phase, tuple[type[Play], ...]] = {"seize": (Seize,), "plant": (Plant,), "score": (ScoreRow, Done)}
"""The plays of each decision. A decision is called like the phase in which it is due."""
_STEPS: Mapping[type[Play], Callable[..., State]] = {
    Seize: rounds.seize,
    Plant: rounds.plant,
    ScoreRow: rounds.score,
    Done: rounds.done,
}
_PRODUCTS: Mapping[Phase, Callable[..., list[game_kit.Product]]] = {
    "seize": rounds.seize_products,
    "plant": rounds.plant_products,
    "score": rounds.score_products,
}
_REFUSALS: Mapping[Phase, Callable[..., str | None]] = {
    "seize": rounds.seize_refusal,
    "plant": rounds.plant_refusal,
    "score": rounds.score_refusal,
}


class Gardener(game_kit.Rules[State]):
    """The rules with one deck, for a number of seats, under options."""

    name: ClassVar[str] = "gardener"
    about: ClassVar[str] = "Lay garden cards so that they make rows of three and more alike; by Hisashi Hayashi."
    seat_counts: ClassVar[range] = PLAYERS
    option_list: ClassVar[tuple[game_kit.Option, ...]] = OPTIONS
    rulesets: ClassVar[Mapping[str, game_kit.Ruleset]] = RULESETS
    contradictions: ClassVar[tuple[tuple[str, str], ...]] = CONTRADICTIONS
    boards: ClassVar[game_kit.BoardFormat] = DeckFormat()
    nothing_hidden: ClassVar[bool] = True
    """The order of the deck comes about as chance draws: nobody could know it, so it is no secret of the state."""
    state_type: ClassVar[Any] = State

    board: Deck

    def __init__(self, seats: int, options: Mapping[str, str], board: Deck) -> None:
        super().__init__(seats, options, board)
        self.has_race = options["seize"] == "race"
        self.tables = Tables(board, seats, options)

    @classmethod
    def margin(cls, seats: int, options: Mapping[str, str]) -> game_kit.Margin:
        """Returns that points are counted. A lead of so many is a clear one (docs/ratings.md, "Margins")."""
        return game_kit.Margin("points", 12 if seats == 2 else 8)

    def start(self) -> State:
        return self.tables.start

    def draw_wanted(self, state: State) -> game_kit.Draw | None:
        """Returns what is drawn: a card of the deck."""
        return self.tables.draws[len(state.deck)] if rounds.draw_due(self.tables, state) else None

    def draw(self, state: State, index: int, events: list[game_kit.Event] | None = None) -> State:
        return rounds.draw(self.tables, state, index, events)

    def pending(self, state: State) -> tuple[game_kit.Decision, ...]:
        """Returns `seize` of the next seat, or in a race of all without a card; `plant` and `score` of all not done."""
        if seats := rounds.owing(self.tables, state):
            decisions = self.tables.decisions[state.phase]
            return tuple([decisions[seat] for seat in seats])
        return ()

    def legal(self, state: State, seat: Seat) -> game_kit.Legal:
        if seat in rounds.owing(self.tables, state):
            return game_kit.Legal(_PRODUCTS[state.phase](self.tables, state, seat))
        return game_kit.Legal([])

    def check(self, state: State, seat: Seat, play: Play) -> None:
        kind = type(play)
        if kind not in _PLAYS.get(state.phase, ()):
            raise errors.IllegalAction(f"a {kind.__name__} is not a play of the decision that is due")
        self._check_owing(state, seat)
        if reason := _REFUSALS[state.phase](self.tables, state, seat, play):
            raise errors.IllegalAction(reason)

    def _check_owing(self, state: State, seat: Seat) -> None:
        if seat not in rounds.owing(self.tables, state):
            raise errors.IllegalAction(f"seat {seat} owes no decision")

    def apply(self, state: State, seat: Seat, play: Play, events: list[game_kit.Event] | None = None) -> State:
        return _STEPS[type(play)](self.tables, state, seat, play, events)

    def forfeit(self, state: State, seats: Sequence[Seat], events: list[game_kit.Event] | None = None) -> State:
        """Returns the state after the seats forfeited. Their gardens stay; with one seat left the game ends at once."""
        return rounds.forfeit(self.tables, state, seats, events)

    def outcome(self, state: State) -> game_kit.Outcome | None:
        return game_kit.Outcome(state.ranks, state.scores) if state.ranks else None

    def amounts(self, state: State) -> tuple[int, ...]:
        return state.scores

    def turn(self, state: State) -> int:
        return state.round

    def view(self, state: State, seat: Seat) -> Payload:
        return payloads.view(state, seat)

    def fold(self, view: Payload, event: Payload) -> Payload:
        return payloads.fold(view, event)

    def guess(self, view: Payload, kind: str) -> State:
        return guess(self.tables, view, kind)

    def every_play(self) -> game_kit.Legal:
        return numbers.every_play(self.tables)

    def relative(self, state: State, seat: Seat) -> game_kit.Legal:
        return numbers.relative(self.tables, state, seat, self.legal(state, seat))

    def absolute(self, state: State, seat: Seat, play: Any) -> Play:
        return numbers.absolute(state, seat, play)

    def bounds(self) -> game_kit.Bounds:
        return numbers.bounds(self.tables)

    def numbers(self, view: Payload) -> Sequence[int]:
        state = guess(self.tables, view, "over")
        deck = bytes(view["deck"] - (view["next"] is not None))  # which cards these are is in no number
        return numbers.observe(self.tables, replace(state, deck=deck), view["seat"])

    def observe(self, state: State, seat: Seat) -> Sequence[int]:
        return numbers.observe(self.tables, state, seat)

    def read_play(self, state: State, play: Payload, path: str) -> Play:
        return payloads.READERS.get(state.phase, payloads.read_row)(play, path)

    def write_play(self, play: Play) -> Payload:
        return payloads.write_play(play)

    def write_action(self, plays: Sequence[Play]) -> Payload:
        """Returns the action from which `read_action` reads `plays`, without the end of a scoring."""
        return super().write_action([play for play in plays if not isinstance(play, Done)])

    def write_legal(self, state: State, seat: Seat) -> list[Payload]:
        return [payloads.write_product(product) for product in self.legal(state, seat).products if product.choices]

    def act(self, state: State, seat: Seat, plays: Sequence[Play], events: list[game_kit.Event] | None = None) -> State:
        """Returns the state after a whole decision. A scoring names all the rows to score: the others are left."""
        if state.phase != "score":
            return super().act(state, seat, plays, events)
        self._check_owing(state, seat)
        for index, play in enumerate(plays):
            path = f"$.plays[{index}]"
            if seat not in state.due:
                raise errors.IllegalAction(f"the scoring is over: nothing more can be scored - at {path}")
            state = self.step(state, seat, play, path, events)
        return self.apply(state, seat, Done(), events) if seat in state.due else state


_INDEX = {kind: index for index, kind in enumerate(KINDS)}


def guess(tables: Tables, view: Payload, kind: str) -> State:
    """Returns one of the states that have this view for its seat, which alone owes a decision of this kind."""
    gone = {card for garden in view["gardens"] for card, *_ in garden}
    gone |= {*view["offer"], *view["taken"], view["next"]}
    rows = [tuple(_row(row) for row in own) for own in view["rows"]]
    return State(
        phase=kind,  # type: ignore[arg-type]
        round=view["round"],
        starter=view["starter"],
        deck=bytes(card for card in tables.start.deck if card not in gone),
        top=view["next"],
        offer=tuple(view["offer"]),
        taken=tuple(view["taken"]),
        gardens=tuple(tuple((card, x, y, turned) for card, x, y, turned in garden) for garden in view["gardens"]),
        rows=tuple(rows),
        scored=(0,) * tables.seats,
        features=tuple(sum(1 << _INDEX[kind] for kind in kinds) for kinds in view["features"]),
        scores=tuple(view["scores"]),
        due=(view["seat"],),
        forfeited=tuple((gone,) for gone in view["forfeited"]),
    )


def _row(fact: Payload) -> Row:
    x, y = fact["at"]
    return Row(x=x, y=y, down=fact["along"] == "down", kind=_INDEX[fact["kind"]], length=fact["length"])
