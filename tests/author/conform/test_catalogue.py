"""What is checked: unique names, numbers that exist, and every rule that binds a bot."""

from __future__ import annotations

import re

import pytest

from arena.author.conform.findings import RULES
from arena.author.conform.games import kinds_of
from arena.author.conform.report import Grade, Verdict
from arena.author.conform.runner import checks, rules_to_check, sections, unclaimed
from arena.core.catalogue import game, names
from arena.core.errors import ConfigError
from arena.core.link.bots import BotSpec
from arena.core.resources import protocol_folder

NAMES = names()
CHECKS = checks(NAMES)
SPECIFICATION = (protocol_folder() / "SPEC.md").read_text(encoding="utf-8")
NUMBERS = {f"§{number}" for number in re.findall(r"\*\*§([\d.]+-\d+)°?\*\*", SPECIFICATION)}
SECTION_NUMBERS = {f"§{number}" for number in re.findall(r"^##+ ([\d.]+?)\.? ", SPECIFICATION, re.MULTILINE)}
BINDING = re.findall(
    r"\S+",
    """
    §4.1-1 §4.1-2 §4.1-3 §4.1-4 §4.1-6 §4.2-2 §4.3-1 §4.3-2 §4.3-3 §5.1-1 §5.1-2 §5.1-3 §5.1-4 §5.2-1
    §5.2-2 §5.2-3 §5.2-4 §5.2-5
    §5.2-6 §5.2-7 §5.2-8 §5.3-1 §5.3-2 §5.3-3 §5.3-4 §5.3-5 §5.3-6 §5.3-7 §6-1 §8.1-1 §8.1-2 §8.1-3 §8.2-1 §8.4-1
    §8.6-1 §8.6-2 §8.6-3 §8.6-4 §8.6-5 §9-3 §9-6 §11-3
""",
)
"""The MUSTs that a bot can break; the others bind the referee."""


def test_every_number_that_is_cited_exists() -> None:
    cited = {number for check in CHECKS for number in check.spec} | {*RULES}
    assert cited <= NUMBERS | SECTION_NUMBERS


def test_every_rule_that_binds_a_bot_is_checked() -> None:
    assert {*BINDING} <= NUMBERS
    assert {*BINDING} <= {number for check in CHECKS for number in check.spec}


def test_ids_are_unique_and_belong_to_sections() -> None:
    ids = [check.id for check in CHECKS]
    assert len({*ids}) == len(ids)
    assert {id.partition(".")[0] for id in ids} == {*sections()}


def test_a_must_is_of_core_and_a_should_cites_a_section_or_is_of_full() -> None:
    for check in CHECKS:
        assert check.spec, check.id
        assert check.level in (Grade.CORE, Grade.FULL)


def test_a_check_needs_what_runs_before_it() -> None:
    """One that watches is judged when all others have run."""
    ids = [check.id for check in CHECKS]
    for number, check in enumerate(CHECKS):
        assert {*check.needs} <= {*(ids if check.run is None else ids[:number])}, check.id


def test_breaches_are_reported_to_checks_that_watch() -> None:
    watching = {check.id for check in CHECKS if check.run is None}
    assert {about for about, _ in RULES.values()} <= watching


@pytest.mark.parametrize("rules", NAMES)
def test_every_kind_ruleset_and_number_of_seats_has_a_check(rules: str) -> None:
    ids = {check.id for check in checks([rules])}
    expected = {f"{rules}.{kind}" for kind in kinds_of(rules)}
    expected |= {f"{rules}.ruleset-{ruleset}" for ruleset in game(rules).rulesets}
    expected |= {f"{rules}.seats-{seats}" for seats in game(rules).seat_counts}
    assert {id for id in ids if id.startswith(f"{rules}.")} == expected


def test_the_kinds_of_a_game_come_in_the_order_of_play() -> None:
    assert kinds_of("samurai") == ("hand", "setup", "turn")
    assert kinds_of("gardener") == ("seize", "plant", "score")


def spec(*rules: str) -> BotSpec:
    return BotSpec(name="b", version="", command=("x",), folder="/", digest="", rules=rules)


def test_rules_are_those_that_are_wanted_else_of_the_manifest_else_all() -> None:
    assert rules_to_check(spec("samurai"), ["gardener"]) == ("gardener",)
    assert rules_to_check(spec("gardener", "go")) == ("gardener",)
    assert rules_to_check(spec()) == NAMES
    with pytest.raises(ConfigError, match=f"expected a bot that plays {' or '.join(NAMES)}, got: go"):
        rules_to_check(spec("go"))


def test_rules_that_are_not_claimed_are_unimplemented_and_optional() -> None:
    results = {result.id: result for result in unclaimed(("samurai",), ("samurai",))}
    assert {*results} == {f"{name}.rules" for name in NAMES if name != "samurai"}
    result = results["gardener.rules"]
    assert (result.verdict, result.level) == (Verdict.UNIMPLEMENTED, Grade.OPTIONAL)
    (result,) = unclaimed(NAMES, (*NAMES, "go"))
    assert (result.id, result.detail) == ("go.rules", f"there is no such game; expected some of {', '.join(NAMES)}")
    assert unclaimed(NAMES, ()) == []
