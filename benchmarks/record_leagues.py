"""Records leagues as results of pairs, for tests and other benchmarks: `tests/data/leagues/NAME.json`.

Two kinds. `bundled-*` are tournaments of bundled bots, played as `arena tournament` plays them. `lapsing-*` are five
copies of the bundled `greedy` that take 0 to 30 % of their decisions at random, run in this process on the rules as a
library: bots of one style and known order. In `equal-*` all take 10 %. Games and lapses follow from
fixed seeds. A league's rows are those of `PairResult`: deal, one, other, better, equal, worse, margin.

A league also gets what other libraries say about its first games, under `oracles`: `trueskillthroughtime` (one batch
of all games, no drift, until it moves no more) and `choix` (expectation propagation with the probit model). So the
tests compare with them and need neither. They come with the extra `bench`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, combinations
from pathlib import Path

import fairness
import msgspec

from arena.core.catalogue import make_settings
from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.ratings.running import BETA, MU, SIGMA
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.core.tournament.formats.seating import orders
from arena.core.tournament.match import begin_match, play_match
from arena.core.tournament.settings import set_up

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "leagues"
ORACLE_GAMES = 600
"""The other libraries are slow: half a minute for so many."""
LAPSES = (0.0, 0.05, 0.1, 0.2, 0.3)
"""How often the bots of a lapsing league decide at random."""


class League(msgspec.Struct, frozen=True):
    """What is recorded."""

    rules: str
    ruleset: str
    players: int
    bots: tuple[str, ...]
    """The names of the entrants."""
    results: tuple[tuple[int | None, ...], ...]
    """Rows of `PairResult`, of leagues that were recorded earlier without margins."""
    oracle_deals: int
    """The other libraries rate the games of so many deals, from the first."""
    oracles: dict[str, tuple[float, ...]]
    """Ratings by other libraries, from the games of pairs that nobody drew, with mean `MU`."""

    @property
    def pairs(self) -> list[PairResult]:
        """The rows as results of pairs."""
        return [PairResult(*row) for row in self.results]  # type: ignore[arg-type]


def load(name: str) -> League:
    """Returns a league that was recorded."""
    return msgspec.json.decode((FOLDER / f"{name}.json").read_bytes(), type=League)


def lapsing_deal(table: fairness.Table, lapses: Sequence[float], deal: int) -> list[PairResult]:
    """Plays all tables of one deal in all their seatings."""
    circles = orders(table.players, "cyclic")
    rows = []
    for entrants in combinations(range(len(lapses)), table.players):
        for rotation, order in enumerate(circles[deal % len(circles)]):
            seated = [entrants[place] for place in order]
            seed = f"{table} deal {deal} of {entrants} rotation {rotation}"
            outcome, margins = fairness.played(table, deal, seated, seed, [lapses[bot] for bot in seated])
            rows.extend(pairs_of(deal, seated, outcome.ranks, margins or ()))
    return add_up(rows)


def lapsing(rules: str, ruleset: str, players: int, deals: int, lapses: Sequence[float] = LAPSES) -> League:
    """Plays a league of greedy bots with lapses."""
    with ProcessPoolExecutor(2) as pool:
        deal = partial(lapsing_deal, fairness.Table(rules, ruleset, players, True), lapses)
        rows = chain.from_iterable(pool.map(deal, range(deals), chunksize=4))
        names = tuple(f"greedy, {often:.0%} lapses" for often in lapses)
        return league(rules, ruleset, players, names, rows)


def bundled(rules: str, ruleset: str, players: int, deals: int, *bots: str) -> League:
    """Plays a tournament of bundled bots."""
    settings = make_settings(rules, players, ruleset=ruleset)
    setup = set_up(bots, settings, RoundRobin(deals=deals), seed="league")
    rows: list[PairResult] = []
    with tempfile.TemporaryDirectory(prefix="league-") as logs:
        for played in play_match(setup, begin_match(setup, Path(logs))):
            seats = played.result.seats
            ranks, margins = [seat.rank for seat in seats], [seat.margin for seat in seats]
            rows.extend(pairs_of(played.game.deal, played.game.entrants, ranks, margins))
    return league(rules, ruleset, players, tuple(bots), add_up(rows))


def league(rules: str, ruleset: str, players: int, bots: tuple[str, ...], rows: Iterable[PairResult]) -> League:
    """Returns the league with what the other libraries say."""
    pairs = list(rows)
    deals = 0
    while deals <= pairs[-1].deal and sum(pair.games for pair in pairs if pair.deal <= deals) <= ORACLE_GAMES:
        deals += 1
    return League(
        rules=rules,
        ruleset=ruleset,
        players=players,
        bots=bots,
        results=tuple(map(msgspec.structs.astuple, pairs)),
        oracle_deals=deals,
        oracles=oracles([pair for pair in pairs if pair.deal < deals], len(bots)),
    )


def oracles(pairs: Sequence[PairResult], entrants: int) -> dict[str, tuple[float, ...]]:
    """Returns the ratings by the other libraries, each game between two that nobody drew by itself."""
    import choix
    import trueskillthroughtime as ttt

    wins: Counter[tuple[int, int]] = Counter()
    for pair in pairs:
        wins[pair.one, pair.other] += pair.better
        wins[pair.other, pair.one] += pair.worse
    games = list(wins.elements())
    history = ttt.History(
        [[[str(winner)], [str(loser)]] for winner, loser in games],
        results=[[1, 0]] * len(games), times=[0] * len(games), mu=0.0, sigma=SIGMA, beta=BETA, gamma=0.0, p_draw=0.0,
    )  # fmt: skip
    history.convergence(epsilon=1e-5, iterations=100)
    curves = history.learning_curves()
    through_time = [curves[str(entrant)][-1][1].mu for entrant in range(entrants)]
    # choix knows one scale: the difference of two plays has the deviation 1.
    unit = 2**0.5 * BETA
    probit, _ = choix.ep_pairwise(entrants, games, (unit / SIGMA) ** 2, model="probit")
    return {
        "trueskillthroughtime": centred(through_time),
        "choix": centred([unit * strength for strength in probit.tolist()]),
    }


def centred(ratings: Sequence[float]) -> tuple[float, ...]:
    """Returns the ratings moved to the mean `MU`."""
    return tuple(round(rating - sum(ratings) / len(ratings) + MU, 4) for rating in ratings)


LEAGUES = {
    "equal-samurai-2": partial(lapsing, "samurai", "standard", 2, 400, (0.1, 0.1)),
    "equal-samurai-3": partial(lapsing, "samurai", "standard", 3, 200, (0.1, 0.1, 0.1)),
    "equal-samurai-4": partial(lapsing, "samurai", "standard", 4, 150, (0.1, 0.1, 0.1, 0.1)),
    "lapsing-samurai-2": partial(lapsing, "samurai", "standard", 2, 200),
    "lapsing-gardener-2": partial(lapsing, "gardener", "draft", 2, 200, (0.05, 0.1, 0.2)),
    "lapsing-samurai-3": partial(lapsing, "samurai", "standard", 3, 50),
    "lapsing-samurai-4": partial(lapsing, "samurai", "standard", 4, 60),
    "lapsing-gardener-5": partial(lapsing, "gardener", "draft", 5, 80),
    "bundled-samurai-2": partial(
        bundled, "samurai", "standard", 2, 12, "random", "banzai", "greedy", "greedy", "daimyo"
    ),
    "bundled-samurai-3": partial(bundled, "samurai", "standard", 3, 10, "random", "banzai", "greedy", "greedy"),
    "bundled-samurai-4": partial(bundled, "samurai", "standard", 4, 10, "random", "banzai", "greedy", "greedy"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record leagues as results of pairs.")
    parser.add_argument("names", nargs="*", choices=[[], *LEAGUES], help="only these leagues")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().names or LEAGUES:
        print(name, file=sys.stderr, flush=True)
        recorded = msgspec.json.encode(LEAGUES[name]())
        (FOLDER / f"{name}.json").write_bytes(recorded.replace(b"],[", b"],\n[") + b"\n")


if __name__ == "__main__":
    main()
