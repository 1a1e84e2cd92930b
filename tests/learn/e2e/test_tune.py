"""`arena tune` as a user calls it: better values for a bot's parameters, played, kept, proved and shown."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from arena.core import resources
from arena.core.record.log import read_log, write_log
from tests.command_kit import Run, started, wait_for_games

LAPSING = """
import sys
sys.path[:0] = [{bots!r}, {bots!r} + "/greedy", {bots!r} + "/random"]
from importlib.util import module_from_spec, spec_from_file_location


def load(name):
    spec = spec_from_file_location(name, {bots!r} + "/" + name + "/bot.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


greedy, chance = load("greedy"), load("random")


class Lapsing(greedy.Greedy):
    name = "lapsing"

    def start(self, game):
        super().start(game)
        self.other = chance.RandomBot()
        self.other.start(game)
        self.lapses = float(game["parameters"]["lapses"])
        assert game["parameters"]["nothing"] == "3", game["parameters"]

    def decide(self, request):
        lapses = self.other.random.random() < self.lapses
        return self.other.decide(request) if lapses else super().decide(request)


greedy.run(Lapsing())
"""
"""A bot that plays by chance as often as its parameter says."""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "lapsing"
    folder.mkdir()
    (folder / "bot.py").write_text(LAPSING.format(bots=str(resources.bots_folder() / "python")))
    (folder / "bot.toml").write_text(
        'name = "lapsing"\nversion = "1"\nlanguage = "python"\ncommand = ["{python}", "bot.py"]\n\n[tune]\n'
        "lapses = {value = 0.8, low = 0, high = 1}\nnothing = {value = 3, low = 1, high = 9}\n"
    )
    return folder


WORDS = ("tune", "./lapsing", "--parameter", "lapses", "--seed", "t", "--concurrency", "2")


def headers(folder: Path) -> list[Any]:
    return [read_log(path).header for path in sorted(folder.glob("*.jsonl"))]


@pytest.mark.usefixtures("bot")
def test_a_round_sends_two_sets_of_values_and_logs_them(arena: Run, tmp_path: Path) -> None:
    found = json.loads(arena(*WORDS, "--rounds", "2", "--deals", "1", "--max-deals", "0", "--json").stdout)
    assert (found["rounds"], found["of"], found["games"], found["comparison"]) == (2, 2, 4, None)
    (parameter,) = found["parameters"]
    assert (parameter["name"], parameter["low"], parameter["high"], parameter["began"]) == ("lapses", "0", "1", "0.8")
    logs = tmp_path / "logs" / found["tournament"]
    sent = [[bot.parameters for bot in header.bots] for header in headers(logs)]
    assert sent[0] == [{"lapses": "1"}, {"lapses": "0.6"}]
    assert sent[1] == sent[0][::-1]
    assert sent[2] != sent[0]
    arena("verify", str(logs), "--complete", "--db", "arena.db")
    assert "lapses" in arena("standings").stdout

    path = logs / f"{found['tournament']}-000001.jsonl"
    log = read_log(path)
    forged = json.loads(json.dumps([bot.parameters for bot in log.header.bots]).replace("0.6", "0.5"))
    for bot, values in zip(log.header.bots, forged, strict=True):
        bot.parameters.update(values)
    path.unlink()
    write_log(path, [log.header, *log.records])
    faults = arena("verify", str(logs), code=4).stdout
    assert "lapsing#2 in seat 0 was sent the parameters {'lapses': '0.5'}" in faults
    assert "by the schedule it is {'lapses': '0.6'}" in faults


@pytest.mark.long
@pytest.mark.usefixtures("bot")
def test_better_values_are_found_proved_and_shown(arena: Run, tmp_path: Path) -> None:
    words = (*WORDS, "--rounds", "8")
    with started(tmp_path, *words) as process:
        wait_for_games(tmp_path, process, 20)
        process.send_signal(signal.SIGINT)
        assert "To go on:\n  arena tune ./lapsing --parameter lapses --seed t " in process.communicate()[1]
    done = arena(*words)
    assert "Continuing tournament" in done.stderr
    assert "lapsing is better by captured pieces" not in done.stdout
    assert "To adopt what was found, write it into bot.toml:\n  [tune]\n  lapses = {value = 0" in done.stdout
    again = arena(*words, "--json")
    assert "This was tuned in tournament" in again.stderr
    found = json.loads(again.stdout)
    (parameter,) = found["parameters"]
    assert float(parameter["found"]) < 0.5
    assert len(parameter["path"]) == found["rounds"] == 8
    assert found["comparison"]["bots"] == [f"lapsing@lapses={parameter['found']}", "lapsing"]
    assert found["comparison"]["verdict"] == "better"
    arena("verify", "logs", "--complete", "--db", "arena.db")

    compared = found["comparison"]["tournaments"]
    dealt = [
        {header.commitment for header in headers(tmp_path / "logs" / id)} for id in (found["tournament"], *compared)
    ]
    assert dealt[0].isdisjoint(*dealt[1:])  # what was only lucky on its deals is not shown to be better

    pooled = json.loads(arena("standings", "--pool", "--json").stdout)
    assert pooled["tournaments"] == compared
    shown = json.loads(arena("tournaments", "show", found["tournament"], "--json").stdout)
    assert shown["command"].startswith("arena tune ./lapsing ")
    assert "--parameter lapses" in shown["command"]
    shown = json.loads(arena("tournaments", "show", compared[0], "--json").stdout)
    assert f" ./lapsing@lapses={parameter['found']} ./lapsing " in shown["command"]
    arena("site", "--replays", "0")
    page = (tmp_path / "site" / found["tournament"] / "index.html").read_text()
    assert "Parameters over rounds" in page
    assert f"Found: lapses {parameter['found']}." in page
    arena("bot", "rerun", f"{found['tournament']}-000000", "./lapsing", "--seat", "0")


def test_a_bot_without_parameters_cannot_be_tuned(arena: Run) -> None:
    assert "add a table such as: [tune] depth" in arena("tune", "greedy", code=2).stderr


@pytest.mark.usefixtures("bot")
def test_a_parameter_that_is_not_there_is_named(arena: Run) -> None:
    refused = arena("tune", "./lapsing", "--parameter", "lapse", code=2).stderr
    assert "got: 'lapse' (did you mean 'lapses'?) - at --parameter" in refused


def test_a_parameter_that_changes_nothing_is_noticed(arena: Run, bot: Path) -> None:
    script = bot / "bot.py"
    script.write_text(script.read_text().replace("assert game", "game"))
    (bot / "bot.toml").write_text((bot / "bot.toml").read_text().replace("0.8", "0.0"))
    words = ("tune", "./lapsing", "--seed", "t", "--deals", "1", "--max-deals", "0", "--rounds", "4", "--new")
    done = arena(*words, "--parameter", "nothing")
    assert "After 4 rounds, every deal came out even: so far the values change nothing." in done.stdout
    assert "change nothing" not in arena(*words, "--parameter", "lapses").stdout
