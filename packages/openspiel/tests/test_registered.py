"""Arena's games in OpenSpiel: its own tests pass, other worlds look the same, and its tree search plays them."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from arena_openspiel import registered
from open_spiel.python.algorithms import ismcts, mcts

TABLES = [
    ("arena_samurai", {}), ("arena_samurai", {"players": 4, "ruleset": "basic"}), ("arena_gardener", {}),
    ("arena_gardener", {"players": 3, "ruleset": "race"}),
]  # fmt: skip


def draw(state: pyspiel.State, chance: np.random.RandomState) -> None:
    """Lets chance draw until somebody decides or the game is over."""
    while state.is_chance_node():
        state.apply_action(int(chance.choice([outcome for outcome, _ in state.chance_outcomes()])))


@pytest.mark.parametrize(("name", "parameters"), TABLES)
def test_openspiels_own_test_passes(name: str, parameters: dict[str, object]) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name, parameters), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize(("name", "parameters"), TABLES)
def test_a_player_cannot_tell_another_world_from_this_one(name: str, parameters: dict[str, object]) -> None:
    chance = np.random.RandomState(3)
    state = pyspiel.load_game(name, parameters).new_initial_state()
    differing = 0
    draw(state, chance)
    while not state.is_terminal():
        player = state.current_player()
        other = state.resample_from_infostate(player, chance.uniform)
        assert other.current_player() == player
        assert other.legal_actions() == state.legal_actions()
        assert other.information_state_string(player) == state.information_state_string(player)
        differing += str(other) != str(state)
        state.apply_action(int(chance.choice(state.legal_actions())))
        draw(state, chance)
    assert differing > 0


def test_who_decides_at_the_same_time_is_told_nothing_of_the_others() -> None:
    state = pyspiel.load_game("arena_samurai").new_initial_state()
    before = state.information_state_string(1)
    state.apply_action(1_000)
    assert state.current_player() == 1
    assert state.information_state_string(1) == before
    state.apply_action(1_000)
    assert state.information_state_string(1) != before


def test_a_copy_goes_its_own_way() -> None:
    chance = np.random.RandomState(1)
    state = pyspiel.load_game("arena_gardener").new_initial_state()
    draw(state, chance)
    before = state.observation_string(0)
    other = state.clone()
    other.apply_action(other.legal_actions()[0])
    assert state.observation_string(0) == before != other.observation_string(0)


def test_information_set_search_beats_chance_at_samurai() -> None:
    chance = np.random.RandomState(0)
    game = pyspiel.load_game("arena_samurai", {"ruleset": "basic"})
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=chance)
    won = 0.0
    for seat in (0, 1, 0, 1):
        search = ismcts.ISMCTSBot(game, evaluator, 2.0, 60, random_state=chance)
        search.set_resampler(lambda state, player: state.resample_from_infostate(player, chance.uniform))
        state = game.new_initial_state()
        draw(state, chance)
        while not state.is_terminal():
            searches = state.current_player() == seat
            state.apply_action(int(search.step(state) if searches else chance.choice(state.legal_actions())))
            draw(state, chance)
        won += state.returns()[seat]
    assert won > 0


def test_another_game_can_be_registered() -> None:
    assert issubclass(registered.register("samurai"), registered.ArenaGame)
    assert "arena_samurai" in pyspiel.registered_names()
