"""The picture of a game of Samurai Gardener: a table, the cards of the round, the gardens."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

from arena.core.catalogue import make_settings, rules_of
from arena.core.record.log import Header, Log, LoggedBot
from arena.core.show.replay import Replay
from arena.games.gardener.deck import Deck
from arena.games.gardener.show.drawing import GardenerDrawing
from arena.games.gardener.show.game import Gardener
from arena.games.gardener.show.garden import SIGNS

CARDS = Deck("alike", "a test", "", (bytes([0, 1, 2, 3, 0, 1]),) * 13)
"""Every card has tatami, path; pond, garden; tatami, path."""
ALL = [*SIGNS]

NAMES = ("ann", "bob\x1b[2J", "a very long name", "d", "e")


def header(seats: int, **options: str) -> Header:
    return Header(
        arena="test", game="g1", tournament=None,
        settings=make_settings("gardener", seats, overrides=[f"{name}={value}" for name, value in options.items()]),
        bots=[LoggedBot(name, "1", "0" * 64, seat) for seat, name in enumerate(NAMES[:seats])], deal=0, rotation=0,
        board=None, commitment="0" * 64, salt="0" * 64, mix="0" * 64,
    )  # fmt: skip


def view(seats: int, **fields: Any) -> dict[str, Any]:
    return {
        "starter": 0,
        "deck": 40,
        "next": None,
        "offer": [],
        "taken": [None] * seats,
        "gardens": [[[0, 0, 0, False]] for _ in range(seats)],
        "features": [ALL] * seats,
        "scores": [0] * seats,
        "forfeited": [],
    } | fields


def gardener(seats: int, **options: str) -> Gardener:
    head = header(seats, **options)
    rules = copy(rules_of(head.settings))  # games at equal tables share the original
    rules.board = CARDS
    return Gardener(head, rules, range(seats))


def drawn(seats: int, fields: dict[str, Any], *events: dict[str, Any], width: int = 80, **options: str) -> list[str]:
    shown = gardener(seats, **options)
    views = {0: view(seats, **fields)}
    return [line.plain.rstrip() for line in shown.draw(views, views, events, width)]


def test_the_next_card_is_shown_where_the_deck_lies_face_up() -> None:
    assert drawn(2, {"offer": [5], "next": 7})[0].split() == ["score", "=", ".", "~", "*", "card", "5", "7", "next"]


def test_the_table_the_cards_of_the_round_and_the_gardens() -> None:
    fields = {
        "starter": 1,
        "offer": [5],
        "taken": [None, 12, None],
        "features": [ALL, ["tatami", "pond"], ["garden"]],
        "scores": [3, 0, 12],
        "forfeited": [2],
    }
    assert drawn(3, fields) == [
        "                   score  = . ~ *  card          5     12 ■",
        " ▲ 0  ann              3  = . ~ *     -         = .    = .",
        r">■ 1  bob\x1b[2J       0  = - ~ -    12         ~ *    ~ *",
        " ● 2  a very long…    12  - - - *  forfeited    = .    = .",
        "      40 cards in the deck, ends above 25",
        "",
        r"▲ 0  ann   ■ 1  bob\x1b[2J   ● 2  a very long…",
        "    0          0                 0",
        "  0 = .      0 = .             0 = .",
        "  1 ~ *      1 ~ *             1 ~ *",
        "  2 = .      2 = .             2 = .",
        "",
        "= tatami  . path  ~ pond  * garden  [ ] new card  ! just scored",
        "> starts the round  - feature card face down",
    ]


def test_what_has_just_happened_is_marked_in_the_garden_of_its_seat() -> None:
    gardens = [[[0, 0, 0, False]], [[0, 0, 0, False], [3, 2, 0, False]]]
    planted = {"event": "planted", "seat": 1, "card": 3, "at": [2, 0], "turned": False, "rows": []}
    row = {"at": [0, 0], "along": "down", "kind": "tatami", "length": 3}
    scored = {"event": "scored", "seat": 0, "row": row, "points": 1, "features": ["path"]}
    lines = drawn(2, {"gardens": gardens}, planted, scored)
    assert [line for line in lines if line.startswith("  ") and line[2] in "012"] == [
        "  0!= .      0 = .[= .]",
        "  1!~ *      1 ~ *[~ *]",
        "  2!= .      2 = .[= .]",
    ]


def test_without_feature_cards_there_is_nothing_of_them() -> None:
    lines = drawn(2, {}, features="off", target="9")
    assert lines[0].split() == ["score", "card"]
    assert "ends above 9" in "\n".join(lines)
    assert "feature" not in "\n".join(lines)


def test_gardens_that_do_not_fit_beside_each_other_stand_below() -> None:
    wide = [[0, x, 0, False] for x in range(0, 30, 2)]
    lines = drawn(3, {"gardens": [wide] * 3})
    titles = [index for index, line in enumerate(lines) if "ann" in line or "very" in line]
    assert lines[titles[-1] - 1] == ""
    assert len(titles) == 4
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_gardens_of_any_size_fit(seats: int, width: int) -> None:
    tower = [[0, 0, y, False] for y in range(-30, 30, 3)]
    wall = [[0, x, -100, True] for x in range(-60, 60, 2)]
    lines = drawn(seats, {"gardens": [tower, wall, *[tower] * (seats - 2)], "offer": [*range(seats)]}, width=width)
    assert max(map(len, lines)) <= width
    assert len([line for line in lines if re.match(r" *-?\d+[ \[]", line)]) >= 60


def test_a_claim_that_came_too_late_names_its_card() -> None:
    shown = gardener(2)
    assert shown.decision("seize", {"plays": [{"card": 12, "more": "\x1b"}]}) == "grabs card 12"
    with pytest.raises(ValueError, match="format code"):
        shown.decision("seize", {"plays": [{"card": "\x1b[2J"}]})


def test_every_decision_of_a_game_is_named_in_its_heading(play_garden: Callable[..., Log]) -> None:
    headings = "\n".join(frame.heading.plain for frame in Replay(play_garden(2, "draft")).frames)
    for words in ("seizes a card, ", "plants a card, ", "chooses rows to score, "):
        assert words in headings


def test_wide_names_above_five_gardens_are_cut_and_stay_readable() -> None:
    names = ("Wolkenkratzer-und-Donau1", "MMMMMMMMMMMMMMMMMMMMMMMM", "Llanfairpwllgwyngyll-4", "d", "e")
    ground = GardenerDrawing(rules_of(header(5).settings), names).ground()
    assert min(map(float, re.findall(r'font-size="([\d.]+)" class="d-heading"', ground))) >= 9
