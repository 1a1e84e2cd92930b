"""The page of a game: everything about every option, at any width."""

from __future__ import annotations

from typing import NoReturn

import pytest

from arena.core.catalogue import game, names
from arena.core.errors import ConfigError
from arena.core.rules.family import Family
from arena.core.show import rules as module
from arena.core.show.rules import family_lines, family_list, list_lines, page_lines, rules_list, rules_page

RULESETS = [(name, ruleset) for name in names() for ruleset in (None, *game(name).rulesets)]


def text(name: str, ruleset: str | None = None, width: int = 80) -> str:
    return "\n".join(line.plain for line in page_lines(rules_page(name, ruleset), width))


@pytest.mark.parametrize("name", names())
def test_a_page_tells_every_value_its_meaning_and_its_rulesets(name: str) -> None:
    rules = game(name)
    joined = " ".join(text(name).split())
    for option in rules.option_list:
        assert f"{option.name} {option.help}" in joined
        for value, meaning in option.values.items():
            have = [
                key
                for key, ruleset in rules.rulesets.items()
                if ruleset.options.get(option.name, option.default) == value
            ]
            chosen = "all rulesets" if len(have) == len(rules.rulesets) else ", ".join(have)
            assert f"{value} {meaning} [{chosen}]" in joined or (not have and f"{value} {meaning}" in joined)
    for key, ruleset in rules.rulesets.items():
        assert f"{key} {ruleset.about}" in joined
    for one, other in rules.contradictions:
        assert f"{one} and {other}" in joined


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(("name", "ruleset"), RULESETS)
def test_a_page_fits_the_width_and_is_never_wider_than_one_reads(name: str, ruleset: str | None, width: int) -> None:
    lines = text(name, ruleset, width).splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    assert all(line == line.rstrip() for line in lines)


def test_numbers_are_told_as_a_range() -> None:
    assert "1-999 any whole number" in " ".join(text("gardener").split())


def test_a_page_of_one_ruleset_tells_its_values_only() -> None:
    page = rules_page("samurai", "basic")
    assert [row["ruleset"] for row in page["rulesets"]] == ["basic"]
    chosen = {row["option"]: [one["value"] for one in row["values"] if one["rulesets"]] for row in page["options"]}
    options = {"ends": "caste"} | game("samurai").rulesets["basic"].options
    assert chosen == {option: [value] for option, value in options.items()}
    assert "standard" not in text("samurai", "basic").replace("the default", "")


def test_an_unknown_name_suggests_a_close_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'samurai'"):
        rules_page("samuray")
    with pytest.raises(ConfigError, match="did you mean 'basic'"):
        rules_page("samurai", "basics")


@pytest.mark.parametrize("width", [60, 200])
def test_the_list_has_every_game_with_players_rulesets_and_a_sentence(width: int) -> None:
    lines = [line.plain for line in list_lines(rules_list(), width)]
    assert max(map(len, lines)) <= width
    joined = " ".join(" ".join(lines).split())
    for name in names():
        rules = game(name)
        last = rules.seat_counts[-1]
        assert f"{name} 2 to {last} players; rulesets {', '.join(rules.rulesets)} {rules.about}" in joined


def test_a_family_is_one_line_of_the_list_and_has_a_list_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cards(Family):
        about = "Games with cards"

        def games(self) -> dict[str, str]:
            return {"war": "War", "go_fish": "Go Fish"}

        def game(self, name: str) -> NoReturn:
            raise AssertionError("to list games none is loaded")

    monkeypatch.setattr(module, "families", lambda: ("cards",))
    monkeypatch.setattr(module, "family", lambda name: Cards())
    listed = " ".join(" ".join(line.plain for line in list_lines(rules_list(), 80)).split())
    assert listed.endswith("cards 2 games: arena rules list cards Games with cards")
    assert [line.plain.split(maxsplit=1) for line in family_lines(family_list("cards"), 80)] == [
        ["cards:war", "War"],
        ["cards:go_fish", "Go Fish"],
    ]
