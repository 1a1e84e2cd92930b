"""The laws of how a game goes: pure steps, legal plays, its end, forfeits, views that fold.

What goes on the wire is checked in `messages`, and what is hidden from whom in `secrecy`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from arena.core.errors import ActionError, IllegalAction
from arena.core.rules.base import BoardFormat, Event, Outcome, Rules
from arena.core.rules.numbering import Numbering
from arena.core.testing.walks import Checking, GameFault, Step, always_tried, probing, shown, walk
from arena.core.types import Payload, is_cooperative, sides
from arena.core.wire.messages import MAX_INT

FEW: Final = 2
"""Plays, or other things, that are tried at each step."""
FAILING: Final = 0.02
"""Probability that seats forfeit at each step of a game with forfeits."""
_DISTINCT = 60  # legal plays up to which they are compared with each other


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
        isinstance(game.name, str) and game.name.islower() and len(game.name) <= 64
        and game.name.count(":") <= 1 and all(part.isidentifier() for part in game.name.split(":")),
        "a name of small letters, digits and underscores, FAMILY:GAME in a family", game.name, "rename the game",
    )  # fmt: skip
    demand(
        isinstance(game.seat_counts, range) and len(game.seat_counts) > 0 and game.seat_counts.start >= 1,
        "seat_counts as a range of numbers from 1 on", repr(game.seat_counts), "write range(2, 5) for 2 to 4 players",
    )  # fmt: skip
    demand(len(game.rulesets) > 0, "at least one ruleset", dict(game.rulesets), "name one")
    known = {option.name: option for option in game.option_list}
    for name, ruleset in game.rulesets.items():
        demand(
            {name for name, option in known.items() if not option.later} <= set(ruleset.options) <= set(known),
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
        for step in at.follow(walk(rules, seed, forfeits=FAILING if seed % 2 else 0.0)):
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


def check_numbers(rules: Rules[Any], seed: int) -> None:
    """Checks that plays are numbered and views are numbers, if the game says so: for programs that learn.

    Raises:
        GameFault: A law is broken.
    """
    every = rules.every_play()
    numbering = None if every is None else Numbering(every)
    with probing(rules, "numbers", seed) as at:
        lengths, bounds, made = set(), rules.bounds(), 0
        for step in at.follow(walk(rules, seed, forfeits=FAILING if seed % 2 else 0.0)):
            made += step.seat is not None
            draw, outcome = rules.draw_wanted(step.after), rules.outcome(step.after)
            at.demand(
                made <= bounds.steps and (draw is None or draw.n <= bounds.draws), "plays and draws within bounds",
                shown((made, draw)), "let bounds hold all that can happen",
            )  # fmt: skip
            if outcome is not None:
                least, most = bounds.returns
                at.demand(
                    all(least <= one <= most for one in rules.returns(step.after)), "returns within bounds",
                    shown(rules.returns(step.after)), "let bounds hold all that can happen",
                )  # fmt: skip
            for at.seat in range(rules.seats):
                if numbering is not None:
                    _check_numbered(at, numbering, step.after, at.seat)
                numbers, observed = rules.numbers(rules.view(step.after, at.seat)), rules.observe(step.after, at.seat)
                at.demand(
                    observed == numbers or list(observed or ()) == list(numbers or ()),
                    "observe as numbers of the view", shown(observed), "let it give what numbers gives",
                )  # fmt: skip
                limits = () if bounds.numbers is None else zip(bounds.numbers, numbers or (), strict=True)
                at.demand(
                    all(low <= one <= high for (low, high), one in limits),
                    "numbers within bounds", shown(numbers), "let bounds hold all that can happen",
                )  # fmt: skip
                lengths.add(None if numbers is None else len(numbers))
                fix = "give what is not there a nought"
                at.demand(len(lengths) == 1, "as many numbers in every view", shown(lengths), fix)
                at.demand(
                    all(isinstance(number, int) for number in numbers or ()), "whole numbers", shown(numbers),
                    "leave out what is none",
                )  # fmt: skip


def _check_numbered(at: Checking, numbering: Numbering, state: Any, seat: int) -> None:
    legal = at.rules.legal(state, seat)
    try:
        numbers = numbering.of(at.rules.relative(state, seat))
    except (KeyError, ValueError):
        numbers = []
    plays = [at.rules.absolute(state, seat, numbering.play(number)) for number in numbers]
    at.demand(
        plays == list(legal), "each legal play among those of `every_play`",
        shown(list(map(at.written, legal))), "let a product of `every_play` have the same `make`, and all values",
    )  # fmt: skip


def _check_moment(at: Checking, state: Any) -> None:
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


def _check_legal(at: Checking, state: Any, seat: int, legal: Any, chance: random.Random) -> None:
    rules = at.rules
    owes = any(decision.seat == seat for decision in rules.pending(state))
    at.demand(
        bool(legal) == owes, "legal plays for a seat that owes a decision, and for no other",
        f"{len(legal)} plays for a seat that {'owes one' if owes else 'owes none'}", "let pending and legal agree",
    )  # fmt: skip
    for index in chance.sample(range(len(legal)), min(FEW, len(legal))):
        _check_verdict(at, state, seat, legal[index], legal=True)
    if len(legal) <= _DISTINCT:
        twice = [play for play, times in Counter(map(at.written, legal)).items() if times > 1]
        at.demand(not twice, "each legal play once", shown(twice), "list it once")


def _check_verdict(at: Checking, state: Any, seat: int, play: Any, *, legal: bool) -> None:
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


def _check_products(at: Checking, state: Any, seat: int, chance: random.Random) -> None:
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
            found = any(_made_from(play, product) for product in products)
            fix = "let write_legal name every legal play"
            at.demand(found, f"the legal play {shown(play)} in `write_legal`", shown(products), fix)


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
        margin = rules.margin(rules.seats, rules.options)
        if margin is not None:
            at.demand(margin.most >= 1, "a margin of at least 1", shown(margin.most), "name a lead that can happen")
            _check_numbers(at, rules.amounts(state), "what the margin counts")


def _check_outcome(at: Checking, outcome: Outcome) -> None:
    seats, ranks, scores = at.rules.seats, outcome.ranks, outcome.scores
    at.demand(
        isinstance(ranks, tuple) and len(ranks) == seats
        and all(type(rank) is int and rank == 1 + sum(other < rank for other in ranks) for rank in ranks),
        f"a tuple of {seats} ranks, 1 the best, where equal ranks share and the next one skips as many", shown(ranks),
        "give each seat 1 + the number of seats that are better",
    )  # fmt: skip
    if scores is not None:
        _check_numbers(at, scores, "scores")
    teams = at.rules.teams(seats, at.rules.options)
    if teams is not None:
        at.demand(
            isinstance(teams, tuple) and len(teams) == seats and [*dict.fromkeys(teams)] == [*range(len({*teams}))],
            f"a tuple of {seats} teams, numbered from 0 as they first come", shown(teams), "(0, 1, 0, 1), for example",
        )  # fmt: skip
        at.demand(
            len({*zip(teams, ranks, strict=True)}) == len({*teams}), f"one rank for each of the teams {teams}",
            shown(ranks), "rank a seat by what its team has",
        )  # fmt: skip
        at.demand(
            scores is not None or len({*teams}) > 1, "scores, as all seats are of one team", "None",
            "score how well they did: there is nothing else to compare",
        )  # fmt: skip


def _check_numbers(at: Checking, numbers: object, what: str) -> None:
    whole = isinstance(numbers, tuple) and all(type(one) is int and abs(one) <= MAX_INT for one in numbers)
    right = whole and len(numbers) == at.rules.seats  # type: ignore[arg-type]
    fix = "count in the smallest unit"
    at.demand(right, f"a tuple of {at.rules.seats} whole numbers as {what}", shown(numbers), fix)


def check_forfeits(rules: Rules[Any], seed: int) -> None:
    """Checks that the game ends whoever forfeits whenever somebody is asked, with the guilty ones last.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "forfeits", seed) as at:
        teams = rules.teams(rules.seats, rules.options)
        at.demand(
            not is_cooperative(teams) or rules.forfeit(rules.start(), (0,)) is not None,
            "a state after a forfeit, as all seats are of one team", "None",
            "override forfeit, and score such a game as badly as one can end",
        )  # fmt: skip
        for forfeits in (FAILING, 10 * FAILING, *always_tried(rules.seats)):
            gone: list[int] = []
            after = None
            for step in at.follow(walk(rules, seed, forfeits=forfeits)):
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
                team = sides(teams, rules.seats)
                lost = {team[seat] for seat in gone}
                last_left = max((rank for seat, rank in enumerate(outcome.ranks) if team[seat] not in lost), default=0)
                at.demand(
                    all(outcome.ranks[seat] > last_left for seat in gone),
                    f"seats {gone}, which forfeited, to be ranked behind all others", shown(outcome.ranks),
                    "rank them last, each with its team",
                )  # fmt: skip


def check_fold(rules: Rules[Any], seed: int) -> None:
    """Checks that the events which a seat receives fold to its view, at every step, with forfeits and without.

    Raises:
        GameFault: A law is broken.
    """
    with probing(rules, "fold", seed) as at:
        seats = range(rules.seats)
        for forfeits in (0.0, FAILING, *always_tried(rules.seats)[seed % 3 :: 3]):
            views = [rules.first_view(seat) for seat in seats]
            for at.seat in seats:
                _check_view(at, views[at.seat], rules.view(rules.start(), at.seat))
            _check_public(at, views)
            for step in at.follow(walk(rules, seed, forfeits=forfeits)):
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
                at.seat = None
                _check_public(at, views)
            at.step, at.what = None, ""


def _check_public(at: Checking, views: Sequence[Payload]) -> None:
    """Checks that what everybody knows is the same from every view: so each seat knows it, and it tells nobody more."""
    if type(at.rules).public is Rules.public:  # there is nothing to tell, or nothing is hidden, which others check
        return
    first, *others = [shown(at.rules.public(view)) for view in views]
    for seat, other in enumerate(others, start=1):
        at.demand(
            other == first, f"public to return the same from the views of seats 0 and {seat}, {first}", other,
            "leave out all that only some seats know",
        )  # fmt: skip


def _check_view(at: Checking, folded: Payload, view: Payload) -> None:
    if folded != view:
        keys = [key for key in {**folded, **view} if folded.get(key, ...) != view.get(key, ...)]
        parts = [{key: side[key] for key in keys if key in side} for side in (view, folded)]
        raise at.fault(
            f"the events to fold to the view, with {shown(parts[0])}", shown(parts[1]),
            "send an event for every change of the view, and let fold apply it",
        )  # fmt: skip
