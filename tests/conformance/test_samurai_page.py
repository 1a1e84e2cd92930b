"""The page on Samurai against the engine: names, tables, and the form of everything that real games send."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from arena.core.rules.base import Event
from arena.core.types import Payload
from arena.games.samurai.options import CONTRADICTIONS, OPTIONS, RULESETS
from arena.games.samurai.payloads import write_action
from arena.games.samurai.state import CASTES, FULL_SET, TILES, Capture, Place, names
from tests.conformance.game_page import GamePage, code, play_firsts
from tests.conformance.kit import FOLDER

PAGE = GamePage("samurai")
DASH = "\N{EN DASH}"
"""What a table has where there is nothing to say."""
TURN_FORMS = [{"tile", "space"}, {"tile", "space", "caste", "with", "with_caste"}, {"tile", "from", "to"}]

GAMES = [PAGE.play(seats, ruleset, seats) for seats in (2, 3, 4) for ruleset in RULESETS]
MUST_FOLLOW = PAGE.play(2, "standard", 1, fast="must_follow")


def test_tiles() -> None:
    """§S2-1."""
    assert re.search(r"this order \(\*\*tile order\*\*\)", PAGE.text)
    rows = PAGE.table("Tiles")
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
    rows = PAGE.table("Options")
    assert [code(row[0])[0] for row in rows] == [option.name for option in OPTIONS]
    assert f"| option | {' | '.join(f'`{name}`' for name in RULESETS)} | meaning of the values |" in PAGE.text
    for row, option in zip(rows, OPTIONS, strict=True):
        assert [code(cell)[0] for cell in row[1:-1]] == [
            ruleset.options.get(option.name, option.default) for ruleset in RULESETS.values()
        ]
        assert re.findall(r"`(\w+)`:", row[-1]) == list(option.values)


def test_the_sources_name_every_value_of_every_option() -> None:
    named = {setting for row in PAGE.table("Sources") for setting in code(row[1])}
    assert named == {f"{option.name}: {value}" for option in OPTIONS for value in option.values}


def test_contradictions() -> None:
    """§S7-2."""
    pairs = [tuple(setting.replace("=", ": ") for setting in pair) for pair in CONTRADICTIONS]
    assert re.findall(r"`(\w+: \w+)` and `(\w+: \w+)`\s+contradict each other", PAGE.text) == pairs


@pytest.mark.parametrize(("rules", "events", "decisions"), GAMES)
def test_real_games_send_what_the_page_says(rules: Any, events: list[Event], decisions: list[Any]) -> None:
    """§S9-1, §S10-2, §S10-4, §S11-1, §S12-1."""
    for event in events:
        keys = set(event.data) - {"event"}
        if event.data["event"] == "hand" and event.to != (event.data["seat"],):
            keys |= {"tiles"}
        assert keys == PAGE.events[event.data["event"]], event
    for kind, view, legal, action in decisions:
        assert list(view) == PAGE.view
        begun = bool(view["placed"] or view["fast_only"])
        assert not begun or rules.options["fast"] != "optional"
        assert set(action) == {"plays"}
        forms = {"hand": [{"hand"}], "setup": [{"caste", "space"}], "turn": TURN_FORMS}[kind]
        assert all(set(entry) in forms for entry in legal + action["plays"])
    fields = {name for row in PAGE.table("The board") for name in code(row[0])}
    board = rules.board.payload()
    assert set(board) == {name for name in fields if "[]" not in name}
    assert {f"spaces[].{key}" for space in board["spaces"] for key in space} == {
        name for name in fields if "[]" in name
    }


def test_every_event_kind_is_documented_and_every_documented_one_exists() -> None:
    seen = {event.data["event"] for _, events, _ in GAMES for event in events}
    assert seen <= set(PAGE.events)
    assert set(PAGE.events) - seen <= {"forfeited", "passed"}, "these two are too rare for a few random games"
    source = (FOLDER.parent / "arena" / "games" / "samurai" / "payloads.py").read_text(encoding="utf-8")
    for name in PAGE.events:
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
    assert PAGE.kinds() == kinds
    assert PAGE.streams == ["stack/SEAT", "setup", "proxy/SEAT"]


def test_examples_have_the_form_of_real_messages() -> None:
    """§S10-3, §S10-6, §S10-8, §S11-2."""
    hand, legal_hand, setup, legal_setup, turn, ordered, legal_turn, events = PAGE.examples
    assert legal_hand == [{"hand": {"choose": 5, "of": names(FULL_SET)}}]
    assert [set(play) for play in hand["plays"]] == [{"hand"}]
    assert [set(play) for play in setup["plays"]] == [{"caste", "space"}]
    assert all(set(entry) == {"caste", "space"} for entry in legal_setup)
    assert all(set(play) in TURN_FORMS for play in turn["plays"] + ordered["plays"])
    named = [Capture(piece["space"], CASTES.index(piece["caste"])) for piece in ordered["captures"]]
    assert write_action([*map(_place, ordered["plays"]), *named]) == ordered
    assert all(set(entry) in TURN_FORMS for entry in legal_turn)
    assert all(set(event) - {"event"} == PAGE.events[event["event"]] for event in events)


def _place(play: Payload) -> Place:
    return Place([tile.name for tile in TILES].index(play["tile"]), play["space"])


def test_the_minimal_bot_of_the_specification_plays_whole_games() -> None:
    """§S10-7: The first of everything is always legal."""
    for rules, _, _ in GAMES:
        play_firsts(rules)
