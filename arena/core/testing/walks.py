"""Games played at random, step by step, and the error for a game that breaks a law."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeAlias

import msgspec

from arena.core.errors import ArenaError
from arena.core.rules.base import Choose, Decision, Event, Rules

LONGEST = 10_000
"""Steps after which a game counts as one that never ends."""
LONGEST_SHOWN = 400
"""Characters of a value that an error shows."""


class GameFault(ArenaError):
    """A game breaks a law of its interface. The message says what was expected, what it did, where, and what to do."""

    code: ClassVar[str] = "game_fault"
    exit_code: ClassVar[int] = 3

    def __init__(self, law: str, expected: str, got: str, place: str, remedy: str) -> None:
        super().__init__(f"{law}: expected {expected}, got: {got} - at {place}; {remedy}")
        self.law = law
        self.expected = expected
        self.got = got
        self.place = place
        self.remedy = remedy


class Step(msgspec.Struct):
    """One step of a game: a draw (`seat` is None), a play, or a forfeit (`gone` is not empty)."""

    before: Any
    after: Any
    seat: int | None
    move: Any
    """The outcome that was drawn, or the play."""
    events: list[Event]
    begins: bool = True
    """Whether a play is the first of its decision."""
    gone: tuple[int, ...] = ()
    """The seats that forfeited."""


Forfeits: TypeAlias = float | tuple[int, tuple[int, ...]]
"""Probability that some seats forfeit at the start, and whenever somebody is asked; or at which step which seats do."""


def always_tried(seats: int) -> list[Forfeits]:
    """Returns the forfeits that no game leaves to chance: of each seat and of all, at the start and soon after.

    With decisions at the same time they come between draws, too: a seat has answered, and the other does not.
    """
    who = [*((seat,) for seat in range(seats)), tuple(range(seats))]
    return [(step, gone) for step in range(3) for gone in who]


def walk(rules: Rules[Any], seed: int, *, forfeits: Forfeits = 0.0, longest: int = LONGEST) -> Iterator[Step]:
    """Yields the steps of a game from its start in which everything is chosen at random.

    A decision of several plays is finished before another seat goes on. The walk ends when the game is over, or when
    it does not go on without the seats that forfeited.

    Args:
        seed: Equal seeds give equal games.
        forfeits: Which seats forfeit.
        longest: Steps after which the game counts as one that never ends.

    Raises:
        GameFault: The game does not end, or a seat owes a decision and has no legal play.
    """
    chance = random.Random(seed)
    yield from _walk(rules, rules.start(), chance.randrange, f"seed {seed}", chance, forfeits, longest)


def play_to_end(rules: Rules[Any], state: Any, choose: Choose, *, longest: int = LONGEST) -> Any:
    """Returns the state at the end of a game that is played on from `state`.

    Args:
        choose: Chooses every outcome and every play: `random.Random(1).randrange`, or `lambda n: 0` for the first one.
        longest: Steps after which the game counts as one that never ends.

    Raises:
        GameFault: The game does not end, or a seat owes a decision and has no legal play.
    """
    for step in _walk(rules, state, choose, "a playout", None, 0.0, longest):
        state = step.after
    return state


def _walk(
    rules: Rules[Any],
    state: Any,
    choose: Choose,
    source: str,
    failing: random.Random | None,
    forfeits: Forfeits,
    longest: int,
) -> Iterator[Step]:
    begun: tuple[Decision, int] | None = None
    left = list(range(rules.seats))
    for number in range(longest):
        if rules.outcome(state) is not None:
            return
        events: list[Event] = []
        draw = rules.draw_wanted(state)
        # A seat fails before the game begins or when it is asked.
        gone: tuple[int, ...] = ()
        if isinstance(forfeits, tuple):
            gone = forfeits[1] if number == forfeits[0] else ()
        elif failing and forfeits and (draw is None or number == 0) and failing.random() < forfeits and left:
            gone = tuple(sorted(failing.sample(left, min(len(left), failing.choice([1, 1, 2])))))
        if gone:
            left = [seat for seat in left if seat not in gone]
            try:
                after = rules.forfeit(state, gone, events)
            except Exception as error:  # whatever a game raises is to be shown with who forfeited
                raise GameFault(
                    "forfeits", "no error from the game", f"{type(error).__name__}: {error}",
                    place_of(rules, source, number + 1, what=forfeit_of(gone)), "see the error that led to this one",
                ) from error  # fmt: skip
            if after is None:
                return
            step = Step(state, after, None, None, events, gone=gone)
        elif draw is not None:
            index = choose(draw.n)
            step = Step(state, rules.draw(state, index, events), None, index, events)
        else:
            pending, turn = rules.pending(state), rules.turn(state)
            if not pending:
                raise GameFault(
                    "course", "a decision, a draw or an outcome", "none of them", place_of(rules, source, number),
                    "let pending, draw_wanted or outcome say how the game goes on",
                )  # fmt: skip
            picked = pending[choose(len(pending))], turn
            begins = begun is None or begun[0] not in pending or begun[1] != turn or takes_one_play(rules)
            begun = picked if begins or begun is None else begun
            seat = begun[0].seat
            legal = rules.legal(state, seat)
            if not legal:
                owed = f"a legal play for seat {seat}, which owes the decision {begun[0].kind!r} in turn {turn}"
                where, fix = place_of(rules, source, number, seat), "let legal return one, or pending ask nobody"
                raise GameFault("legality", owed, "none", where, fix)
            play = legal[choose(len(legal))]
            step = Step(state, rules.apply(state, seat, play, events), seat, play, events, begins)
        yield step
        state = step.after
    if rules.outcome(state) is None:
        raise GameFault(
            "termination", f"a game that is over after {longest} steps", "one that goes on",
            place_of(rules, source, longest), "end it after some number of turns, or allow more steps",
        )  # fmt: skip


def takes_one_play(rules: Rules[Any]) -> bool:
    """Returns whether every decision of a game is one play: it has not overridden `act`."""
    return type(rules).act is Rules.act


def place_of(rules: Rules[Any], source: str, step: int | None = None, seat: int | None = None, what: str = "") -> str:
    """Returns a place in a game, for errors."""
    ruleset = next((name for name, known in rules.rulesets.items() if known.options == rules.options), "custom")
    at_step = "" if step is None else f"step {step}{f' ({what})' if what else ''}"
    at_seat = "" if seat is None else f"seat {seat}"
    where = [f"{rules.name} {ruleset}", f"{rules.seats} players", source, at_step, at_seat]
    return ", ".join(filter(None, where))


class Checking:
    """Knows where a check is, and makes the error for what it finds there."""

    def __init__(self, rules: Rules[Any], law: str, seed: int | None) -> None:
        self.rules = rules
        self.law = law
        self.source = "" if seed is None else f"seed {seed}"
        self.step: int | None = None
        self.what = ""
        self.seat: int | None = None

    def follow(self, steps: Iterator[Step] | Sequence[Step]) -> Iterator[Step]:
        """Yields steps, and keeps count of them. Step 1 leads from the start to the next state."""
        for number, step in enumerate(steps, start=1):
            self.step, self.seat, self.what = number, None, self.describe(step)
            yield step

    def describe(self, step: Step) -> str:
        """Returns what a step does, for errors."""
        if step.gone:
            return forfeit_of(step.gone)
        if step.seat is None:
            draw = self.rules.draw_wanted(step.before)
            return f"draw of {step.move} from {draw.stream if draw else None!r}"
        return f"seat {step.seat} plays {self.written(step.move)}"

    def written(self, play: Any) -> str:
        """Returns a play for people: as it stands on the wire, if it has a form there."""
        try:
            return shown(self.rules.write_play(play))
        except Exception:  # a play that ends a decision, say; whether actions can be written is checked elsewhere
            return repr(play)

    def demand(self, holds: bool, expected: str, got: str, remedy: str) -> None:
        """Raises what `fault` returns unless something holds."""
        if not holds:
            raise self.fault(expected, got, remedy)

    def fault(self, expected: str, got: str, remedy: str) -> GameFault:
        """Returns the error for what was found at this place."""
        place = place_of(self.rules, self.source, self.step, self.seat, self.what)
        return GameFault(self.law, expected, got, place, remedy)


@contextmanager
def probing(rules: Rules[Any], law: str, seed: int | None = None) -> Iterator[Checking]:
    """Gives a probe to a check. Any error that is raised meanwhile becomes a `GameFault` with its place."""
    probe = Checking(rules, law, seed)
    try:
        yield probe
    except GameFault:
        raise
    except Exception as error:  # whatever a game raises is to be shown with its place
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}"
        got = f"{type(error).__name__}: {error} (at {where})"
        raise probe.fault("no error from the game", got, "see the error that led to this one") from error


def forfeit_of(seats: Sequence[int]) -> str:
    """Returns which seats forfeited, for errors."""
    return f"forfeit of {', '.join(f'seat {seat}' for seat in seats)}"


def shown(value: Any) -> str:
    """Returns a value as JSON, cut off where it is long."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, msgspec.MsgspecError):
        text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def contrast(one: bytes, other: bytes, around: int = 60) -> str:
    """Returns two byte strings that differ, cut around the first difference.

    >>> contrast(b'{"card":"K","moves":[]}', b'{"card":"Q","moves":[]}', 8)
    '…"card":"K","move…  and  …"card":"Q","move…'
    """
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, at - around)

    def cut(data: bytes) -> str:
        middle = data[start : at + around].decode(errors="replace")
        return f"{'…' if start else ''}{middle}{'…' if at + around < len(data) else ''}"

    return f"{cut(one)}  and  {cut(other)}"
