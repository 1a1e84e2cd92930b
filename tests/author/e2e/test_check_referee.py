"""protocol/check_referee.py: arena's referee keeps all that it asks, and each fault in a referee is found by it."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import BREACHES, DATA, DIALOGUES, frame

ROOT = Path(__file__).parents[3]
CHECK = ROOT / "protocol" / "check_referee.py"
REFEREE = ROOT / "tests" / "faulty" / "referee.py"
MATCH = ["match", "{bots}", "--rules", "{rules}", "--rule={option}", "--time", "{time}", "--logs", "{folder}"]
TOLERANCE_MS = "2000"  # for a machine that does much else at once


@pytest.fixture(scope="module")
def program() -> Any:
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("check_referee", CHECK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_referee"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def check(*options: str, command: list[str]) -> tuple[int, dict[str, Any]]:
    """The exit status, and the document that it prints."""
    words = [sys.executable, str(CHECK), "--json", "--tolerance-ms", TOLERANCE_MS, *options, "--", *command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    return done.returncode, json.loads(done.stdout)


def arena(*options: str, fault: str = "") -> tuple[int, dict[str, Any]]:
    start = [sys.executable, str(REFEREE), fault] if fault else [sys.executable, "-m", "arena"]
    return check(*options, command=[*start, *MATCH])


def verdicts(document: dict[str, Any], verdict: str) -> dict[str, str]:
    return {result["id"]: result["seen"] for result in document["results"] if result["verdict"] == verdict}


# The referee of arena


@pytest.mark.thorough
def test_arena_keeps_everything() -> None:
    status, document = arena()
    assert verdicts(document, "broken") == {}
    assert all(id.startswith("untried.") for id in verdicts(document, "not tried"))
    assert status == 0
    assert len(document["results"]) > 70


# Referees with a fault

FAULTS = {
    "leak_in_events": "secrets.events",
    "id_that_counts_hidden_things": "session.numbers",
    "missing_game_over": "session.over",
    "late_answer_accepted": "time.late",
    "two_frames_accepted": "frames.parts",
    "clock_without_increment": "time.bank",
}
"""By fault: the check that finds it."""
MORE_FAULTS = {
    "any_id_accepted": "action.id",
    "clock_at_half_speed": "time.bank",
    "closed_is_late": "time.closed",
    "equal_seeds": "secrets.seeds",
    "event_left_out": "secrets.view",
    "forfeit_at_once": "session.together",
    "increment_for_every_request": "time.decision",
    "leak_of_a_sum": "secrets.worlds",
    "legal_in_a_hand_left_out": "action.complete",
    "legal_left_out": "action.complete",
    "names_told": "secrets.anonymous",
    "no_time_to_read": "session.killed",
    "receipt_of_other_times": "messages.receipt",
    "slowest_first": "time.race",
    "unwanted_fields": "messages.wants",
}
EVERY_FAULT = [*FAULTS.items(), *(pytest.param(*pair, marks=pytest.mark.thorough) for pair in MORE_FAULTS.items())]


@pytest.mark.quick(1, 3)
@pytest.mark.parametrize(("fault", "finder"), EVERY_FAULT)
def test_a_fault_of_a_referee_is_found(fault: str, finder: str) -> None:
    status, document = arena("--only", finder, fault=fault)
    assert list(verdicts(document, "broken")) == [finder]
    assert status == 1


def test_when_a_bot_was_killed_is_not_judged_by_when_a_busy_machine_let_it_read(program: Any) -> None:
    def played(read_ms: int | None, alive_ms: int) -> Any:
        entries = [program.Entry(0, "began"), program.Entry(0, "misdeed", what="action.illegal")]
        if read_ms is not None:
            entries.append(program.Entry(read_ms * program.NS, "in", message={"type": "error"}))
        session = program.Session("action.illegal", 0, program.Part(), "canary", entries, alive_ms * program.NS)
        return program.Played("action.illegal", [session])

    [check] = [check for check in program.CHECKS if check.id == "session.killed"]

    def verdict(*tries: Any) -> tuple[str, int]:
        left = list(tries)
        world = program.World({}, None, 250)
        world.replay = lambda runs: world.played.update({"action.illegal": left.pop(0)})
        world.replay(())
        return program.judge(check, world).verdict, len(left)

    assert verdict(played(150, 205)) == ("kept", 0)
    assert verdict(played(None, 205), played(3, 205)) == ("kept", 0), "it could not read in time"
    early = played(3, 60)
    assert verdict(early, early, early) == ("broken", 0)
    assert verdict(*[played(3, 700)] * 3) == ("broken", 0)


def test_every_fault_is_tried() -> None:
    assert set(re.findall(r"^@fault\ndef (\w+)", REFEREE.read_text(encoding="utf-8"), re.MULTILINE)) == {
        *FAULTS,
        *MORE_FAULTS,
    }


# What it watches in every dialogue, against the vectors of what a referee may not do


def session(program: Any, steps: list[dict[str, Any]]) -> Any:
    """What a bot would have written down of a dialogue."""
    began = {"environment": {"ARENA_ENDPOINT": "ipc:///x", "ARENA_TOKEN": "3c0ffee"}, "folder": "/bot0"}
    entries = [program.Entry(0, "began", what=began)]
    for at, step in enumerate(steps, start=1):
        frames = (frame(step["hex"]),)
        entries.append(program.Entry(at, "out" if step["from"] == "bot" else "in", frames, program._message(frames)))
        if "error" in step:
            entries.append(program.Entry(at, "misdeed", what=step["error"]))
    hello = next((entry.message for entry in entries if entry.kind == "out"), {})
    part = program.Part(want=hello.get("want", ()))
    return program.Session("samurai", 0, part, "canary", entries, None)


def found(program: Any, steps: list[dict[str, Any]]) -> dict[str, str]:
    """By check that watches every dialogue and needs no whole game: what it finds."""
    world = program.World({}, DATA["messages"], 0)
    world.sessions = lambda: iter([session(program, steps)])
    results = [program.judge(check, world) for check in program.CHECKS if not check.runs or check.id in WATCHES]
    return {result.id: result.seen for result in results if result.verdict == "broken"}


def deserved(program: Any, steps: list[dict[str, Any]]) -> dict[str, str]:
    """The same, where an `error` may have a reason that the messages do not show."""
    breaches = found(program, steps)
    if any(step.get("decoded", {}).get("code") in ("timeout", "illegal_action") for step in steps):
        breaches.pop("session.harmless", None)
    return breaches


WATCHES = {
    "frames.one", "frames.value", "frames.values", "fields.tables", "session.order", "session.numbers", "start.welcome",
    "session.harmless", "messages.game_start", "messages.wants", "messages.legal", "messages.game_over",
    "messages.error", "messages.experiments", "session.lapsed",
}  # fmt: skip


@pytest.mark.parametrize("breach", BREACHES, ids=lambda breach: breach["id"])
def test_a_breach_of_a_referee_is_found_at_its_last_step(program: Any, breach: dict[str, Any]) -> None:
    assert found(program, breach["steps"])
    assert deserved(program, breach["steps"][:-1]) == {}


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["id"])
def test_no_breach_is_found_where_the_referee_keeps_to_the_protocol(program: Any, dialogue: dict[str, Any]) -> None:
    assert deserved(program, dialogue["steps"]) == {}


# The program itself

OF_BOTS = {"§4.1-1", "§4.2-2", "§11-3", *(f"§4.4-{number}" for number in range(1, 7))}
"""Numbers that only a bot can keep."""


def test_every_number_of_the_specification_is_tried_or_said_to_be_untried(program: Any) -> None:
    specification = (ROOT / "protocol" / "SPEC.md").read_text(encoding="utf-8")
    numbers = set(re.findall(r"^- \*\*(§[0-9.]+-[0-9]+)", specification, re.MULTILINE))
    tried = {number for check in program.CHECKS for number in check.spec}
    assert tried <= numbers
    assert numbers - tried - set(program.UNTRIED) == OF_BOTS
    assert not tried & set(program.UNTRIED)


def test_ids_titles_and_dialogues(program: Any) -> None:
    ids = [check.id for check in program.CHECKS]
    assert len(set(ids)) == len(ids)
    assert {id.partition(".")[0] for id in ids} < set(program.SECTIONS)
    assert {name for check in program.CHECKS for name in check.runs} == set(program.RUNS)
    assert set(DATA["error_codes"]) == program.CODES
    assert set(DATA["terminations"]) == program.TERMINATIONS


def test_the_states_are_those_of_the_tables(program: Any) -> None:
    for state, allowed in program.STATES.items():
        sent = {name: after for name, after in DATA["states"][state].items() if DATA["messages"][name]["from"] != "bot"}
        assert allowed == sent, state


@pytest.mark.parametrize(
    ("command", "run", "words"),
    [
        ("x {bots} {rules} --o={option} {time}", "samurai", "x a b samurai 10/move"),
        ("x --bot={bot} --bot={bot} {option}", "face-down", "x --bot=a --bot=b deck=face_down"),
        ("x {bots} {bank_ms} {increment_ms} {limit_ms}", "bank", "x a b 5000 400 0"),
        ("x {bots} {time}", "bank", "x a b 5+0.4"),
        ("x {bots} {time}", "again", "x a b 5+0.2,2/move"),
        ("x {bot} {bot} {folder}/log", "slow-start", "x a b logs/log"),
    ],
)
def test_words_of_a_command(program: Any, tmp_path: Path, command: str, run: str, words: str) -> None:
    theatre = program.Theatre(command.split(), tmp_path)
    assert theatre.words(program.RUNS[run], [Path("a"), Path("b")], Path("logs")) == words.split()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("command", "only", "reason"),
    [
        (["true", "{bots}"], "secrets.events", "no bot was in a game; the command wrote: nothing"),
        (["true", "{bot}", "{bot}"], "session.three", "the command is not for 3 bots; {bots} would be"),
        (["true", "{bots}"], "time.race", "the command has no {option}"),
        (["/no/such/program", "{bots}"], "frames.float", "the command cannot be started"),
    ],
)
def test_what_cannot_be_tried_says_why(command: list[str], only: str, reason: str) -> None:
    status, document = check("--only", only, command=command)
    ((_, seen),) = verdicts(document, "not tried").items()
    assert seen.startswith(reason)
    assert status == 2


@pytest.mark.parametrize("words", [["--", "true"], ["--only", "nothing.like.it", "--", "true", "{bots}"], []])
def test_a_call_that_cannot_be_used(words: list[str]) -> None:
    done = subprocess.run([sys.executable, str(CHECK), *words], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("expected ")


def test_the_report_says_what_was_broken_with_the_messages_that_led_to_it(program: Any) -> None:
    results = [
        program.Result("frames.one", "sends one frame", ("§5.1-1", "§5.1-5"), "kept", "3 times"),
        program.Result(
            "time.bank", "adds the increment", ("§9-4",), "broken", "expected a, got: b", "bank", ["1 ms it"]
        ),
        program.Result("untried.§9-7", "", ("§9-7",), "not tried", "cannot be seen"),
    ]
    lines = "\n".join(program.lines_of(results, "referee {bots}", 1.26))
    assert "  kept       §5.1-1 +1   sends one frame: 3 times\n" in lines
    assert "  broken     §9-4        adds the increment\n" in lines
    assert "  not tried  §9-7        cannot be seen\n" in lines
    assert "  expected a, got: b\n  In the dialogue bank:\n    1 ms it\n" in lines
    assert lines.endswith("1 kept, 1 broken, 1 not tried, in 1.3 s.\nNot kept, or not in every dialogue: §9-4")
