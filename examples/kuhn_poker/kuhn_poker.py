"""Kuhn poker: a deck of three cards, two players, one bet. The smallest game in which bluffing pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from arena.core.face import Payload, Seat, game_kit

CARDS = ("J", "Q", "K")
"""The deck, the highest card last."""
OVER = (("check", "check"), ("check", "bet", "fold"), ("check", "bet", "call"), ("bet", "fold"), ("bet", "call"))
"""The moves after which a game is over."""


class State(msgspec.Struct, frozen=True):
    """The cards by seat, as far as they are dealt, and what was played."""

    cards: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()


class Move(msgspec.Struct, frozen=True):
    """The one kind of play."""

    move: Literal["check", "bet", "call", "fold"]


class KuhnPoker(game_kit.Rules[State]):
    """The rules."""

    name = "kuhn_poker"
    about = "Three cards, two players, one bet: the smallest game in which bluffing pays"
    seat_counts = range(2, 3)
    state_type = State
    play_type = Move

    def start(self) -> State:
        return State()

    def draw_wanted(self, state: State) -> game_kit.Draw | None:
        return game_kit.Draw("deal", 3 - len(state.cards)) if len(state.cards) < 2 else None

    def draw(self, state: State, index: int, events: list[game_kit.Event] | None = None) -> State:
        card = [card for card in CARDS if card not in state.cards][index]
        seat = len(state.cards)
        if events is not None:
            events.append(game_kit.Event({"event": "dealt", "card": card}, to=(seat,)))
        return State((*state.cards, card))

    def pending(self, state: State) -> tuple[game_kit.Decision, ...]:
        if len(state.cards) < 2 or state.moves in OVER:
            return ()
        return (game_kit.Decision(len(state.moves) % 2, "bet"),)

    def legal(self, state: State, seat: Seat) -> game_kit.Legal:
        if all(decision.seat != seat for decision in self.pending(state)):
            return game_kit.Legal([])
        moves = ["call", "fold"] if "bet" in state.moves else ["check", "bet"]
        return game_kit.Legal([game_kit.Product.of(Move, moves)])

    def apply(self, state: State, seat: Seat, play: Move, events: list[game_kit.Event] | None = None) -> State:
        after = State(state.cards, (*state.moves, play.move))
        if events is not None:
            events.append(game_kit.Event({"event": "moved", "seat": seat, "move": play.move}))
            if after.moves in OVER and play.move != "fold":
                events.append(game_kit.Event({"event": "shown", "cards": list(after.cards)}))
        return after

    @classmethod
    def margin(cls, seats: int, options: Mapping[str, str]) -> game_kit.Margin:
        return game_kit.Margin("chips", most=4)

    def outcome(self, state: State) -> game_kit.Outcome | None:
        if state.moves not in OVER:
            return None
        if state.moves[-1] == "fold":
            winner = len(state.moves) % 2  # the seat that would be next
        else:
            winner = int(CARDS.index(state.cards[1]) > CARDS.index(state.cards[0]))
        chips = 2 if state.moves[-1] == "call" else 1
        return game_kit.Outcome(
            ranks=(1, 2) if winner == 0 else (2, 1),
            scores=(chips, -chips) if winner == 0 else (-chips, chips),
        )

    def view(self, state: State, seat: Seat) -> Payload:
        showdown = state.moves in OVER and state.moves[-1] != "fold"
        return {
            "seat": seat,
            "card": state.cards[seat] if seat < len(state.cards) else None,
            "moves": list(state.moves),
            "shown": list(state.cards) if showdown else None,
        }

    def fold(self, view: Payload, event: Payload) -> Payload:
        match event["event"]:
            case "dealt":
                return {**view, "card": event["card"]}
            case "moved":
                return {**view, "moves": [*view["moves"], event["move"]]}
            case "shown":
                return {**view, "shown": event["cards"]}
        raise ValueError(f"expected an event of kuhn_poker, got: {event}")

    def resample(self, state: State, seat: Seat, choose: game_kit.Choose) -> State:
        if self.view(state, seat)["shown"]:
            return state  # both cards lie open
        left = [card for card in CARDS if card not in state.cards[seat : seat + 1]]
        cards = list(state.cards)
        for other in range(len(cards)):
            if other != seat:
                cards[other] = left[choose(len(left))]
        return State(tuple(cards), state.moves)
