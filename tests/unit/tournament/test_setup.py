"""What the operator typed is read, completed, and refused before anything starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from arena.tournament.setup import Setup, bundled_python_bots, parse_options, set_up

from arena.errors import ConfigError
from arena.rules import NAMES, game
from arena.store.records import Tournament
from arena.tournament.plan import draw_tournament

BARE = "cmd:{python} -c pass"
"""A bot that does not say what it plays."""


DEFAULTS: dict[str, Any] = {
    "rules": "samurai",
    "ruleset": None,
    "options": {},
    "board": None,
    "players": 2,
    "deals": 1,
    "seatings": "cyclic",
    "time": "10+0.1",
    "race_window_ms": 1.0,
    "seed": "tea",
}


def typed(*bots: str, **options: Any) -> Setup:
    """What `arena tournament BOTS` makes of its defaults and some options."""
    return set_up(bots or (BARE, BARE), **DEFAULTS | options)


@pytest.fixture
def bot(tmp_path: Path) -> Any:
    """Makes a bot that plays some rules; its folder."""

    def make(name: str, *rules: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        command = f'command = ["{{python}}", "-c", "pass"]\nrules = {json.dumps(rules)}'
        (folder / "bot.toml").write_text(f'name = "{name}"\n{command}\n')
        return str(folder)

    return make


@pytest.mark.parametrize("rules", NAMES)
def test_a_game_is_played_by_its_first_ruleset_unless_another_is_named(rules: str) -> None:
    first, *others = game(rules).rulesets
    assert typed(rules=rules).settings.ruleset == first
    for ruleset in others:
        settings = typed(rules=rules, ruleset=ruleset).settings
        assert (settings.ruleset, settings.options) == (ruleset, dict(game(rules).rulesets[ruleset].options))


@pytest.mark.parametrize("rules", NAMES)
def test_every_number_of_players_that_a_game_has_may_play(rules: str) -> None:
    counts = game(rules).seat_counts
    for players in counts:
        assert typed(*[BARE] * players, rules=rules, players=players).settings.schedule().total() == players
    with pytest.raises(ConfigError, match=f"expected 2 to {counts.stop - 1} players for {rules}, got: {counts.stop}"):
        typed(*[BARE] * counts.stop, rules=rules, players=counts.stop)


def test_one_option_that_differs_makes_the_ruleset_custom() -> None:
    settings = typed(options=parse_options(["setup=random"])).settings
    assert settings.ruleset == "custom"
    assert settings.options["setup"] == "random"


def test_an_option_that_is_given_two_values_is_refused_with_both() -> None:
    assert parse_options(["setup=random", "hand=random", "setup=random"]) == {"setup": "random", "hand": "random"}
    with pytest.raises(ConfigError, match="expected one value of setup, got: setup=random and setup=draft"):
        parse_options(["setup=random", "hand=random", "setup=draft"])


def test_bots_that_do_not_play_the_game_are_refused_all_at_once_with_what_they_play(bot: Any) -> None:
    bots = [bot("ann", "chess"), BARE, bot("bob", "gardener", "samurai"), bot("cid", "go", "x\x1b[2J")]
    told = r"got: ann \(which plays 'chess'\), cid \(which plays 'go', 'x\\x1b\[2J'\); leave them out"
    with pytest.raises(ConfigError, match=f"expected bots that play gardener, {told}"):
        typed(*bots, rules="gardener")


@pytest.mark.parametrize("rules", NAMES)
def test_without_bots_those_in_python_that_play_the_game_enter(rules: str) -> None:
    specs = bundled_python_bots(rules)
    assert {"random", "greedy"} <= {spec.name for spec in specs}
    assert all(spec.language == "python" and rules in spec.rules for spec in specs)
    assert set_up((), **DEFAULTS | {"rules": rules}).specs == specs


def test_a_board_of_another_game_is_refused_with_the_game_it_is_of() -> None:
    with pytest.raises(ConfigError, match=r"expected a board of samurai, got: 'garden', .* use --rules gardener"):
        typed(board="garden")
    assert typed(board="garden", rules="gardener").settings == typed(rules="gardener").settings


@pytest.mark.parametrize("window", [-0.001, 1000.5, float("nan"), float("inf")])
@pytest.mark.parametrize("rules", NAMES)
def test_a_race_window_is_from_0_to_1000_ms(rules: str, window: float) -> None:
    with pytest.raises(ConfigError, match=r"expected a race window of 0 to 1000 ms, got: .*; use --race-window"):
        typed(rules=rules, race_window_ms=window)


@pytest.mark.parametrize("window", [0, 2.5, 1000])
def test_a_race_has_the_window_that_is_given(window: float) -> None:
    setup = typed(rules="gardener", ruleset="race", race_window_ms=window)
    assert setup.settings.race_window_ms == window
    assert setup.job(begun(setup), setup.settings.schedule().game(0)).race_window_ms == window
    assert setup.settings.digest != typed(rules="gardener", ruleset="race").settings.digest


def begun(setup: Setup) -> Tournament:
    return draw_tournament(setup.settings, "t", Path("logs"))


@pytest.mark.parametrize(("rules", "ruleset"), [("samurai", None), ("gardener", "draft"), ("gardener", "young")])
def test_a_race_window_where_nobody_races_is_refused(rules: str, ruleset: str | None) -> None:
    with pytest.raises(
        ConfigError, match=f"expected rules with a race for .* 5 ms, got: {rules} .*, where nobody races"
    ):
        typed(rules=rules, ruleset=ruleset, race_window_ms=5)


@pytest.mark.parametrize("rules", NAMES)
def test_a_job_is_all_that_a_worker_needs(rules: str) -> None:
    setup = typed(rules=rules)
    job = setup.job(begun(setup), setup.settings.schedule().game(1))
    assert msgspec.convert(msgspec.to_builtins(job), type(job)) == job
    assert (job.rules, job.ruleset, job.options) == (rules, setup.settings.ruleset, setup.settings.options)
    assert (job.rotation, len(job.bots), job.race_window_ms) == (1, 2, 1.0)
