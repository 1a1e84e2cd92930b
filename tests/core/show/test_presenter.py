"""Any game can be shown: by its own presenter, or by the plain one."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from arena.core import plugs
from arena.core.catalogue import names
from arena.core.errors import ConfigError
from arena.core.record.log import Log
from arena.core.rules.base import Board
from arena.core.show import presenter as module
from arena.core.show.presenter import BoardFacts, Presenter, presenter
from arena.core.show.replay import Replay

EVIL = "evil\x1b[2J\u202e\n"


@pytest.fixture
def plain() -> Presenter:
    """The plain presenter of a game between two, one of them with a name that draws on terminals."""
    header: Any = SimpleNamespace(bots=[SimpleNamespace(name="greedy"), SimpleNamespace(name=EVIL)])
    rules: Any = SimpleNamespace(board=None)
    return Presenter(header, rules, (0, 1))


def test_the_games_of_arena_have_presenters_of_their_own() -> None:
    for name in ("samurai", "gardener"):
        assert presenter(name).__module__ == f"arena.games.{name}.show.game"
        assert issubclass(presenter(name), Presenter)
    assert all(issubclass(presenter(name), Presenter) for name in names())


def test_any_other_game_is_shown_plainly() -> None:
    assert presenter("chess") is Presenter


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("not_there:Chess", "expected the presenter of 'chess' to load from not_there:Chess, got: ModuleNotFoundError"),
        ("arena.core.show.seats:Seats", "expected the entry point 'chess' of 'arena.presenters' to name a subclass"),
    ],
)
def test_a_broken_presenter_is_told_with_what_to_do(value: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_found", lambda: {"chess": plugs.Entry("chess", value, module.GROUP)})
    with pytest.raises(ConfigError, match=words):
        presenter("chess")


def test_events_are_told_in_words(plain: Presenter) -> None:
    events = [
        {"event": "moved", "seat": 0, "move": "bet"},
        {"event": "shown", "cards": ["K", EVIL], "by": None},
        {"event": "over"},
        {"event": EVIL, EVIL: 1},
    ]
    lines = [line.plain for line in plain.tell(events)]
    assert lines[0] == "moved: ▲ greedy (seat 0), move bet"
    assert lines[1].startswith('shown: cards ["K","evil')
    assert lines[1].endswith(", by -")
    assert lines[2] == "over"
    assert all(line.isprintable() for line in lines)


def test_a_decision_is_told_by_its_kind(plain: Presenter) -> None:
    assert plain.decision("bet") == "decides: bet"
    assert plain.decision("bet", {"plays": [{"move": EVIL}]}).startswith('decides: bet {"plays":[{"move":"evil')
    assert plain.decision(EVIL).isprintable()


def test_views_are_tables_side_by_side_that_mark_what_changed(plain: Presenter) -> None:
    before = {0: {"card": "K", "moves": []}, 1: {"card": None, "moves": []}}
    views = {0: {"card": "K", "moves": ["bet"]}, 1: {"card": None, "moves": ["bet"]}}
    lines = [line.plain.rstrip() for line in plain.draw(views, before, [], 100)]
    assert lines[0].startswith("▲ greedy (seat 0)")
    assert "(seat 1)" in lines[0]
    assert lines[1].split() == ["card", "K", "card", "-"]
    assert lines[2].split() == ["*", "moves", '["bet"]', "*", "moves", '["bet"]']


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_tables_fit_the_width_and_hold_no_control_characters(plain: Presenter, width: int) -> None:
    view = {"a long key" * 9: 1, "words": "many words " * 40, EVIL: EVIL, "deep": {"map": [[{"x": EVIL}] * 9] * 9}}
    for views in ({0: view}, {0: view, 1: view}):
        for line in plain.draw(views, {seat: {} for seat in views}, [], width):
            assert line.cell_len <= width
            assert line.plain.isprintable()


def test_the_end_is_told_with_scores_if_there_are_some(plain: Presenter) -> None:
    ((told,), (without,)) = ([line.plain for line in plain.over((2, 1), scores)] for scores in ((-1, 1), None))
    assert told.startswith("The game is over: 1. ■ evil")
    assert "(seat 1) 1 point, 2. ▲ greedy (seat 0) -1 points" in told
    assert "point" not in without


def test_a_board_is_shown_as_somebody_drew_it() -> None:
    board = Board("Tic <b>", "a test", f"name: Tic <b>\n...\n.x.\n{EVIL}")
    assert Presenter.board_facts("tic", {2: board}) == BoardFacts(
        rules="tic", name="Tic <b>", source="a test", players=(2,)
    )
    lines = [line.plain for line in Presenter.board_lines(board, 2, 80)]
    assert lines[0] == "Tic <b>, 2 players"
    assert ".x." in lines
    assert all(line.isprintable() for line in lines)
    root = ElementTree.fromstring(Presenter.board_svg(board, 2))
    assert ".x." in [element.text for element in root.iter()]


@pytest.mark.parametrize(("played", "other"), [("samurai", "gardener"), ("gardener", "samurai")])
def test_a_replay_loads_no_other_game(
    played: str, other: str, logs: dict[str, Log], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logs[played]
    folders = (f"arena.games.{other}",)
    for name in [name for name in sys.modules if name.startswith(folders)]:
        monkeypatch.delitem(sys.modules, name)
    assert Replay(log).draw(0, 80)
    assert not [name for name in sys.modules if name.startswith(folders)]


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_gains_add_up_to_what_the_seats_have_at_the_end(name: str, logs: dict[str, Log]) -> None:
    shown = Replay(logs[name])
    sums = [0] * logs[name].header.settings.players
    for frame in shown.frames:
        for event in frame.events:
            for seat, gained in presenter(name).gains(SimpleNamespace(), event).items():  # type: ignore[arg-type]
                sums[seat] += gained
    view = shown.frames[-1].views[0]
    had = view["scores"] if name == "gardener" else [sum(own.values()) for own in view["captured"]]
    assert sums == had
    assert any(sums)
    assert presenter(name).gain_name
    assert presenter(name).gained_name


def test_a_game_without_a_presenter_has_no_gains(plain: Presenter) -> None:
    assert plain.gains({"event": "captured", "seat": 0}) == {}
    assert plain.gain_name == plain.gained_name == ""
