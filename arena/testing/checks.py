"""The laws of `arena.rules.base`, each as a check of one random game. What hides from whom is in `secrecy`."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from arena.errors import ActionError, IllegalAction
from arena.rules.base import BoardFormat, Event, Outcome, Rules
from arena.testing.walks import GameFault, Probe, Step, probing, shown, takes_one_play, walk
from arena.types import Payload
from arena.wire.messages import MAX_DEPTH, MAX_FRAME, MAX_INT, MAX_REFEREE_FRAME

FEW: Final = 3
"""Plays, or other things, that are tried at each step."""
_FAILING = 0.02  # how likely seats forfeit at each step of a game with forfeits
_DISTINCT = 300  # legal plays up to which they are compared with each other
_WILD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 70, MAX_INT, -MAX_INT, "", "x", "0", "\x1b[2J", "\u202e", [], [[]], {}, {"": None},
    {"plays": []}, [1, "1", None], {"at": [0, 0]},
)  # fmt: skip


def check_declaration(game: type[Rules[Any]]) -> None:
    """Checks what a game says about itself: names, rulesets, options, and that nothing is left to override.

    Raises:
        GameFault: Something is missing or contradicts itself.
    """
    place = f"class {game.__module__}.{game.__qualname__}"

    def demand(holds: bool, expected: str, got: object, remedy: str) -> None:
        if not holds:
            raise GameFault("declaration", expected, shown(got), place, remedy)

    for attribute in ("name", "about", "seat_counts"):
        demand(hasattr(game, attribute), f"a class attribute `{attribute}`", None, f"set `{attribute}`")
    demand(
        isinstance(game.name, str) and game.name.isidentifier() and game.name.islower() and len(game.name) <= 64,
        "a name of small letters, digits and underscores", game.name, "rename the game",
    )  # fmt: skip
    demand(
        isinstance(game.seat_counts, range) and len(game.seat_counts) > 0 and game.seat_counts.start >= 1,
        "seat_counts as a range of numbers from 1 on", repr(game.seat_counts), "write range(2, 5) for 2 to 4 players",
    )  # fmt: skip
    demand(len(game.rulesets) > 0, "at least one ruleset", dict(game.rulesets), "name one")
    known = {option.name: option for option in game.option_list}
    for name, ruleset in game.rulesets.items():
        demand(
            set(ruleset.options) == set(known),
            f"the ruleset {name!r} to have a value for every option: {sorted(known)}",
            sorted(ruleset.options),
            "give each option one value",
        )
        for option, value in ruleset.options.items():
            demand(known[option].accepts(value), f"a value that {option} can have in {name!r}", value, "correct it")
        settings = {f"{option}={value}" for option, value in ruleset.options.items()}
        for pair in game.contradictions:
            demand(not settings >= set(pair), f"options that can hold together in {name!r}", pair, "change one of them")
    if game.load is Rules.load:
        demand(game.state_type is not None, "the type of a state", None, "set `state_type`, or override dump and load")
    if game.read_play is Rules.read_play and game.read_action is Rules.read_action:
        demand(game.play_type is not None, "the type of a play", None, "set `play_type`, or override read_play")
    if not game.nothing_hidden:
        demand(
            game.resample is not Rules.resample,
            "the game to say what it hides", None, "override `resample`, or set `nothing_hidden = True`",
        )  # fmt: skip
    if game.draw_wanted is not Rules.draw_wanted:
        demand(game.draw is not Rules.draw, "`draw` beside `draw_wanted`", None, "override `draw`")
    demand(
        game.boards is None or isinstance(game.boards, BoardFormat),
        "`boards` to be None or an object of a subclass of BoardFormat", repr(game.boards), "make one",
    )  # fmt: skip


def check_rules(rules: Rules[Any], seed: int) -> None:
    """Checks all laws but those of `check_fold`, `check_actions`, `check_wild_actions` and `check_secrecy`.

    Raises:
        GameFault: A law is broken.
    """
    check_purity(rules, seed)
    check_legality(rules, seed)
    check_outcome(rules, seed)
    check_payloads(rules, seed)
    check_forfeits(rules, seed)


def check_purity(rules: Rules[Any], seed: int) -> None:
    """Checks that a step leaves the state it is given as it was, that equal inputs give equal results, and that a
    state survives being written as bytes.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "purity", seed) as at:
        fresh = type(rules)(rules.seats, rules.options, rules.board)
        last = rules.dump(rules.start())
        same = "keep no state in the rules, and use nothing but the arguments"
        at.demand(fresh.dump(fresh.start()) == last, "equal rules to start equal games", "two starts", same)
        for step in at.follow(walk(rules, seed, forfeits=_FAILING if seed % 2 else 0.0)):
            at.demand(
                rules.dump(step.before) == last, "the state before the step to stay as it was", "a changed one",
                "return a new state; msgspec.structs.replace and tuples help",
            )  # fmt: skip
            loaded = rules.load(last)
            at.demand(
                loaded == step.before and rules.dump(loaded) == last, "load(dump(state)) to be the same state",
                shown(loaded), "let the types of the state's fields say what they hold: tuple[int, ...], bytes, ...",
            )  # fmt: skip
            events: list[Event] = []
            again = _repeated(fresh, loaded, step, events)
            last = rules.dump(step.after)
            at.demand(fresh.dump(again) == last and again == step.after, "the same state again", shown(again), same)
            at.demand(events == step.events, f"the same events again: {shown(step.events)}", shown(events), same)
            silent = _repeated(fresh, loaded, step, None)
            at.demand(silent == step.after, "the same state without a list of events", shown(silent), same)


def _repeated(rules: Rules[Any], state: Any, step: Step, events: list[Event] | None) -> Any:
    """Returns the state after the same step once more."""
    if step.gone:
        return rules.forfeit(state, step.gone, events)
    if step.seat is None:
        return rules.draw(state, step.move, events)
    return rules.apply(state, step.seat, step.move, events)


def check_legality(rules: Rules[Any], seed: int) -> None:
    """Checks who is asked, and `legal` against `check`, `act` and the form on the wire.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "legality", seed) as at:
        chance = random.Random(seed)
        pool: dict[str, list[Any]] = {}
        before = rules.start()
        _check_moment(at, before)
        for step in at.follow(walk(rules, seed)):
            if step.begins and step.seat is not None:
                for decision in rules.pending(step.before):
                    at.seat = decision.seat
                    _check_products(at, step.before, decision.seat, chance)
            _check_moment(at, step.after)
            if step.seat is not None:
                kind = next(decision.kind for decision in rules.pending(step.before) if decision.seat == step.seat)
                pool.setdefault(kind, []).append(step.move)
            owed = {decision.seat: decision.kind for decision in rules.pending(step.after)}
            for at.seat in range(rules.seats):
                legal = rules.legal(step.after, at.seat)
                _check_legal(at, step.after, at.seat, legal, chance)
                if at.seat not in owed and step.seat is not None:
                    _check_verdict(at, step.after, at.seat, step.move, legal=False)
                tried = pool.get(owed.get(at.seat, ""), [])
                for play in chance.sample(tried, min(FEW, len(tried))):
                    _check_verdict(at, step.after, at.seat, play, legal=play in legal)


def _check_moment(at: Probe, state: Any) -> None:
    """Checks that one thing is due: a draw, decisions or nothing more."""
    rules, pending = at.rules, at.rules.pending(state)
    draw, over = rules.draw_wanted(state), rules.outcome(state) is not None
    due = [name for name, holds in (("draw", draw), ("decision", pending), ("outcome", over)) if holds]
    at.demand(len(due) == 1, "one of a draw, a decision and an outcome", shown(due), "let the others wait")
    at.demand(draw is None or draw.n >= 1, "a draw of at least one outcome", shown(draw), "draw nothing then")
    seats = [decision.seat for decision in pending]
    at.demand(
        seats == sorted(set(seats)) and set(seats) <= set(range(rules.seats)),
        "pending seats in order, each once", shown(seats), "sort the decisions by seat",
    )  # fmt: skip
    races = {decision.race for decision in pending}
    at.demand(
        len(races) <= 1 and races <= {False, rules.has_race}, "either all decisions to race, or none, and `has_race`",
        shown(pending), "set `has_race`, or `race` of each decision",
    )  # fmt: skip


def _check_legal(at: Probe, state: Any, seat: int, legal: Any, chance: random.Random) -> None:
    rules = at.rules
    owes = any(decision.seat == seat for decision in rules.pending(state))
    at.demand(
        bool(legal) == owes, "legal plays for a seat that owes a decision, and for no other",
        f"{len(legal)} plays for a seat that {'owes one' if owes else 'owes none'}", "let pending and legal agree",
    )  # fmt: skip
    for index in chance.sample(range(len(legal)), min(FEW, len(legal))):
        _check_verdict(at, state, seat, legal[index], legal=True)
        at.demand(
            legal[index] in legal, "a legal play to equal itself", at.written(legal[index]),
            "give plays an equality: a frozen msgspec Struct has one",
        )  # fmt: skip
    if len(legal) <= _DISTINCT:
        twice = [play for play, times in Counter(map(at.written, legal)).items() if times > 1]
        at.demand(not twice, "each legal play once", shown(twice), "list it once")


def _check_verdict(at: Probe, state: Any, seat: int, play: Any, *, legal: bool) -> None:
    """Checks that `check` says the same of a play as `legal`."""
    rules, error = at.rules, None
    try:
        rules.check(state, seat, play)
    except IllegalAction as refusal:
        error = refusal
    if legal != (error is None):
        word = "accept" if legal else "refuse"
        got = f"{'nothing' if error is None else f'the refusal {error}'}, for {at.written(play)}"
        raise at.fault(f"`check` to {word} what is {'' if legal else 'not '}in `legal`", got, "let the two agree")


def _check_products(at: Probe, state: Any, seat: int, chance: random.Random) -> None:
    """Checks that the products on the wire stand for the legal plays, and that each such play is accepted."""
    rules = at.rules
    products = json.loads(json.dumps(rules.write_legal(state, seat)))
    form = 'a list of maps, each key with a list of values or {"choose": n, "of": [...]}'
    fix = "override write_legal, or build `legal` of products of structs"
    for product in products:
        at.demand(isinstance(product, dict) and all(map(_is_choice, product.values())), form, shown(product), fix)
    at.demand(bool(products), "a legal play on the wire", "none", fix)
    legal = rules.legal(state, seat)
    plays = [_first(products[0]), *(_any(chance.choice(products), chance) for _ in range(FEW))]
    for play in plays:
        action = {"plays": [play]}
        try:
            rules.act(state, seat, rules.read_action(state, seat, action))
        except ActionError as error:
            expected = f"the action {shown(action)}, made from `write_legal`, to be accepted"
            raise at.fault(expected, f"the refusal {error}", "let write_legal, read_action and act agree") from None
        read = rules.read_action(state, seat, action)
        known = all(first in legal for first in read[:1])
        at.demand(known, f"{shown(play)} to be read as one of `legal`", shown(read), "let write_legal and legal agree")
    for index in chance.sample(range(len(legal)), min(FEW, len(legal))):
        for play in json.loads(json.dumps(rules.write_action([legal[index]])))["plays"]:  # none for one that stops
            at.demand(
                any(_made_from(play, product) for product in products), f"the legal play {shown(play)} in `write_legal`",
                shown(products), "let write_legal name every legal play",
            )  # fmt: skip


def _is_choice(values: Any) -> bool:
    if isinstance(values, dict):
        return (
            set(values) == {"choose", "of"} and isinstance(values["of"], list)
            and type(values["choose"]) is int and 0 < values["choose"] <= len(values["of"])
        )  # fmt: skip
    return isinstance(values, list) and len(values) > 0


def _first(product: Payload) -> Payload:
    return {
        key: values["of"][: values["choose"]] if isinstance(values, dict) else values[0]
        for key, values in product.items()
    }


def _any(product: Payload, chance: random.Random) -> Payload:
    return {
        key: chance.sample(values["of"], values["choose"]) if isinstance(values, dict) else chance.choice(values)
        for key, values in product.items()
    }


def _made_from(play: Payload, product: Payload) -> bool:
    """Returns whether a play is made from a product."""
    if set(play) != set(product):
        return False
    for key, values in product.items():
        if not isinstance(values, dict):
            if play[key] not in values:
                return False
        elif (
            not isinstance(play[key], list)
            or len(play[key]) != values["choose"]
            or Counter(map(shown, play[key])) - Counter(map(shown, values["of"]))
        ):
            return False
    return True


def check_outcome(rules: Rules[Any], seed: int) -> None:
    """Checks that the game ends with sane ranks and scores.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "outcome", seed) as at:
        state = rules.start()
        for step in at.follow(walk(rules, seed)):
            state = step.after
        outcome = rules.outcome(state)
        assert outcome is not None, "the walk ends with the game"
        _check_outcome(at, outcome)


def _check_outcome(at: Probe, outcome: Outcome) -> None:
    seats, ranks, scores = at.rules.seats, outcome.ranks, outcome.scores
    at.demand(
        isinstance(ranks, tuple) and len(ranks) == seats
        and all(type(rank) is int and rank == 1 + sum(other < rank for other in ranks) for rank in ranks),
        f"a tuple of {seats} ranks, 1 the best, where equal ranks share and the next one skips as many", shown(ranks),
        "give each seat 1 + the number of seats that are better",
    )  # fmt: skip
    if scores is not None:
        whole = isinstance(scores, tuple) and all(type(score) is int and abs(score) <= MAX_INT for score in scores)
        fix = "count in the smallest unit"
        at.demand(whole and len(scores) == seats, f"a tuple of {seats} whole numbers as scores", shown(scores), fix)


def check_forfeits(rules: Rules[Any], seed: int) -> None:
    """Checks that the game ends whoever forfeits whenever somebody is asked, with the guilty ones last.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "forfeits", seed) as at:
        for likely in (_FAILING, 10 * _FAILING):
            gone: list[int] = []
            after = None
            for step in at.follow(walk(rules, seed, forfeits=likely)):
                gone += step.gone
                after = step.after
                owing = {decision.seat for decision in rules.pending(after)} & set(gone)
                at.demand(
                    not owing or rules.turn(after) == 0, "seats that forfeited to owe nothing after the set-up",
                    f"decisions of seats {sorted(owing)}", "leave them out of pending",
                )  # fmt: skip
            outcome = None if after is None else rules.outcome(after)
            if outcome is not None:
                _check_outcome(at, outcome)
                last_left = max((rank for seat, rank in enumerate(outcome.ranks) if seat not in gone), default=0)
                at.demand(
                    all(outcome.ranks[seat] > last_left for seat in gone),
                    f"seats {gone}, which forfeited, to be ranked behind all others", shown(outcome.ranks),
                    "rank them last",
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
        for step in at.follow(walk(rules, seed, forfeits=_FAILING if seed % 2 else 0.0)):
            if step.begins and step.seat is not None:
                for decision in rules.pending(step.before):
                    at.seat = decision.seat
                    _check_request(at, step.before, decision.seat, decision.kind, news[at.seat])
                news[step.seat] = []
                action = rules.write_action([step.move])
                _check_payload(at, action, 2, "an action")
                size = len(msgspec.msgpack.encode(action))
                at.demand(size <= MAX_FRAME // 2, f"an action of at most {MAX_FRAME // 2} bytes", str(size), "shorten it")
            at.seat = None
            for event in step.events:
                _check_event(at, event)
                for seat in range(rules.seats):
                    if event.reaches(seat):
                        news[seat].append(event.data)


def _check_request(at: Probe, state: Any, seat: int, kind: str, news: list[Payload]) -> None:
    view, legal = at.rules.view(state, seat), at.rules.write_legal(state, seat)
    _check_payload(at, view, 2, "the view")
    _check_payload(at, legal, 2, "the legal plays")
    at.demand(isinstance(kind, str) and 0 < len(kind) <= 64, "a kind of decision with a name", shown(kind), "name it")
    size = len(msgspec.msgpack.encode([view, news, legal]))
    most = MAX_REFEREE_FRAME - 1024  # the rest of a request
    at.demand(size <= most, f"a request of at most {most} bytes", f"{size} bytes", "send less")


def _check_event(at: Probe, event: Event) -> None:
    fix = "write Event({'event': 'moved', ...}, audience=(seat,)), or leave the audience out for everyone"
    _check_payload(at, event.data, 3, "an event")
    name = event.data.get("event")
    at.demand(isinstance(name, str) and bool(name), "an event with its name under the key `event`", shown(event.data), fix)
    at.demand("only" not in event.data, "no key `only` in an event, as logs use it", shown(event.data), "rename the key")
    audience = event.audience
    if audience is not None:
        seats = isinstance(audience, tuple) and set(audience) <= set(range(at.rules.seats))
        at.demand(seats, "the audience as a tuple of seats, or None for everyone", shown(audience), fix)
        at.demand(
            not at.rules.nothing_hidden, "events for everyone, as the game says that nothing is hidden", shown(event),
            "leave the audience out, or set `nothing_hidden = False`",
        )  # fmt: skip


def _check_payload(at: Probe, value: Any, depth: int, what: str, path: str = "$") -> None:
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


def check_fold(rules: Rules[Any], seed: int) -> None:
    """Checks that the events which a seat receives fold to its view, at every step, with forfeits and without.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "fold", seed) as at:
        seats = range(rules.seats)
        for likely in (0.0, _FAILING):
            views = [rules.first_view(seat) for seat in seats]
            for at.seat in seats:
                _check_view(at, views[at.seat], rules.view(rules.start(), at.seat))
            for step in at.follow(walk(rules, seed, forfeits=likely)):
                for at.seat in seats:
                    for event in step.events:
                        if event.reaches(at.seat):
                            before = shown(views[at.seat])
                            folded = rules.fold(views[at.seat], event.data)
                            fix = "copy what changes: {**view, 'moves': [*view['moves'], move]}"
                            same = before == shown(views[at.seat])
                            at.demand(same, "fold to leave the view as it was", "a changed one", fix)
                            views[at.seat] = folded
                    _check_view(at, views[at.seat], rules.view(step.after, at.seat))
            at.step, at.what = None, ""


def _check_view(at: Probe, folded: Payload, view: Payload) -> None:
    if folded != view:
        keys = [key for key in {**folded, **view} if folded.get(key, ...) != view.get(key, ...)]
        parts = [{key: side[key] for key in keys if key in side} for side in (view, folded)]
        raise at.fault(
            f"the events to fold to the view, with {shown(parts[0])}", shown(parts[1]),
            "send an event for every change of the view, and let fold apply it",
        )  # fmt: skip


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


def _decisions(at: Probe, steps: Iterator[Step]) -> Iterator[tuple[Any, int, list[Any], Any, list[Event]]]:
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
        for _ in range(tries):
            at.step, step = chance.choice(steps)
            at.seat = step.seat
            assert step.seat is not None
            action = _mutated(json.loads(json.dumps(rules.write_action([step.move]))), chance)
            if isinstance(action, dict):
                _try_wild(at, step.before, step.seat, action)


def _try_wild(at: Probe, state: Any, seat: int, action: Payload) -> None:
    rules, before = at.rules, at.rules.dump(state)
    try:
        rules.act(state, seat, rules.read_action(state, seat, action))
    except ActionError:
        pass
    except Exception as error:
        fix = "read every value with a check of its type; raise MalformedAction or IllegalAction"
        raise at.fault(f"an ActionError or nothing for {shown(action)}", repr(error), fix) from error
    at.demand(rules.dump(state) == before, f"the state to stay as it was, whatever {shown(action)} does", "a changed one",
              "return a new state")  # fmt: skip


def _mutated(value: Any, chance: random.Random) -> Any:
    """Returns an action with one of its values replaced, one of its keys dropped, or an item repeated."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        rest = {name: item for name, item in value.items() if name != key}
        return rest if chance.random() < 0.1 else rest | {key: _mutated(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        again = [value[at]] if chance.random() < 0.2 else []
        return [*value[:at], _mutated(value[at], chance), *again, *value[at + 1 :]]
    return chance.choice(_WILD)


CHECKS: Final[tuple[Callable[[Rules[Any], int], None], ...]] = (
    check_purity, check_legality, check_outcome, check_payloads, check_forfeits, check_fold, check_actions,
    check_wild_actions,
)  # fmt: skip
"""Every check of this module that plays one game."""
