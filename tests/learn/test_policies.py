"""A policy plays as a bot what it learnt in an environment: by the same numbers, actions and network."""

from __future__ import annotations

import json
import random
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import msgpack

from arena.author.new import new_bot
from arena.core.catalogue import make_settings, rules_of
from arena.core.errors import ConfigError
from arena.core.referee import tell
from arena.core.resources import bots_folder
from arena.core.rules.numbering import Numbering
from arena.core.rules.table import Table
from arena.core.wire import codec
from arena.learn.adapters import gymnasium, policies

TABLES = [
    ("gardener", 2, "draft"), ("gardener", 5, "race"), ("samurai", 2, "standard"), ("samurai", 4, "basic"),
    ("samurai", 2, "classic"), ("samurai", 3, "summary"), ("samurai", 2, "fast=must_follow"),
]  # fmt: skip


def wire(value: Any) -> Any:
    return msgpack.decode(msgpack.encode(value))


@pytest.mark.parametrize(("name", "players", "variant"), TABLES)
def test_a_bot_has_the_numbers_of_the_environments(name: str, players: int, variant: str) -> None:
    """Also in the midst of a turn, where it goes on by itself from the view that it was sent."""
    how: Any = {"overrides": [variant]} if "=" in variant else {"ruleset": variant}
    settings = make_settings(name, players, **how)
    rules, chance = rules_of(settings), random.Random(5)
    every = rules.every_play()
    assert every is not None
    numbering, part = Numbering(every), runpy.run_path(str(bots_folder() / "python" / "policy" / f"{name}.py"))
    start = tell.game_start(rules, settings, 0, game=1, commitment="0" * 64, bot_seed=1)
    bot, table, turns_of_several = part["Table"](msgpack.decode(codec.encode(start))), Table(rules), 0
    assert bot.actions == len(numbering)
    while table.draws is not None or table.due:
        if table.draws is not None:
            table.draw(chance.randrange(table.draws))
            continue
        state, seat, made = table.shown, table.due[0], list[Any]()
        view = wire(rules.view(state, seat))
        plays = bot.plays(view, wire(rules.write_legal(state, seat)))
        while plays:
            assert bot.numbers(view) == list(rules.observe(state, seat) or ())
            legal = dict(zip(numbering.of(rules.relative(state, seat)), rules.legal(state, seat), strict=True))
            assert plays.keys() == legal.keys()
            for number in chance.sample(sorted(plays), min(50, len(plays))):
                assert not plays[number] or rules.read_play(state, plays[number], "") == legal[number]
            fast = [
                number for number, play in plays.items() if play.get("tile") in ("ship1", "ship2", "ronin1", "switch")
            ]
            number = chance.choice(fast if fast and not made else sorted(plays))
            if not plays[number]:
                break
            made.append(plays[number])
            state = rules.apply(state, seat, legal[number])
            view, plays = bot.after(view, plays[number], plays)
            if state.phase not in ("turns", "score") or not any(one.seat == seat for one in rules.pending(state)):
                break
        turns_of_several += len(made) > 1
        table.act({"plays": made})
    assert turns_of_several or name == "gardener" or variant in ("summary", "fast=must_follow")


def saved(path: Path, env: gymnasium.Seat, **how: Any) -> list[tuple[Any, Any]]:
    """Writes a policy as chance has it. Returns its layers."""
    chance, sizes = np.random.default_rng(1), (env.observation_space.shape[0], 8, 5, env.actions)  # type: ignore[index]
    layers = [(chance.normal(0, 0.1, (out, size)), chance.normal(0, 0.1, out)) for size, out in pairwise(sizes)]
    policies.save(path, env, layers, **how)
    return layers


@pytest.mark.parametrize("observations", ["numbers", "one_hot"])
def test_a_new_bot_likes_what_the_policy_likes_and_needs_nothing(tmp_path: Path, observations: str) -> None:
    env = gymnasium.Seat("gardener", observations=observations)
    layers = saved(tmp_path / "policy.json", env)
    made = new_bot("mind", language="python", author="", parent=tmp_path, policy=tmp_path / "policy.json")
    folder, rules = made.folder, made.rules
    assert rules == ("gardener",), "the command that is named next plays it"
    assert {path.name for path in folder.glob("*.py")} == {"bot.py"}
    values, _ = env.reset(seed=1)
    numbers = list(env._game.rules.observe(env._game.table.shown, 0) or ())
    for weights, bias in layers:
        values = np.tanh(weights @ values + bias)
    program = (
        "import json, runpy, sys; bot = runpy.run_path('bot.py')['Policy']('policy.json');"
        "print(json.dumps(bot.network.worths(json.load(sys.stdin), range(0, 4033, 16))))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        cwd=folder, input=json.dumps([int(number) for number in numbers]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert np.allclose(np.tanh(json.loads(done.stdout)), values[::16], atol=1e-4)


def test_where_it_has_not_learnt_it_plays_what_is_legal_first(tmp_path: Path) -> None:
    """So that it reaches level core, without which no league takes it."""
    env = gymnasium.Seat("samurai")
    saved(tmp_path / "policy.json", env)
    made = new_bot("mind", language="python", author="", parent=tmp_path, policy=tmp_path / "policy.json")
    bot = runpy.run_path(str(made.folder / "bot.py"))["Policy"](made.folder / "policy.json")
    legal = [{"tile": ["samurai-3", "ship-1"], "of": {"choose": 2, "of": [7, 8, 9]}}]
    for game, why in (({"seats": 3}, "for 2 players, and there are 3"), ({"seats": 2, "board": None}, "another board")):
        bot.start(game)
        action, note = bot.decide({"legal": legal, "view": {}})
        assert action == {"plays": [{"tile": "samurai-3", "of": [7, 8]}]}
        assert why in note


def test_a_policy_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    env, path = gymnasium.Seat("gardener"), tmp_path / "policy.json"
    inputs = env.observation_space.shape[0]  # type: ignore[index]
    for layers, why in (
        ([], "a last layer with 4033 outputs"),
        ([(np.ones((4, inputs)), np.ones(4))], "a last layer with 4033 outputs, one for each action, got: 4"),
        ([(np.ones((4, 9)), np.ones(4))], rf"layer 1 to have weights \(outputs, {inputs}\)"),
        ([(np.full((4033, inputs), np.nan), np.ones(4033))], "one that is infinite or none"),
    ):
        with pytest.raises(ConfigError, match=why):
            policies.save(path, env, layers)
    with pytest.raises(ConfigError, match="activation to be one of tanh, relu, identity, got: 'swish'"):
        saved(path, env, activation="swish")
    for text, why in (
        ("{", "as `arena.learn.adapters.policies.save` writes it"),
        ('{"format": 2, "rules": "gardener"}', "format"),
        ('{"format": 1, "rules": "../gardener"}', "for gardener or samurai .*'../gardener'"),
        ('{"format": 1, "rules": "gardener", "layers": []}', "length >= 1 .*layers"),
        ('{"format": 1, "rules": "gardener", "layers": [{"inputs": 2, "weights": "AAAA", "bias": ""}]}', "do not fit"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=why):
            new_bot("mind", language="python", author="", parent=tmp_path, policy=path)
        assert not (tmp_path / "mind").exists()
