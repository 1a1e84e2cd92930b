"""Captures: which settlements are surrounded, who takes their pieces, and who has won by them.

The rules page has it in §S4-5 and under "Who wins".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from arena.core.face import Payload, Seat, game_kit, seat_rules
from arena.games.samurai.state import CASTE_INDEX, CASTES, INFLUENCE, ONE, Capture, State, Tables, Triple


def surrounded(tables: Tables, state: State) -> list[int]:
    """Returns the settlements that were surrounded in this turn, ascending.

    Only where a tile was put in it can one have become so.
    """
    land = state.land
    found = []
    for space in state.placed:
        for settlement in tables.settlements_near[space]:
            for neighbour in tables.land_around[settlement]:
                if neighbour in land:
                    break
            else:
                found.append(settlement)
    return sorted({*found}) if found else found


def due(tables: Tables, state: State) -> list[Capture]:
    """Returns the pieces that are to be captured, in the automatic order."""
    return [
        Capture(settlement, caste)
        for settlement in surrounded(tables, state)
        for caste in range(len(CASTES))
        if settlement in state.pieces[caste]
    ]


def capture_products(tables: Tables, state: State) -> list[game_kit.Product]:
    """Returns the pieces of which the seat to move may choose the next."""
    return [game_kit.Product.of(Capture, (piece.space,), (piece.caste,)) for piece in due(tables, state)]


def capture_refusal(tables: Tables, state: State, seat: Seat, play: Capture) -> str | None:
    """Returns why a piece cannot be the next, or None if it can."""
    return None if play in due(tables, state) else not_due(play)


def not_due(piece: Capture) -> str:
    """Returns what to say of a piece that is named although it is not to be captured, or was so already."""
    return f"no {CASTES[piece.caste]} on space {piece.space} is to be captured now"


def captured_in(events: Sequence[game_kit.Event]) -> list[Capture]:
    """Returns the pieces that were captured or set aside, going by events."""
    facts = [event.data for event in events if event.data["event"] in ("captured", "set_aside")]
    return [Capture(fact["space"], CASTE_INDEX[fact["caste"]]) for fact in facts]


def resolve(tables: Tables, state: State, events: list[game_kit.Event] | None) -> State:
    """Captures the pieces of every surrounded settlement."""
    for settlement in surrounded(tables, state):
        for caste in range(len(CASTES)):
            if settlement in state.pieces[caste]:
                state = capture_piece(tables, state, settlement, caste, events)
    return state


def capture_piece(
    tables: Tables, state: State, settlement: int, caste: int, events: list[game_kit.Event] | None
) -> State:
    """Gives a piece of a surrounded settlement to the highest total; if that is shared, sets it aside."""
    totals = influence(tables, state, settlement, caste)
    best = max(totals)
    pieces = seat_rules.with_item(state.pieces, caste, state.pieces[caste].replace(ONE[settlement], b""))
    fact: Payload = {"event": "set_aside", "space": settlement, "caste": CASTES[caste]}
    if totals.count(best) > 1:
        set_aside = seat_rules.with_item(state.set_aside, caste, state.set_aside[caste] + 1)
        state = replace(state, pieces=pieces, set_aside=set_aside)
    else:
        winner = totals.index(best)
        fact |= {"event": "captured", "seat": winner}
        own = state.captured[winner]
        captured = seat_rules.with_item(state.captured, winner, seat_rules.with_item(own, caste, own[caste] + 1))
        state = replace(state, pieces=pieces, captured=captured)
    if events is not None:
        events.append(game_kit.Event(fact))
    return state


def influence(tables: Tables, state: State, settlement: int, caste: int) -> list[int]:
    """Returns by seat the values of its tiles next to a settlement that influence a caste, added up."""
    totals = [0] * tables.seats
    at = state.at
    for space in tables.around[settlement]:
        if code := at[space]:
            seat, values = INFLUENCE[code]
            totals[seat] += values[caste]
    return totals


# Who has won

Comparison: TypeAlias = Callable[[Sequence[Triple], Seat], Triple]
"""Key by which seats are compared, given all captured pieces; larger is better. One that forfeited keeps its pieces."""


def leader(captured: Sequence[Triple], caste: int) -> Seat | None:
    """Returns the seat that has strictly more pieces of a caste than every other, or None."""
    pieces = [own[caste] for own in captured]
    most = max(pieces)
    return pieces.index(most) if pieces.count(most) == 1 else None


def by_leaders(captured: Sequence[Triple], seat: Seat) -> Triple:
    """Returns how many castes a seat leads, its pieces of the castes that it does not lead, and all its pieces."""
    own = captured[seat]
    led = [caste for caste in range(len(CASTES)) if leader(captured, caste) == seat]
    return len(led), sum(own) - sum(own[caste] for caste in led), sum(own)


def by_majorities(captured: Sequence[Triple], seat: Seat) -> Triple:
    """Returns the same, but of the castes led only whether they are two or more (`scoring=two_majorities`)."""
    led, others, everything = by_leaders(captured, seat)
    return int(led >= 2), others, everything


COMPARISONS: Mapping[str, Comparison] = {"leaders": by_leaders, "two_majorities": by_majorities}
"""Comparison by the value of the option `scoring`."""
