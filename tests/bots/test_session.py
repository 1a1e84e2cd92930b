"""Every bundled bot plays a whole session with a toy referee: Samurai on a board of eleven spaces, or Gardener."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

IN_EACH = [f"{bot}-{language}" for language in ("js", "c", "go", "rust", "java") for bot in ("random", "greedy")]
BOTS = ("random", "greedy", "banzai", "daimyo", *IN_EACH, "random-perl")
RANDOMS = [name for name in BOTS if name.startswith("random")]
GARDENERS = ("greedy", "greedy-js", *RANDOMS)
TILES = [f"{caste}{value}" for caste in ("buddha", "rice", "castle") for value in (2, 3, 4)]
TILES += ["samurai1", "samurai1", "samurai2", "samurai2", "samurai3", "ship1", "ship1", "ship2", "ronin1"]
TILES += ["switch", "move"]

# Two villages and a city on an island: 2 buddha, 5 rice, 8 castle and buddha.
KINDS = ["sea", "land", "village", "land", "land", "village", "sea", "land", "city", "land", "sea"]
NEIGHBOURS = [[1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 4, 5], [3, 5, 7, 8], [3, 4, 6], [5, 7]]
NEIGHBOURS += [[4, 6, 8], [4, 7, 9, 10], [8, 10], [8, 9]]
BOARD = {
    "name": "island",
    "hash": "00",
    "spaces": [
        {"kind": kind, "neighbours": near, "col": i, "row": 0, "colour": "green"}
        for i, (kind, near) in enumerate(zip(KINDS, NEIGHBOURS, strict=True))
    ],
}
OPTIONS = {
    "setup": "draft",
    "hand": "chosen",
    "captures": "turn_end",
    "capture_order": "automatic",
    "captured": "open_for_two",
    "fast": "optional",
    "move_is_fast": "no",
    "placement": "anywhere",
    "scoring": "leaders",
}
NOTHING = {"buddha": 0, "rice": 0, "castle": 0}


def game(number, *, seat=0, seats=2, bot_seed=7):
    return {
        "game": number,
        "rules": "samurai",
        "rules_version": 1,
        "ruleset": "standard",
        "options": OPTIONS,
        "seat": seat,
        "seats": seats,
        "board": BOARD,
        "time": {"bank_ms": None, "increment_ms": 0, "limit_ms": 1000},
        "commitment": "00" * 32,
        "bot_seed": bot_seed,
    }


def view(**changes):
    """What seat 0 of 2 sees; a bot is told more than these bots use."""
    return {
        "seat": 0,
        "phase": "turns",
        "turn": 3,
        "to_move": 0,
        "pieces": {"buddha": [2, 8], "rice": [5], "castle": [8]},
        "supply": NOTHING,
        "tiles": [[1, 0, "samurai2"], [4, 1, "rice3"]],
        "hand": ["rice4", "samurai1", "ship1", "switch", "move"],
        "hands": [5, 5],
        "stacks": [14, 14],
        "switch_used": [],
        "captured": [NOTHING, NOTHING],
        "set_aside": NOTHING,
        "placed": [],
        "fast_only": False,
        "forfeited": [],
        "ranks": None,
        "weather": "rain",
    } | changes


HAND = {"kind": "hand", "view": view(phase="hand", tiles=[], hand=[]), "legal": [{"hand": {"choose": 5, "of": TILES}}]}
SETUP = {
    "kind": "setup",
    "view": view(phase="setup", supply={"buddha": 1, "rice": 2, "castle": 0}, tiles=[]),
    "legal": [{"caste": ["buddha", "rice"], "space": [2]}, {"caste": ["rice"], "space": [5, 8]}],
}
PLACES = [{"tile": ["rice4", "samurai1"], "space": [3, 7, 9]}, {"tile": ["ship1"], "space": [0, 6, 10]}]
SWITCHES = [
    {"tile": ["switch"], "space": [2], "caste": ["buddha"], "with": [5], "with_caste": ["rice"]},
    {"tile": ["switch"], "space": [2], "caste": ["buddha"], "with": [8], "with_caste": ["castle"]},
    {"tile": ["switch"], "space": [5], "caste": ["rice"], "with": [8], "with_caste": ["buddha", "castle"]},
]
MOVES = [{"tile": ["move"], "from": [1], "to": [3, 7, 9]}]
TURNS = {
    "all": {"kind": "turn", "view": view(), "legal": PLACES + SWITCHES + MOVES},
    "place": {"kind": "turn", "view": view(hand=["rice4", "samurai1", "ship1"]), "legal": PLACES},
    "switch": {"kind": "turn", "view": view(hand=["switch"]), "legal": SWITCHES},
    "move": {"kind": "turn", "view": view(hand=["move"]), "legal": MOVES},
}


def expanded(products):
    """Every combination of some products."""
    return [dict(zip(entry, values, strict=True)) for entry in products for values in product(*entry.values())]


def only(action):
    """The one play of an action."""
    (play,) = action["plays"]
    return play


def assert_legal_turn(action, request):
    assert action.keys() == {"plays"}
    assert action["plays"]
    legal = expanded(request["legal"])
    assert all(play in legal for play in action["plays"])
    assert Counter(play["tile"] for play in action["plays"]) <= Counter(request["view"]["hand"])
    filled = [play.get("to", play.get("space")) for play in action["plays"] if play["tile"] != "switch"]
    assert len(filled) == len(set(filled))
    assert sum(play["tile"] not in ("ship1", "ship2", "ronin1", "switch") for play in action["plays"]) <= 1


def play_game(table, **start):
    """One game; every action as it came."""
    table.start(game(1, **start))
    answers = [table.ask(HAND), table.ask(SETUP), *(table.ask(turn) for turn in TURNS.values())]
    table.send("game_over", game=1, termination="finished", ranks=[1, 2], forfeits=[])
    return [answer["action"] for answer in answers]


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", BOTS)
def test_whole_session(seat_bot, name):
    table = seat_bot(name)
    hello = table.begin()
    assert hello["type"] == "hello"
    assert hello["token"] == "token-of-this-test"
    assert hello["protocol"] == "1.0"
    if name != "random-perl":  # what a program over the bridge is called stands in its manifest alone
        assert hello["name"] == name
        assert hello["version"]
    assert set(hello["want"]) <= {"view", "events", "legal"}

    table.send("from_a_later_version", id=1)
    hand, setup, *turns = play_game(table)
    (chosen,) = hand["plays"]
    assert chosen.keys() == {"hand"}
    assert len(chosen["hand"]) == 5
    assert Counter(chosen["hand"]) <= Counter(TILES)
    assert setup.keys() == {"plays"}
    assert only(setup) in expanded(SETUP["legal"])
    for action, request in zip(turns, TURNS.values(), strict=True):
        assert_legal_turn(action, request)

    table.send("from_a_later_version")
    assert play_game(table) == [hand, setup, *turns], "the same seed must bring the same actions"
    table.send("goodbye", reason="the tournament is over")
    assert table.end() == (0, "")


DECK = {"name": "toy", "hash": "00", "cards": [["tatami", "path", "pond", "garden", "tatami", "path"]] * 64}
GARDEN_VIEW = {
    "seat": 0,
    "round": 3,
    "starter": 1,
    "deck": 40,
    "offer": [7, 9],
    "taken": [5, None],
    "gardens": [[[1, 0, 0, False], [2, 2, -1, True]], [[3, 0, 0, True]]],
    "rows": [
        [
            {"at": [0, 0], "along": "across", "kind": "pond", "length": 3},
            {"at": [1, 0], "along": "down", "kind": "path", "length": 4},
        ],
        [],
    ],
    "features": [["path", "pond"], ["garden"]],
    "scores": [3, 4],
    "forfeited": [],
    "ranks": None,
    "weather": "rain",
}
GARDENER = [
    {"kind": "seize", "view": GARDEN_VIEW, "legal": [{"card": [7, 9]}]},
    {"kind": "plant", "view": GARDEN_VIEW, "legal": [{"at": [[-2, 0], [0, 3]], "turned": [False, True]}]},
    {
        "kind": "score",
        "view": GARDEN_VIEW,
        "legal": [{"at": [[0, 0]], "along": ["across"]}, {"at": [[1, 0]], "along": ["down"]}],
    },
]


@pytest.mark.parametrize("name", GARDENERS)
def test_one_session_serves_both_games(seat_bot, name):
    table = seat_bot(name)
    table.begin()
    samurai = play_game(table)
    options = {"seize": "draft", "features": "on", "target": "25"}
    for number in (2, 3):
        table.start(game(number) | {"rules": "gardener", "ruleset": "draft", "options": options, "board": DECK})
        seized, planted, scored = (table.ask(request)["action"] for request in GARDENER)
        assert only(seized) in [{"card": 7}, {"card": 9}]
        assert only(planted) in expanded(GARDENER[1]["legal"])
        assert scored["plays"][0] in expanded(GARDENER[2]["legal"])
    assert play_game(table) == samurai
    table.send("goodbye", reason="done")
    assert table.end() == (0, "")


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", BOTS)
def test_says_what_the_referee_complains_of(seat_bot, name):
    table = seat_bot(name)
    table.begin()
    table.send("error", code="timeout", message="seat 0 exceeded its time by 240 ms")
    status, err = table.end()
    assert status == 1
    assert err == "referee: timeout: seat 0 exceeded its time by 240 ms\n"


@pytest.mark.parametrize("name", RANDOMS)
def test_random_depends_on_the_seed(seat_bot, name):
    table = seat_bot(name)
    table.begin()
    games = [play_game(table, bot_seed=seed) for seed in (*range(7), 2**53 - 1)]
    assert len({str(actions) for actions in games}) > 1


POKER = [
    {"bet": [1, 2, 3], "cards": {"choose": 2, "of": ["ace", "ace", "king"]}, "bluff": [False, True]},
    {"fold": [None], "why": [["bored", 1], {"tired": -1}]},
    {"discard": {"choose": 0, "of": []}},
]
"""The legal plays of a game that nobody knows: values of any type, and choices of several."""


def poker_plays():
    """All plays that `POKER` makes; hands are sorted."""
    hands = (["ace", "ace"], ["ace", "king"])
    plays = [{"bet": bet, "cards": hand, "bluff": bluff} for bet in (1, 2, 3) for hand in hands for bluff in (0, 1)]
    return [*plays, {"fold": None, "why": ["bored", 1]}, {"fold": None, "why": {"tired": -1}}, {"discard": []}]


@pytest.mark.parametrize("name", RANDOMS)
def test_random_plays_any_game(seat_bot, name):
    table = seat_bot(name)
    table.begin()
    table.start(game(1) | {"rules": "poker", "ruleset": "strip", "options": {}, "board": None})
    seen = []
    for _ in range(300):
        play = only(table.ask({"kind": "bid", "view": {}, "legal": POKER})["action"])
        seen.append({key: sorted(value) if key == "cards" else value for key, value in play.items()})
    missing = [play for play in poker_plays() if play not in seen]
    assert missing == [], "each is as likely as any other"
    assert [play for play in seen if play not in poker_plays()] == []


@pytest.mark.parametrize("frame", [b"", b"\xc1", b"\x93\x01", b"\xdd\xff\xff\xff\xff", b"\x81" * 4096], ids=bytes.hex)
def test_greedy_c_ends_on_a_frame_that_is_not_msgpack(seat_bot, frame):
    table = seat_bot("greedy-c")
    table.begin()
    table.send_frame(frame)
    status, err = table.end()
    assert status == 1
    assert "expected one msgpack map" in err


@pytest.mark.parametrize(
    "request_fields",
    [
        {},
        {"kind": 3, "view": [], "legal": "none"},
        {"kind": "turn", "view": view(tiles=[[1], [999, 0, "rice2"], [1, 77, "rice2"], "x"]), "legal": [{}]},
        {"kind": "turn", "view": view(), "legal": [{"tile": ["rice4"], "space": [-1, 11, 10**12, None]}]},
        {"kind": "setup", "view": view(), "legal": [{"caste": ["rice"], "space": []}]},
    ],
    ids=["nothing", "types", "tiles", "spaces", "empty"],
)
def test_greedy_c_ends_on_a_request_that_it_cannot_answer(seat_bot, request_fields):
    table = seat_bot("greedy-c")
    table.begin()
    table.start(game(1))
    table.send("request", id=1, **request_fields)
    status, err = table.end()
    assert status == 1
    assert "expected a request of kind hand, setup or turn" in err
