"""The vectors of Samurai against the engine, and against the page worked out a second time."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from acting import act
from msgspec.structs import replace

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.errors import IllegalAction
from arena.core.rules.base import Event
from arena.core.rules.seats import rank
from arena.core.types import Payload
from arena.games.samurai.board import Board, Space
from arena.games.samurai.captures import COMPARISONS, leader
from arena.games.samurai.game import Samurai
from arena.games.samurai.options import RULESETS
from arena.games.samurai.state import CASTES, TILE_INDEX, tile_code
from tests.conformance import samurai_oracle as oracle
from tests.conformance.kit import FOLDER, by_id, load

VECTORS = load(FOLDER / "vectors" / "samurai.json")
TOLD = {"placed", "switched", "moved", "captured", "set_aside"}


def position(vector: dict[str, Any]) -> dict[str, Any]:
    """A vector's position, with every option."""
    return vector | {
        "spaces": VECTORS["boards"][vector["board"]],
        "options": RULESETS["standard"].options | vector["options"],
    }


def engine(vector: dict[str, Any]) -> tuple[Samurai, Any]:
    """The rules and the state of a vector's position. Stacks are empty, so that a turn ends without a draw."""
    full = position(vector)
    spaces = tuple(Space(one["kind"], tuple(one["neighbours"]), 0, 0) for one in full["spaces"])
    board = Board(name="toy", source="", text="", spaces=spaces, players=(2, 3, 4))
    rules = Samurai(vector["seats"], full["options"], board)
    at = bytearray(len(spaces))
    for space, seat, tile in vector["tiles"]:
        at[space] = tile_code(seat, TILE_INDEX[tile])
    empty = {
        kind: bytes(n for n, one in enumerate(spaces) if one.kind == kind and not at[n]) for kind in ("land", "sea")
    }
    hands = [b""] * vector["seats"]
    hands[vector["seat"]] = bytes(sorted(TILE_INDEX[tile] for tile in vector["hand"]))
    state = replace(
        rules.start(), phase="turns", turn=9, to_move=vector["seat"], land=empty["land"], sea=empty["sea"],
        at=bytes(at), pieces=tuple(bytes(vector["pieces"][caste]) for caste in CASTES), supply=(0, 0, 0),
        hands=tuple(hands), stacks=(b"",) * vector["seats"], placed=bytes(vector["placed"]),
        fast_only=vector["fast_only"], played=vector["again"], must_follow=vector["again"],
    )  # fmt: skip
    return rules, state


def plays_of(products: list[Payload]) -> list[Payload]:
    return [
        dict(zip(product, values, strict=True))
        for product in products
        for values in itertools.product(*product.values())
    ]


def in_order(plays: list[Payload]) -> list[Payload]:
    return sorted(plays, key=lambda play: sorted((key, str(value)) for key, value in play.items()))


def test_ids_are_unique() -> None:
    ids = [vector["id"] for kind in ("positions", "rankings") for vector in VECTORS[kind]]
    assert len(set(ids)) == len(ids)


def test_every_form_of_a_play_and_every_end_of_a_capture_is_among_them() -> None:
    legal = {tuple(play) for vector in VECTORS["positions"] for play in vector["legal"]}
    assert legal == {("tile", "space"), ("tile", "space", "caste", "with", "with_caste"), ("tile", "from", "to")}
    turns = [turn for vector in VECTORS["positions"] for turn in vector["turns"]]
    assert {event["event"] for turn in turns for event in turn.get("events", [])} == TOLD
    assert {turn["verdict"] for turn in turns} == {"legal", "goes_on", "illegal"}
    for option in ("fast", "captures", "placement", "move_is_fast"):
        used = {position(vector)["options"][option] for vector in VECTORS["positions"]}
        assert used == {ruleset.options[option] for ruleset in RULESETS.values()} | used
        assert len(used) > 1, option


@pytest.mark.parametrize("vector", VECTORS["positions"], ids=by_id)
def test_legal_plays(vector: dict[str, Any]) -> None:
    """§S4-1, §S4-2, §S4-3, §S4-4, §S8-2, §S8-8, §S8-15, §S8-16, §S10-7."""
    rules, state = engine(vector)
    expected = in_order(vector["legal"])
    assert in_order(plays_of(rules.write_legal(state, vector["seat"]))) == expected
    assert in_order(oracle.legal(position(vector))) == expected


@pytest.mark.parametrize("vector", VECTORS["positions"], ids=by_id)
def test_turns(vector: dict[str, Any]) -> None:
    """§S4-5, §S8-1, §S8-3, §S8-4, §S8-6, §S8-11, §S8-12, §S8-13, §S8-14."""
    for turn in vector["turns"]:
        rules, state = engine(vector)
        events: list[Event] = []
        if turn["verdict"] == "illegal":
            with pytest.raises(IllegalAction):
                act(rules, state, vector["seat"], {"plays": turn["plays"]}, events)
            with pytest.raises(oracle.Illegal):
                oracle.act(position(vector), turn["plays"])
            continue
        after = act(rules, state, vector["seat"], {"plays": turn["plays"]}, events)
        assert [event.data for event in events if event.data["event"] in TOLD] == turn["events"]
        goes_on = (after.phase, after.to_move, after.turn) == ("turns", vector["seat"], 9)
        assert goes_on == (turn["verdict"] == "goes_on")
        assert oracle.act(position(vector), turn["plays"]) == (turn["events"], goes_on)


@pytest.mark.parametrize("vector", VECTORS["rankings"], ids=by_id)
def test_rankings(vector: dict[str, Any]) -> None:
    """§S5-1, §S5-2, §S5-3, §S5-4, §S5-5, §S6-1."""
    captured = [tuple(own[caste] for caste in CASTES) for own in vector["captured"]]
    led = {caste: leader(captured, number) for number, caste in enumerate(CASTES)}  # type: ignore[arg-type]
    assert led == vector["leaders"] == oracle.leaders(vector["captured"])
    compared = COMPARISONS[vector["scoring"]]
    scores = [compared(captured, seat) for seat in range(len(captured))]  # type: ignore[arg-type]
    assert list(rank(scores, vector["forfeits"])) == vector["ranks"]
    assert oracle.ranks(vector["captured"], vector["scoring"], vector["forfeits"]) == vector["ranks"]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_real_games_are_as_the_page_tells_them(ruleset: str) -> None:
    """Every position and every turn of a random game on the map of Japan."""
    options = resolve_options("samurai", ruleset, {})[1]
    rules: Any = make_rules("samurai", 2, options, default_board("samurai"))
    spaces = rules.board.payload()["spaces"]
    state, chance, turns = rules.start(), random.Random(ruleset), 0
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, chance.randrange(draw.n))
            continue
        decision = rules.pending(state)[0]
        seat = decision.seat
        plays = plays_of(rules.write_legal(state, seat)) if decision.kind != "hand" else []
        events: list[Event] = []
        if decision.kind != "turn":
            legal = rules.legal(state, seat)
            state = rules.apply(state, seat, legal[chance.randrange(len(legal))])
            continue
        view = rules.view(state, seat)
        again = bool(view["placed"]) or state.played
        seen = view | {"spaces": spaces, "seats": 2, "seat": seat, "options": options, "again": again}
        assert in_order(oracle.legal(seen)) == in_order(plays)
        play = chance.choice(plays)
        state = act(rules, state, seat, {"plays": [play]}, events)
        expected, _ = oracle.act(seen, [play])
        assert [event.data for event in events if event.data["event"] in TOLD] == expected
        turns += 1
    assert turns > 10
    captured = [dict(zip(CASTES, own, strict=True)) for own in state.captured]
    assert list(state.ranks) == oracle.ranks(captured, options["scoring"], [])
