"""An author who plays in a real league, as a stranger does: with the example's agent, a kill, and the commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.league.door.addresses import address
from arena.league.door.client import Client
from tests.command_kit import arena, started
from tests.ports import free_port
from tests.processes import eventually

AGENT = Path(__file__).parents[3] / "examples/league_agent/agent.py"


@pytest.mark.long
def test_a_game_of_an_author_is_theirs_alone_and_right_and_a_kill_ends_one(tmp_path: Path) -> None:
    arena(tmp_path, "league", "init", "cup", "--level", "trusted", "--ruleset", "basic")
    arena(tmp_path, "league", "token", "new", "anna")
    arena(tmp_path, "league", "author", "add", "anna", "--token", "anna.hash", "--league", "cup")
    bind = f"127.0.0.1:{free_port()}"
    at, run = ("--at", f"http://{bind}", "--token", "anna.token"), ("league", "run", "cup", "--open", bind)
    token = {**os.environ, "ARENA_LEAGUE_TOKEN": (tmp_path / "anna.token").read_text().strip()}
    agent = [sys.executable, str(AGENT), f"http://{bind}", "random"]

    def notices() -> list[str] | None:
        time.sleep(0.5)  # a command takes a core
        told = arena(tmp_path, "league", "status", *at, "--json", code=None).stdout
        return [one["text"] for one in json.loads(told)["notices"]] if told else None

    with started(tmp_path, *run) as service:
        assert eventually(lambda: notices() is not None, 60)
        played = subprocess.run(agent, env=token, capture_output=True, text=True, check=True, timeout=120)
        game, phase, *_ = played.stdout.split()
        assert phase == "over"
        assert eventually(lambda: any(game in one for one in notices() or ()))
        with Client(address(f"http://{bind}"), token["ARENA_LEAGUE_TOKEN"]) as client:
            client.ordered("seat", against="greedy", seat="1")
            assert eventually(lambda: client.seat(wait_s=10).phase == "asked", 60)
        service.kill()
    with started(tmp_path, *run):
        assert eventually(lambda: any("was cut short" in one for one in notices() or ()), 60)
    arena(tmp_path, "verify", "cup")
    log = next((tmp_path / "cup/published/own/anna").glob(f"{game}*"))
    assert not list((tmp_path / "cup/published/logs").glob("match-*"))
    arena(tmp_path, "verify", str(log))
