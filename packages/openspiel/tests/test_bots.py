"""The bots that OpenSpiel's algorithms make: an equilibrium of small games, and tree search where nothing is hidden.

And bots that are learnt: OpenSpiel's games as environments of PettingZoo.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pyspiel
import pytest

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--no-build-isolation", "--no-index", "--target", str(folder), str(PACKAGE)],
        check=True,
    )  # fmt: skip
    return folder


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bot_{name}", PACKAGE / "bots" / name / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_in_kuhn_poker_it_loses_an_eighteenth_of_a_chip_and_nobody_can_win_more() -> None:
    game, policy = loaded("cfr").solved("openspiel:kuhn_poker", 2, (("view", "text"),))
    (value, _) = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
    assert value == pytest.approx(-1 / 18, abs=1e-3)
    assert pyspiel.exploitability(game, policy) < 1e-3


@pytest.mark.parametrize(("bot", "rules"), [("cfr", "leduc_poker"), ("mcts", "connect_four")])
def test_it_beats_random(bot: str, rules: str, installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arena", "tournament", str(PACKAGE / "bots" / bot), "random",
         "--rules", f"openspiel:{rules}", "--deals", "20" if bot == "cfr" else "3", "--seed", "spring",
         "--time", "60+10", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["standings"]
    assert first["bot"] == f"spiel-{bot}"
    assert (first["forfeits"], second["forfeits"]) == (0, 0)


ENVIRONMENT = """
from functools import partial
from pettingzoo.test import api_test, seed_test
from arena.adapters import pettingzoo

for game in ("leduc_poker", "goofspiel", "tic_tac_toe"):
    make = partial(pettingzoo.env, f"openspiel:{game}", overrides=["view=tensor"])
    api_test(make(), num_cycles=60)
    seed_test(make, num_cycles=20)
"""


def test_its_games_are_environments_of_pettingzoo(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ENVIRONMENT], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Passed API test") == 3
