"""Greedy in each language gives the same actions; and it is as strong as it is said to be.

`python tests/unit/bots/test_greedy.py` writes the recorded requests and greedy's answers anew, after a change of its
algorithm or of the requests.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from random import Random

import pytest

from arena.rules import make_rules, resolve_options

ROOT = Path(__file__).resolve().parents[3]
RECORD = ROOT / "tests/data/greedy.jsonl"
"""Each line has the game's number, its `game_start` in the line where a game begins, and a request with its answer."""


def bot_class(name, cls):
    """The class of a bundled Python bot. The bots' folder does not stay on the path."""
    path = sys.path[:]
    try:
        spec = importlib.util.spec_from_file_location(f"bot_{name}", ROOT / f"bots/python/{name}/bot.py")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, cls)
    finally:
        sys.path[:] = path


GREEDY = bot_class("greedy", "Greedy")
BANZAI = bot_class("banzai", "Banzai")
RANDOM = bot_class("random", "RandomBot")


def play_game(bots, ruleset, seed, ask):
    """Play one game in this process; `ask(seat, bot, game_start, request)` is a bot's action. Returns the ranks."""
    seats = len(bots)
    text = (ROOT / "boards/japan.txt").read_text(encoding="utf-8")
    rules = make_rules("samurai", text, "japan", seats, resolve_options("samurai", ruleset, {})[1])
    board = rules.board_payload()
    starts = [{"seat": seat, "seats": seats, "board": board, "bot_seed": 10 * seed + seat} for seat in range(seats)]
    for bot, start in zip(bots, starts, strict=True):
        bot.start(start)
    chance = Random(seed)
    state = rules.start()
    while rules.ranks(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, chance.randrange(draw.n))
            continue
        decision = rules.pending(state)[0]
        seat = decision.seat
        request = {
            "kind": decision.kind,
            "view": rules.view(state, seat),
            "legal": rules.write_legal(state, seat),
        }
        state = rules.act(state, seat, ask(seat, bots[seat], starts[seat], request))
    return rules.ranks(state)


def decide(seat, bot, start, request):
    answer = bot.decide(request)
    return answer[0] if isinstance(answer, tuple) else answer


def share_won(one, others, *, seats, ruleset, deals):
    """The share of games in which `one` alone is first, over all rotations of the seats."""
    won = []
    for deal in range(deals):
        for seat in range(seats):
            ranks = play_game([one() if i == seat else others() for i in range(seats)], ruleset, deal, decide)
            won.append(ranks[seat] == 1 and ranks.count(1) == 1)
    return sum(won) / len(won)


@pytest.mark.parametrize("ruleset", ["standard", "basic"])
@pytest.mark.parametrize("bot", [GREEDY, BANZAI])
def test_beats_random(bot, ruleset):
    assert share_won(bot, RANDOM, seats=2, ruleset=ruleset, deals=15) > 0.9


@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("bot", [GREEDY, BANZAI])
def test_is_far_ahead_of_several_randoms(bot, seats):
    assert share_won(bot, RANDOM, seats=seats, ruleset="standard", deals=3) > 0.8


def test_greedy_beats_banzai():
    assert share_won(GREEDY, BANZAI, seats=2, ruleset="standard", deals=15) > 0.7


def test_specification_has_the_numbers_of_the_code():
    greedy = sys.modules[GREEDY.__module__]
    page = (ROOT / "bots/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| [0-4].*$", page)
    worth = [tuple(map(int, row.split("|")[2:15])) for row in rows]
    assert tuple(worth) == greedy.WORTH
    (costs,) = re.findall(r"(?m)^\| cost \| (.*) \|$", page)
    two, three, four, *rest = map(int, costs.split("|"))
    assert tuple(greedy.COST.values()) == (two, three, four) * 3 + tuple(rest)


@pytest.fixture(scope="module")
def recorded():
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


def test_record_holds_every_kind_of_decision_and_play(recorded):
    assert {entry["request"]["kind"] for entry in recorded} == {"hand", "setup", "turn"}
    plays = Counter(play["tile"] for entry in recorded for play in entry["action"].get("plays", ()))
    assert {"switch", "move", "ship1", "ship2", "ronin1", "samurai3", "rice4"} <= plays.keys()
    assert {entry["game_start"]["seats"] for entry in recorded if "game_start" in entry} == {2, 3, 4}


@pytest.mark.parametrize("name", ["greedy", "greedy-js", "greedy-c"])
def test_same_actions_in_every_language(seat_bot, recorded, name):
    table = seat_bot(name)
    table.begin()
    for number, (_, entries) in enumerate(groupby(recorded, lambda entry: entry["game"]), start=1):
        for entry in entries:
            if "game_start" in entry:
                table.start({"game": number, **entry["game_start"]})
            answer = table.ask(entry["request"])
            assert answer["action"] == entry["action"]
            assert answer["note"] == entry["note"]
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


def record():
    """Write the requests to one seat of some games, in which greedy moves half of the time, and chance otherwise."""
    games = [(seats, ruleset) for seats in (2, 3, 4) for ruleset in ("standard", "basic")]
    with RECORD.open("w", encoding="utf-8") as file:
        for number, (seats, ruleset) in enumerate(games):
            chance = Random(number)
            entries = []

            def ask(seat, bot, start, request, chance=chance, entries=entries, number=number):
                greedy = GREEDY()
                greedy.start(start)
                action, note = greedy.decide(request)
                if seat == start["seats"] - 1:
                    first = {} if entries else {"game_start": start}
                    entries.append({"game": number, **first, "request": request, "action": action, "note": note})
                return action if chance.random() < 0.5 else decide(seat, bot, start, request)

            play_game([RANDOM() for _ in range(seats)], ruleset, number, ask)
            file.writelines(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries)


if __name__ == "__main__":
    record()
