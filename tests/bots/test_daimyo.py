"""Daimyo, and what it shares with shogun: chances that make sense, whole turns that are legal, games that it wins."""

from __future__ import annotations

import importlib
from random import Random

import pytest
from kit import Table, samurai

from tests.bots.games import DAIMYO, GREEDY, bot_module, play_game, share_won

battles, lore, majorities, requests, turns = map(
    importlib.import_module,
    ("samurai_battles", "samurai_lore", "samurai_majorities", "samurai_requests", "samurai_turns"),
)
own = bot_module("samurai")
SEAT_COUNTS = [2, 3, 4]


def positions(rules, seed, count):
    """Some requests for a turn, each with its `game_start` and the engine's state, from a game of daimyos."""
    found = []

    def ask(seat, bot, start, request):
        answered = bot.decide(request)[0]
        if request["kind"] == "turn" and len(found) < count:
            found.append((start, request, answered))
        return answered

    play_game([DAIMYO() for _ in range(rules.seats)], rules, seed, ask)
    return found


@pytest.fixture(scope="module")
def asked():
    """Requests of a game of three under the standard rules."""
    return positions(samurai(3), seed=1, count=30)


def test_no_action_is_illegal_where_tiles_must_follow_and_captures_are_instant():
    for seats in SEAT_COUNTS:
        options = {"captures": "instant", "fast": "must_follow", "placement": "near_pieces", "move_is_fast": "yes"}
        assert 1 in play_game([DAIMYO() for _ in range(seats)], samurai(seats, **options), seed=3)


def test_same_requests_have_the_same_answers(asked):
    bots = {}
    for start, request, answered in asked:
        seat = start["seat"]
        if seat not in bots:
            bots[seat] = DAIMYO()
            bots[seat].start(start)
        assert bots[seat].decide(request)[0] == answered


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_chances_to_win_a_piece_rise_with_influence_and_with_the_next_turn(seats):
    realm = battles.Realm(samurai(seats).board.payload()["spaces"], seats)
    others = (3,) * (seats - 1)
    for empty in range(1, 6):
        for influence in range(8):
            chance = realm.chances(empty, (influence, *others), 0)[0]
            assert 0 < chance < realm.chances(empty, (influence + 1, *others), 0)[0] < 1
            assert sum(realm.chances(empty, (influence, *others), 0)) < 1  # nobody may win it
    assert realm.chances(1, (3, *others), 0)[0] > realm.chances(1, (3, *others), 1)[0]
    assert realm.chances(0, (4, *others), 0)[0] == 1.0
    assert not any(realm.chances(0, (3, *others), 0))


@pytest.mark.parametrize("seats", SEAT_COUNTS)
def test_chances_to_win_the_game_add_up_and_follow_two_majorities(seats):
    believed = lore.LORE[seats]
    even = [[2.0] * seats for _ in range(3)]
    assert majorities.victory(even, [1.0] * 3, believed) == pytest.approx([1 / seats] * seats)
    two = [[4.0, *[1.0] * (seats - 1)]] * 2 + [[0.0, *[3.0] * (seats - 1)]]
    chances = majorities.victory(two, [0.5] * 3, believed)
    assert sum(chances) == pytest.approx(1)
    assert chances[0] > 0.9


def test_a_finished_game_is_scored_as_the_engine_does():
    chance = Random(4)
    for _ in range(300):
        seats = chance.choice(SEAT_COUNTS)
        taken = [[chance.randrange(4) for _ in range(seats)] for _ in range(3)]
        captures = importlib.import_module("arena.games.samurai.captures")
        by_seat = [tuple(caste[seat] for caste in taken) for seat in range(seats)]
        scores = [captures.by_leaders(by_seat, seat) for seat in range(seats)]
        winners = [score == max(scores) for score in scores]
        assert majorities.final(taken) == [win / sum(winners) for win in winners]


def test_a_turn_that_ends_the_game_is_known_to_win_or_lose():
    """The last buddha is surrounded: whoever leads more castes has won, whatever else lies on the board."""
    rules = samurai(2)
    realm = battles.Realm(rules.board.payload()["spaces"], 2)
    village = next(settlement for settlement in realm.around if len(realm.around[settlement]) > 3)
    other = next(settlement for settlement in realm.around if settlement not in (village, *realm.near))
    at = bytearray(len(realm.is_land))
    for space in realm.around[village]:
        at[space] = battles.tile_code(0, battles.NUMBER["buddha4"])
    garrisons = realm.garrisons((bytes([village]), bytes([other]), bytes([other])))
    nothing = [[0.0] * 3] * 2
    ahead = majorities.Position(at, garrisons, [(3, 3, 0), (3, 0, 3)], 0, nothing)
    assert majorities.evaluate(realm, ahead, 1) == [1.0, 0.0]
    behind = majorities.Position(at, garrisons, [(0, 1, 1), (3, 3, 3)], 0, nothing)
    assert majorities.evaluate(realm, behind, 1) == [0.0, 1.0]


def test_gains_of_plays_are_what_the_position_after_them_is_worth(asked):
    """Playing step by step or looking at the result gives the same: the turn's gains add up."""
    for start, request, _ in asked[::3]:
        reader = requests.Reader(start)
        position = reader.position(request["view"])
        following = reader.following(request["view"])[reader.seat]
        stakes = majorities.stakes(reader.realm, position, reader.seat)[reader.seat]
        gauge = turns.Gauge(reader.realm, reader.seat, following, stakes)
        before = turns.Node(gauge, position.at, position.garrisons)
        choices = reader.choices(request["view"], request["legal"])
        for gain, plays, node in turns.TurnSearch(reader.customs, choices).run(before)[:20]:
            again = turns.Node(gauge, node.at, node.garrisons)
            worth = sum(row[-1] for row in again.rows.values()) - sum(row[-1] for row in before.rows.values())
            assert gain == pytest.approx(worth - sum(gauge.prices[play[0]] for play in plays))


def test_captured_pieces_that_are_hidden_are_remembered():
    rules = samurai(3)
    start = {"options": rules.options, "seat": 0, "seats": 3, "board": rules.board.payload()}
    reader = requests.Reader(start)
    reader.listen({"events": [{"event": "captured", "space": 5, "caste": "rice", "seat": 2}]})
    reader.listen({"events": [{"event": "set_aside", "space": 6, "caste": "rice"}]})
    shown = {"captured": [{"buddha": 1, "rice": 0, "castle": 0}, None, None]}
    assert reader.captured(shown) == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_plays_are_written_as_they_are_read(asked):
    for _, request, answered in asked:
        legal = [own.wire(play) for play in own.plays(request["legal"])]
        assert [requests.wire(requests.number(play)) for play in own.plays(request["legal"])] == legal
        assert answered["plays"][0] in legal


@pytest.mark.parametrize(
    ("seats", "deals", "least"),
    [
        (2, 10, 0.8),
        pytest.param(3, 6, 0.5, marks=pytest.mark.long),
        pytest.param(4, 8, 0.33, marks=pytest.mark.thorough),
    ],
)
def test_beats_greedy(seats, deals, least):
    assert share_won(DAIMYO, GREEDY, Table("samurai", "standard", seats), deals) > least
