"""Trains the network of `policy.py`: it learns to plant as the bots of a table of decisions did.

python train.py decisions.jsonl learnt/network.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from policy import FEATURES, plantings

import arena

HIDDEN = 16
STEPS = 250
RATE = 0.03

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


def read(path: Path) -> tuple[Floats, Places, Places]:
    """Returns every planting that was legal, the number of its decision, and by decision the one that was played."""
    board = arena.rules_of(arena.make_settings("gardener", 2)).board_payload
    assert board is not None
    numbers: list[list[float]] = []
    decisions: list[int] = []
    played: list[int] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if (row["rules"], row["kind"]) != ("gardener", "plant"):
            continue
        [play] = json.loads(row["action"])["plays"]
        decision = len(played)
        for (at, turned), described in plantings(
            {"view": json.loads(row["view"]), "legal": json.loads(row["legal"])}, board["cards"]
        ):
            if (at, turned) == (play["at"], play["turned"]):
                played.append(len(numbers))
            numbers.append(described)
            decisions.append(decision)
    return np.array(numbers), np.array(decisions), np.array(played)


def train(numbers: Floats, decisions: Places, played: Places) -> dict[str, Any]:
    """Returns a network under which what was played is likely among what was legal (a softmax), found by Adam."""
    chance = np.random.default_rng(1)
    weights = {
        "hidden": chance.normal(0, 0.3, (HIDDEN, FEATURES)),
        "bias": np.zeros(HIDDEN),
        "out": chance.normal(0, 0.3, HIDDEN),
    }
    moments = {name: (np.zeros_like(values), np.zeros_like(values)) for name, values in weights.items()}
    starts = np.searchsorted(decisions, np.arange(len(played)))
    for step in range(1, STEPS + 1):
        active = np.tanh(numbers @ weights["hidden"].T + weights["bias"])
        worth = active @ weights["out"]
        worth = np.exp(worth - np.maximum.reduceat(worth, starts)[decisions])
        likely = worth / np.add.reduceat(worth, starts)[decisions]
        error = likely / len(played)
        error[played] -= 1 / len(played)
        inner = error[:, None] * weights["out"] * (1 - active**2)
        slopes = {"hidden": inner.T @ numbers, "bias": inner.sum(0), "out": active.T @ error}
        for name, slope in slopes.items():
            mean, square = moments[name]
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope**2 - square)
            size = np.sqrt(square / (1 - 0.99**step)) + 1e-8
            weights[name] -= RATE * mean / (1 - 0.9**step) / size
    best = likely[played] >= np.maximum.reduceat(likely, starts)
    print(
        f"{len(played)} decisions: {best.mean():.0%} played alike; by chance {len(played) / len(numbers):.0%} would be"
    )
    return {name: values.round(4).tolist() for name, values in weights.items()}


if __name__ == "__main__":
    network = train(*read(Path(sys.argv[1])))
    Path(sys.argv[2]).write_text(json.dumps(network), encoding="utf-8")
