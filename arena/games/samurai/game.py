"""Samurai as the interface of `Rules` asks for it: which part of the rules a state is in, and what that part says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from arena.core.face import Payload, Seat, errors, game_kit, seat_rules
from arena.games.samurai import captures, numbers, opening, payloads, turns
from arena.games.samurai.board import PLAYERS, Board, BoardFormat
from arena.games.samurai.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.games.samurai.state import (
    CASTES,
    FULL_SET,
    SWITCH,
    TILE_INDEX,
    Capture,
    ChooseHand,
    End,
    Move,
    Phase,
    Place,
    Play,
    Settle,
    State,
    Switch,
    Tables,
    all_hands,
    redeal,
    tile_code,
)

_PLAYS = {"hand": (ChooseHand,), "setup": (Settle,), "turns": (Place, Switch, Move, End), "captures": (Capture,)}
"""The plays of each phase in which a decision is due."""
_STEPS: Mapping[type[Play], Callable[..., State]] = {
    Place: turns.place,
    Switch: turns.switch,
    Move: turns.move,
    End: turns.end,
    Capture: turns.capture,
    Settle: opening.settle,
    ChooseHand: opening.choose,
}
_DRAWS: Mapping[Phase, Callable[..., State]] = {
    "refill": turns.refill,
    "deal": opening.deal,
    "scatter": opening.scatter,
}
_REFUSALS: Mapping[type[Play], Callable[..., str | None]] = {
    **dict.fromkeys((Place, Switch, Move, End), turns.turn_refusal),
    Capture: captures.capture_refusal,
    Settle: opening.settle_refusal,
    ChooseHand: opening.choose_refusal,
}


class Samurai(game_kit.Rules[State]):
    """The rules on one board, for a number of seats, under options."""

    name: ClassVar[str] = "samurai"
    about: ClassVar[str] = "Surround the settlements of Japan and lead two of three castes; by Reiner Knizia."
    seat_counts: ClassVar[range] = PLAYERS
    option_list: ClassVar[tuple[game_kit.Option, ...]] = OPTIONS
    rulesets: ClassVar[Mapping[str, game_kit.Ruleset]] = RULESETS
    contradictions: ClassVar[tuple[tuple[str, str], ...]] = CONTRADICTIONS
    boards: ClassVar[game_kit.BoardFormat] = BoardFormat()
    state_type: ClassVar[Any] = State

    board: Board

    def __init__(self, seats: int, options: Mapping[str, str], board: Board) -> None:
        super().__init__(seats, options, board)
        self.tables = Tables(board, seats, options)

    @classmethod
    def margin(cls, seats: int, options: Mapping[str, str]) -> game_kit.Margin:
        """Returns that captured pieces are counted. A lead of so many is a clear one (docs/ratings.md, "Margins")."""
        return game_kit.Margin("captured pieces", 4 if seats == 2 else 3)

    def start(self) -> State:
        return self.tables.start

    def draw_wanted(self, state: State) -> game_kit.Draw | None:
        """Returns what is drawn: a tile of a stack (stream `stack/SEAT`), or a piece for a settlement (`setup`)."""
        if state.phase == "turns":
            return None
        if state.phase == "refill":
            return self.tables.draws[state.to_move][len(state.stacks[state.to_move])]
        if state.phase == "deal":
            return opening.deal_wanted(self.tables, state)
        return opening.scatter_wanted(self.tables, state) if state.phase == "scatter" else None

    def draw(self, state: State, index: int, events: list[game_kit.Event] | None = None) -> State:
        return _DRAWS[state.phase](self.tables, state, index, events)

    def pending(self, state: State) -> tuple[game_kit.Decision, ...]:
        """Returns `hand` of every seat that has not chosen; else `setup` or `turn` of the seat to move."""
        if state.phase == "turns":
            return self.tables.decisions["turn"][state.to_move]
        if state.phase == "setup":
            return self.tables.decisions["setup"][state.to_move]
        if state.phase == "captures":
            return self.tables.decisions["turn"][state.to_move]
        if state.phase == "hand":
            return tuple(game_kit.Decision(seat, "hand") for seat, hand in enumerate(state.hands) if not hand)
        return ()

    def legal(self, state: State, seat: Seat) -> game_kit.Legal:
        if state.phase == "turns" and seat == state.to_move:
            return game_kit.Legal(turns.turn_products(self.tables, state, seat))
        if state.phase == "setup" and seat == state.to_move:
            return game_kit.Legal(opening.settle_products(self.tables, state))
        if state.phase == "captures" and seat == state.to_move:
            return game_kit.Legal(captures.capture_products(self.tables, state))
        if state.phase == "hand" and not state.hands[seat]:
            return game_kit.Legal([game_kit.Product.of(ChooseHand, all_hands())])
        return game_kit.Legal([])

    def check(self, state: State, seat: Seat, play: Play) -> None:
        kind = type(play)
        if kind not in _PLAYS.get(state.phase, ()):
            raise errors.IllegalAction(f"a {kind.__name__} is not a play of the decision that is due")
        if seat != state.to_move if state.phase != "hand" else state.hands[seat]:
            raise errors.IllegalAction(f"seat {seat} owes no decision")
        if reason := _REFUSALS[kind](self.tables, state, seat, play):
            raise errors.IllegalAction(reason)

    def apply(self, state: State, seat: Seat, play: Play, events: list[game_kit.Event] | None = None) -> State:
        return _STEPS[type(play)](self.tables, state, seat, play, events)

    def forfeit(self, state: State, seats: Sequence[Seat], events: list[game_kit.Event] | None = None) -> State:
        """Returns the state after the seats forfeited. Their tiles stay; with one seat left the game ends at once."""
        state = replace(state, forfeited=(*state.forfeited, tuple(seats)))
        if events is not None:
            events.extend(game_kit.Event({"event": "forfeited", "seat": seat}) for seat in seats)
        if len(seat_rules.still_in(self.tables.everyone, state.forfeited)) <= 1:
            return turns.over(self.tables, state, "last_seat", events)
        if state.phase in ("turns", "captures") and state.to_move in seats:
            return turns.finish_turn(self.tables, captures.resolve(self.tables, state, events), events)
        return state

    def every_play(self) -> game_kit.Legal:
        return numbers.every_play(self.tables)

    def bounds(self) -> game_kit.Bounds:
        return numbers.bounds(self.tables)

    def numbers(self, view: Payload) -> Sequence[int]:
        state = guess(self.tables, view, view["phase"])
        phase = "scatter" if view["phase"] == "setup" and view["to_move"] is None else view["phase"]  # chance sets up
        shown = replace(state, phase=phase, to_move=view["to_move"] or 0, placed=bytes(view["placed"]))
        return numbers.observe(self.tables, shown, view["seat"])

    def observe(self, state: State, seat: Seat) -> Sequence[int]:
        return numbers.observe(self.tables, state, seat)

    def outcome(self, state: State) -> game_kit.Outcome | None:
        return game_kit.Outcome(state.ranks) if state.ranks else None

    def amounts(self, state: State) -> tuple[int, ...]:
        return tuple(map(sum, state.captured))

    def turn(self, state: State) -> int:
        return state.turn

    def view(self, state: State, seat: Seat) -> Payload:
        return payloads.view(self.tables, state, seat)

    def fold(self, view: Payload, event: Payload) -> Payload:
        return payloads.fold(self.tables, view, event)

    def public(self, view: Payload) -> Payload:
        return payloads.public(self.tables, view)

    def resample(self, state: State, seat: Seat, choose: game_kit.Choose) -> State:
        """Returns the state with the hands and stacks of the others dealt anew from the tiles that they still have.

        Every deal is equally likely. Captured pieces stay, even where a view does not show them: they follow from
        what everyone was told. Where another seat is to play, it gets a hand from which it can.
        """
        while True:
            hands, stacks = list(state.hands), list(state.stacks)
            for other in self.tables.others[seat]:
                hands[other], stacks[other] = redeal(hands[other], stacks[other], choose)
            dealt = replace(state, hands=tuple(hands), stacks=tuple(stacks))
            if state.phase != "turns" or state.to_move == seat or turns.can_go_on(self.tables, dealt):
                return dealt

    def read_action(self, state: State, seat: Seat, action: Payload) -> list[Play]:
        """Returns the plays of an action, and after them the pieces that it names to be captured first."""
        plays: list[Play] = super().read_action(state, seat, action)
        return [*plays, *payloads.read_captures(action)] if self.tables.chosen_order and state.turn else plays

    def guess(self, view: Payload, kind: str) -> State:
        return guess(self.tables, view, kind)

    def read_play(self, state: State, play: Payload, path: str) -> Play:
        return payloads.READERS.get(state.phase, payloads.read_turn_play)(play, path)

    def write_play(self, play: Play) -> Payload:
        return payloads.write_play(play)

    def write_action(self, plays: Sequence[Play]) -> Payload:
        """Returns the action from which `read_action` reads `plays`, without the end of the turn."""
        return payloads.write_action(plays)

    def write_legal(self, state: State, seat: Seat) -> list[Payload]:
        return payloads.write_legal(state, seat, self.legal(state, seat))

    def act(self, state: State, seat: Seat, plays: Sequence[Play], events: list[game_kit.Event] | None = None) -> State:
        """Returns the state after a whole decision. A turn ends after its last play unless a tile must follow."""
        if state.phase in ("hand", "setup"):
            return super().act(state, seat, plays, events)
        if not self.tables.chosen_order:
            return self._play(state, seat, plays, events)
        named = [play for play in plays if isinstance(play, Capture)]
        told: list[game_kit.Event] = []
        state = self._play(state, seat, [play for play in plays if not isinstance(play, Capture)], told)
        state = self._capture(state, seat, named, told)
        if events is not None:
            events += told
        return state

    def _play(self, state: State, seat: Seat, plays: Sequence[Play], events: list[game_kit.Event] | None) -> State:
        """Returns the state after the plays of a turn. Where a tile must follow the last, the turn goes on."""
        begun, ended = state, state.phase == "captures"
        for index, play in enumerate(plays):
            path = f"$.plays[{index}]"
            if ended:
                raise errors.IllegalAction(f"the turn is over: nothing more can be played in it - at {path}")
            state = self.step(state, seat, play, path, events)
            ended = state.phase != "turns" or state.turn != begun.turn
        if ended or (state.must_follow and state is not begun):
            return state
        return self.step(state, seat, End(), "$.plays", events)

    def _capture(self, state: State, seat: Seat, named: Sequence[Capture], told: list[game_kit.Event]) -> State:
        """Returns the state after the pieces named were captured, in that order, and then the others.

        One alone was captured as the turn ended.
        """
        pieces = captures.captured_in(told) + (captures.due(self.tables, state) if state.phase == "captures" else [])
        for index, piece in enumerate(named):
            if piece not in pieces:
                raise errors.IllegalAction(f"{captures.not_due(piece)} - at $.captures[{index}]")
            pieces.remove(piece)
            if state.phase == "captures":
                state = self.apply(state, seat, piece, told)
        while state.phase == "captures":
            state = self.apply(state, seat, pieces.pop(0), told)
        return state


def guess(tables: Tables, view: Payload, kind: str) -> State:
    """Returns one of the states that have this view for its seat, which owes a decision of this kind."""
    seat = view["seat"]
    tiles = {space: tile_code(owner, TILE_INDEX[tile]) for space, owner, tile in view["tiles"]}
    hands, stacks = zip(*_some_hands(view, is_chosen=kind != "hand"), strict=True)
    buddha, rice, castle = (bytes(view["pieces"][caste]) for caste in CASTES)
    supply = [view["supply"][caste] for caste in CASTES]
    none = dict.fromkeys(CASTES, 0)
    captured = tuple(tuple((pieces or none)[caste] for caste in CASTES) for pieces in view["captured"])
    return State(
        phase={"hand": "hand", "setup": "setup"}.get(kind, "turns"),  # type: ignore[arg-type]
        turn=view["turn"],
        to_move=seat if kind != "hand" else 0,
        land=bytes(space for space in tables.start.land if space not in tiles),
        sea=bytes(space for space in tables.start.sea if space not in tiles),
        at=bytes(tiles.get(space, 0) for space in range(len(tables.start.at))),
        pieces=(buddha, rice, castle),
        supply=(supply[0], supply[1], supply[2]),
        hands=hands,
        stacks=stacks,
        captured=captured,  # type: ignore[arg-type]
        set_aside=tuple(view["set_aside"][caste] for caste in CASTES),
        placed=bytes(view["placed"]) if kind == "turn" else b"",
        fast_only=view["fast_only"],
        # Something lies there from this turn only if its seat is asked again, because a tile must follow.
        played=bool(view["placed"]) and kind == "turn",
        must_follow=bool(view["placed"]) and kind == "turn",
        switch_used=bytes(view["switch_used"]),
        forfeited=tuple((gone,) for gone in view["forfeited"]),
    )


def _some_hands(view: Payload, *, is_chosen: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yields for each seat a hand and a stack of the tiles that it still has; the seat's own are as it knows them."""
    spent: list[list[int]] = [[] for _ in view["hands"]]
    for _, owner, tile in view["tiles"]:
        spent[owner].append(TILE_INDEX[tile])
    for owner in view["switch_used"]:
        spent[owner].append(SWITCH)
    own = bytes(sorted(TILE_INDEX[tile] for tile in view["hand"]))
    for seat, count in enumerate(view["hands"]):
        left = list(FULL_SET)
        for gone in [*spent[seat], *(own if seat == view["seat"] else ())]:
            left.remove(gone)
        if seat == view["seat"]:
            yield own, bytes(left)
        else:
            yield bytes(left[:count]), bytes(left[count:])
