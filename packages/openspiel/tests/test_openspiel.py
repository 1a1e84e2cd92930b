"""OpenSpiel's games keep the laws of the arena, hide what they hide, and are played from the command line."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arena_openspiel.boards import split_board
from arena_openspiel.cards import split_hands
from arena_openspiel.catalogue import catalogue
from arena_openspiel.drawing import SpielDrawing
from arena_openspiel.family import FAMILY, OpenSpiel
from arena_openspiel.game import Node, Spiel, State, game_class

from arena.core.face import Termination, courses, errors, game_kit, testing

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]


def rules_of(name: str, seats: int = 2, **options: str) -> Spiel:
    kind = OpenSpiel().game(name)
    assert issubclass(kind, Spiel)
    return kind(seats, {**kind.rulesets["standard"].options, **options})


def test_the_catalogue_is_that_of_openspiel() -> None:
    known, found = OpenSpiel().catalogue, catalogue()
    assert {name: found.get(name) for name in known} == known, "run python -m arena_openspiel.catalogue"
    assert len(known) >= 97


def test_to_list_the_games_loads_no_openspiel() -> None:
    code = "import sys, arena_openspiel.family as f; f.OpenSpiel().games(); print('pyspiel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        ("backgammon", 2), ("blotto", 3), ("coin_game", 2), ("dark_hex", 2), ("goofspiel", 3), ("hanabi", 2),
        ("kuhn_poker", 3), ("leduc_poker", 2), ("liars_dice", 2), ("oh_hell", 3), ("phantom_ttt", 2), ("skat", 3),
        ("snake", 2), ("spades", 4), ("tiny_bridge_2p", 2), ("tiny_bridge_4p", 4), ("coop_box_pushing", 2),
    ],
)  # fmt: skip
def test_it_keeps_the_laws_of_a_game(name: str, seats: int) -> None:
    testing.check_declaration(OpenSpiel().game(name))
    testing.check_variant(rules_of(name, seats), games=2)


def test_who_plays_together() -> None:
    assert rules_of("spades", 4).teams(4, {}) == (0, 1, 0, 1)
    assert rules_of("cribbage", 3).teams(3, {}) is None
    assert rules_of("hanabi", 3).teams(3, {}) == (0, 0, 0)


def test_who_forfeits_a_game_with_one_score_for_all_loses_it_for_all() -> None:
    course = courses.Course(rules_of("tiny_bridge_2p"))
    while isinstance(due := course.due, courses.Chance):
        course.draw(due.draw.n - 1)
    course.ask()
    course.fail(0, Termination.TIMEOUT)
    course.forfeit()
    assert course.due == courses.Over(game_kit.Outcome((1, 1), (-240, -240))), "the worst that can happen, in sixths"


def test_a_margin_counts_what_seats_get_where_more_than_the_win_counts() -> None:
    leduc = rules_of("leduc_poker")
    assert leduc.margin(2, leduc.options) == game_kit.Margin("points", 26), "13 chips won, and 13 lost"
    for rules in (rules_of("liars_dice"), rules_of("hanabi"), rules_of("goofspiel")):
        assert rules.margin(2, rules.options) is None
    by_points = rules_of("goofspiel", returns_type="point_difference")
    assert by_points.margin(2, by_points.options) is not None
    *_, last = (step.after for step in testing.walk(leduc, 1))
    outcome = leduc.outcome(last)
    assert outcome is not None
    assert leduc.amounts(last) == outcome.scores


def test_in_a_margin_chips_of_a_split_pot_are_whole() -> None:
    rules = rules_of("leduc_poker", 5)
    ended = [list(testing.walk(rules, seed))[-1].after for seed in range(30)]
    gains = [rules.node(state).spiel.returns() for state in ended]
    assert any(not float(gain).is_integer() for each in gains for gain in each)
    for state, each in zip(ended, gains, strict=True):
        assert all(abs(amount - gain) <= 0.5 for amount, gain in zip(rules.amounts(state), each, strict=True))


def test_a_game_that_warns_of_itself_when_it_is_loaded_is_loaded_once(capfd: pytest.CaptureFixture[str]) -> None:
    rules = rules_of("quoridor")
    assert "known issues" in "".join(capfd.readouterr())
    rules.margin(2, rules.options)
    type(rules)(2, rules.options)
    assert not any(capfd.readouterr())


def test_with_numbers_for_programs_it_keeps_them_too() -> None:
    testing.check_variant(rules_of("leduc_poker", view="tensor"), games=2)
    rules = rules_of("leduc_poker", view="tensor")
    state = list(testing.walk(rules, 1))[3].before
    tensor = rules.node(state).spiel.information_state_tensor(0)
    assert rules.view(state, 0)["tensor"] == [round(1_000 * number) for number in tensor]


@pytest.mark.parametrize(("name", "seats"), [("hearts", 4), ("connect_four", 2)])
def test_with_a_map_of_what_a_seat_sees_it_keeps_them_too(name: str, seats: int) -> None:
    rules = rules_of(name, seats, view="struct")
    testing.check_variant(rules, games=1)
    assert isinstance(rules.view(rules.start(), 1)["struct"], dict)


FORMS = [
    (name, entry.least, form)
    for name, entry in OpenSpiel().catalogue.items() if not entry.refused
    for kind in [OpenSpiel().game(name)] if not kind.nothing_hidden
    for form in kind.option_list[0].values if form != "text"
]  # fmt: skip


@pytest.mark.parametrize(("name", "seats", "form"), FORMS)
def test_another_form_of_a_view_tells_no_more_than_the_words(name: str, seats: int, form: str) -> None:
    kind = OpenSpiel().game(name)
    rules = kind(seats, {**next(iter(kind.rulesets.values())).options, "view": form})
    chance, end = random.Random(1), time.monotonic() + 1
    for step in (step for seed in range(5) for step in testing.walk(rules, seed)):
        for seat in range(seats):
            world = rules.resample(step.after, seat, chance.randrange)
            assert rules.view(world, seat)[form] == rules.view(step.after, seat)[form]
        if time.monotonic() > end:
            break


@pytest.mark.parametrize(
    ("name", "form", "seed"),
    [("dou_dizhu", "tensor", 1), ("gin_rummy", "struct", 3), ("go_fish", "tensor", 0), ("kriegspiel", "tensor", 0)],
)
def test_the_kit_finds_a_form_of_a_view_that_tells_more_and_it_is_not_offered(name: str, form: str, seed: int) -> None:
    entry = OpenSpiel().catalogue[name]
    all_forms = game_class(name, name, "", range(entry.least, entry.most + 1), has_struct=entry.struct)
    rules = all_forms(entry.least, {**all_forms.rulesets["standard"].options, "view": form})
    with pytest.raises(testing.GameFault, match="secrecy: expected the view of seat"):
        testing.check_secrecy(rules, seed)
    assert not OpenSpiel().game(name).option_list[0].accepts(form)


def test_whoever_knocks_in_gin_rummy_is_shown_no_map_with_the_others_cards() -> None:
    option = OpenSpiel().game("gin_rummy").option_list[0]
    assert not option.accepts("struct")
    assert "knocked" in option.help


def test_a_map_shows_a_seat_its_own_hand() -> None:
    rules = rules_of("hearts", 4, view="struct")
    *_, last = (step.after for step, _ in zip(testing.walk(rules, 1), range(60), strict=False))
    hands = [set(rules.view(last, seat)["struct"]["hands"][1]) for seat in (0, 1)]
    assert hands[0] == {"XX"}
    assert len(hands[1]) > 1


def test_a_view_that_shows_the_whole_position_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(self: Spiel, node: Node, seat: int) -> Any:
        return self._completed({"seat": seat, "text": str(node.spiel), "last": None}, node, seat)

    rules = rules_of("leduc_poker")
    monkeypatch.setattr(Spiel, "_own_view", leaking)
    with pytest.raises(testing.GameFault, match="expected resample to return another state"):
        testing.check_variant(rules, games=3)


def test_whatever_else_tells_a_secret_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spiel, "turn", lambda self, state: sum(state.history[:1]) + 1)
    with pytest.raises(testing.GameFault, match="expected the turn of seat 1 as the same bytes in two states"):
        testing.check_variant(rules_of("leduc_poker"), games=3)


def test_a_choice_among_several_at_once_is_hidden_until_all_have_chosen() -> None:
    rules = rules_of("matrix_rps")
    start = rules.start()
    rock, paper = rules.legal(start, 0)[0], rules.legal(start, 1)[1]
    events: list[game_kit.Event] = []
    one = rules.apply(start, 0, rock, events)
    assert [event.to for event in events] == [(0,)]
    assert rules.view(one, 1) == rules.view(start, 1)
    assert [decision.seat for decision in rules.pending(one)] == [1]
    assert rules.apply(one, 1, paper) == rules.apply(rules.apply(start, 1, paper), 0, rock)
    others = {rules.resample(one, 1, random.Random(seed).randrange) for seed in range(30)}
    assert {dict(state.chosen)[0] for state in others} == {0, 1, 2}


def test_chance_is_exact() -> None:
    rules = rules_of("backgammon")
    node = rules.node(rules.start())
    draw = rules.draw_wanted(rules.start())
    assert draw is not None
    actions, ends = node.draws
    shares = dict(zip(actions, (end - before for before, end in pairwise([0, *ends])), strict=True))
    for action, probability in node.spiel.chance_outcomes():
        assert Fraction(shares[action], draw.n) == Fraction(probability).limit_denominator(1_000)
    drawn = [rules.draw(rules.start(), index).history[0] for index in range(draw.n)]
    assert {action: drawn.count(action) for action in drawn} == shares


def test_a_history_of_any_length_leads_to_its_position() -> None:
    rules, other = rules_of("chess"), rules_of("chess")
    last = State()
    for step in testing.walk(rules, 3):
        last = step.after
    assert len(last.history) > 50
    assert other.node(last) is not rules.node(last), "nothing is remembered there"
    assert other.view(last, 0) == rules.view(last, 0)
    assert other.outcome(last) == rules.outcome(last)


def test_options_are_openspiels_parameters() -> None:
    assert len(rules_of("liars_dice", numdice="2").node(State()).spiel.legal_actions()) == 6
    assert rules_of("kuhn_poker", 3).game.get_parameters()["players"] == 3
    with pytest.raises(errors.ConfigError, match="expected options with which OpenSpiel plays goofspiel"):
        rules_of("goofspiel", points_order="backwards")
    with pytest.raises(errors.ConfigError, match="expected 2 players for openspiel:chess"):
        rules_of("chess", 3)


def test_a_game_that_is_refused_says_why() -> None:
    with pytest.raises(errors.ConfigError, match="'pathfinding': OpenSpiel's own grid is for one player"):
        OpenSpiel().game("pathfinding")


@pytest.mark.parametrize(
    ("name", "is_hex", "is_chess", "rows"),
    [("chess", False, True, 8), ("dark_chess", False, True, 8), ("go", False, False, 19), ("hex", True, False, 11)],
)
def test_boards_are_found_in_what_it_writes(name: str, is_hex: bool, is_chess: bool, rows: int) -> None:
    rules = rules_of(name)
    board, _ = split_board(rules.view(list(testing.walk(rules, 1))[5].before, 0)["text"])
    assert board is not None
    assert (board.is_hex, board.is_chess, len(board.rows)) == (is_hex, is_chess, rows)
    assert len(board.rows[0]) == rows


@pytest.mark.parametrize(
    ("name", "seats", "cards"), [("hearts", 4, 13), ("spades", 4, 13), ("bridge", 4, 13), ("crazy_eights", 3, 5)]
)
def test_hands_are_found_in_what_it_writes(name: str, seats: int, cards: int) -> None:
    rules = rules_of(name, seats)
    first = next(step.before for step in testing.walk(rules, 1) if rules.pending(step.before))
    (seat,) = (decision.seat for decision in rules.pending(first))
    ((hand,),) = (
        part for part in split_hands(rules.view(first, seat)["text"].splitlines()) if not isinstance(part, str)
    )
    assert sum(len(ranks) for _, ranks in hand) == cards
    assert {suit for suit, _ in hand} == set("♠♥♦♣")


def test_two_hands_beside_each_other_are_found() -> None:
    (east_and_west,) = split_hands(["S AK7     S QT2", "H 952  H ", "D 2    D KJ84", "C      C 862"])
    assert [[len(ranks) for _, ranks in hand] for hand in east_and_west] == [[3, 3, 1, 0], [3, 0, 4, 3]]
    ((without,),) = split_hands(["S none", "H KQ", "D 2", "C none"])
    assert without == [("♠", []), ("♥", ["K", "Q"]), ("♦", ["2"]), ("♣", [])]
    ((boxed,),) = split_hands(
        ["+----------+", "|As      5s|", "|    4c    |", "|          |", "|  2hTh    |", "+----------+"]
    )
    assert boxed == [("♠", ["A", "5"]), ("♣", ["4"]), ("♦", []), ("♥", ["2", "T"])]
    text = ["Suits", "S", "H", "D"]
    assert list(split_hands(text)) == text


def test_a_page_shows_once_what_all_see_in_the_end() -> None:
    rules = rules_of("hearts", 4)
    drawing = SpielDrawing(rules, list("abcd"))
    *_, before, last = (step.after for step in testing.walk(rules, 1))
    seen = [{seat: rules.view(state, seat) for seat in range(4)} for state in (before, last)]
    drawing.plan([*seen[0].values(), *seen[1].values()])
    each, once = (drawing.scene(views, ()) for views in seen)
    names = [each[f"n{seat}"] for seat in range(4)]
    assert len({name[2:4] for name in names}) == 4, "each above its own position"
    assert {key[1] for key in once if key[0] != "#"} == {"0"}
    alone = drawing.scene({2: seen[1][2]}, ())
    assert {key[1] for key in alone if key[0] != "#"} == {"2"}, "who looks with one seat's eyes sees that seat's"


@pytest.fixture
def arena(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs a command in a folder of its own, and returns what it prints."""
    path = os.pathsep.join([str(installed), str(ROOT)])

    def arena(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "arena", *words], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return arena


def test_a_tournament_is_played_shown_and_verified(arena: Callable[..., str], tmp_path: Path) -> None:
    assert f"{FAMILY}  " in arena("rules", "list")
    assert "openspiel:liars_dice " in arena("rules", "list", FAMILY)
    page = json.loads(arena("rules", "show", "openspiel:liars_dice", "--json"))
    assert {"view", "numdice"} <= {option["option"] for option in page["options"]}
    arena("tournament", "random", "random", "--rules", "openspiel:liars_dice", "--rule", "numdice=2", "--deals", "3")
    assert "6 of 6 games" in arena("verify", "logs")
    log = str(sorted((tmp_path / "logs").rglob("*.jsonl*"))[0])
    assert "▲ random (seat 0): " in arena("replay", log, "--all")
    arena("replay", log, "--html", "game.html")
    assert "d-text" in (tmp_path / "game.html").read_text(encoding="utf-8")


def test_a_tournament_with_one_score_for_all_compares_scores(arena: Callable[..., str]) -> None:
    words = ["--rules", "openspiel:matrix_coordination", "--deals", "20", "--seed", "1", "--json"]
    document = json.loads(arena("tournament", "random", "random", *words))
    assert {row["rating"] for row in document["standings"]} == {None}
    one, other = document["standings"]
    assert one["mean_score"] == other["mean_score"] > 0, "both sat in all games"
    assert one["score_half_width"] > 0
    verified = arena("verify", document["logs"], "--complete", "--db", "arena.db")
    assert "ok      database" in verified
    assert "points on average" in arena("match", "random", "random", "--rules", "openspiel:matrix_coordination")
