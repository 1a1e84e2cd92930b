"""Judges `arena tune`: how much of a lost rating comes back, and how soon, beside Optuna's TPE.

A planner with five spoiled weights plays Gardener, ten times tuned by each. Both get the same games: each deal in both
seatings. `arena tune` compares two sets of values a round, by margins; TPE compares a set with the planner that it
began from, by points, which have no largest lead that many sets would reach, and proposes the set with the best mean.
What was found then meets the bundled planner.
"""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count
from statistics import fmean, stdev
from typing import Any, NamedTuple

import msgspec
import optuna

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import load_bot
from arena.core.ratings.pairs import PairResult
from arena.core.referee.tell import game_start
from arena.core.rules import course
from arena.core.rules.course import Course
from arena.core.tournament.formats.base import MeetingResult, RoundResult
from arena.core.tournament.workers import available_cores
from arena.learn.analysis.judges import planner
from arena.learn.tune.format import Tune

SPOILED = "planner@face_up=20,future=2,open_end=8,spite=3,spread=20"
RUNS = 10
STEPS = 8
"""How long the planner thinks: a count, so that every machine plays the same games."""
DEALS = 4
"""Deals of a round of `arena tune`, and of a trial of TPE."""
BUDGETS = (40, 80, 160)
"""Games after which it is looked at what was found."""
JUDGED = 60
"""Deals on which what was found meets the bundled planner."""

SETTINGS = make_settings("gardener", 2, ruleset="draft")
CLOCK = {"limit_ms": 1000, "bank_ms": None}
Values = Mapping[str, str]


class Played(NamedTuple):
    """A deal in both seatings."""

    pair: PairResult
    points: float
    """By how many the first is ahead in a game, on average."""


def game(seed: int, values: tuple[Values, Values]) -> tuple[Sequence[int], Sequence[int]]:
    """Plays a game in this process. Returns the scores, and by how much each seat is ahead as margins count it."""
    rules = rules_of(SETTINGS)
    players: list[Any] = []
    for seat, own in enumerate(values):
        start = game_start(rules, SETTINGS, seat, game=1, commitment="0" * 64, bot_seed=seat + 1, parameters=own)
        players.append(planner(STEPS))
        players[seat].start(msgspec.to_builtins(start))
    chance, going, asked_for = random.Random(seed), Course(rules), 0
    while not isinstance(due := going.due, course.Over):
        if isinstance(due, course.Chance):
            going.draw(chance.randrange(due.draw.n))
        elif isinstance(due, course.Ask):
            going.ask()
        else:
            assert isinstance(due, course.Answers)
            seat, asked_for = due.seats[0], asked_for + 1
            asked = going.asked[seat]
            request = {"id": asked_for, "kind": asked.decision.kind, "clock": CLOCK}
            action, _ = players[seat].decide(request | {"view": rules.view(asked.state, seat)})
            going.answer(seat, action)
    assert going.margins is not None
    assert due.outcome.scores is not None
    return due.outcome.scores, going.margins


def play_deal(deal: int, one: Values, other: Values) -> Played:
    """Plays a deal in both seatings."""
    first, second = game(deal, (one, other)), game(deal, (other, one))
    points, margins = (
        [first[part][0] - first[part][1], second[part][1] - second[part][0]] for part in (0, 1)
    )  # fmt: skip
    better, worse = (sum(sign * lead > 0 for lead in points) for sign in (1, -1))
    pair = PairResult(deal, 0, 1, better, len(points) - better - worse, worse, sum(margins))
    return Played(pair, fmean(points))


class Table:
    """Plays deals on all cores."""

    def __init__(self, processes: ProcessPoolExecutor) -> None:
        self._processes = processes

    def __call__(self, deals: Iterable[int], one: Values, other: Values) -> list[Played]:
        return list(self._processes.map(partial(play_deal, one=one, other=other), deals))


def with_spsa(play: Table, run: int, games: int) -> Values:
    """Returns what `arena tune` finds, with the director that it has in a tournament."""
    format = tuning(games)
    director, search = format.director(2, 2, b""), format.search()
    while (planned := director.next()) is not None:
        director.add(planned)
        (meeting,) = planned.meetings
        first = run * 100_000 + meeting.first_deal
        pairs = [played.pair for played in play(range(first, first + DEALS), *planned.parameters)]
        search.take(list(format.shares(pairs, 2)))
        director.take(RoundResult(meetings=[MeetingResult(meeting, tuple(pairs))], mu={}))
    return format.values(search.found())


def tuning(games: int) -> Tune:
    """Returns a tuning that begins from the spoiled planner."""
    now = load_bot(SPOILED).parameters
    tuned = {
        name: msgspec.structs.replace(one, value=int(now[name]) if one.is_whole else float(now[name]))
        for name, one in load_bot("planner").tune
    }
    margin = rules_of(SETTINGS).margin(2, SETTINGS.options)
    assert margin is not None
    return Tune(tuned=tuned, rounds=games // (2 * DEALS), deals=DEALS, margin=margin.most)


def with_tpe(play: Table, run: int, budgets: Iterable[int]) -> list[Values]:
    """Returns what TPE finds after so many games."""
    format, spoiled = tuning(max(BUDGETS)), load_bot(SPOILED).parameters

    def values(trial: Any) -> Values:
        return format.values([trial.suggest_float(name, 0.0, 1.0) for name, _ in format.in_order])

    def worth(trial: Any) -> float:
        first = run * 100_000 + trial.number * DEALS
        return fmean(played.points for played in play(range(first, first + DEALS), values(trial), spoiled))

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=run, multivariate=True))
    found, played = [], 0
    for games in budgets:
        study.optimize(worth, n_trials=(games - played) // (2 * DEALS))
        played = games
        found.append(values(study.best_trial))
    return found


def strength(play: Table, values: Values) -> float:
    """Returns by how much a planner is better than the bundled one: the logarithm of its odds to win."""
    played = play(range(10**7, 10**7 + JUDGED), values, load_bot("planner").parameters)
    won = sum(one.pair.better + one.pair.equal / 2 for one in played)
    return math.log((won + 0.5) / (2 * JUDGED - won + 0.5))


def _begin() -> None:
    collect, starts = gc.collect, count(1)
    # Planner collects its garbage whenever a game starts: a third of the time of such short ones.
    gc.collect = lambda *_: 0 if next(starts) % 40 else collect()  # type: ignore[assignment]


def main() -> None:
    """Prints the table."""
    with ProcessPoolExecutor(available_cores(), initializer=_begin) as processes:
        play = Table(processes)
        lost = strength(play, load_bot(SPOILED).parameters)
        back: dict[tuple[str, int], list[float]] = {}
        for run in range(RUNS):
            for games, values in zip(BUDGETS, with_tpe(play, run, BUDGETS), strict=True):
                back.setdefault(("TPE", games), []).append(1 - strength(play, values) / lost)
            for games in BUDGETS[:-1]:
                found = with_spsa(play, run, games)
                back.setdefault(("tune", games), []).append(1 - strength(play, found) / lost)
            print(f"run {run + 1}:", {key: f"{shares[-1]:.0%}" for key, shares in back.items()}, flush=True)
    print(f"\nlost by the spoiled planner: {-lost:.2f} in odds (log), {RUNS} runs, {JUDGED} deals to judge each")
    print("| games | `arena tune`: of the lost rating, back | Optuna's TPE |")
    print("|---|---|---|")
    for games in BUDGETS:
        cells = [_told(back.get((way, games), [])) for way in ("tune", "TPE")]
        print(f"| {games} | {cells[0]} | {cells[1]} |")


def _told(shares: list[float]) -> str:
    return f"{fmean(shares):.0%} ± {2 * stdev(shares) / math.sqrt(len(shares)):.0%}" if shares else ""


if __name__ == "__main__":
    main()
