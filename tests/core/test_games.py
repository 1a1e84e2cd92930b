"""The installed games are found, and what an operator typed about one is read, completed, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from arena.core import catalogue as games
from arena.core import loading
from arena.core.catalogue import (
    FAMILIES,
    GROUP,
    board_format,
    bundled_boards,
    default_board,
    families,
    find_board,
    game,
    game_of_board,
    is_installed,
    make_rules,
    make_settings,
    names,
    parse_overrides,
    resolve_options,
    rules_of,
)
from arena.core.errors import BoardError, ConfigError
from arena.core.resources import board_names, board_text
from arena.core.rules.base import Rules
from arena.core.rules.family import Family
from arena.core.types import RACE_WINDOW_MS, BoardFile, TimeControl
from arena.games.gardener.game import Gardener
from arena.games.samurai.game import Samurai

OWN = {"samurai": "arena.games.samurai.game:Samurai", "gardener": "arena.games.gardener.game:Gardener"}


class Solo(Samurai):
    """A game of another package that has no boards."""

    name = "solo"
    boards = None


class Nameless(Rules[Any]):
    """Rules without a name."""


class Cards(Family):
    """A family with one game, and one that breaks."""

    about = "Games with cards"

    def games(self) -> dict[str, str]:
        return {"solo": "Alone", "nameless": "Without a name", "wild": "Not for the arena"}

    def game(self, name: str) -> type[Rules[Any]]:
        if name == "wild":
            raise ConfigError("expected a game that ends, got: wild")
        return type("Member", (Solo,), {"name": "cards:solo"}) if name == "solo" else Nameless


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lets some entry points, each a name and a value, be all that are installed."""

    def clear() -> None:
        loading._installed.cache_clear()
        games._found.cache_clear()
        games.family.cache_clear()
        games.game.cache_clear()

    def put(*entries: tuple[str, str], families: tuple[tuple[str, str], ...] = ()) -> None:
        clear()
        found = {GROUP: entries, FAMILIES: families}
        rows = [loading.Entry(name, value, group) for group in found for name, value in found[group]]
        monkeypatch.setattr(loading, "_installed", lambda folders: rows)

    yield put
    monkeypatch.undo()
    clear()


# Which games there are


def test_the_games_of_arena_are_found() -> None:
    assert set(names()) >= {"samurai", "gardener"}
    assert (game("samurai"), game("gardener")) == (Samurai, Gardener)


def test_entry_points_are_found_in_folders_eggs_and_zips(tmp_path: Path) -> None:
    """Lines before any section belong to none, whatever the package before ended with."""
    for name in ("a-1.dist-info", "b-1.egg-info", "c-1.egg/EGG-INFO"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "entry_points.txt").write_text(f"stray = x:Y\n[{GROUP}]\n{name[0]} = {name[0]}:Z\n")
    with ZipFile(tmp_path / "d.zip", "w") as packed:
        packed.writestr("d-1.dist-info/METADATA", "Name: d\n")
        packed.writestr("d-1.dist-info/entry_points.txt", f"[{GROUP}]\nd = d:Z\n")
    found = loading._installed((str(tmp_path), str(tmp_path / "c-1.egg"), str(tmp_path / "d.zip")))
    assert [(one.name, one.value) for one in found] == [(name, f"{name}:Z") for name in "abcd"]


def test_the_games_of_arena_come_before_those_of_other_packages(install: Install) -> None:
    install(("solo", f"{__name__}:Solo"), *OWN.items())
    assert names() == ("samurai", "gardener", "solo")
    assert game("solo").__name__ == "Solo"


def test_a_game_that_two_packages_have_is_refused_with_both(install: Install) -> None:
    install(("samurai", "other.game:Samurai"), *OWN.items())
    both = re.escape(f"got two: {OWN['samurai']} and other.game:Samurai; uninstall one of the two packages")
    with pytest.raises(ConfigError, match=f"expected one game called 'samurai', {both}"):
        names()


def test_the_same_entry_point_found_twice_is_one_game(install: Install) -> None:
    install(*OWN.items(), *OWN.items())
    assert names() == ("samurai", "gardener")


def test_an_installation_without_games_says_so(install: Install) -> None:
    install()
    with pytest.raises(ConfigError, match=r"entry points 'arena\.games'\), got: none; install arena again"):
        names()


def test_a_game_of_a_family_is_found_by_both_names(install: Install) -> None:
    install(*OWN.items(), families=(("cards", f"{__name__}:Cards"),))
    assert (names(), families()) == (("samurai", "gardener"), ("cards",))
    assert game("cards:solo").name == "cards:solo"
    assert [is_installed(name) for name in ("cards:solo", "cards:duo", "dice:solo", "cards", "samurai")] == [
        True, False, False, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cards:sole", r"expected a game of cards, got: 'sole' \(did you mean 'solo'\?\); see: arena rules list cards"),
        ("card:solo", r"expected a family of games: cards, got: 'card' \(did you mean 'cards'\?\)"),
        ("cards:wild", "expected a game that ends, got: wild"),
        ("cards:nameless", "expected the family 'cards' to name a subclass of .* whose `name` is 'cards:nameless'"),
        ("cards", "expected the rules of a game, one of samurai, gardener, cards:GAME, got: 'cards'"),
    ],
)
def test_what_a_family_does_not_have_is_refused(install: Install, name: str, words: str) -> None:
    install(*OWN.items(), families=(("cards", f"{__name__}:Cards"),))
    with pytest.raises(ConfigError, match=words):
        game(name)


def test_a_family_that_is_none_is_refused(install: Install) -> None:
    install(*OWN.items(), families=(("cards", f"{__name__}:Solo"),))
    with pytest.raises(
        ConfigError, match=r"expected the entry point 'cards' to name a subclass of arena\.core\.rules\.family"
    ):
        game("cards:solo")


def test_an_unknown_game_suggests_a_close_one() -> None:
    with pytest.raises(ConfigError, match=r"one of .*samurai.*, got: 'samurei' \(did you mean 'samurai'\?\)"):
        game("samurei")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("not.there:Game", "ModuleNotFoundError: No module named 'not'"),
        ("arena.games.samurai.game:Shogi", "AttributeError: .*'Shogi'"),
    ],
)
def test_a_game_that_does_not_load_is_told_with_its_error_and_leaves_the_others_alone(
    install: Install, value: str, error: str
) -> None:
    install(("shogi", value), *OWN.items())
    told = rf"expected the game 'shogi' to load from {value}, got: {error}; (fix or uninst|install arena)"
    with pytest.raises(ConfigError, match=told):
        game("shogi")
    assert game("samurai") is Samurai
    assert board_format("shogi") is None
    assert {board.name for board in bundled_boards()} == set(board_names())
    assert game_of_board(board_text("japan")[1]) == "samurai"


@pytest.mark.parametrize("value", [OWN["samurai"], f"{__name__}:Nameless", f"{__name__}:OWN", "pathlib:Path"])
def test_an_entry_point_must_name_rules_of_its_own_name(install: Install, value: str) -> None:
    install(("shogi", value))
    with pytest.raises(ConfigError, match=rf"whose `name` is 'shogi', got: {re.escape(value)}; correct the entry"):
        game("shogi")


# Boards


@pytest.mark.parametrize("name", names())
def test_every_board_of_a_game_is_found_and_known_as_its_own(name: str) -> None:
    board = default_board(name)
    if board is not None:
        assert board == find_board(board.name)
        assert board in bundled_boards()
        assert game_of_board(board.text) == name


def test_a_board_that_a_package_bundles_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    text = board_text("japan")[1]
    boards = game("samurai").boards
    assert boards is not None
    monkeypatch.setattr(boards, "bundled", {"island": text}, raising=False)
    assert find_board("island") == BoardFile.of("island", text)
    assert [board.name for board in bundled_boards()] == sorted(["island", *board_names()])
    assert make_settings("samurai", 2, board="island").board == BoardFile.of("island", text)


def test_a_text_that_is_no_board_is_of_no_game() -> None:
    assert game_of_board("name: Nothing\n") is None


def test_a_game_without_boards_has_none_and_takes_none(install: Install) -> None:
    install(("solo", f"{__name__}:Solo"), *OWN.items())
    assert default_board("solo") is None
    options = resolve_options("solo", None, {})[1]
    with pytest.raises(ConfigError, match="expected no board, as solo is played without one, got: 'japan'"):
        make_rules("solo", 2, options, find_board("japan"))
    with pytest.raises(ConfigError, match="expected no board, as solo is played without one, got: 'japan'"):
        make_settings("solo", 2, board="japan")


def test_a_game_with_boards_needs_one() -> None:
    with pytest.raises(ConfigError, match="expected a board for samurai, got: none"):
        make_rules("samurai", 2, resolve_options("samurai", None, {})[1])


def test_a_board_of_another_game_is_refused_with_the_game_it_is_of() -> None:
    with pytest.raises(ConfigError, match=r"expected a board of samurai, got: 'garden', .* use --rules gardener"):
        make_settings("samurai", 2, board="garden")
    assert make_settings("gardener", 2, board="garden") == make_settings("gardener", 2)


def test_a_broken_board_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("name: Mine\n", encoding="utf-8")
    with pytest.raises(BoardError, match="mine"):
        make_settings("samurai", 2, board=str(path))


# Settings


@pytest.mark.parametrize("rules", names())
def test_a_game_is_played_by_its_first_ruleset_unless_another_is_named(rules: str) -> None:
    first, *others = game(rules).rulesets
    assert make_settings(rules, 2).ruleset == first
    for ruleset in others:
        settings = make_settings(rules, 2, ruleset=ruleset)
        assert (settings.ruleset, settings.options) == (ruleset, dict(game(rules).rulesets[ruleset].options))


@pytest.mark.parametrize("rules", names())
def test_the_settings_say_all_that_the_rules_are_made_of(rules: str) -> None:
    for players in game(rules).seat_counts:
        settings = make_settings(rules, players, time="5/move")
        made = rules_of(settings)
        assert (made.name, made.version, made.seats) == (rules, settings.rules_version, players)
        assert made.options == settings.options
        assert settings.time == TimeControl(limit_ms=5000)
        assert settings.race_window_ms == RACE_WINDOW_MS
        if made.board is not None and settings.board is not None:
            assert made.board.hash == settings.board.hash


@pytest.mark.parametrize("rules", names())
def test_a_table_of_too_many_or_too_few_is_refused(rules: str) -> None:
    counts = game(rules).seat_counts
    for players in (counts.start - 1, counts.stop):
        told = f"expected {counts.start} to {counts.stop - 1} players for {rules}, got: {players}"
        with pytest.raises(ConfigError, match=told):
            make_settings(rules, players)


def test_an_option_that_is_given_two_values_is_refused_with_both() -> None:
    assert parse_overrides(["setup=random", "hand=random", "setup=random"]) == {"setup": "random", "hand": "random"}
    with pytest.raises(ConfigError, match="expected one value of setup, got: setup=random and setup=draft"):
        parse_overrides(["setup=random", "hand=random", "setup=draft"])


@pytest.mark.parametrize("text", ["setup", "setup=", "=random", ""])
def test_an_option_without_name_or_value_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=f"NAME=VALUE, such as setup=random, got: '{text}'; use --rule"):
        make_settings("samurai", 2, overrides=[text])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ruleset": "standart"}, r"a ruleset of samurai, one of .*, got: 'standart' \(did you mean 'standard'\?\)"),
        ({"overrides": ["setpu=random"]}, r"an option of samurai, one of .*, got: 'setpu' \(did you mean 'setup'\?\)"),
        ({"overrides": ["setup=rnadom"]}, r"a value of setup: .*, got: 'rnadom' \(did you mean 'random'\?\)"),
        ({"board": "jappan"}, r"a bundled board \(.*\), got: 'jappan' \(did you mean 'japan'\?\)"),
        ({"time": "fast"}, r"a time control .*, got: 'fast'$"),
        ({"time": "0+1"}, r"of times above 0 .*, got: '0\+1'$"),
        ({"time": "10"}, r"got: '10'; do you mean 10s\?"),
        ({"time": "5 Min + 500 msec"}, r"do you mean 5m\+500ms\?"),
    ],
)
def test_what_there_is_not_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=f"expected .*{told}"):
        make_settings("samurai", 2, **options)


def test_a_list_of_values_must_be_for_as_many_as_play() -> None:
    settings = make_settings("gardener", 2, overrides=["features=on,off"])
    assert settings.options["features"] == "on,off"
    with pytest.raises(ConfigError, match="expected features to have one value, or one for each of 3 seats"):
        make_settings("gardener", 3, overrides=["features=on,off"])


@pytest.mark.parametrize("window", [-0.001, 1000.5, float("nan"), float("inf")])
@pytest.mark.parametrize("rules", names())
def test_a_race_window_is_from_0_to_1000_ms(rules: str, window: float) -> None:
    with pytest.raises(ConfigError, match=r"expected a race window of 0 to 1000 ms, got: .*; use --race-window"):
        make_settings(rules, 2, race_window_ms=window)


@pytest.mark.parametrize("window", [0, 2.5, 1000])
def test_a_race_has_the_window_that_is_given(window: float) -> None:
    assert make_settings("gardener", 2, ruleset="race", race_window_ms=window).race_window_ms == window


@pytest.mark.parametrize(("rules", "ruleset"), [("samurai", None), ("gardener", "draft"), ("gardener", "young")])
def test_a_race_window_where_nobody_races_is_refused(rules: str, ruleset: str | None) -> None:
    with pytest.raises(
        ConfigError, match=f"expected rules with a race for .* 5 ms, got: {rules} .*, where nobody races"
    ):
        make_settings(rules, 2, ruleset=ruleset, race_window_ms=5)
