"""The page on Samurai Gardener against the engine: names, tables, worked examples, and the form of what games send."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from acting import act

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.errors import IllegalAction
from arena.core.rules.base import Event
from arena.core.types import BoardFile, Payload
from arena.games.gardener.deck import CARDS, KINDS, SYMBOLS
from arena.games.gardener.options import OPTIONS, RULESETS
from arena.games.gardener.rounds import BONUS, POINTS
from tests.conformance.game_page import GamePage, code, play_firsts

PAGE = GamePage("gardener")
TEXT = " ".join(PAGE.text.split())
ROW = {"at", "along", "kind", "length"}


# Names and tables


def test_kinds() -> None:
    """§G1-1."""
    names, symbols = re.findall(r"^\| (?:kind|in pictures) \| (.*) \|$", PAGE.text, re.MULTILINE)
    assert code(names) == list(KINDS)
    assert code(symbols) == list(SYMBOLS)


def test_options() -> None:
    """§G6-1."""
    head = re.search(r"^\| option \|(.*)\| meaning", PAGE.text, re.MULTILINE)
    assert head
    assert code(head[1]) == list(RULESETS)
    rows = PAGE.table("Options")
    assert [code(row[0])[0] for row in rows] == [option.name for option in OPTIONS]
    for row, option in zip(rows, OPTIONS, strict=True):
        values = [ruleset.options[option.name] for ruleset in RULESETS.values()]
        assert [code(cell)[0] for cell in row[1:-1]] == values
        if option.numbers:
            assert f"from {option.numbers.start} to {option.numbers.stop - 1}" in row[-1]
        else:
            assert re.findall(r"`(\w+)`:", row[-1]) == list(option.values)


def test_points() -> None:
    """§G3-8, §G3-11."""
    for number, length in zip(("three", "four", "five"), POINTS, strict=True):
        assert re.search(rf"\b{POINTS[length]}( point)? if (it has )?{number}", TEXT), number
    assert f"two different kinds in this round gets {BONUS[2]} more points" in TEXT
    assert f"of three kinds {BONUS[3]}, of all four {BONUS[4]}" in TEXT


def test_decisions_and_streams_are_documented() -> None:
    """§G9-1, §G12-1."""
    kinds = {kind for _, _, decisions in GAMES for kind, *_ in decisions}
    assert PAGE.kinds() == kinds
    assert PAGE.streams == ["deck"]


# What games send

GAMES = [PAGE.play(seats, ruleset, seats) for seats in range(2, 6) for ruleset in RULESETS]


@pytest.mark.parametrize(("rules", "events", "decisions"), GAMES)
def test_real_games_send_what_the_page_says(rules: Any, events: list[Event], decisions: list[Any]) -> None:
    """§G8-1, §G9-2, §G10-1, §G11-1."""
    for event in events:
        assert event.to is None
        assert set(event.data) - {"event"} == PAGE.events[event.data["event"]], event
        rows = event.data.get("rows", []) + [event.data[key] for key in ("row",) if key in event.data]
        assert all(set(row) == ROW for row in rows)
    for kind, view, legal, action in decisions:
        assert list(view) == PAGE.view
        keys = {"seize": {"card"}, "plant": {"at", "turned"}, "score": {"at", "along"}}[kind]
        assert set(action) == {"plays"}
        assert all(set(entry) == keys for entry in legal + action["plays"])
        assert all(values == sorted(values) for product in legal for values in product.values())
        assert kind == "score" or len(legal) == len(action["plays"]) == 1
    fields = {name for row in PAGE.table("The board") for name in code(row[0])}
    assert set(rules.board.payload()) == fields


def test_every_event_kind_is_documented_and_every_documented_one_exists() -> None:
    seen = {event.data["event"] for _, events, _ in GAMES for event in events}
    assert seen <= set(PAGE.events)
    assert set(PAGE.events) - seen == {"forfeited"}
    rules, _, _ = GAMES[0]
    events: list[Event] = []
    rules.forfeit(rules.start(), [1], events)
    assert [(event.data["event"], set(event.data) - {"event"}) for event in events] == [
        ("forfeited", PAGE.events["forfeited"]),
        ("over", PAGE.events["over"]),
    ]
    (reasons,) = (code(row[2]) for row in PAGE.table("Events") if row[0] == "`over`")
    assert events[-1].data["reason"] in reasons
    assert {event.data["reason"] for _, found, _ in GAMES for event in found if event.data["event"] == "over"} < {
        *reasons
    }


def test_the_first_of_everything_is_always_legal() -> None:
    """§G9-6, §G9-8."""
    for rules, _, _ in GAMES:
        play_firsts(rules)


def test_examples_have_the_form_of_real_messages() -> None:
    """§G9-2, §G9-3, §G9-5."""
    seize, legal_seize, plant, legal_plant, *_ = PAGE.examples  # the others are acted out below
    assert [set(entry) for entry in seize["plays"] + legal_seize] == [{"card"}] * 2
    assert [set(entry) for entry in plant["plays"] + legal_plant] == [{"at", "turned"}] * 2
    assert plant["plays"][0]["at"] in legal_plant[0]["at"]


# Worked examples, acted out

FILLER = "=.~*=."  # a card with no two squares alike side by side


class Acted:
    """A game for two. Seat 0 lays the cards it is told to, of a deck that has them first; seat 1 the others."""

    def __init__(self, cards: list[str], ruleset: str = "draft") -> None:
        drawn = [*cards, *[FILLER] * (CARDS - len(cards))]
        text = "name: test\nsource: test\ncards:\n"
        text += "\n".join(f"{card[:2]}\n{card[2:4]}\n{card[4:]}\n" for card in drawn)
        options = resolve_options("gardener", ruleset, {"deck": "face_down"})[1]
        self.rules: Any = make_rules("gardener", 2, options, BoardFile.of("test", text))
        self.cards = drawn
        self.state = self.rules.start()
        self.left = list(range(CARDS))
        self.draw(0)
        self.draw(CARDS - 1)

    def draw(self, card: int) -> None:
        assert self.rules.draw_wanted(self.state).n == len(self.left)
        self.state = self.rules.draw(self.state, self.left.index(card))
        self.left.remove(card)

    def bring(self, card: int) -> None:
        """The next round begins, and goes on until seat 0 has the card and is to plant it."""
        while self.kind(1) == "score":
            self.state = act(self.rules, self.state, 1, {"plays": []})
        rival = self.left[-1]
        self.draw(card)
        self.draw(rival)
        while self.kind(0) == "seize" or self.kind(1) == "seize":
            seat = self.rules.pending(self.state)[0].seat
            self.state = act(self.rules, self.state, seat, {"plays": [{"card": (card, rival)[seat]}]})
        positions = self.rules.write_legal(self.state, 1)[0]["at"]
        self.state = act(self.rules, self.state, 1, {"plays": [{"at": positions[0], "turned": False}]})

    def act(self, *plays: Payload) -> list[Payload]:
        events: list[Event] = []
        self.state = act(self.rules, self.state, 0, {"plays": [*plays]}, events)
        return [event.data for event in events if event.data.get("seat") == 0]

    def kind(self, seat: int) -> str | None:
        return next((due.kind for due in self.rules.pending(self.state) if due.seat == seat), None)

    def known(self, key: str) -> Any:
        """Of the view, what is said of seat 0."""
        return self.rules.view(self.state, 0)[key][0]

    def seen(self) -> list[str]:
        """The garden as it is drawn, from its cards alone."""
        squares = {}
        for card, x, y, turned in self.known("gardens"):
            for index, symbol in enumerate(self.cards[card][::-1] if turned else self.cards[card]):
                squares[x + index % 2, y + index // 2] = symbol
        xs, ys = ([*values] for values in zip(*squares, strict=True))
        assert (min(xs), min(ys)) == (0, 0)
        return ["".join(squares.get((x, y), " ") for x in range(max(xs) + 1)) for y in range(max(ys) + 1)]

    def score_all(self) -> None:
        if self.kind(0) == "score":
            self.act(*[row for row in self.known("rows") if row["kind"] in self.known("features")])


PARTS = re.split(r"^(?=\d\. )", PAGE.section("Worked examples"), flags=re.MULTILINE)[1:]
PICTURES = [
    list(zip(*map(str.split, block.splitlines()), strict=True))
    for block in re.findall(r"^   ```\n(.*?)   ```", PAGE.section("Worked examples"), re.MULTILINE | re.DOTALL)
]
"""Of examples 1, 2, 3 and 5 the garden, the card, and the garden after it."""


def act_out(number: int, *, score: bool = True, ruleset: str = "draft") -> tuple[Acted, list[Payload]]:
    """Lay the garden of a picture, scoring what can be scored or nothing; then its card. Returns what came of that."""
    before, card, after = PICTURES[number]
    width = len(before[0])
    cards = ["".join(line[x : x + 2] for line in before) for x in range(0, width, 2)]
    game = Acted([*cards, "".join(card)], ruleset)
    for number in range(1, len(cards)):
        game.bring(number)
        game.act({"at": [2 * number, 0], "turned": False})
        if score:
            game.score_all()
        elif game.kind(0) == "score":
            game.act()
    assert game.seen() == list(before)
    game.bring(len(cards))
    events = game.act({"at": [width, 0], "turned": False})
    assert game.seen() == list(after)
    return game, events


def test_every_example_is_acted_out() -> None:
    assert len(PARTS) == 5
    assert len(PICTURES) == 4
    for part, picture in ((0, 0), (2, 2), (4, 3)):
        assert f"put at `[{len(PICTURES[picture][0][0])}, 0]`" in " ".join(PARTS[part].split())


def test_example_1_the_order_of_scoring() -> None:
    """§G3-8, §G3-9, §G7-9, §G9-7."""
    game, (planted,) = act_out(0)
    garden, path = planted["rows"]
    assert (path["kind"], path["length"], garden["kind"], garden["length"]) == ("path", 3, "garden", 4)
    assert game.known("features") == ["path"]
    assert game.rules.write_legal(game.state, 0) == PAGE.examples[5]
    assert PAGE.examples[4] == {"plays": [{"at": row["at"], "along": row["along"]} for row in (path, garden)]}
    with pytest.raises(IllegalAction, match="face down"):
        act(game.rules, game.state, 0, {"plays": [garden, path]})
    scored = game.act(*PAGE.examples[4]["plays"])
    assert scored[0]["features"] == list(KINDS)
    assert [event["points"] for event in scored] == [1, 2, 2]
    assert PARTS[0].strip().endswith("1 + 2 points, and 2 for two kinds: 5.")


def test_example_2_nothing_can_be_scored() -> None:
    """§G7-12."""
    game, (planted,) = act_out(1)
    assert [(row["kind"], row["length"]) for row in planted["rows"]] == [("garden", 4)]
    assert "garden" not in game.known("features")
    assert game.kind(0) != "score"
    game, (_, scored) = act_out(1, ruleset="young")
    assert (scored["event"], scored["points"]) == ("scored", 2)
    assert PARTS[1].strip().endswith("the row scores 2.")


@pytest.mark.parametrize("order", [1, -1])
def test_example_3_two_kinds(order: int) -> None:
    """§G3-11."""
    game, (planted,) = act_out(2)
    assert [row["kind"] for row in planted["rows"]] == ["pond", "path"]
    assert game.known("features") == list(KINDS)
    assert [event["points"] for event in game.act(*planted["rows"][::order])] == [1, 1, 2]
    assert PARTS[2].strip().endswith("1 + 1 points, and 2 for two kinds: 4.")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("at", "verdict", "why"), PAGE.table("Worked examples"))
def test_example_4_positions(at: str, verdict: str, why: str, turned: bool) -> None:
    """§G3-4, §G3-5, §G7-1, §G7-5."""
    game, _ = act_out(2)
    game.act()
    game.bring(2)
    if verdict == "legal":
        game.act({"at": json.loads(at.strip("`")), "turned": turned})
    else:
        expected = "cover a square of a row" if why.startswith("covers") else "neither beside the garden nor over it"
        with pytest.raises(IllegalAction, match=expected):
            game.act({"at": json.loads(at.strip("`")), "turned": turned})


@pytest.mark.parametrize("turned", [False, True])
def test_example_4_exactly_over_a_card(turned: bool) -> None:
    """§G3-6, §G7-2."""
    partly, exactly = (json.loads(at) for at in code(PARTS[3].split("no rows.")[1]))
    before, _, _ = PICTURES[2]
    game = Acted(["".join(before)])
    game.bring(1)
    with pytest.raises(IllegalAction, match="exactly where another was put"):
        game.act({"at": exactly, "turned": turned})
    game.act({"at": partly, "turned": turned})


def test_example_5_six_in_a_row() -> None:
    """§G7-5, §G7-8."""
    game, (planted,) = act_out(3, score=False)
    assert planted["rows"] == []
    assert game.known("features") == list(KINDS)
    assert game.kind(0) != "score"
    assert "......" in game.seen()[1]
    game.bring(len(game.known("gardens")))
    with pytest.raises(IllegalAction, match="cover a square of a row"):
        game.act({"at": [6, -1], "turned": False})


def test_the_round_that_is_told() -> None:
    """§G2-1, §G3-1, §G3-2, §G10-3."""
    told = PAGE.examples[-1]
    rules = make_rules("gardener", 2, resolve_options("gardener", "draft", {})[1], default_board("gardener"))
    state, left, events = rules.start(), list(range(CARDS)), []
    for event in told:
        if event["event"] == "next":
            state = rules.draw(state, left.index(event["card"]), events)
            left.remove(event["card"])
        elif event["event"] == "seized":
            state = act(rules, state, event["seat"], {"plays": [{"card": event["card"]}]}, events)
        elif event["event"] == "planted":
            state = act(
                rules, state, event["seat"], {"plays": [{"at": event["at"], "turned": event["turned"]}]}, events
            )
    (due,) = rules.pending(state)
    rows = [event["row"] for event in told if event["event"] == "scored"]
    state = act(rules, state, due.seat, {"plays": rows}, events)
    assert [event.data for event in events] == told


def test_the_race_that_is_told() -> None:
    """§G9-4: Who comes too late asked for a card that is taken, and the cards that are left are those that are left."""
    lines = re.findall(r"^([RB]): (.*?)(?: {2,}(.*))?$", PAGE.section("`seize`"), re.MULTILINE)
    rules = make_rules(
        "gardener", 3, resolve_options("gardener", "race", {"deck": "face_down"})[1], default_board("gardener")
    )
    state, left = rules.start(), list(range(CARDS))
    asked: dict[int, Any] = {}
    for card in (60, 61, 62, *json.loads(re.findall(r"\[\d.*?\]", lines[0][1])[0])):
        state = rules.draw(state, left.index(card))
        left.remove(card)
    for who, what, note in lines:
        if who == "R":
            (cards,) = re.findall(r"\[(?:\d+(?:, )?)+\]", what)
            for seat in map(int, re.findall(r"\d", note)):
                assert rules.write_legal(state, seat) == [{"card": json.loads(cards)}]
                asked[seat] = state
        else:
            seat = int(re.findall(r"seat (\d)", note)[0])
            action = {"plays": [{"card": int(re.findall(r"\d+", what)[0])}]}
            if note.endswith("late"):
                act(rules, asked[seat], seat, action)
                with pytest.raises(IllegalAction, match="is taken"):
                    act(rules, state, seat, action)
            else:
                state = act(rules, state, seat, action)
    assert rules.pending(state)[0].kind == "plant"
