"""What tests need beside the kit for authors of games, `arena.testing`: tables of the games that arena brings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.games import default_board, game, make_rules, names, resolve_options
from arena.rules.base import Event, Rules
from arena.testing import (
    Step,
    check_actions,
    check_fold,
    check_forfeits,
    check_legality,
    check_outcome,
    check_payloads,
    check_purity,
    check_secrecy,
    check_wild_actions,
    seen,
    walk,
)

__all__ = [
    "Step", "Table", "act", "at_default_board", "check_actions", "check_fold", "check_ranks", "check_rules",
    "check_secrecy", "check_wild_actions", "samurai", "seen", "single_options", "tables", "walk",
]  # fmt: skip


class Table(msgspec.Struct, frozen=True):
    """A game as it may be played: what the kit is called with."""

    name: str
    ruleset: str
    seats: int
    option: str = ""
    """One option that differs from the ruleset's, as `NAME=VALUE`."""

    @property
    def rules(self) -> Rules[Any]:
        """The rules, on the bundled board."""
        option, _, value = self.option.partition("=")
        return at_default_board(self.name, self.seats, self.ruleset, **({option: value} if option else {}))

    def __str__(self) -> str:
        return "-".join(filter(None, (self.name, self.ruleset, f"{self.seats}p", self.option)))


def tables() -> Iterator[Table]:
    """Every ruleset of every game for every number of players."""
    for name in names():
        for ruleset in game(name).rulesets:
            for seats in game(name).seat_counts:
                yield Table(name, ruleset, seats)


def single_options() -> Iterator[Table]:
    """Every value of every option alone, beside the game's first ruleset, for two and three players."""
    for name in names():
        ruleset, first = next(iter(game(name).rulesets.items()))
        for option in game(name).option_list:
            for value in option.values:
                if value != first.options[option.name]:
                    for seats in (2, 3):
                        yield Table(name, ruleset, seats, f"{option.name}={value}")


def samurai(seats: int = 2, ruleset: str = "standard", **overrides: str) -> Rules[Any]:
    """Samurai on the bundled board."""
    return at_default_board("samurai", seats, ruleset, **overrides)


def at_default_board(name: str, seats: int, ruleset: str, **overrides: str) -> Rules[Any]:
    """A game's rules on its bundled board."""
    return make_rules(name, seats, resolve_options(name, ruleset, overrides)[1], default_board(name))


<<<<<<< HEAD
def act(rules: Rules[Any], state: Any, seat: int, action: Any, events: list[Event] | None = None) -> Any:
    """The state after an action as it came over the wire."""
    return rules.act(state, seat, rules.read_action(state, seat, action), events)
=======
class Step(msgspec.Struct):
    """One step of a random game: a draw (`seat` is None) or a play."""

    before: Any
    after: Any
    seat: int | None
    move: Any
    events: list[Event]


def walk(rules: Rules[Any], seed: int, after: Callable[[Any, random.Random], Any] | None = None) -> Iterator[Step]:
    """A random game, step by step. `after` may replace each state, to make seats forfeit for example."""
    chance = random.Random(seed)
    state = rules.start()
    begun: tuple[Decision, int] | None = None
    for _ in range(LONGEST):
        if rules.outcome(state) is not None:
            return
        before, events = state, []
        seat = None
        if draw := rules.draw_wanted(state):
            move: Any = chance.randrange(draw.n)
            state = rules.draw(state, move, events)
        else:
            pending = rules.pending(state)
            picked = chance.choice(pending), rules.turn(state)
            if begun is None or begun[0] not in pending or begun[1] != picked[1]:
                begun = picked
            seat = begun[0].seat  # a decision of several plays is finished before another seat goes on
            legal = rules.legal(state, seat)
            move = legal[chance.randrange(len(legal))]
            state = rules.apply(state, seat, move, events)
        if after is not None:
            state = after(state, chance)
        yield Step(before, state, seat, move, events)
    raise AssertionError(f"the game did not end within {LONGEST} steps")
>>>>>>> rules


def check_rules(rules: Rules[Any], seed: int) -> None:
    """Purity, legality, the outcome, forfeits and payloads, on random games."""
    for check in (check_purity, check_legality, check_outcome, check_forfeits, check_payloads):
        check(rules, seed)


def check_ranks(ranks: tuple[int, ...], seats: int) -> None:
    """The best rank is 1, equal ranks share, and the next one skips as many."""
    assert len(ranks) == seats
    assert all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)
<<<<<<< HEAD
=======


def check_fold(rules: Rules[Any], seed: int) -> None:
    """The events that a seat receives fold to its view, at every step."""
    views = [rules.first_view(seat) for seat in range(rules.seats)]
    assert views == [rules.view(rules.start(), seat) for seat in range(rules.seats)]
    for step in walk(rules, seed):
        for seat in range(rules.seats):
            for event in step.events:
                if event.reaches(seat):
                    views[seat] = rules.fold(views[seat], event.data)
            assert views[seat] == rules.view(step.after, seat)


def check_actions(rules: Rules[Any], seed: int) -> None:
    """Decisions written for the wire and read again come to the same state, events and all."""
    state = rules.start()
    plays: list[Any] = []
    events: list[Event] = []
    begun = state
    for step in walk(rules, seed):
        if step.seat is None:
            begun = step.after
            continue
        if not plays:
            begun = step.before
        plays.append(step.move)
        events += step.events
        (kind,) = (decision.kind for decision in rules.pending(step.before) if decision.seat == step.seat)
        still = [(decision.seat, decision.kind) for decision in rules.pending(step.after)]
        same_turn = rules.turn(step.after) == rules.turn(begun)
        if same_turn and rules.turn(begun) and (step.seat, kind) in still:
            continue
        told: list[Event] = []
        action = json.loads(json.dumps(rules.write_action(plays)))
        read = rules.read_action(begun, step.seat, action)
        assert rules.act(begun, step.seat, read, told) == step.after
        assert told == events
        plays, events = [], []


def seen(rules: Rules[Any], state: Any, seat: int, events: list[Event]) -> bytes:
    """Everything that goes to a seat after a step."""
    owes = any(decision.seat == seat for decision in rules.pending(state))
    return msgspec.json.encode(
        [
            [event.data for event in events if event.reaches(seat)],
            rules.view(state, seat),
            rules.write_legal(state, seat) if owes else None,
        ]
    )
>>>>>>> rules
