"""Plays a logged game on from one of its decisions, with the action that was played and with another one.

Laws:
1. A trial begins in a world that the seat could not tell from the true one when it was asked (`Rules.resample`). Two
   logs that the seat could not tell apart so far have the same trials.
2. Both actions of a trial are tried in the same world, under the same luck: each stream of chance draws the same.
3. What chance does in a trial follows from the seat, the line of the decision and the trial's number, and from nothing
   that is hidden.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from operator import add
from random import Random
from typing import Any, Final

import msgspec

from arena.core.face import Payload, Seat, courses, errors, game_kit, log_records, stepping, value_types
from arena.learn.analysis.judges import Judge, Mind

TRIES: Final = 200  # the number of attempts at a world in which others would have done what they did
_IDS: Final = 2**31  # of requests
FEW: Final = 4  # the number of legal plays that are all tried, whatever the judge says
SAMPLED: Final = 8  # the number of actions that are tried where nobody says what is better
SCREENED: Final = 16
"""The number of worlds in which each of several actions is tried, to find the best of them."""


class Question(msgspec.Struct, frozen=True):
    """A decision of a seat in a logged game, and what it was asked in."""

    line: int
    """Its line in the log, from 1."""
    turn: int
    """The number of the turn; 0 is the set-up."""
    decision: game_kit.Decision
    state: Any
    """The state in which the seat was asked."""
    plays: tuple[Any, ...]
    gone: frozenset[Seat]
    """The seats that had forfeited."""
    before: tuple[stepping.Step, ...]
    """All that had happened since the seat's decision before this one, or since the start."""


class Worth(msgspec.Struct, frozen=True):
    """The end of a game that was played on, for a seat."""

    chance: float
    """The seat's share of the first rank, from 0 to 1."""
    lead: float
    """Its mean lead over the others in the unit of the game's margin; 0 in a game without one."""


def questions(log: log_records.Log, seat: Seat) -> list[Question]:
    """Returns the decisions of a seat that had a choice, in their order.

    Raises:
        ReplayMismatch: The log breaks the rules of its game.
    """
    asked: dict[Seat, tuple[game_kit.Decision, Any, frozenset[Seat]]] = {}

    def listen(course: courses.Course, decision: game_kit.Decision) -> None:
        asked[decision.seat] = decision, course.state, frozenset(course.gone)

    found: list[Question] = []
    before: list[stepping.Step] = []
    rules = stepping.rules_of(log.header, log.source)
    for step in stepping.replay(log, listen):
        record = step.record
        if isinstance(record, log_records.ActionRecord) and record.seat == seat:
            decision, state, gone = asked[seat]
            if len(rules.legal(state, seat)) > 1:
                plays = tuple(rules.read_action(state, seat, record.action))
                found.append(Question(step.line, record.turn, decision, state, plays, gone, tuple(before)))
                before = []
                continue
        before.append(step)
    return found


class Trials:
    """The trials of a seat's decisions."""

    def __init__(self, log: log_records.Log, seat: Seat, judge: Judge) -> None:
        settings = log.header.settings
        self.rules = stepping.rules_of(log.header, log.source)
        self.seat = seat
        self.questions = questions(log, seat)
        self.margin = self.rules.margin(self.rules.seats, self.rules.options)
        """The game's margin; None where only ranks count."""
        self._teams = value_types.sides(self.rules.teams(self.rules.seats, self.rules.options), self.rules.seats)
        if value_types.is_cooperative(self._teams):
            raise errors.ConfigError(
                f"expected a game in which somebody can be first, got: {self.rules.name}, where all win or lose "
                "together; its scores are what `arena standings` compares"
            )
        self._adviser = judge.adviser and Mind(self.rules, settings, judge.adviser, judge.name)
        self._players = [
            (Mind(self.rules, settings, stage.player, judge.name), stage.decisions) for stage in judge.players
        ]
        self._infers = judge.infers and bool(judge.players)

    def better(self, index: int, seconds: float = math.inf) -> Payload | None:
        """Returns the action that is compared with what was played; None if that is the same, or there is no other.

        It is the judge's. Without a judge's word it is the one of several that did best in trials of their own, of
        which none begins after `seconds`.
        """
        question = self.questions[index]
        rules, state, seat = self.rules, question.state, self.seat
        played = rules.write_action(question.plays)
        if self._adviser and len(rules.legal(state, seat)) > FEW:
            advised = rules.write_action(self._adviser.decide(self.world(index, 0), question.decision))
            return None if advised == played else advised
        others = [action for action in self.several(index) if action != played]
        if len(others) < 2:
            return others[0] if others else None
        ends, gains = time.monotonic() + seconds, [0.0] * len(others)
        for number in range(-SCREENED, 0):
            tried = self._round(index, others, number, ends)
            if tried is None:
                break
            gains = [*map(add, gains, tried)]
        return others[gains.index(max(gains))]

    def _round(self, index: int, actions: list[Payload], number: int, ends: float) -> list[float] | None:
        """Returns by how much the seat gains by each of some actions in a trial; None if the time ends before."""
        world, gains = self.world(index, number), []
        for action in actions:
            if time.monotonic() > ends:
                return None
            worth = self._worth(index, world, action, number)
            gains.append(worth.chance if self.margin is None else worth.lead)
        return gains

    def pair(self, index: int, other: Payload | None, number: int) -> tuple[Worth, Worth]:
        """Returns what the played action came to in a trial, and what another one came to in the same."""
        world = self.world(index, number)
        played = self._worth(index, world, self.rules.write_action(self.questions[index].plays), number)
        return played, played if other is None else self._worth(index, world, other, number)

    def world(self, index: int, number: int) -> Any:
        """Returns the state that a trial begins in."""
        luck = self._luck(index, number, "world")
        if self._infers:
            for _ in range(TRIES):
                world = self._inferred(index, luck)
                if world is not None:
                    return world
        return self.rules.resample(self.questions[index].state, self.seat, luck.randrange)

    def _inferred(self, index: int, luck: Random) -> Any:
        """Plays the game up to a question, chance as it comes and the others as the judge plays.

        Returns None if the seat was told something else, or a seat had forfeited.
        """
        rules, seat, question = self.rules, self.seat, self.questions[index]
        state, own = rules.start(), self.questions[:index]
        for asked in (*own, question):
            for step in asked.before:
                events: list[value_types.Event] = []
                record = step.record
                wanted = rules.draw_wanted(state)
                if isinstance(record, log_records.Chance) and wanted is not None:
                    state = rules.draw(state, luck.randrange(wanted.n), events)
                elif (
                    isinstance(record, log_records.ActionRecord)
                    and (decision := _owed(rules, state, record.seat)) is not None
                ):
                    plays = self._players[0][0].decide(state, decision, luck.randrange(_IDS))
                    state = rules.act(state, record.seat, plays, events)
                else:
                    return None
                if _heard(events, seat) != _heard(record.events, seat):
                    return None
            if asked is not question:
                state = rules.act(state, seat, asked.plays)
        return state

    def _luck(self, index: int, number: int, what: str) -> Random:
        return Random(f"{self.seat}/{self.questions[index].line}/{number}/{what}")

    def several(self, index: int, count: int = SAMPLED) -> list[Payload]:
        """Returns actions that the rules allow, different ones: all where that are few, else `count` or fewer."""
        question = self.questions[index]
        rules, seat, luck = self.rules, self.seat, self._luck(index, 0, "actions")
        world = self.world(index, 0)
        legal = rules.legal(world, seat)
        few = len(legal) <= count
        firsts = range(len(legal)) if few else [luck.randrange(len(legal)) for _ in range(count)]
        found: dict[bytes, Payload] = {}
        for first in firsts:
            turn, plays, state = rules.turn(world), [legal[first]], rules.apply(world, seat, legal[first])
            while rules.turn(state) == turn and question.decision in rules.pending(state):
                next_legal = rules.legal(state, seat)
                plays.append(next_legal[luck.randrange(len(next_legal))])
                state = rules.apply(state, seat, plays[-1])
            action = rules.write_action(plays)
            found[msgspec.msgpack.encode(action)] = action
        return list(found.values())

    def told(self, index: int, action: Payload) -> list[Payload]:
        """Returns what the seat would be told of an action of its own, in a world that it could not rule out."""
        events: list[value_types.Event] = []
        rules, seat, world = self.rules, self.seat, self.world(index, 0)
        rules.act(world, seat, rules.read_action(world, seat, action), events)
        return _heard(events, seat)

    def worth(self, index: int, action: Payload, number: int) -> Worth:
        """Returns what an action came to in a trial."""
        return self._worth(index, self.world(index, number), action, number)

    def _worth(self, index: int, world: Any, action: Payload, number: int) -> Worth:
        rules, seat = self.rules, self.seat
        luck = _Luck(self._luck(index, number, "luck"))
        state = self._played_on(rules.act(world, seat, rules.read_action(world, seat, action)), luck)
        outcome = rules.outcome(state)
        assert outcome is not None
        ranks, gone = outcome.ranks, self.questions[index].gone
        first = {team for team, rank in zip(self._teams, ranks, strict=True) if rank == 1}
        chance = (ranks[seat] == 1) / len(first)
        if self.margin is None:
            return Worth(chance, 0)
        return Worth(chance, self.margin.leads(rules.amounts(state), gone)[seat] / (rules.seats - 1))

    def _played_on(self, state: Any, luck: _Luck) -> Any:
        """Returns the state at the end of a game that goes on from a state between two decisions."""
        rules = self.rules
        for player, most in self._players:
            made = 0
            while most is None or made < most:
                wanted = rules.draw_wanted(state)
                if wanted is not None:
                    state = rules.draw(state, luck.draw(wanted.stream, wanted.n))
                    continue
                pending = rules.pending(state)
                if not pending:
                    return state
                if pending[0].race:  # who is first takes it, and the others are asked again
                    pending = (pending[luck.draw(courses.RACE_STREAM, len(pending))],)
                decided = [
                    (decision, player.decide(state, decision, luck.draw(f"judge/{decision.seat}", _IDS)))
                    for decision in pending
                ]
                for decision, plays in decided:
                    state = player.act(state, decision, plays)
                made += len(decided)
        for _, later in courses.playout(rules, luck.choose, state):
            state = later
        return state


def _owed(rules: game_kit.Rules[Any], state: Any, seat: Seat) -> game_kit.Decision | None:
    return next((decision for decision in rules.pending(state) if decision.seat == seat), None)


def _heard(events: Sequence[value_types.Event], seat: Seat) -> list[Payload]:
    return [event.data for event in events if event.reaches(seat)]


class _Luck:
    """Chance in a trial: each stream draws on its own, so that what is played changes no draw of another stream."""

    def __init__(self, random: Random) -> None:
        self._seed = random.getrandbits(64)
        self._streams: dict[str, Random] = {}
        self.choose = Random(self._seed).randrange

    def draw(self, stream: str, n: int) -> int:
        """Returns one of the numbers 0 to n - 1."""
        if stream not in self._streams:
            self._streams[stream] = Random(f"{self._seed}/{stream}")
        return self._streams[stream].randrange(n)
