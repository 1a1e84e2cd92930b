"""`league.toml`: what is wrong is named with its line, and no change mixes ratings."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.league.season.closing import check_season
from arena.league.season.template import text
from arena.league.settings import Bots, Game, Settings, parse

DEFAULT = text(Settings(name="cup"))


def test_the_template_is_the_defaults_and_explains_every_key() -> None:
    assert parse(DEFAULT) == Settings(name="cup")
    table = tomllib.loads(DEFAULT)
    for section, defaults in msgspec.to_builtins(Settings(name="cup")).items():
        if isinstance(defaults, dict):
            assert set(table[section]) == set(defaults), section
    lines = DEFAULT.splitlines()
    keys = [number for number, line in enumerate(lines) if re.match(r"\w+ =", line)]
    assert [lines[number] for number in keys if not lines[number - 1].startswith("#")] == []


def test_a_fenced_league_has_no_remote_bots() -> None:
    changed = DEFAULT.replace('level = "isolated"', 'level = "fenced"').replace("remote = false", "remote = true")
    with pytest.raises(ConfigError, match=r"league.toml:\d+: expected false at level fenced"):
        parse(changed)


@hypothesis_settings(max_examples=20)  # each makes the rules of a game
@given(
    name=st.from_regex(r"\A[a-z][a-z0-9]{0,20}\Z"),
    players=st.lists(st.integers(2, 4), min_size=1, max_size=3, unique=True),
    time=st.sampled_from(["10s", "1m+1", "500ms/move"]),
    ruleset=st.sampled_from(["", "basic", "standard"]),
    level=st.sampled_from(["trusted", "fenced", "isolated", "strict"]),
    options=st.sampled_from([{}, {"setup": "random"}]),
)
def test_what_is_chosen_is_read_back(
    name: str, players: list[int], time: str, ruleset: str, level: str, options: dict[str, str]
) -> None:
    game = Game(players=tuple(players), time=time, ruleset=ruleset, options=options)
    settings = Settings(name=name, game=game, bots=msgspec.convert({"level": level}, Bots))
    assert parse(text(settings)) == settings


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[limits]",
            "[limit]",
            r"one of name, format, game, .*, got: 'limit' \(did you mean 'limits'\?\) - at league.toml:LINE",
        ),
        (
            "forfeits = 5",
            "forfeit = 5",
            r"in \[suspension\] one of forfeits, .* got: 'forfeit' \(did you mean 'forfeits'",
        ),
        ("forfeits = 5", "forfeits = 0", r"league.toml:LINE: forfeits: expected `int` >= 1"),
        ("forfeits = 5", "forfeits = 30", r"league.toml:LINE: expected no more forfeits than games, got: 30 in 20"),
        ('level = "isolated"', 'level = "iso"', r"league.toml:LINE: level: invalid enum value 'iso'"),
        ("players = [2]", "players = [2, 9]", r"league.toml:LINE: expected 2 to 4 players for samurai, got: 9"),
        ("players = [2]", "players = []", r"league.toml:LINE: expected numbers of players"),
        ('rules = "samurai"', 'rules = "samura"', r"league.toml:LINE: .*got: 'samura' \(did you mean 'samurai'\?\)"),
        ('time = "10+0.1"', 'time = "soon"', r"league.toml:LINE: expected a time control .* got: 'soon'"),
        ("sample = 64", "sample = 1", r"league.toml:LINE: sample: expected"),
        ("forfeit_days = 365", "forfeit_days = 3", r"league.toml:LINE: expected forfeit_days to be at least days"),
        ("final_deals = 2000", "final_deals = 2", r"league.toml:LINE: expected final_deals to be at least 28"),
        ("final = 8", "final = 1", r"league.toml:LINE: expected at least 2 finalists"),
        ("sample = 64", "sample = true", r"league.toml:LINE: sample: expected `int`, got `bool`"),
        ('name = "cup"', 'name = "../cup"', r"league.toml:LINE: expected at most 64 letters"),
        ('name = "cup"', "name = ", r"expected a TOML file, got: .* - at league.toml"),
        ('bind = ""', 'bind = "tcp://*:5599"', r"league.toml:\d+: expected HOST:PORT, .*, an address of ZeroMQ, which"),
        ('tls = ""', 'tls = "yes"', r'league.toml:\d+: expected tls = "self", or \["CERT", "KEY"\], got: .yes.'),
        ('tls = ""', 'host = "cup.example"', r"expected in \[door\] one of bind, url, tls, got: 'host' - at .*:\d+; "),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, message: str) -> None:
    assert old in DEFAULT
    changed = DEFAULT.replace(old, new)
    line = next(number for number, each in enumerate(changed.splitlines(), 1) if each.startswith(new))
    with pytest.raises(ConfigError, match=message.replace("LINE", str(line))):
        parse(changed)


@pytest.mark.parametrize(("value", "message"), [("3", "setup: expected `str`"), ('"no"', "expected .*setup")])
def test_an_option_that_is_wrong_names_its_own_line(value: str, message: str) -> None:
    before, after = DEFAULT.split("options = {}\n", 1)
    changed = f'{before}{after}\n[game.options]\ncaptures = "instant"\nsetup = {value}\n'
    with pytest.raises(ConfigError, match=rf"league.toml:{changed.count(chr(10))}: {message}"):
        parse(changed)


@pytest.mark.parametrize(
    ("game", "bots", "named"),
    [
        (Game(players=(2, 4)), Bots(), "players"),
        (Game(time="1m+1"), Bots(), "time"),
        (Game(ruleset="basic"), Bots(), "ruleset"),
        (Game(options={"setup": "random"}), Bots(), "ruleset"),
        (Game(rules="gardener"), Bots(), "rules"),
        (Game(), Bots(level="strict"), "level"),
    ],
)
def test_what_would_mix_ratings_is_refused_until_the_next_season(game: Game, bots: Bots, named: str) -> None:
    fixed = Settings(name="cup").season_settings()
    changed = Settings(name="cup", game=game, bots=bots)
    with pytest.raises(ConfigError, match=rf"expected {named} as when the season 'first' began.*arena league season"):
        check_season(changed, "first", fixed, "league.toml", text(changed))


def test_what_mixes_nothing_may_change_in_a_season() -> None:
    fixed = Settings(name="cup").season_settings()
    changed = parse(DEFAULT.replace("pending = 3", "pending = 9").replace("sample = 64", "sample = 32"))
    check_season(changed, "first", fixed, "league.toml", DEFAULT)


def test_a_changed_board_file_is_another_board(tmp_path: Path) -> None:
    from arena.core.resources import board_text

    name, board = board_text("japan")
    (tmp_path / "mine.board").write_text(board)
    changed = DEFAULT.replace('board = ""', 'board = "mine.board"')
    settings = parse(changed, "league.toml", tmp_path)
    fixed = settings.season_settings()
    check_season(settings, "first", fixed, "league.toml", changed)
    (tmp_path / "mine.board").write_text(f"# {name}, changed\n{board}")
    with pytest.raises(ConfigError, match="expected board as when the season"):
        check_season(parse(changed, "league.toml", tmp_path), "first", fixed, "league.toml", changed)
