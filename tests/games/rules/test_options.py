"""Options and rulesets by name: what every game offers, and what is refused with the close or contradicting one."""

from __future__ import annotations

import pytest
from kit import at_default_board

from arena.core.catalogue import game, make_rules, names, resolve_options
from arena.core.errors import ConfigError

every_game = pytest.mark.parametrize("name", names())


@every_game
def test_the_first_ruleset_has_the_defaults_and_every_ruleset_every_option(name: str) -> None:
    options = [option for option in game(name).option_list if not option.later]
    first = next(iter(game(name).rulesets))
    assert resolve_options(name, None, {}) == (first, {option.name: option.default for option in options})
    for ruleset in game(name).rulesets:
        resolved, values = resolve_options(name, ruleset, {})
        assert resolved == ruleset
        assert [*values] == [option.name for option in options]
        assert all(option.accepts(values[option.name]) for option in options)
        assert at_default_board(name, game(name).seat_counts[0], ruleset).options == values


@every_game
def test_rulesets_differ(name: str) -> None:
    sets = [resolve_options(name, ruleset, {})[1] for ruleset in game(name).rulesets]
    assert all(one != other for at, one in enumerate(sets) for other in sets[:at])


@every_game
def test_options_that_make_up_a_ruleset_are_called_by_its_name(name: str) -> None:
    for ruleset, known in game(name).rulesets.items():
        for other in game(name).rulesets:
            assert resolve_options(name, other, known.options)[0] == ruleset


@every_game
def test_every_value_can_be_set_alone(name: str) -> None:
    for option in game(name).option_list:
        for value in option.values:
            ruleset, values = resolve_options(name, None, {option.name: value})
            assert values.get(option.name, option.default) == value
            named = game(name).rulesets.get(ruleset)
            assert ruleset == "custom" if named is None else named.options == values
            assert at_default_board(name, 2, next(iter(game(name).rulesets)), **{option.name: value}).options == values
            assert not option.later or (option.name in values) == (value != option.default)


@every_game
def test_what_does_not_exist_is_refused_with_the_close_one(name: str) -> None:
    for ruleset in game(name).rulesets:
        with pytest.raises(ConfigError, match=f"got: '{ruleset}x' .did you mean '{ruleset}'"):
            resolve_options(name, f"{ruleset}x", {})
    for option in game(name).option_list:
        with pytest.raises(ConfigError, match=f"got: '{option.name}x' .did you mean '{option.name}'"):
            resolve_options(name, None, {f"{option.name}x": option.default})
        for value in option.values:
            with pytest.raises(ConfigError) as caught:
                resolve_options(name, None, {option.name: f"{value}x"})
            message = str(caught.value)
            assert f"expected a value of {option.name}: {option.domain()}, got: '{value}x'" in message
            assert f"did you mean '{value}'" in message


@every_game
def test_what_is_close_to_nothing_is_refused_with_all_there_is(name: str) -> None:
    with pytest.raises(ConfigError, match=f"one of {', '.join(game(name).rulesets)}, got: 'zzz'$"):
        resolve_options(name, "zzz", {})
    known = ", ".join(("most_decisions", "most_lead", *(option.name for option in game(name).option_list)))
    with pytest.raises(ConfigError, match=f"an option of {name}, one of {known}, got: 'zzz'$"):
        resolve_options(name, None, {"zzz": "yes"})


@every_game
def test_contradictions_are_refused_with_both_named(name: str) -> None:
    for one, other in game(name).contradictions:
        overrides = dict(setting.split("=") for setting in (one, other))
        assert len(overrides) == 2
        for option, value in overrides.items():
            assert next(known for known in game(name).option_list if known.name == option).accepts(value)
            resolve_options(name, None, {option: value})
        with pytest.raises(ConfigError, match=f"got: {one} and {other}; change one of them"):
            resolve_options(name, None, overrides)


def test_instant_captures_contradict_a_chosen_order_of_captures() -> None:
    """Also where one of the two comes from the ruleset, and where the options come from elsewhere."""
    both = "captures=instant and capture_order=chosen"
    with pytest.raises(ConfigError, match=both):
        resolve_options("samurai", "standard", {"capture_order": "chosen", "captures": "instant"})
    with pytest.raises(ConfigError, match=both):
        resolve_options("samurai", "classic", {"capture_order": "chosen"})
    assert resolve_options("samurai", "classic", {"capture_order": "chosen", "captures": "turn_end"})[0] == "custom"
    options = resolve_options("samurai", "classic", {})[1] | {"capture_order": "chosen"}
    with pytest.raises(ConfigError, match=both):
        make_rules("samurai", 2, options)


@every_game
def test_rules_are_made_only_with_every_option_and_a_number_of_players_that_the_game_has(name: str) -> None:
    options = resolve_options(name, None, {})[1]
    missing = next(iter(options))
    with pytest.raises(ConfigError, match=f"every option of {name} to be set, these are missing: {missing}$"):
        make_rules(name, 2, {key: value for key, value in options.items() if key != missing})
    counts = game(name).seat_counts
    for seats in (counts.start - 1, counts.stop):
        with pytest.raises(ConfigError, match=f"{counts.start} to {counts.stop - 1} players for {name}, got: {seats}"):
            make_rules(name, seats, options)


def test_an_option_may_have_a_value_for_each_seat() -> None:
    values = resolve_options("gardener", "race", {"features": "on,off,off"})[1]
    assert at_default_board("gardener", 3, "race", features="on,off,off").options == values
    for seats in (2, 4):
        with pytest.raises(ConfigError, match=f"one value, or one for each of {seats} seats, got: 'on,off,off'"):
            at_default_board("gardener", seats, "race", features="on,off,off")
    for wrong in ("on,", ",on", "on, off", "on,of", "on;off"):
        with pytest.raises(ConfigError, match="features: on, off, or one for each seat, joined by commas, got: "):
            resolve_options("gardener", None, {"features": wrong})
    with pytest.raises(ConfigError, match="a value of seize: draft, race, got: 'draft,race'"):
        resolve_options("gardener", None, {"seize": "draft,race"})


@pytest.mark.parametrize("value", ["1", "999", "0", "1000", "07", "-5", "1.5", "٢٥"])
def test_numbers_are_taken_within_their_range_in_plain_digits(value: str) -> None:
    if value in ("1", "999"):
        assert resolve_options("gardener", None, {"target": value})[1]["target"] == value
    else:
        with pytest.raises(ConfigError, match=f"a value of target: 25, or 1 to 999, got: '{value}'"):
            resolve_options("gardener", None, {"target": value})
