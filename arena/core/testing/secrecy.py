"""The law of secrecy: what a seat may not know changes nothing that it is shown.

Two worlds that a seat cannot tell apart come from `resample`, or from another draw or play that it does not learn of.
Everything that goes to the seat must be the same bytes in both, now and for as long as both go on alike: also the words
with which an action of its own is refused, and what it is told when others forfeit.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from arena.core.errors import ActionError
from arena.core.rules.base import Event, Rules
from arena.core.testing.messages import varied
from arena.core.testing.walks import Checking, Step, contrast, play_to_end, probing, shown, walk
from arena.core.types import Payload

ALTERNATIVES: Final = 2
"""Other draws or plays that are tried at each step."""
FORKS: Final = 4
"""Number of times in a game that each seat's other world is played on for `FARTHEST` steps; elsewhere for one."""
FARTHEST: Final = 40
"""Steps that both worlds are played on."""
ENDS: Final = 3
"""Number of other worlds of a game that are played to their end."""
TRIES: Final = 1_000
"""Calls of `resample` until something that the seat cannot know has to differ."""
MOST_TRIED: Final = 60
"""Actions that a seat tries at a moment of the game, at most."""
MOST_WORDS: Final = 12
"""Number of the words, and of the keys, in the views of a game that are put into actions."""
_FAILING = 0.01
_BUILD = "build the view, the legal plays and pending of a seat from what that seat was told, and nothing else"


def seen(rules: Rules[Any], state: Any, seat: int, events: list[Event]) -> bytes:
    """Returns everything that a seat is shown after a step, as JSON."""
    return msgspec.json.encode({**_parts(rules, state, seat), "events": _told(events, seat)})


def check_secrecy(rules: Rules[Any], seed: int) -> int:
    """Checks that nothing hidden reaches a seat, and that `resample` knows all that is hidden.

    Returns:
        How many of the worlds that `resample` returned were other states.

    Raises:
        GameFault: A seat is shown what it may not know.
    """
    with probing(rules, "secrecy", seed) as at:
        chance = random.Random(seed)
        steps = list(walk(rules, seed, forfeits=_FAILING if seed % 2 else 0.0))
        actions = _attempts(rules, steps, chance)
        gone: set[int] = set()
        changed = sum(_check_worlds(at, rules.start(), gone, actions, chance))
        for number, step in enumerate(at.follow(steps)):
            if not rules.nothing_hidden:
                for seat in range(rules.seats):
                    far = FARTHEST if chance.randrange(len(steps)) < FORKS else 1
                    _check_later(at, number, steps[number : number + far], seat, chance)
            at.step, at.what = number + 1, at.describe(step)
            gone.update(step.gone)
            changed += sum(_check_worlds(at, step.after, gone, actions, chance))
            _check_alternatives(at, step, chance)
        if steps and not rules.nothing_hidden:
            for _ in range(ENDS):
                at.step = chance.randrange(len(steps))
                _check_end(at, steps[at.step].before, chance)
        return changed


def _attempts(rules: Rules[Any], steps: Sequence[Step], chance: random.Random) -> Iterator[list[Payload]]:
    """Yields again and again some of what a seat may send, legal or not: in a game about all of it is tried once."""
    actions = [rules.write_action([step.move]) for step in steps if step.seat is not None]
    if not actions:
        return
    views = [rules.view(steps[-1].after, seat) for seat in range(rules.seats)]
    keys, words = _words(views)
    keys, words = (chance.sample(found, min(len(found), MOST_WORDS)) for found in (keys, words))
    plain = json.loads(json.dumps(chance.choice(actions)))
    tried = [*actions, *(one for one in varied(plain, words, keys) if isinstance(one, dict))]
    chance.shuffle(tried)
    most = max(2, min(MOST_TRIED, len(tried) // len(actions)))
    while True:
        yield tried[:most]
        tried = [*tried[most:], *tried[:most]]


def _words(value: Any) -> tuple[list[str], list[Any]]:
    """Returns the keys in a value, and the texts and numbers, each once."""
    if not isinstance(value, dict | list):
        return [], [value] if isinstance(value, str | int) else []
    found = [_words(item) for item in (value.values() if isinstance(value, dict) else value)]
    own = list(value) if isinstance(value, dict) else []
    keys, words = zip(*found, strict=True) if found else ((), ())
    return list(dict.fromkeys(itertools.chain(own, *keys))), list(dict.fromkeys(itertools.chain(*words)))


def _parts(rules: Rules[Any], state: Any, seat: int) -> dict[str, Any]:
    """Returns what a seat is shown of a state: its view, its decision with the legal plays, the turn, the outcome."""
    owed = [decision for decision in rules.pending(state) if decision.seat == seat]
    return {
        "view": rules.view(state, seat),
        "pending": [[decision.kind, decision.race] for decision in owed],
        "legal": rules.write_legal(state, seat) if owed else None,
        "turn": rules.turn(state),
        "outcome": rules.outcome(state),
    }


def _same_view(rules: Rules[Any], one: Any, other: Any, seat: int) -> bool:
    return msgspec.json.encode(rules.view(one, seat)) == msgspec.json.encode(rules.view(other, seat))


def _told(events: list[Event], seat: int) -> list[Any]:
    return [event.data for event in events if event.reaches(seat)]


def _demand_same(at: Checking, one: Any, other: Any, what: str, worlds: str, remedy: str) -> None:
    first, second = msgspec.json.encode(one), msgspec.json.encode(other)
    if first != second:
        raise at.fault(f"{what} of seat {at.seat} as the same bytes in {worlds}", contrast(first, second), remedy)


def _check_worlds(
    at: Checking, state: Any, gone: set[int], actions: Iterator[list[Payload]], chance: random.Random
) -> Iterator[bool]:
    """Checks what each seat is shown of a state and of another that it must not tell from this one.

    `gone` forfeited before; `actions` yields what a seat may send, legal or not.

    Yields:
        For each seat whether the other state was another one.
    """
    rules, before = at.rules, at.rules.dump(state)
    for at.seat in range(rules.seats):
        other = rules.resample(state, at.seat, chance.randrange)
        at.demand(
            rules.dump(state) == before, "resample to leave the state as it was", "a changed one", "return a new state"
        )
        if rules.dump(other) != before:
            worlds = "two states that resample says it cannot tell apart"
            here, there = _parts(rules, state, at.seat), _parts(rules, other, at.seat)
            for name, part in here.items():
                _demand_same(
                    at, part, there[name], _NAMES[name], worlds, f"{_BUILD}; or let resample keep what it knows"
                )
            _check_forfeit(at, state, other, gone, worlds, chance)
            if here["pending"]:
                for action in next(actions, ()):
                    _check_refusal(at, state, other, action, worlds)
            yield True
        else:
            yield False
    at.seat = None


_NAMES: Final = {
    "view": "the view", "pending": "the decision", "legal": "the legal plays", "turn": "the turn",
    "outcome": "the outcome",
}  # fmt: skip


def _check_forfeit(at: Checking, state: Any, other: Any, gone: set[int], worlds: str, chance: random.Random) -> None:
    """Checks what a seat is told in two worlds when others forfeit who are asked, also where that ends the game."""
    rules, seat = at.rules, at.seat
    assert seat is not None
    asked = [{decision.seat for decision in rules.pending(world)} - gone - {seat} for world in (state, other)]
    owing = sorted(asked[0] & asked[1])
    if not owing:
        return
    guilty = tuple(sorted(chance.sample(owing, chance.randint(1, len(owing)))))
    told: list[Event] = []
    elsewhere: list[Event] = []
    here, there = rules.forfeit(state, guilty, told), rules.forfeit(other, guilty, elsewhere)
    what = f"(forfeit of {', '.join(f'seat {one}' for one in guilty)})"
    if here is not None and there is not None and not _same_view(rules, here, there, seat):
        return
    fix = "a forfeit shows what the seat's view shows after it, and nothing else; mind `to`"
    events = _told(told, seat), _told(elsewhere, seat)
    _demand_same(at, *events, f"the events {what}", worlds, fix)
    _demand_same(at, here is None, there is None, f"the end {what}", worlds, fix)


def _check_refusal(at: Checking, state: Any, other: Any, action: Payload, worlds: str) -> None:
    """Checks that an action of a seat is refused with the same code and words in two worlds, or in neither."""
    assert at.seat is not None
    here, there = (_refusal(at.rules, world, at.seat, action) for world in (state, other))
    fix = "name in an error what the seat sent and what its own view shows, and nothing else"
    _demand_same(at, here, there, f"the refusal of {shown(action)}", worlds, fix)


def _refusal(rules: Rules[Any], state: Any, seat: int, action: Payload) -> list[str] | None:
    """Returns the code and the words with which an action is refused; None if it is accepted."""
    try:
        rules.act(state, seat, rules.read_action(state, seat, action))
    except ActionError as error:
        return [error.code, str(error)]
    return None


def _check_later(at: Checking, start: int, steps: list[Step], seat: int, chance: random.Random) -> None:
    """Checks that a seat is told the same in another world for as long as the same moves lead to the same views.

    `start` counts the steps before the first of `steps`, which are what happens in the one world.
    """
    rules = at.rules
    other = rules.resample(steps[0].before, seat, chance.randrange)
    worlds = f"two worlds that it could not tell apart after step {start} and in which the same was played since"
    for number, step in enumerate(steps, start=start + 1):
        events: list[Event] = []
        other = _same_move(rules, other, step, events)
        if other is None:
            break
        if not _same_view(rules, step.after, other, seat):
            break
        here, there = _parts(rules, step.after, seat), _parts(rules, other, seat)
        at.step, at.what, at.seat = number, at.describe(step), seat
        told = _told(step.events, seat), _told(events, seat)
        _demand_same(at, *told, "the events", worlds, "tell a seat only what goes into its view; mind `to`")
        for name, part in here.items():
            _demand_same(at, part, there[name], _NAMES[name], worlds, _BUILD)
    at.seat = None


def _same_move(rules: Rules[Any], state: Any, step: Step, events: list[Event]) -> Any:
    """Returns the state after the same move in another world, or None where it cannot be made there."""
    if step.gone:
        return rules.forfeit(state, step.gone, events)
    if step.seat is None:
        wanted = rules.draw_wanted(state)
        return rules.draw(state, step.move, events) if wanted == rules.draw_wanted(step.before) else None
    owed = [decision for decision in rules.pending(step.before) if decision.seat == step.seat]
    if owed != [decision for decision in rules.pending(state) if decision.seat == step.seat]:
        return None
    try:
        rules.check(state, step.seat, step.move)
    except ActionError:
        return None
    return rules.apply(state, step.seat, step.move, events)


def _check_end(at: Checking, state: Any, chance: random.Random) -> None:
    """Checks that a world which `resample` returns is a state of the game: it can be played to its end."""
    rules = at.rules
    at.seat = chance.randrange(rules.seats)
    play_to_end(rules, rules.resample(state, at.seat, chance.randrange), chance.randrange)
    at.seat = None


def _check_alternatives(at: Checking, step: Step, chance: random.Random) -> None:
    """Checks what each seat is told of a draw or of another seat's play, against others that it does not learn of."""
    rules = at.rules
    for move, apply in _alternatives(rules, step, chance):
        events: list[Event] = []
        other = apply(events)
        if other == step.after:
            continue
        for at.seat in range(rules.seats):
            if at.seat == step.seat:
                continue
            if not _same_view(rules, step.after, other, at.seat):
                continue
            here, there = _parts(rules, step.after, at.seat), _parts(rules, other, at.seat)
            instead = f"draw {move}" if step.seat is None else at.written(move)
            worlds = f"this world and one with {instead} instead, after which its view is the same"
            told = _told(step.events, at.seat), _told(events, at.seat)
            _demand_same(at, *told, "the events", worlds, "tell a seat only what goes into its view; mind `to`")
            for name, part in here.items():
                _demand_same(at, part, there[name], _NAMES[name], worlds, _BUILD)
            _check_resample(at, step.after, other, instead, chance)
    at.seat = None


def _alternatives(rules: Rules[Any], step: Step, chance: random.Random) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Yields other moves than the one of a step, and what makes each."""
    if step.gone:
        return
    before = step.before
    if step.seat is None:
        draw = rules.draw_wanted(before)
        assert draw is not None
        for index in chance.sample(range(draw.n), min(ALTERNATIVES, draw.n)):
            if index != step.move:
                yield index, lambda events, index=index: rules.draw(before, index, events)
        return
    seat, legal = step.seat, rules.legal(before, step.seat)
    for at in chance.sample(range(len(legal)), min(ALTERNATIVES, len(legal))):
        play = legal[at]
        if play != step.move:
            yield play, lambda events, play=play: rules.apply(before, seat, play, events)


def _check_resample(at: Checking, state: Any, other: Any, instead: str, chance: random.Random) -> None:
    """Checks that `resample` varies all in which another state differs that the seat cannot tell from this one: what
    each other seat knows, and the state as a whole."""
    rules, seat = at.rules, at.seat
    assert seat is not None
    here, there = _facets(rules, state, seat), _facets(rules, other, seat)
    fixed = {name for name, facet in here.items() if facet != there[name]}
    for _ in range(TRIES):
        if not fixed:
            return
        world = _facets(rules, rules.resample(state, seat, chance.randrange), seat)
        fixed -= {name for name, facet in world.items() if facet != here[name]}
    if not fixed:
        return
    what, fix = " and ".join(sorted(fixed)), "let resample exchange all that the seat has not been told"
    if rules.nothing_hidden:
        fix = "the game says that nothing is hidden; set `nothing_hidden = False` and override resample"
    raise at.fault(
        f"resample to change {what} sometimes, as seat {seat} cannot tell this state from the one after {instead}",
        f"the same in {TRIES} calls",
        fix,
    )


def _facets(rules: Rules[Any], state: Any, seat: int) -> dict[str, bytes]:
    """Returns what a seat might not know: the state, and the view of each other seat."""
    views = {f"the view of seat {eye}": rules.view(state, eye) for eye in range(rules.seats) if eye != seat}
    return {"the state": rules.dump(state), **{name: msgspec.json.encode(view) for name, view in views.items()}}
