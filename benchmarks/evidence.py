"""How often the evidence is wrong between equal bots, and how many deals it needs where one is better.

Runs are drawn from shares of deals as two equal bots had them in real games (`record_leagues.py`, the league
`equal-samurai-2`, made symmetric), or thrown with a coin. Where one bot is better, the same shares are made more or
less likely until their mean is right. The evidence is looked at after every deal. Beside it stands what happens to
those who look after every deal (from the eighth on) whether the mean is 1.96 standard errors from 1/2. Then the same
deals of real bots that differ in how often they blunder, judged by wins and by margins. At last the sequential test of
chess engines' testers, which was told what to look for.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from record_leagues import load

from arena.core.ratings.evidence import ALPHA, Evidence, fractions
from arena.core.ratings.sprt import Sprt, score_of
from arena.core.rules.base import Rules
from arena.games.gardener.game import Gardener
from arena.games.samurai.game import Samurai

NULL_DEALS = 400
"""Runs between equal bots go on for so many deals."""
MOST_DEALS = 2000
"""Runs between others end after so many."""
FIRST_LOOK = 8
"""Before, there is no standard error to look at."""
PUBLISHED = {0.52: (0.35, None), 0.55: (0.96, 406), 0.60: (0.997, 92), 0.65: (1.0, 43), 0.70: (1.0, 25)}
"""By true mean share: in how many runs of earlier simulations the better bot was shown, and after how many deals."""


class Shares(msgspec.Struct, frozen=True):
    """How likely each share of a deal is."""

    values: tuple[float, ...]
    chances: tuple[float, ...]

    def tilted(self, mean: float) -> Shares:
        """Returns the same shares, made likelier the higher they are, until the mean is right."""
        low, high = -50.0, 50.0
        while high - low > 1e-9:
            tilt = (low + high) / 2
            weights = [
                chance * math.exp(tilt * (value - 0.5)) for value, chance in zip(self.values, self.chances, strict=True)
            ]
            tilted = Shares(self.values, tuple(weight / sum(weights) for weight in weights))
            low, high = (tilt, high) if tilted.mean < mean else (low, tilt)
        return tilted

    @property
    def mean(self) -> float:
        """The mean share."""
        return sum(value * chance for value, chance in zip(self.values, self.chances, strict=True))


class Runs(msgspec.Struct, frozen=True):
    """What happened in many runs."""

    better: float
    """In how many of them the first bot was shown to be better."""
    worse: float
    """In how many the second was."""
    deals: float
    """After how many deals, on average over those in which one was shown."""
    peeking: float
    """In how many of them a look at every deal found 1.96 standard errors."""


COIN = Shares((0.0, 1.0), (0.5, 0.5))


RECORDED = (
    ("equal-samurai-2", Samurai, (0, 1)),
    ("equal-samurai-3", Samurai, (0, 1)),
    ("equal-samurai-4", Samurai, (0, 1)),
    ("lapsing-samurai-2", Samurai, (0, 1)),
    ("lapsing-samurai-2", Samurai, (1, 2)),
    ("lapsing-samurai-2", Samurai, (3, 4)),
    ("lapsing-gardener-2", Gardener, (0, 1)),
    ("lapsing-gardener-2", Gardener, (1, 2)),
)
"""Leagues, games, and two bots that are compared by wins and by margins."""


def drawn_from(shares: Iterable[float], *, symmetric: bool) -> Shares:
    """Returns how likely each of some shares is; made symmetric, as between equal bots, if that is asked for."""
    counts = Evidence.of(shares).counts
    if symmetric:
        values = sorted({*counts, *(round(1 - share, 12) for share in counts)})
        counts = {value: counts.get(value, 0) + counts.get(round(1 - value, 12), 0) for value in values}
    return Shares(tuple(counts), tuple(count / sum(counts.values()) for count in counts.values()))


def real() -> Shares:
    """Returns the shares of the recorded equal bots, made symmetric."""
    return drawn_from((pair.share for pair in load("equal-samurai-2").pairs), symmetric=True)


def of_both(league: str, game: type[Rules[Any]], bots: tuple[int, int]) -> tuple[Shares, Shares]:
    """Returns the shares of two bots on the same deals by wins and by margins."""
    found = load(league)
    margin = game.margin(found.players, {})
    assert margin is not None
    pairs = [pair for pair in found.pairs if (pair.one, pair.other) == bots]
    by_margin = [share for pair in pairs if (share := pair.margin_share(margin.most, found.players)) is not None]
    is_equal = league.startswith("equal")
    return drawn_from((pair.share for pair in pairs), symmetric=is_equal), drawn_from(by_margin, symmetric=is_equal)


def run(shares: Shares, runs: int, deals: int, seed: int = 1) -> Runs:
    """Returns what happens in runs of at most so many deals, with a look after each."""
    random = np.random.default_rng(seed)
    points, weights = fractions()
    values = np.array(shares.values)
    bets = {side: np.log1p(points[:, 0] * side * (2 * values[:, None] - 1)) for side in (1, -1)}
    gains = {side: np.tile(weights, (runs, 1)) for side in bets}
    sums, squares = np.zeros((2, runs))
    peeked = np.zeros(runs, bool)
    shown, after = np.zeros((2, runs))
    going = np.arange(runs)
    for deal in range(1, deals + 1):
        drawn = random.choice(len(values), len(going), p=shares.chances)
        sums[going] += values[drawn]
        squares[going] += values[drawn] ** 2
        for side, bet in bets.items():
            gains[side] += bet[drawn]
            found = log_sum(gains[side]) >= math.log(2 / ALPHA)
            shown[going[found]], after[going[found]] = side, deal
        if deal >= FIRST_LOOK:
            mean = sums[going] / deal
            error = np.sqrt(np.maximum(squares[going] / deal - mean**2, 0) / (deal - 1))
            peeked[going] |= np.abs(mean - 0.5) > 1.96 * error
        still = shown[going] == 0
        gains = {side: gain[still] for side, gain in gains.items()}
        going = going[still]
        if not len(going):
            break
    return Runs(
        better=float(np.mean(shown > 0)),
        worse=float(np.mean(shown < 0)),
        deals=float(after[shown != 0].mean()) if shown.any() else math.nan,
        peeking=float(peeked.mean()),
    )


def sequential(test: Sprt, shares: Shares, runs: int, seed: int = 1) -> tuple[float, float]:
    """Returns in how many runs of a sequential test `H1` is accepted, and after how many deals any run ends."""
    random = np.random.default_rng(seed)
    accepted, deals = 0, 0
    for _ in range(runs):
        counts = dict.fromkeys(shares.values, 0.0)
        for drawn in random.choice(len(shares.values), MOST_DEALS, p=shares.chances):
            counts[shares.values[drawn]] += 1
            deals += 1
            verdict = test.verdict(counts)
            if verdict != "open":
                accepted += verdict == "H1"
                break
    return accepted / runs, deals / runs


def log_sum(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the logarithm of the sum of each row, given as logarithms."""
    most = logs.max(axis=1)
    summed: npt.NDArray[np.float64] = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    return summed


def fixed(shares: Shares) -> int:
    """Returns how many deals a test needs that looks once, with power 80 % at 5 %."""
    variance = sum(c * (v - shares.mean) ** 2 for v, c in zip(shares.values, shares.chances, strict=True))
    return math.ceil((1.959964 + 0.841621) ** 2 * variance / (shares.mean - 0.5) ** 2)


def main() -> None:
    parser = argparse.ArgumentParser(description="How often the evidence is wrong, and how many deals it needs.")
    parser.add_argument("--runs", type=int, default=5000, help="runs between equal bots (5000)")
    parser.add_argument("--power-runs", type=int, default=1000, help="runs between others (1000)")
    parser.add_argument("--sprt-runs", type=int, default=200, help="runs of the sequential test (200)")
    options = parser.parse_args()
    print(f"Equal bots, {options.runs} runs of {NULL_DEALS} deals: one of them is called better")
    for name, shares in (("real games", real()), ("a coin", COIN)):
        ran = run(shares, options.runs, NULL_DEALS)
        print(
            f"  {name:10}  evidence {ran.better + ran.worse:6.1%}   1.96 standard errors {ran.peeking:6.1%}", flush=True
        )
    print(f"\nOne is better, {options.power_runs} runs of at most {MOST_DEALS} deals, shares as in real games")
    print("  mean share   one look, 80 %   evidence: shown   deals   wrong    published: shown   deals")
    for mean, (share, deals) in PUBLISHED.items():
        shares = real().tilted(mean)
        ran = run(shares, options.power_runs, MOST_DEALS)
        figures = f"{ran.better:17.1%} {ran.deals:7.0f} {ran.worse:7.1%}"
        print(f"  {mean:10.2f} {fixed(shares):16} {figures} {share:19.1%} {deals or '-':>7}", flush=True)

    print(f"\nThe same deals by wins and by margins, {options.power_runs} runs of at most {MOST_DEALS} deals")
    print("                               by wins: share   shown   deals   by margins: shown   deals   times fewer")
    for name, game, bots in RECORDED:
        wins, margins = of_both(name, game, bots)
        one, other = (run(shares, options.power_runs, MOST_DEALS) for shares in (wins, margins))
        who = f"{name}, {bots[0]} and {bots[1]}"
        print(
            f"  {who:28} {wins.mean:14.1%} {one.better + one.worse:7.1%} {one.deals:7.0f}"
            f" {other.better + other.worse:19.1%} {other.deals:7.0f} {one.deals / other.deals:13.1f}",
            flush=True,
        )

    test = Sprt(0, 20)
    print(f"\nThe sequential test of 0 against 20 Elo at 5 %, {options.sprt_runs} runs, shares as in real games")
    for mean in (0.52, 0.55, 0.60):
        accepted, deals = sequential(test, real().tilted(mean), options.sprt_runs)
        print(f"  mean share {mean:.2f}: {accepted:6.1%} for 20, after {deals:.0f} deals", flush=True)

    test = Sprt(0, 50)
    print(f"\nThe sequential test of 0 against 50 Elo at 5 %, {options.sprt_runs} runs, shares as in real games")
    for elo in (0, 50):
        accepted, deals = sequential(test, real().tilted(score_of(elo)), options.sprt_runs)
        print(f"  {elo:2} Elo: {accepted:6.1%} for 50, after {deals:.0f} deals", flush=True)


if __name__ == "__main__":
    main()
