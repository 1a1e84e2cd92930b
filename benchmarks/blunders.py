"""Judges `arena analyse`: does it find a blunder that was planted, and does it leave a strong bot's decisions alone?

A strong bot plays all seats. In some games one decision of a seat is replaced by a bad one: of twelve actions
that the rules allow, the one after which games end worst. It counts as a blunder if it costs at least `costs` where a
good bot plays on from there, in worlds and under luck of their own. `analyse` does not know any of that.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from msgspec.structs import replace
from shares import wilson

from arena.core.catalogue import make_settings, rules_of
from arena.core.record.log import (
    ActionRecord,
    Chance,
    Header,
    LoggedBot,
    OutcomeRecord,
    Record,
    play_digest,
    read_log,
    write_log,
)
from arena.core.rules import course
from arena.core.rules.course import Course
from arena.learn.analysis.analyse import BUDGET_S, analyse
from arena.learn.analysis.judges import Judge, Mind, Stage, judge_of, planner, shogun
from arena.learn.analysis.trials import Trials

GAMES = 100
"""Games with a planted blunder."""
OWN = 40
"""Games without one, for each hundred of those."""
CHUNK = 10
"""Games that are begun together."""
ACTIONS = 12
"""Of so many actions the worst is planted, ..."""
SCREENED = 24
"""... as found by so many random games, ..."""
TRIES = 8
"""... at one of so many decisions of a game."""


class Field(NamedTuple):
    """A game, and who is strong at it."""

    rules: str
    ruleset: str
    players: int
    strong: Any
    measured_by: Any
    """Who plays on to measure a blunder: quick, and good enough."""
    costs: float
    """What a blunder costs at least, in the game's margin."""
    played_on: int
    """In how many worlds that is measured."""


def equilibrium() -> Any:
    """Returns the judge of the example game."""
    import kuhn_judge

    return kuhn_judge.Equilibrium()


FIELDS = (
    Field("kuhn_poker", "standard", 2, equilibrium, equilibrium, 0.5, 200),
    Field("samurai", "standard", 2, lambda: shogun(200), judge_of("samurai", "daimyo").adviser, 1.0, 24),
    Field("gardener", "draft", 2, lambda: planner(150), judge_of("gardener", "greedy").adviser, 2.0, 32),
)


class Game(NamedTuple):
    """One game that was analysed."""

    decisions: int
    marks: int
    found: bool
    """Whether the planted blunder is marked."""
    cost: float
    """What it cost."""
    seconds: float


def play(field: Field, path: Path, seed: int, forced: tuple[int, Any] | None = None) -> None:
    """Plays a game of the strong bot and writes its log; `forced` is the line of a decision and its action."""
    settings = make_settings(field.rules, field.players, ruleset=field.ruleset)
    rules = rules_of(settings)
    mind = Mind(rules, settings, field.strong, "strong")
    chance = random.Random(seed)
    records: list[Header | Record] = [
        Header(
            arena="bench",
            game=f"blunders-{seed}",
            tournament=None,
            settings=settings,
            bots=[LoggedBot(f"seat{seat}", "1.0", "0" * 64, seat) for seat in range(field.players)],
            deal=1,
            rotation=0,
            board=rules.board_payload,
            commitment="0" * 64,
            salt="0" * 64,
            mix="0" * 64,
        )
    ]
    game = Course(rules)
    while not isinstance(due := game.due, course.Over):
        if isinstance(due, course.Chance):
            index = chance.randrange(due.draw.n)
            events = game.draw(index)
            records.append(Chance(stream=due.draw.stream, n=due.draw.n, draw=index, events=events, ms=0))
        elif isinstance(due, course.Ask):
            game.ask()
        else:
            assert isinstance(due, course.Answers)
            seat = due.seats[0]
            asked, turn = game.asked[seat], game.turn
            if forced is not None and forced[0] == len(records) + 1:
                action = forced[1]
            else:
                action = rules.write_action(mind.decide(asked.state, asked.decision, chance.getrandbits(30)))
            made = game.answer(seat, action)
            assert isinstance(made, course.Accepted), made
            records.append(
                ActionRecord(
                    seat=seat, kind=made.decision.kind, turn=turn, action=made.action, events=made.events, note=None,
                    used_ns=0, ms=0,
                )
            )  # fmt: skip
    scores = due.outcome.scores
    outcome = OutcomeRecord(
        termination=game.termination, ranks=list(due.outcome.ranks), scores=None if scores is None else list(scores),
        turns=game.turn, actions=game.accepted, play_digest="", ms=0,
    )  # fmt: skip
    records.append(replace(outcome, play_digest=play_digest([*records, outcome])))
    write_log(path, records)


def plant(field: Field, path: Path, seed: int, seat: int) -> tuple[int, float] | None:
    """Plays a game with a blunder of a seat. Returns its line and its cost; None if this game offers none."""
    play(field, path, seed)
    log = read_log(path)
    at_random = Trials(log, seat, Judge(name="random"))
    strong = Trials(log, seat, Judge(name="", players=(Stage(field.measured_by),), infers=field.rules == "kuhn_poker"))
    order = list(range(len(strong.questions)))
    random.Random(seed).shuffle(order)
    for index in order[:TRIES]:
        question = strong.questions[index]
        played = strong.rules.write_action(question.plays)
        others = [action for action in strong.several(index, ACTIONS) if action != played]
        if not others:
            continue
        worst = min(
            others, key=lambda other: fmean(at_random.worth(index, other, 1000 + n).lead for n in range(SCREENED))
        )
        for first in (2000, 3000):  # what looked like a blunder once must be one again, in other worlds
            numbers = range(first, first + field.played_on)
            cost = fmean(strong.worth(index, played, n).lead - strong.worth(index, worst, n).lead for n in numbers)
            if cost < field.costs:
                break
        else:
            play(field, path, seed, (question.line, worst))
            return question.line, cost
    return None


def one(field_number: int, seed: int, planted: bool, folder: str) -> Game | None:
    """Plays and analyses one game; None if no blunder can be planted in it."""
    field = FIELDS[field_number]
    path = Path(folder) / f"{field.rules}-{seed}-{planted}.jsonl"
    seat = seed % field.players
    line, cost = None, 0.0
    if planted:
        found = plant(field, path, seed, seat)
        if found is None:
            return None
        line, cost = found
    else:
        play(field, path, seed)
    begun = time.monotonic()
    analysis = analyse(read_log(path), seat, processes=1, budget_s=2 * BUDGET_S)  # a core here, two cores for users
    marks = [mark.line for mark in analysis.marks]
    return Game(len(analysis.decisions), len(marks), line in marks, cost, (time.monotonic() - begun) / 2)


def row(field: Field, planted: list[Game], own: list[Game]) -> str:
    """Returns what was found in a game, as a row of the table."""
    found, decisions, marks = sum(g.found for g in planted), sum(g.decisions for g in own), sum(g.marks for g in own)
    missed = ", ".join(f"{g.cost:.1f}" for g in planted if not g.found) or "-"
    low, high = wilson(found / len(planted), len(planted))
    seconds = fmean(g.seconds for g in planted + own)
    return (
        f"| {field.rules}, {field.ruleset} | {found} of {len(planted)} ({100 * low:.0f} to {100 * high:.0f} %) "
        f"| {missed} | {marks} in {decisions} ({100 * marks / decisions:.1f}) | {seconds:.1f} |"
    )


def main(games: int, names: list[str]) -> None:
    """Prints the table."""
    with TemporaryDirectory() as folder:
        install_example(Path(folder))
        print("| game | planted blunders that are marked | costs of the others "
              "| marks in decisions of the strong bot (per 100) | seconds a game |")  # fmt: skip
        print("|---|---|---|---|---|", flush=True)
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            for number, field in enumerate(FIELDS):
                if names and field.rules not in names:
                    continue
                own = [
                    game
                    for game in pool.map(partial(one, number, planted=False, folder=folder), range(games * OWN // 100))
                    if game
                ]
                planted: list[Game] = []
                seed = 0
                while len(planted) < games:
                    found = pool.map(partial(one, number, planted=True, folder=folder), range(seed, seed + CHUNK))
                    planted += filter(None, found)
                    seed += CHUNK
                print(row(field, planted[:games], own), flush=True)


def install_example(folder: Path) -> None:
    """Installs Kuhn poker for this process and those that it starts."""
    example = Path(__file__).parents[1] / "examples" / "kuhn_poker"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--target", str(folder / "installed"), str(example)], check=True,
    )  # fmt: skip
    sys.path.append(str(folder / "installed"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else GAMES, sys.argv[2:])
