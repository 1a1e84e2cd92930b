"""Samurai as the interface of `Rules` asks for it: which part of the rules a state is in, and what that part says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from arena.errors import BoardError, IllegalAction
from arena.rules.base import Decision, Draw, Event, Legal, Option, Product, Ruleset
from arena.rules.samurai import actions, captures, legal, setup, turns, views
from arena.rules.samurai.board import SECTION, Board, find_problems, parse_board
from arena.rules.samurai.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.rules.samurai.plays import Capture, Choose, End, Move, Place, Play, Settle, Switch
from arena.rules.samurai.state import Phase, State
from arena.rules.samurai.tables import Tables
from arena.rules.samurai.tiles import all_hands
from arena.rules.seats import still_in
from arena.types import Payload, Ranks, Seat

_PLAYS = {"hand": (Choose,), "setup": (Settle,), "turns": (Place, Switch, Move, End), "captures": (Capture,)}
"""The plays of each phase in which a decision is due."""
_STEPS: Mapping[type[Play], Callable[..., State]] = {
    Place: turns.place,
    Switch: turns.switch,
    Move: turns.move,
    End: turns.end,
    Capture: turns.capture,
    Settle: setup.settle,
    Choose: setup.choose,
}
"""What each play does."""
_DRAWS: Mapping[Phase, Callable[..., State]] = {"refill": turns.refill, "deal": setup.deal, "scatter": setup.scatter}
"""What each draw of chance does."""
_REFUSALS: Mapping[type[Play], Callable[..., str | None]] = {
    **dict.fromkeys((Place, Switch, Move, End), legal.turn_refusal),
    Capture: captures.capture_refusal,
    Settle: setup.settle_refusal,
    Choose: setup.choose_refusal,
}
"""Why each play may be not legal."""


class Samurai:
    """The rules at one board, for a number of seats, under options."""

    name: ClassVar[str] = "samurai"
    version: ClassVar[int] = 1
    seat_counts: ClassVar[range] = range(2, 5)
    option_list: ClassVar[tuple[Option, ...]] = OPTIONS
    rulesets: ClassVar[Mapping[str, Ruleset]] = RULESETS
    contradictions: ClassVar[tuple[tuple[str, str], ...]] = CONTRADICTIONS
    about: ClassVar[str] = "Surround the settlements of Japan and lead two of three castes; by Reiner Knizia."
    board_section: ClassVar[str] = SECTION

    def __init__(self, board: Board, seats: int, options: Mapping[str, str]) -> None:
        self.board = board
        self.seats = seats
        self.options: Mapping[str, str] = dict(options)
        self.has_race = False
        self.tables = Tables(board, seats, options)
        self._board_payload = {
            "name": board.name,
            "hash": board.hash,
            "spaces": [
                {"kind": space.kind, "neighbours": list(space.neighbours), "col": space.col, "row": space.row}
                | ({"name": space.name} if space.name else {})
                for space in board.spaces
            ],
        }

    @classmethod
    def at(cls, board_text: str, board_name: str, seats: int, options: Mapping[str, str]) -> Samurai:
        """The rules at a board given as text.

        Raises:
            BoardError: The text is not a board.
            ConfigError: The board is not for so many players.
        """
        return cls(parse_board(board_text, board_name).for_players(seats), seats, options)

    @classmethod
    def board_problems(cls, board_text: str, board_name: str) -> list[BoardError]:
        """Everything that keeps a text from being a board, in the order of the text."""
        return find_problems(board_text, board_name)

    def board_payload(self) -> Payload:
        """The board as bots are told it."""
        return self._board_payload

    def start(self) -> State:
        """The state before anything happened: the pieces of Edo are in place."""
        return self.tables.start

    def draw_wanted(self, state: State) -> Draw | None:
        """A tile from a seat's stack (stream `stack/SEAT`), or a piece for a settlement (stream `setup`)."""
        if state.phase == "turns":
            return None
        if state.phase == "refill":
            return self.tables.draws[state.to_move][len(state.stacks[state.to_move])]
        if state.phase == "deal":
            return setup.deal_wanted(self.tables, state)
        return setup.scatter_wanted(self.tables, state) if state.phase == "scatter" else None

    def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
        """The state after chance drew `index`."""
        return _DRAWS[state.phase](self.tables, state, index, events)

    def pending(self, state: State) -> tuple[Decision, ...]:
        """`hand` of every seat that has not chosen; else `setup` or `turn` of the seat to move."""
        if state.phase == "turns":
            return self.tables.decisions["turn"][state.to_move]
        if state.phase == "setup":
            return self.tables.decisions["setup"][state.to_move]
        if state.phase == "captures":
            return self.tables.decisions["turn"][state.to_move]
        if state.phase == "hand":
            return tuple(Decision(seat, "hand") for seat, hand in enumerate(state.hands) if not hand)
        return ()

    def legal(self, state: State, seat: Seat) -> Legal:
        """The plays that the seat may make next."""
        if state.phase == "turns" and seat == state.to_move:
            return Legal(legal.turn_products(self.tables, state, seat))
        if state.phase == "setup" and seat == state.to_move:
            return Legal(setup.settle_products(self.tables, state))
        if state.phase == "captures" and seat == state.to_move:
            return Legal(captures.capture_products(self.tables, state))
        if state.phase == "hand" and not state.hands[seat]:
            return Legal([Product.of(Choose, all_hands())])
        return Legal([])

    def check(self, state: State, seat: Seat, play: Play) -> None:
        """Refuse a play that is not in `legal`, saying why."""
        kind = type(play)
        if kind not in _PLAYS.get(state.phase, ()):
            raise IllegalAction(f"a {kind.__name__.lower()} is not a play of the decision that is due")
        if seat != state.to_move if state.phase != "hand" else state.hands[seat]:
            raise IllegalAction(f"seat {seat} owes no decision")
        if reason := _REFUSALS[kind](self.tables, state, seat, play):
            raise IllegalAction(reason)

    def apply(self, state: State, seat: Seat, play: Play, events: list[Event] | None = None) -> State:
        """The state after a legal play. It is not checked."""
        return _STEPS[type(play)](self.tables, state, seat, play, events)

    def forfeit(self, state: State, seats: Sequence[Seat], events: list[Event] | None = None) -> State:
        """The seats take no more turns; their tiles stay. With one seat left the game ends at once."""
        state = replace(state, forfeited=(*state.forfeited, tuple(seats)))
        if events is not None:
            events.extend(Event({"event": "forfeited", "seat": seat}) for seat in seats)
        if len(still_in(self.tables.everyone, state.forfeited)) <= 1:
            return turns.over(self.tables, state, "last_seat", events)
        if state.phase in ("turns", "captures") and state.to_move in seats:
            return turns.finish_turn(self.tables, captures.resolve(self.tables, state, events), events)
        return state

    def ranks(self, state: State) -> Ranks | None:
        """The ranks once the game is over."""
        return state.ranks or None

    def turn(self, state: State) -> int:
        """The number of the current turn; 0 during set-up."""
        return state.turn

    def first_view(self, seat: Seat) -> Payload:
        """What a seat knows before the first event."""
        return views.view(self.tables, self.tables.start, seat)

    def view(self, state: State, seat: Seat) -> Payload:
        """All that the seat may know now."""
        return views.view(self.tables, state, seat)

    def fold(self, view: Payload, event: Payload) -> Payload:
        """The view after an event's data."""
        return views.fold(self.tables, view, event)

    def act(self, state: State, seat: Seat, action: Payload, events: list[Event] | None = None) -> State:
        """The state after a whole decision as it came over the wire."""
        if state.phase == "hand":
            return self._step(state, seat, actions.read_choice(action), "$", events)
        if state.phase == "setup":
            return self._step(state, seat, actions.read_settle(action), "$", events)
        if not self.tables.chosen_order:
            return self._play(state, seat, action, events)
        named = actions.read_captures(action)
        told: list[Event] = []
        state = self._play(state, seat, action, told)
        state = self._capture(state, seat, named, told)
        if events is not None:
            events += told
        return state

    def _play(self, state: State, seat: Seat, action: Payload, events: list[Event] | None) -> State:
        """The plays of an action. Where a tile must follow the last, the turn goes on and the seat is asked again."""
        begun, ended = state, state.phase != "turns"
        for path, play in actions.read_plays(action):
            if ended:
                raise IllegalAction(f"the turn is over: nothing more can be played in it - at {path}")
            state = self._step(state, seat, play, path, events)
            ended = state.phase != "turns" or state.turn != begun.turn
        if ended or (state.must_follow and state is not begun):
            return state
        return self._step(state, seat, End(), "$.plays", events)

    def _capture(self, state: State, seat: Seat, named: list[tuple[str, Capture]], told: list[Event]) -> State:
        """The pieces that an action names, in its order, then the others. One alone was captured as the turn ended."""
        pieces = captures.captured_in(told) + (captures.due(self.tables, state) if state.phase == "captures" else [])
        for path, piece in named:
            if piece not in pieces:
                raise IllegalAction(f"{captures.not_due(piece)} - at {path}")
            pieces.remove(piece)
            if state.phase == "captures":
                state = self.apply(state, seat, piece, told)
        while state.phase == "captures":
            state = self.apply(state, seat, pieces.pop(0), told)
        return state

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
        return actions.write_legal(state, seat, self.legal(state, seat))

    def dump(self, state: State) -> bytes:
        """The state as bytes."""
        return msgspec.msgpack.encode(state)

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote."""
        return msgspec.msgpack.decode(data, type=State)
