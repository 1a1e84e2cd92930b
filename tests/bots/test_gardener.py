"""What the Python bots work out about gardens by themselves is what the rules say."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import at_default_board

from tests.bots.games import GREEDY, RANDOM, ROOT, bot_module, play_game

gardener, player = bot_module("gardener"), bot_module("gardener_player")

TATAMI, PATH, POND, GARDEN = range(4)
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(3, 5)), max_size=5).map(tuple)


def test_positions_and_new_rows_are_those_of_the_rules():
    rules = at_default_board("gardener", 3, "draft", target="999")
    deck = gardener.read_deck({"board": rules.board.payload()})
    told, made = [], Counter()
    play_game([RANDOM(), GREEDY(), GREEDY()], rules, seed=1, told=told)
    for request, events in told:
        for planted in (event.data for event in events if event.data["event"] == "planted"):
            garden = gardener.Garden(deck, request["view"]["gardens"][planted["seat"]])
            positions = [list(position) for position in garden.positions()]
            assert positions == request["legal"][0]["at"]
            card = deck[planted["card"]][planted["turned"]]
            rows = rows_with(deck, request["view"]["gardens"][planted["seat"]], tuple(planted["at"]), card)
            expected = [(gardener.KINDS.index(row["kind"]), row["length"]) for row in planted["rows"]]
            assert sorted(rows) == sorted(expected)
            made.update(length for _, length in rows)
    assert made.keys() == {3, 4, 5}


def rows_with(deck, cards, at, card):
    """The rows on the lines of a card that lies at a position."""
    lines, _ = player.Plot(deck, gardener.ALL, cards).lines(at)
    kinds = [tuple(card[i] for i in line[2]) for line in gardener.LINES]
    return [row for weighed, line in zip(lines, kinds, strict=True) for row in weighed[line][0]]


@pytest.mark.parametrize(
    ("before", "after", "line", "hope"),
    [
        ((None, 0, True), (None, 0, True), (PATH, PATH), 2),
        ((None, 0, True), (None, 0, True), (PATH, POND), 0),
        ((PATH, 1, True), (None, 0, True), (PATH, POND), 2),
        ((PATH, 1, False), (None, 0, True), (PATH, POND), 1),
        ((PATH, 2, True), (PATH, 1, True), (PATH, PATH), 0),
        ((PATH, 3, True), (None, 0, True), (POND, POND), 1 + 1 + 1),
        ((PATH, 3, True), (None, 0, True), (PATH, TATAMI), 2),
        ((TATAMI, 2, True), (None, 0, True), (PATH, PATH), 2),
        ((PATH, 2, True), (PATH, 2, True), (None, None, None), 4),
        ((PATH, 1, True), (None, 0, True), (None, PATH), 0),
    ],
)
def test_open_ends(before, after, line, hope):
    features = gardener.face_up(["path", "pond"])
    assert player.weigh(before, after, line, features)[1] == hope * player.END


def brute_force(rows, features):
    """The best worth over every order of every choice of rows."""
    worths = []
    for count in range(len(rows) + 1):
        for order in permutations(rows, count):
            up, points = features, 0
            for kind, length in order:
                if not up >> kind & 1:
                    break
                up = gardener.turn_down(up, kind)
                points += {3: 1, 4: 2, 5: 4}[length]
            else:
                points += {0: 0, 1: 0, 2: 2, 3: 4, 4: 6}[len({kind for kind, _ in order})]
                worths.append(player.POINT * points + player.FACE_UP * up.bit_count())
    return max(worths)


@given(ROWS, st.integers(1, gardener.ALL))
def test_no_order_of_scoring_is_worth_more(rows, features):
    worth, order = player.best_scoring(rows, features)
    assert worth == brute_force(rows, features)
    assert worth == brute_force(tuple(rows[i] for i in order), features)


def test_the_last_feature_card_is_turned_down_first():
    rows = ((GARDEN, 4), (PATH, 3))
    assert player.best_scoring(rows, gardener.face_up(["path"])) == (5 * player.POINT + 3 * player.FACE_UP, (1, 0))


def test_specification_has_the_numbers_of_the_code():
    page = (ROOT / "bots/README.md").read_text(encoding="utf-8")
    for number, sentence in (
        (player.POINT, "**{}** for each point"),
        (player.FACE_UP, "**{}** for each feature card"),
        (player.END, "**{}** for each open end"),
    ):
        assert sentence.format(number) in page
