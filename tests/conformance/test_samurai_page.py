"""The page on Samurai against the engine: names, tables, and the form of everything that real games send."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import pytest
from acting import act, first_play

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.rules.base import Event
from arena.core.types import Payload
from arena.games.samurai.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.games.samurai.payloads import write_action
from arena.games.samurai.state import CASTES, FULL_SET, TILES, Capture, Place, names
from tests.conformance.kit import FOLDER

PAGE = (FOLDER / "rules" / "samurai.md").read_text(encoding="utf-8")
DASH = "\N{EN DASH}"
"""What a table has where there is nothing to say."""
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def table(heading: str) -> list[list[str]]:
    text = re.split(rf"^#+ {re.escape(heading)}\n", PAGE, flags=re.MULTILINE)[1]
    rows = re.findall(r"^\|(.*)\|$", re.split(r"^#", text, flags=re.MULTILINE)[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


TURN_FORMS = [{"tile", "space"}, {"tile", "space", "caste", "with", "with_caste"}, {"tile", "from", "to"}]
EVENTS = {code(row[0])[0]: set(code(row[1])) for row in table("Events")}
VIEW = [code(row[0])[0] for row in table("The view")]


def play(
    seats: int, ruleset: str, seed: int, **overrides: str
) -> tuple[Any, list[Event], list[tuple[str, Payload, list[Payload], Payload]]]:
    """A random game: the rules, its events, and of each decision kind, view, legal plays and an action."""
    _, options = resolve_options("samurai", ruleset, overrides)
    rules: Any = make_rules("samurai", seats, options, default_board("samurai"))
    state, rng, events, decisions = rules.start(), random.Random(seed), [], []
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, rng.randrange(draw.n), events)
            continue
        decision = rules.pending(state)[0]
        legal = rules.write_legal(state, decision.seat)
        plays = rules.legal(state, decision.seat)
        action = rules.write_action([plays[rng.randrange(len(plays))]])
        decisions.append((decision.kind, rules.view(state, decision.seat), legal, action))
        state = act(rules, state, decision.seat, action, events)
    return rules, events, decisions


GAMES = [play(seats, ruleset, seats) for seats in (2, 3, 4) for ruleset in RULESETS]
MUST_FOLLOW = play(2, "standard", 1, fast="must_follow")


def test_tiles() -> None:
    """§S2-1."""
    assert re.search(r"this order \(\*\*tile order\*\*\)", PAGE)
    rows = table("Tiles")
    assert [name for row in rows for name in code(row[0])] == [tile.name for tile in TILES]
    for row in rows:
        for name, value in zip(code(row[0]), itertools.cycle(row[2].split(", ")), strict=False):
            tile = next(tile for tile in TILES if tile.name == name)
            assert tile.copies == int(row[1].split()[0])
            assert value == (DASH if name == "switch" else str(tile.value))
            assert row[3].startswith(tile.goes_on or "is not placed")
            assert (
                row[4]
                == {0: DASH, 1: CASTES[tile.castes[0]] if tile.castes else "", 3: "every caste"}[len(tile.castes)]
            )
            assert row[5] == ("yes" if tile.fast else "no")


def test_options() -> None:
    """§S7-1."""
    rows = table("Options")
    assert [code(row[0])[0] for row in rows] == [option.name for option in OPTIONS]
    assert f"| option | {' | '.join(f'`{name}`' for name in RULESETS)} | meaning of the values |" in PAGE
    for row, option in zip(rows, OPTIONS, strict=True):
        assert [code(cell)[0] for cell in row[1:-1]] == [
            ruleset.options.get(option.name, option.default) for ruleset in RULESETS.values()
        ]
        assert re.findall(r"`(\w+)`:", row[-1]) == list(option.values)


def test_the_sources_name_every_value_of_every_option() -> None:
    named = {setting for row in table("Sources") for setting in code(row[1])}
    assert named == {f"{option.name}: {value}" for option in OPTIONS for value in option.values}


def test_contradictions() -> None:
    """§S7-2."""
    pairs = [tuple(setting.replace("=", ": ") for setting in pair) for pair in CONTRADICTIONS]
    assert re.findall(r"`(\w+: \w+)` and `(\w+: \w+)`\s+contradict each other", PAGE) == pairs


@pytest.mark.parametrize(("rules", "events", "decisions"), GAMES)
def test_real_games_send_what_the_page_says(rules: Any, events: list[Event], decisions: list[Any]) -> None:
    """§S9-1, §S10-2, §S10-4, §S11-1, §S12-1."""
    for event in events:
        keys = set(event.data) - {"event"}
        if event.data["event"] == "hand" and event.to != (event.data["seat"],):
            keys |= {"tiles"}
        assert keys == EVENTS[event.data["event"]], event
    for kind, view, legal, action in decisions:
        assert list(view) == VIEW
        begun = bool(view["placed"] or view["fast_only"])
        assert not begun or rules.options["fast"] != "optional"
        assert set(action) == {"plays"}
        forms = {"hand": [{"hand"}], "setup": [{"caste", "space"}], "turn": TURN_FORMS}[kind]
        assert all(set(entry) in forms for entry in legal + action["plays"])
    fields = {name for row in table("The board") for name in code(row[0])}
    board = rules.board.payload()
    assert set(board) == {name for name in fields if "[]" not in name}
    assert {f"spaces[].{key}" for space in board["spaces"] for key in space} == {
        name for name in fields if "[]" in name
    }


def test_every_event_kind_is_documented_and_every_documented_one_exists() -> None:
    seen = {event.data["event"] for _, events, _ in GAMES for event in events}
    assert seen <= set(EVENTS)
    assert set(EVENTS) - seen <= {"forfeited", "passed"}, "these two are too rare for a few random games"
    source = (FOLDER.parent / "arena" / "games" / "samurai" / "payloads.py").read_text(encoding="utf-8")
    for name in EVENTS:
        assert f'"{name}": ' in source


def test_who_is_asked_again_has_begun_the_turn() -> None:
    """§S10-5: what the page says of `must_follow` and `specials` happens in games; the view shows the plays before."""
    for rules, _, decisions in [*GAMES, MUST_FOLLOW]:
        turns = [view["turn"] for kind, view, *_ in decisions if kind == "turn"]
        again = [now == before for before, now in itertools.pairwise(turns)]
        assert any(again) == (rules.options["fast"] != "optional")
        assert any(view["placed"] for _, view, *_ in decisions) <= any(again)
    assert any(view["placed"] for _, view, *_ in MUST_FOLLOW[2])


def test_decisions_and_streams_are_documented() -> None:
    """§S10-1, §S13-1."""
    kinds = {kind for _, _, decisions in GAMES for kind, *_ in decisions}
    assert set(re.findall(r"^#### `(\w+)`", PAGE, re.MULTILINE)) == kinds
    assert [code(row[0])[0] for row in table("Chance")] == ["stack/SEAT", "setup", "proxy/SEAT"]


def test_examples_have_the_form_of_real_messages() -> None:
    """§S10-3, §S10-6, §S10-8, §S11-2."""
    hand, legal_hand, setup, legal_setup, turn, ordered, legal_turn, events = EXAMPLES
    assert legal_hand == [{"hand": {"choose": 5, "of": names(FULL_SET)}}]
    assert [set(play) for play in hand["plays"]] == [{"hand"}]
    assert [set(play) for play in setup["plays"]] == [{"caste", "space"}]
    assert all(set(entry) == {"caste", "space"} for entry in legal_setup)
    assert all(set(play) in TURN_FORMS for play in turn["plays"] + ordered["plays"])
    named = [Capture(piece["space"], CASTES.index(piece["caste"])) for piece in ordered["captures"]]
    assert write_action([*map(_place, ordered["plays"]), *named]) == ordered
    assert all(set(entry) in TURN_FORMS for entry in legal_turn)
    assert all(set(event) - {"event"} == EVENTS[event["event"]] for event in events)


def _place(play: Payload) -> Place:
    return Place([tile.name for tile in TILES].index(play["tile"]), play["space"])


def test_the_minimal_bot_of_the_specification_plays_whole_games() -> None:
    """§S10-7: The first of everything is always legal."""
    for rules, _, _ in GAMES:
        state, rng = rules.start(), random.Random(1)
        while rules.outcome(state) is None:
            if draw := rules.draw_wanted(state):
                state = rules.draw(state, rng.randrange(draw.n))
                continue
            decision = rules.pending(state)[0]
            play = first_play(rules.write_legal(state, decision.seat))
            state = act(rules, state, decision.seat, {"plays": [play]})
