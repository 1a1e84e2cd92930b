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

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "protocol" / "check_referee.py"
REFEREE = ROOT / "tests" / "faulty" / "referee.py"
MATCH = ["match", "{bots}", "--rules", "{rules}", "--rule={option}", "--time", "{time}", "--logs", "{folder}"]
TOLERANCE_MS = "2000"
"""For a machine that does much else at once."""


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

SHORT = [
    "samurai", "forms", "frames.float", "action.illegal", "session.shutdown", "secrets.*", "messages.*", "action.legal",
]  # fmt: skip


def test_arena_keeps_what_a_few_dialogues_show() -> None:
    status, document = arena(*(word for pattern in SHORT for word in ("--only", pattern)))
    assert verdicts(document, "broken") == {}
    assert verdicts(document, "not tried") == {}
    assert status == 0


@pytest.mark.long
def test_arena_keeps_everything() -> None:
    status, document = arena()
    assert verdicts(document, "broken") == {}
    assert verdicts(document, "not tried") == {}
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
    "leak_of_a_sum": "secrets.worlds",
    "names_told": "secrets.anonymous",
    "no_time_to_read": "session.killed",
    "slowest_first": "time.race",
    "unwanted_fields": "messages.wants",
}
EVERY_FAULT = [*FAULTS.items(), *(pytest.param(*pair, marks=pytest.mark.long) for pair in MORE_FAULTS.items())]


@pytest.mark.parametrize(("fault", "finder"), EVERY_FAULT)
def test_a_fault_of_a_referee_is_found(fault: str, finder: str) -> None:
    status, document = arena("--only", finder, fault=fault)
    assert list(verdicts(document, "broken")) == [finder]
    assert status == 1


def test_every_fault_is_tried() -> None:
    assert set(re.findall(r"^@fault\ndef (\w+)", REFEREE.read_text(encoding="utf-8"), re.MULTILINE)) == {
        *FAULTS,
        *MORE_FAULTS,
    }
