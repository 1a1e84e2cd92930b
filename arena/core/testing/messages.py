"""The laws of what goes on the wire: views, events, legal plays and actions as messages, and actions of every kind."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from arena.core.errors import ActionError
from arena.core.rules.base import Event, Rules
from arena.core.testing.checks import FAILING
from arena.core.testing.walks import Checking, Step, probing, shown, takes_one_play, walk
from arena.core.types import Payload
from arena.core.wire.messages import MAX_DEPTH, MAX_FRAME, MAX_INT, MAX_REFEREE_FRAME

_WILD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 70, MAX_INT, -MAX_INT, "", "x", "0", "\x1b[2J", "\u202e", "x" * 200, [], [[]], {},
    {"": None}, {"plays": []}, [1, "1", None], {"at": [0, 0]},
)  # fmt: skip


def check_payloads(rules: Rules[Any], seed: int) -> None:
    """Checks that views, events, legal plays and actions can go on the wire.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "payloads", seed) as at:
        if rules.board is not None:
            _check_payload(at, rules.board.payload(), 2, "the board")
        news: list[list[Payload]] = [[] for _ in range(rules.seats)]
        for step in at.follow(walk(rules, seed, forfeits=FAILING if seed % 2 else 0.0)):
            if step.begins and step.seat is not None:
                for decision in rules.pending(step.before):
                    at.seat = decision.seat
                    _check_request(at, step.before, decision.seat, decision.kind, news[at.seat])
                news[step.seat] = []
                action = rules.write_action([step.move])
                _check_payload(at, action, 2, "an action")
                size = len(msgspec.msgpack.encode(action))
                at.demand(
                    size <= MAX_FRAME // 2, f"an action of at most {MAX_FRAME // 2} bytes", str(size), "shorten it"
                )
            at.seat = None
            for event in step.events:
                _check_event(at, event)
                for seat in range(rules.seats):
                    if event.reaches(seat):
                        news[seat].append(event.data)


def _check_request(at: Checking, state: Any, seat: int, kind: str, news: list[Payload]) -> None:
    view, legal = at.rules.view(state, seat), at.rules.write_legal(state, seat)
    _check_payload(at, view, 2, "the view")
    _check_payload(at, legal, 2, "the legal plays")
    at.demand(isinstance(kind, str) and 0 < len(kind) <= 64, "a kind of decision with a name", shown(kind), "name it")
    size = len(msgspec.msgpack.encode([view, news, legal]))
    most = MAX_REFEREE_FRAME - 1024  # the rest of a request
    at.demand(size <= most, f"a request of at most {most} bytes", f"{size} bytes", "send less")


def _check_event(at: Checking, event: Event) -> None:
    fix = "write Event({'event': 'moved', ...}, to=(seat,)), or leave `to` out for everyone"
    _check_payload(at, event.data, 3, "an event")
    name = event.data.get("event")
    at.demand(
        isinstance(name, str) and bool(name), "an event with its name under the key `event`", shown(event.data), fix
    )
    if event.to is not None:
        seats = isinstance(event.to, tuple) and set(event.to) <= set(range(at.rules.seats))
        at.demand(seats, "`to` as a tuple of seats, or None for everyone", shown(event.to), fix)
        at.demand(
            not at.rules.nothing_hidden, "events for everyone, as the game says that nothing is hidden", shown(event),
            "leave `to` out, or set `nothing_hidden = False`",
        )  # fmt: skip


def _check_payload(at: Checking, value: Any, depth: int, what: str, path: str = "$") -> None:
    """Checks a value of a message; `depth` is that of the value if it is a map or a list."""
    kind = type(value)
    if kind is dict or kind is list:
        fix = "make it flatter"
        at.demand(depth <= MAX_DEPTH, f"at most {MAX_DEPTH} levels of maps and lists in {what}", f"more at {path}", fix)
        if kind is dict:
            for key in value:
                if type(key) is not str:
                    raise at.fault(f"text as keys in {what}", f"{key!r} at {path}", "turn the key into text")
        items: Iterator[tuple[Any, Any]] = iter(value.items()) if kind is dict else iter(enumerate(value))
        for key, item in items:
            _check_payload(at, item, depth + 1, what, f"{path}[{key!r}]")
        return
    if not (value is None or kind in (bool, str) or (kind is int and abs(value) <= MAX_INT)):
        raise at.fault(
            f"None, a bool, an int of at most {MAX_INT}, a str, a list or a dict in {what}",
            f"{kind.__name__} {value!r:.60} at {path}",
            "convert it: a tuple to a list, a float to whole units",
        )


def check_actions(rules: Rules[Any], seed: int) -> None:
    """Checks that decisions written for the wire and read again come to the same state and events, and that neither
    the order of a map's keys nor unknown keys change anything.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "actions", seed) as at:
        chance = random.Random(seed)
        for begun, seat, plays, after, events in _decisions(at, walk(rules, seed)):
            at.seat = seat
            written = json.loads(json.dumps(rules.write_action(plays)))
            told: list[Event] = []
            state = rules.act(begun, seat, rules.read_action(begun, seat, written), told)
            at.demand(
                state == after, f"act to do what the plays of {shown(written)} do one by one", shown(state),
                "let act check and apply each play, and end the decision where pending no longer names it",
            )  # fmt: skip
            at.demand(told == events, f"the same events: {shown(events)}", shown(told), "let act pass `events` on")
            for other in (written, _stirred(written, chance)):
                again = rules.write_action(rules.read_action(begun, seat, other))
                at.demand(
                    json.dumps(again) == json.dumps(written), f"{shown(other)} to be read as {shown(written)}",
                    shown(again), "let write_action write keys in a fixed order, and read_action ignore unknown ones",
                )  # fmt: skip


def _decisions(at: Checking, steps: Iterator[Step]) -> Iterator[tuple[Any, int, list[Any], Any, list[Event]]]:
    """Yields whole decisions: the state before, the seat, its plays, the state after, the events."""
    rules = at.rules
    plays: list[Any] = []
    events: list[Event] = []
    begun = None
    for step in at.follow(steps):
        if step.seat is None:
            continue
        if not plays:
            begun = step.before
        plays.append(step.move)
        events += step.events
        kind = next(decision.kind for decision in rules.pending(step.before) if decision.seat == step.seat)
        still = any((decision.seat, decision.kind) == (step.seat, kind) for decision in rules.pending(step.after))
        turn = rules.turn(begun)
        if still and turn and rules.turn(step.after) == turn and not takes_one_play(rules):
            continue
        yield begun, step.seat, plays, step.after, events
        plays, events = [], []


def _stirred(action: Payload, chance: random.Random) -> Payload:
    """Returns an action with the keys of its maps in another order, and unknown ones among them."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in chance.sample(list(value), len(value))}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    plays = [{"x-unknown": [1], **shuffled(play)} for play in action["plays"]]
    return {"x-unknown": {"a": 1}, **shuffled(action), "plays": plays}


def check_wild_actions(rules: Rules[Any], seed: int, tries: int = 60) -> None:
    """Checks that no action, however wild, raises anything but an `ActionError` or changes a state.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "wild actions", seed) as at:
        chance = random.Random(seed)
        steps = [(number, step) for number, step in enumerate(walk(rules, seed), start=1) if step.seat is not None]
        for at.step, step in chance.sample(steps, min(len(steps), 6)):
            at.seat = step.seat
            assert step.seat is not None
            action = json.loads(json.dumps(rules.write_action([step.move])))
            wild = [one for one in varied(action, (), ()) if isinstance(one, dict)]
            for one in chance.sample(wild, min(len(wild), tries // 6)):
                _try_wild(at, step.before, step.seat, one)


def _try_wild(at: Checking, state: Any, seat: int, action: Payload) -> None:
    rules, before = at.rules, at.rules.dump(state)
    try:
        rules.act(state, seat, rules.read_action(state, seat, action))
    except ActionError:
        pass
    except Exception as error:
        fix = "read every value with a check of its type; raise MalformedAction or IllegalAction"
        raise at.fault(f"an ActionError or nothing for {shown(action)}", repr(error), fix) from error
    same = rules.dump(state) == before
    at.demand(
        same, f"the state to stay as it was, whatever {shown(action)} does", "a changed one", "return a new state"
    )


def varied(value: Any, words: Sequence[Any], keys: Sequence[str]) -> Iterator[Any]:
    """Yields an action with each of its values replaced, by words of the game too, with a key or an item less, and with
    a key more."""
    yield from (*_WILD, *words)
    if isinstance(value, dict):
        for key, item in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: other} for other in varied(item, words, keys))
        yield from ({**value, key: word} for key in keys if key not in value for word in (None, *words))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield [*value[:at], *value[at + 1 :]]
            yield [*value[:at], item, *value[at:]]
            yield from ([*value[:at], other, *value[at + 1 :]] for other in varied(item, words, keys))
