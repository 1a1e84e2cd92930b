"""The bots that OpenSpiel's algorithms make: an equilibrium of small games, and tree search in open and hidden games.

And bots that are learnt: OpenSpiel's games as environments of PettingZoo.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pyspiel
import pytest
from arena_openspiel.family import OpenSpiel

from arena.core.face import courses

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parents[1]


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


@pytest.mark.parametrize(("bot", "rules"), [("cfr", "leduc_poker"), ("ismcts", "dark_hex"), ("mcts", "connect_four")])
def test_it_gets_more_than_random(bot: str, rules: str, installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "arena", "tournament", str(PACKAGE / "bots" / bot), "random",
         "--rules", f"openspiel:{rules}", "--deals", "3" if bot == "mcts" else "20", "--seed", "spring",
         "--time", "60+10", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    standings = json.loads(done.stdout)["standings"]
    assert [row["forfeits"] for row in standings] == [0, 0]
    (score,) = [row["mean_score"] for row in standings if row["bot"] == f"spiel-{bot}"]
    assert score > 0, "not the rank: in poker it counts the hands won, and there an equilibrium wins no more of them"


@pytest.mark.parametrize(
    ("name", "seats"), [("leduc_poker", 2), ("dark_hex", 2), ("euchre", 4), ("spades", 4), ("skat", 3)]
)
def test_it_follows_a_game_in_a_world_that_agrees_with_what_it_was_told(name: str, seats: int) -> None:
    kind = OpenSpiel().game(name)
    rules, chance = kind(seats, {**kind.rulesets["standard"].options}), random.Random(name)
    bot = loaded("ismcts").IsmctsBot()
    bot.start({"rules": rules.name, "seats": seats, "options": rules.options, "seat": 1, "bot_seed": 1})
    course, decisions = courses.Course(rules), 0
    while not isinstance(due := course.due, courses.Over):
        if isinstance(due, courses.Chance):
            course.draw(chance.randrange(due.draw.n))
        elif isinstance(due, courses.Ask):
            course.ask()
        else:
            assert isinstance(due, courses.Answers)
            (seat,) = due.seats
            state = course.asked[seat].state
            legal = rules.legal(state, seat)
            action = rules.write_action([legal[chance.randrange(len(legal))]])
            if seat == 1:
                action, note = bot.decide({"view": rules.view(state, 1), "events": course.news(1)})
                assert note is None
                assert rules.view(bot.follower.state, 1) == rules.view(state, 1)
                decisions += 1
            assert isinstance(course.answer(seat, action), courses.Accepted)
    assert decisions > 1


ENVIRONMENT = """
from functools import partial
from pettingzoo.test import api_test, seed_test
from arena.learn.adapters import pettingzoo

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
