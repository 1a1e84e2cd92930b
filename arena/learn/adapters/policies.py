"""A policy that was learnt, as `arena bot new --policy` makes a bot of it: a network of layers in a file.

::

    policies.save("policy.json", env, [(weights, bias), ...], activation="tanh")
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from arena.core.face import errors, files
from arena.learn.adapters.game import Game, known

Activation: TypeAlias = Literal["tanh", "relu", "identity"]


def save(
    path: Path | str, env: Any, layers: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]], *, activation: str = "tanh"
) -> None:
    """Writes a policy to a file.

    Args:
        env: The environment that it learnt in, of `arena.learn.adapters`.
        layers: Weights (outputs, inputs) and biases of each layer. The first takes an observation, the last has a
            number for each action: the greater, the better.
        activation: What neurons between two layers do: `tanh`, `relu` or `identity`.

    Raises:
        ConfigError: The layers do not fit, there is no such activation, or the file cannot be written.
    """
    game: Game = env.unwrapped._game
    width, written = game.space.shape[0], []
    for number, pair in enumerate(layers, start=1):
        weights, bias = (np.asarray(one, "<f4") for one in pair)
        if weights.ndim != 2 or weights.shape[1] != width or bias.shape != weights.shape[:1]:
            raise errors.ConfigError(
                f"expected layer {number} to have weights (outputs, {width}) and a bias for each output, got: "
                f"{weights.shape} and {bias.shape}"
            )
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise errors.ConfigError(
                f"expected numbers as weights of layer {number}, got: one that is infinite or none"
            )
        texts = {name: base64.b64encode(one.tobytes()).decode() for name, one in (("weights", weights), ("bias", bias))}
        written.append({"inputs": width, **texts})
        width = len(weights)
    if not written or width != game.actions:
        raise errors.ConfigError(
            f"expected a last layer with {game.actions} outputs, one for each action, got: {width}"
        )
    settings = game.settings
    policy = {
        "format": 1,
        "rules": settings.rules,
        "rules_version": settings.rules_version,
        "players": settings.players,
        "board": settings.board.hash if settings.board else "",
        "first": game.first.tolist() if game.one_hot else None,
        "activation": known(activation, Activation, "activation"),
        "layers": written,
    }
    try:
        files.write(Path(path), msgspec.json.encode(policy))
    except OSError as error:
        raise errors.ConfigError(f"expected a file that can be written, got: {str(path)!r}: {error.strerror}") from None
