"""Logged games to be shown: of Samurai, and of Samurai Gardener between bots in memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from referee_kit import referee

from arena.core.record.log import Log, read_log
from arena.core.types import Payload
from arena.core.wire.messages import Request
from tests.memory_link import CRASH, MemoryBot, Reply, answer

PlayGarden = Callable[..., Log]


def gardener(seed: int, crash_in: int = 0) -> MemoryBot:
    """Plays at random and takes its time, but wants the lowest card in a race; its process may end in some round."""
    rng = random.Random(seed)

    def decide(request: Request) -> Iterable[Reply]:
        assert request.view is not None
        assert request.legal is not None
        if crash_in and (request.kind, request.view["round"]) == ("plant", crash_in):
            return [Reply(CRASH, 1)]
        product: Payload = request.legal[0]
        play = {key: rng.choice(values) for key, values in product.items()}
        if request.kind == "seize":
            play = {"card": product["card"][0]}
        note = f"seat {request.view['seat']} thinks in turn {request.view['round']}\x1b[2J"
        return [answer(request, {"plays": [play]}, after_ms=rng.randrange(8) / 2, note=note)]

    return MemoryBot(decide)


@pytest.fixture(scope="session")
def play_garden(tmp_path_factory: pytest.TempPathFactory) -> PlayGarden:
    """Plays a game of Samurai Gardener; with `crash_in` the bot at seat 1 crashes in that round."""

    def play(seats: int, ruleset: str = "race", *, crash_in: int = 0, target: str = "1", seed: int = 1) -> Log:
        folder = tmp_path_factory.mktemp("logs")
        bots: list[Any] = [gardener(10 * seed + seat, crash_in if seat == 1 else 0) for seat in range(seats)]
        result, _ = referee(folder, bots, rules="gardener", ruleset=ruleset, target=target)
        return read_log(folder / result.log)

    return play


@pytest.fixture(scope="session")
def logs(play_log: Callable[..., Path], play_garden: PlayGarden, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A game of each, between three."""
    folder = tmp_path_factory.mktemp("logs")
    return {"samurai": read_log(play_log(folder / "game.jsonl", seats=3)), "gardener": play_garden(3)}


@pytest.fixture(scope="session")
def forfeits(play_log: Callable[..., Path], play_garden: PlayGarden, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same, with a seat that forfeits."""
    folder = tmp_path_factory.mktemp("logs")
    samurai = read_log(play_log(folder / "game.jsonl", seats=3, forfeit_turn=5))
    return {"samurai": samurai, "gardener": play_garden(3, crash_in=3)}
