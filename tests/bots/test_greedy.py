"""Greedy gives the same actions in each language, and its specification has the numbers of the code."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby

import pytest

from arena.core.catalogue import game
from tests.bots.games import ROOT, bot_module
from tests.bots.record import RECORDS

GREEDIES = ("greedy-js", "greedy-c", "greedy-go", "greedy-rust", "greedy-java")
KINDS = {"seize", "plant", "score"}
IN_EACH_LANGUAGE = [("samurai", name) for name in ("greedy", *GREEDIES)]
IN_EACH_LANGUAGE += [("gardener", name) for name in ("greedy", "greedy-js")]


@pytest.fixture(scope="module")
def recorded():
    """What `record.py` has written, by game."""
    return {
        name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for name, path in RECORDS.items()
    }


def starts(entries):
    return [entry["game_start"] for entry in entries if "game_start" in entry]


def test_record_of_samurai_holds_every_kind_of_decision_and_play(recorded):
    entries = recorded["samurai"]
    assert {entry["request"]["kind"] for entry in entries} == {"hand", "setup", "turn"}
    turns = [entry["action"]["plays"] for entry in entries if entry["request"]["kind"] == "turn"]
    plays = Counter(play["tile"] for turn in turns for play in turn)
    assert {"switch", "move", "ship1", "ship2", "ronin1", "samurai3", "rice4"} <= plays.keys()
    assert {start["seats"] for start in starts(entries)} == {2, 3, 4}
    options = {setting for start in starts(entries) for setting in start["options"].items()}
    assert {("captures", "instant"), ("move_is_fast", "yes"), ("fast", "must_follow"), ("fast", "specials")} <= options
    assert any(entry["request"]["view"]["placed"] for entry in entries), "no request in the middle of a turn"


def test_record_of_gardener_holds_every_kind_of_decision_ruleset_and_number_of_players(recorded):
    entries = recorded["gardener"]
    assert {entry["request"]["kind"] for entry in entries} == KINDS
    plays = {
        kind: [entry["action"]["plays"] for entry in entries if entry["request"]["kind"] == kind] for kind in KINDS
    }
    assert {play["turned"] for (play,) in plays["plant"]} == {False, True}
    assert {1, 2} <= {len(rows) for rows in plays["score"]}
    rulesets = game("gardener").rulesets.values()
    played = [(start["options"], start["seats"]) for start in starts(entries)]
    plain = [(ruleset.options, seats) for ruleset in rulesets for seats in game("gardener").seat_counts]
    assert played[: len(plain)] == plain
    options = {setting for start, _ in played for setting in start.items()}
    assert {("features", "on,off"), ("features", "off,on"), ("exactly_over", "yes")} <= options


@pytest.mark.quick(3)
@pytest.mark.parametrize(("rules", "name"), IN_EACH_LANGUAGE)
def test_same_actions_in_every_language(seat_bot, recorded, rules, name):
    table = seat_bot(name)
    table.begin()
    for number, (_, entries) in enumerate(groupby(recorded[rules], lambda entry: entry["game"]), start=1):
        for entry in entries:
            if "game_start" in entry:
                table.start({"game": number, **entry["game_start"]})
            answer = table.ask(entry["request"])
            assert answer["action"] == entry["action"]
            assert answer["note"] == entry["note"]
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


def test_specification_has_the_numbers_of_the_code():
    player = bot_module("samurai_player")
    page = (ROOT / "bots/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| [0-4].*$", page)
    worth = [tuple(map(int, row.split("|")[2:15])) for row in rows]
    assert tuple(worth) == player.WORTH
    (costs,) = re.findall(r"(?m)^\| cost \| (.*) \|$", page)
    two, three, four, *rest = map(int, costs.split("|"))
    assert tuple(player.COST.values()) == (two, three, four) * 3 + tuple(rest)
