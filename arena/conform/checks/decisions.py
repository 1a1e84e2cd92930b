"""Every decision of every game that the bot plays: real games, with the kit in the other seats."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.budget import Budget
from arena.conform.finding import NotReached
from arena.conform.games import Plan, TrialGame, kinds_of
from arena.conform.registry import Kit
from arena.games import game
from arena.types import TimeControl

_TRIES = 5
"""Games in which a rare kind of decision may come up."""
_LONGER = 10
"""So many times the usual may such a game take."""


def checks_of(rules: str) -> Kit:
    """The checks of a game: its kinds of decisions, its rulesets, its numbers of seats."""
    kit = Kit()
    kinds = kinds_of(rules)
    ids = {kind: f"{rules}.{kind}" for kind in kinds}
    for kind in kinds:
        _kind(kit, rules, kind, ids)
    needs = tuple(ids.values())
    counts = game(rules).seat_counts
    time = TimeControl(limit_ms=Budget().limit_ms)
    for number, ruleset in enumerate(game(rules).rulesets):
        seats = counts[number % len(counts)]
        plan = Plan(rules, time, ruleset=ruleset, seats=seats, seat=number % seats, seed=20 + number)
        _whole(kit, f"{rules}.ruleset-{ruleset}", f"plays the ruleset {ruleset}", plan, needs)
    for seats in counts:
        plan = Plan(rules, time, seats=seats, seat=seats - 1, seed=40 + seats)
        _whole(kit, f"{rules}.seats-{seats}", f"plays with {seats} seats, in the last one", plan, needs)
    return kit


def _kind(kit: Kit, rules: str, kind: str, ids: dict[str, str]) -> None:
    @kit.check(ids[kind], f"decides {kind!r} by the rules", "§8.6-4", "§8.6-5", "§8.5-1")
    def run(bench: Bench) -> str:
        """Games until it came up."""
        for seed in range(1, _TRIES + 1):
            played = TrialGame(
                bench.shared(),
                Plan(rules, TimeControl(limit_ms=bench.budget.limit_ms), seed=seed),
                avoided=bench.avoided,
                blame=ids.__getitem__,
            )
            played.start()
            played.play(bench.budget.patience_ms, until=kind, limit_ms=_LONGER * bench.budget.game_ms)
            if played.kinds[kind]:
                return ""
            if avoided := sorted(name for of, name in bench.avoided if of == rules):
                raise NotReached(f"no game comes so far without {ids[avoided[0]]}")
        raise NotReached(f"it did not come up in {_TRIES} games")


def _whole(kit: Kit, id: str, title: str, plan: Plan, needs: tuple[str, ...]) -> None:
    @kit.check(id, title, "§8.6-4", "§8.6-5", "§8.5-5", needs=needs)
    def run(bench: Bench) -> str:
        """A whole game, unless the bot takes its time."""
        budget = bench.budget
        played = TrialGame(bench.shared(), plan, avoided=bench.avoided)
        played.start()
        done = played.play(budget.patience_ms, limit_ms=budget.game_ms)
        number = played.kinds.total()
        return f"{number} decisions" + ("" if done else f", then broken off after {budget.game_ms / 1000:g} s")
