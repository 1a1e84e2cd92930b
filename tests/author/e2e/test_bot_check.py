"""The bot check, tried on a bot that keeps every rule and on many that break one each, as real processes."""

from __future__ import annotations

import itertools
import json
import runpy
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from arena.author.conform.findings import Budget
from arena.author.conform.report import BotReport, Grade, Verdict
from arena.author.conform.runner import check_bot
from arena.core.catalogue import names
from arena.core.errors import BotError
from arena.core.link.bots import BotSpec, bundled_bots, load_bot
from arena.core.referee import clock
from arena.core.tournament.settings import THINKERS
from arena.league.submissions.steps import Verdict as StepVerdict
from arena.league.submissions.steps.check import verdict as league_verdict
from tests.command_kit import ROOT, Run

BROKEN = Path(__file__).parents[2] / "broken" / "bot.py"
BUDGET = Budget(limit_ms=250, patience_ms=1_500, game_ms=250, farewell_ms=500, error_ms=500, total_ms=120_000)
"""A good bot answers at once; what never comes need not be awaited for long."""


def spec(*rules_broken: str, start_ms: int = 10_000, memory_mib: int = 2048) -> BotSpec:
    return BotSpec(
        name="broken",
        version="1",
        command=(sys.executable, str(BROKEN), *rules_broken),
        folder=str(BROKEN.parent),
        digest="0" * 64,
        rules=("samurai", "gardener"),
        memory_mib=memory_mib,
        start_ms=start_ms,
    )


def not_ok(report: BotReport) -> dict[str, Verdict]:
    """What the bot did not do, but for what the machine kept it from."""
    found = (result for result in report.results if not result.excuse)
    return {result.id: result.verdict for result in found if result.verdict not in (Verdict.OK, None)}


@pytest.mark.long
def test_a_bot_that_keeps_every_rule_reaches_level_full() -> None:
    report = check_bot(spec(), budget=BUDGET)
    assert not_ok(report) == {}
    assert report.counts["not_attempted"] == 0
    assert report.level is Grade.FULL
    assert None not in (report.start_ms, report.max_ms)
    assert report.memory_mib > 0
    assert 0 < report.own_ms < 1000 * report.seconds, "it is waited for, and something else is done too"


SAMURAI = ("samurai",)
GARDENER = ("gardener",)
FAILED = {
    "unwell": ("start.hello", "§4.3-2"),
    "mute": ("start.hello", "§4.3-1"),
    "wrong_token": ("start.token", "§8.1-2"),
    "new_version": ("start.version", "§8.1-3"),
    "ready_first": ("start.hello", "§8.1-1"),
    "hello_twice": ("start.once", "§8.1-1"),
    "no_tcp": ("start.tcp", "§4.1-1"),
    "home": ("start.environment", "§4.2-2"),
    "exact_version": ("start.minor", "§11-3"),
    "two_parts": ("frames.parts", "§5.1-1"),
    "trailing": ("frames.value", "§5.1-2"),
    "array": ("frames.value", "§5.1-3"),
    "oversized": ("frames.size", "§5.1-4"),
    "number_keys": ("frames.keys", "§5.2-1"),
    "repeated_key": ("frames.keys", "§5.2-2"),
    "floats": ("frames.values", "§5.2-3"),
    "binary": ("frames.values", "§5.2-3"),
    "timestamp": ("frames.values", "§5.2-3"),
    "no_type": ("frames.fields", "§5.3-1"),
    "missing_field": ("frames.fields", "§5.3-2"),
    "echo": ("frames.sender", "§5.3-6"),
    "long_note": ("frames.note", "§8.6-3"),
    "wrong_game": ("session.game", "§8.4-1"),
    "never_ready": ("session.ready", "§9-6"),
    "never_answers": ("session.action", "§9-3"),
    "wrong_id": ("session.id", "§8.6-1"),
    "two_answers": ("session.once", "§8.6-2"),
    "unasked": ("session.order", "§6-1"),
    "named": ("session.connection", "§4.1-6"),
    "reconnects": ("session.connection", "§4.1-2"),
    "disconnects": ("session.connection", "§4.3-2"),
    "chatters": ("session.remarks", "§5.3-7"),
    "illegal": ("samurai.turn", "§8.6-5"),
    "malformed": ("samurai.hand", "§8.6-4"),
    "misruled": ("samurai.ruleset-summary", "§8.6-5"),
    "duel_only": ("samurai.seats-4", "§4.3-2"),
    "second_game": ("session.games", "§4.3-2"),
    "leaver": ("sequences.crossing", "§4.3-2"),
    "strict_fields": ("tolerance.fields", "§5.3-4"),
    "strict_messages": ("tolerance.messages", "§5.3-5"),
    "obliging": ("tolerance.messages", "§5.3-5"),
    "type_first": ("tolerance.order", "§5.2-7"),
    "short_integers": ("tolerance.integers", "§5.2-7"),
    "small_buffer": ("tolerance.size", "§5.1-5"),
    "small_seed": ("tolerance.numbers", "§5.2-5"),
    "slow": ("time.limit", "§9-3"),
    "wasteful": ("time.bank", "§9-3"),
    "greedy_of_memory": ("resources.memory", "§10"),
    "stays": ("end.goodbye", "§4.3-3"),
    "status": ("end.goodbye", "§4.3-3"),
    "needs_welcome": ("end.early", "§4.3-3"),
}
"""By the rule that a bot breaks: the only check that fails, and a number that it names."""
LOOSE = {
    "type_last": ("frames.type_first", "§5.3-1"),
    "dice": ("sequences.seed", "§8.3"),
    "floods": ("resources.output", "§4.2"),
    "stoic": ("end.error", "§8.9"),
}
"""The same, of those that break a SHOULD."""
LACKING = {
    "no_setup": "samurai.setup", "unsupported": "gardener.score", "declines": "session.ready",
    "specialist": "session.ready",
}  # fmt: skip
"""The same, of those that do not play everything."""
OF_GARDENER = {"sore_loser": ("gardener.ruleset-race", "§8.6-5")}
LATE = {"slow", "wasteful", "mute", "never_ready", "never_answers", "type_first", "stays"}
"""Those that are too late, or of whom nothing came in time."""
SPEECHLESS = {"unwell", "mute", "no_tcp", "home"}  # those that fail before they have said anything


def check(rule: str, rules: tuple[str, ...] = SAMURAI) -> BotReport:
    start_ms = 600 if rule in ("mute", "never_ready", "type_first") else 10_000
    return check_bot(
        spec(rule, start_ms=start_ms, memory_mib=96 if rule == "greedy_of_memory" else 2048), rules, budget=BUDGET
    )


@pytest.mark.quick(1, 12)
@pytest.mark.parametrize("rule", [*FAILED, *OF_GARDENER])
def test_a_bot_that_breaks_one_rule_fails_in_the_check_of_that_rule_and_in_no_other(rule: str) -> None:
    report = check(rule, GARDENER if rule in OF_GARDENER else SAMURAI)
    id, number = (FAILED | OF_GARDENER)[rule]
    found = not_ok(report)
    excused = {result.id for result in report.results if result.excuse}
    expected = {id, "time.bank"} if rule == "slow" else {id}
    assert {*found} <= expected <= {*found} | excused, found
    (result,) = [result for result in report.results if result.id == id]
    assert result.verdict is Verdict.FAILED
    assert number in result.spec
    assert result.detail
    assert result.remedy
    assert (result.excuse is not None) == (rule in LATE), "what is about time is marked so"
    assert result.evidence is not None
    assert result.evidence.messages or rule in SPEECHLESS
    assert report.level is None


def test_a_check_that_had_no_core_itself_holds_no_lateness_against_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    waits_ns = itertools.count(step=10**10)
    own = SimpleNamespace(own_wait_ns=lambda: next(waits_ns))
    monkeypatch.setattr("arena.author.conform.dialogue.process_trees", own)
    # What a busy machine denied the bot would be named first: it is not known here.
    unknown = SimpleNamespace(**{**vars(clock), "Share": lambda denied_ns, cpu_ns: None})
    monkeypatch.setattr("arena.author.conform.dialogue.clocks", unknown)
    report = check("wasteful")
    (late,) = report.hindering(Grade.FULL)
    assert (late.id, late.excuse) == ("time.bank", "the machine was overloaded: the referee itself ran late")
    assert league_verdict(report) is StepVerdict.MACHINE


@pytest.mark.quick(1)
@pytest.mark.parametrize("rule", LOOSE)
def test_a_bot_that_breaks_a_should_is_non_strict_there_and_reaches_core(rule: str) -> None:
    report = check(rule)
    id, number = LOOSE[rule]
    assert not_ok(report) == {id: Verdict.NON_STRICT}
    assert number in next(result.spec for result in report.results if result.id == id)
    assert report.level is Grade.CORE
    assert league_verdict(report) is StepVerdict.PASSED, "what a bot should do keeps it from no league"


@pytest.mark.long
def test_a_bot_that_the_clock_cut_short_plays_alike_with_more_time() -> None:
    report = check("hurried")
    assert not_ok(report) == {}
    assert report.level is Grade.FULL


@pytest.mark.long
@pytest.mark.parametrize("rule", LACKING)
def test_a_decision_that_is_not_answered_is_unimplemented_and_keeps_the_bot_from_core(rule: str) -> None:
    report = check(rule, GARDENER if LACKING[rule].startswith("gardener") else SAMURAI)
    assert not_ok(report) == {LACKING[rule]: Verdict.UNIMPLEMENTED}
    assert report.level is None


def test_a_decision_that_goes_well_only_at_first_has_failed_and_nothing_is_ok_that_was_not_seen() -> None:
    """The last setting-up of Samurai is of the kind of the first ones."""
    faulty = BROKEN.parents[1] / "faulty" / "bot.py"
    command = ("{python}", str(faulty), ",".join(["ok"] * 11 + ["malformed"] * 500))
    bot = msgspec.structs.replace(spec(), command=command, rules=("samurai",))
    report = check_bot(bot, ("samurai",), budget=BUDGET)
    found = {result.id: result for result in report.results}
    assert found["samurai.setup"].verdict is Verdict.FAILED
    assert "2 seats, decision 'setup': sent an action that cannot be read: " in found["samurai.setup"].detail, (
        "it says what the referee says"
    )
    assert found["tolerance.numbers"].verdict is None, "what the bot does wrong anyway says nothing of large numbers"
    assert found["time.limit"].verdict is found["time.bank"].verdict is None, "no game came to its end"
    assert [result.id for result in report.results if result.verdict is Verdict.FAILED] == ["samurai.setup"]
    assert report.level is None


def test_of_what_a_bot_never_comes_to_nothing_is_ok() -> None:
    found = {result.id: result for result in check("floats", SAMURAI).results}
    assert found["start.hello"].verdict is Verdict.OK
    for id in ("session.id", "session.game", "session.once", "frames.note"):
        assert (found[id].verdict, found[id].detail) == (None, "frames.values failed")


@pytest.mark.long
def test_a_wrong_wish_is_no_breach_but_pointed_out() -> None:
    report = check("typo")
    assert report.level is Grade.FULL
    (result,) = [result for result in report.results if result.id == "start.hello"]
    assert "'lega', which this version does not have (did you mean 'legal'?)" in result.detail


def test_every_rule_that_the_broken_bot_knows_is_tried() -> None:
    known = {*runpy.run_path(str(BROKEN))["RULES"]}
    assert known == {*FAILED, *OF_GARDENER, *LOOSE, *LACKING, "typo", "hurried"}


def test_what_was_not_attempted_says_because_of_what() -> None:
    report = check("floats")
    skipped = [result for result in report.results if result.verdict is None]
    assert len(skipped) > 30
    assert {result.detail for result in skipped} == {"frames.values failed"}


def test_a_check_whose_time_is_over_ends_and_says_so() -> None:
    report = check_bot(spec(), SAMURAI, Budget(total_ms=0))
    assert report.level is None
    due = [result.detail for result in report.results if result.id not in ("frames.type_first", "resources.output")]
    assert {*due} == {"the check has taken its 0 s"}


@pytest.mark.long
def test_the_evidence_shows_what_was_sent_what_came_and_what_the_bot_wrote() -> None:
    report = check("strict_fields")
    (result,) = [result for result in report.results if result.verdict is Verdict.FAILED]
    assert result.evidence is not None
    last = result.evidence.messages[-1]
    assert (last.sender, '"x_unknown":null' in last.decoded) == ("referee", True)
    assert last.hex.startswith("8")
    assert "unknown field" in result.evidence.stderr
    assert "exited with status 1" in result.detail
    assert "skip those that you do not know" in result.remedy


@pytest.mark.long(2)
@pytest.mark.parametrize("name", [bot.name for bot in bundled_bots()])
def test_every_bundled_bot_reaches_level_full(name: str) -> None:
    """But for those whose play depends on how fast the machine is: they keep every MUST, also if they think briefly."""
    try:
        bot = load_bot(name)
    except BotError as error:
        pytest.skip(str(error))
    if name in THINKERS:
        bot = msgspec.structs.replace(bot, command=(*bot.command, "0.01"))
    report = check_bot(bot, budget=Budget(limit_ms=200, game_ms=500, total_ms=120_000))
    assert report.reaches(Grade.CORE if name in THINKERS else Grade.FULL), [
        result for result in report.results if result.verdict is not Verdict.OK
    ]


def folder(parent: Path, *rules_broken: str) -> None:
    parent.mkdir()
    command = json.dumps(["{python}", str(BROKEN), *rules_broken])
    (parent / "bot.toml").write_text(
        f'name = "{parent.name}"\nversion = "2"\ncommand = {command}\nrules = ["samurai"]\n'
    )


def test_the_command_prints_a_report_and_exits_as_the_demanded_level_says(arena: Run, tmp_path: Path) -> None:
    folder(tmp_path / "loose", "type_last")
    core = arena("bot", "check", "./loose")
    arena("bot", "check", "./loose", "--level", "full", code=3)
    assert core.stderr.startswith("./loose is checked in its folder, since it cannot be sent: expected files in the")
    assert "loose reaches level core: " in core.stdout
    assert "  non_strict     §5.3-1      writes type first" in core.stdout


def test_what_a_league_would_not_get_is_not_there_when_a_bot_is_checked(arena: Run, tmp_path: Path) -> None:
    """A folder that is linked and one that is empty: the bot needs both, and its archive has neither."""
    (tmp_path / "linked" / "models" / "v3").mkdir(parents=True)
    (tmp_path / "linked" / "data").mkdir()
    (tmp_path / "linked" / "model").symlink_to("models/v3")
    (tmp_path / "linked" / "models" / "v3" / "w").write_text("3")
    shutil.copy(ROOT / "bots/python/arena_bot.py", tmp_path / "linked")
    needs = "import os\nopen('model/w')\nos.listdir('data')\n"
    (tmp_path / "linked" / "bot.py").write_text(needs + (ROOT / "bots/python/template/bot.py").read_text())
    (tmp_path / "linked" / "bot.toml").write_text('name = "linked"\ncommand = ["{python}", "bot.py"]\n')
    sent = arena("bot", "check", "./linked", "--rules", "samurai", code=3)
    assert sent.stderr.splitlines() == ["left out: data (an empty folder), model (a link to a folder)"]
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'model/w'" in sent.stdout
    in_place = arena("bot", "check", "./linked", "--rules", "samurai", "--in-place")
    assert "linked reaches level full" in in_place.stdout
    assert in_place.stderr == ""


@pytest.mark.long
def test_several_bots_make_one_document_and_one_junit_file(arena: Run, tmp_path: Path) -> None:
    folder(tmp_path / "good")
    folder(tmp_path / "bad", "wrong_token")
    done = arena("bot", "check", "./good", "./bad", "--json", "--junit", "report.xml", code=3)
    document: dict[str, Any] = json.loads(done.stdout)
    assert {*document} == {"level", "confined", "passed", "bots"}
    good, bad = document["bots"]
    assert (document["passed"], good["level"], bad["level"]) == (False, "full", None)
    assert {*good} == {*BotReport.__struct_fields__}
    (failed,) = [result for result in bad["results"] if result["verdict"] == "failed"]
    assert failed["evidence"]["messages"][-1]["from"] == "bot"
    suites = ElementTree.parse(tmp_path / "report.xml").getroot().findall("testsuite")
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [("good", "0"), ("bad", "1")]


def test_unknown_rules_are_refused_before_anything_is_started(arena: Run) -> None:
    done = arena("bot", "check", "random", "--rules", "samuraj", code=2)
    assert f"expected rules among {', '.join(names())}, got: 'samuraj' (did you mean 'samurai'?)" in done.stderr
