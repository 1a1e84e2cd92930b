"""Finds out whether another form of a view, numbers or a map, tells a seat more than OpenSpiel's words do."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

from arena_openspiel.game import Spiel
from arena_openspiel.parameters import VIEW


def tells_more(kind: type[Spiel], seats: int, form: str, *, games: int, seconds: float) -> bool:
    """Returns whether a form of a view ever differs in two worlds in which a seat reads the same words.

    What has been done least often is done first, so that each action, and what follows it, is seen soon.

    Args:
        kind: The game.
        seats: How many play it.
        form: The value of the option `view`.
        games: How many games are played, at most.
        seconds: How long that may take.
    """
    options = next(iter(kind.rulesets.values())).options
    words, other = (kind(seats, {**options, VIEW: view}) for view in ("text", form))
    done: Counter[int] = Counter()
    end = time.monotonic() + seconds
    for seed in range(games):
        chance = random.Random(seed)
        state: Any = words.start()
        while words.outcome(state) is None:
            if time.monotonic() > end:
                return False
            if (draw := words.draw_wanted(state)) is not None:
                state = words.draw(state, chance.randrange(draw.n))
            else:
                seat = words.pending(state)[0].seat
                play = min(words.legal(state, seat), key=lambda play: (done[play.action], chance.random()))
                done[play.action] += 1
                state = words.apply(state, seat, play)
            for seat in range(seats):
                world = words.resample(state, seat, chance.randrange)
                if other.view(world, seat)[form] != other.view(state, seat)[form]:
                    return True
    return False
