"""The schemas of what games put into messages, over real games and against the pages."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from acting import act
from jsonschema import Draft202012Validator
from kit import Table, single_options, tables

from arena.core.rules.base import Event
from tests.conformance.kit import FOLDER, load

GAMES = ("gardener", "samurai")
SCHEMAS = {
    (game, path.stem): load(path) for game in GAMES for path in sorted((FOLDER / "schemas" / game).glob("*.json"))
}
VALIDATORS = {key: Draft202012Validator(schema) for key, schema in SCHEMAS.items()}


def play_validator(game: str, kind: str) -> Draft202012Validator:
    """Of the plays of one kind of decision."""
    schema = SCHEMAS[game, "plays"]
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})


def sent(table: Table, seed: int) -> Iterator[tuple[str, Any]]:
    """What a random game with a forfeit puts into messages: the name of its schema, and the payload."""
    rules, chance = table.rules, random.Random(seed)
    yield "board", rules.board_payload
    state, made = rules.start(), 0
    while rules.outcome(state) is None:
        events: list[Event] = []
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, chance.randrange(draw.n), events)
        else:
            decision = chance.choice(rules.pending(state))
            yield "view", rules.view(state, decision.seat)
            legal = rules.legal(state, decision.seat)
            action = rules.write_action([legal[chance.randrange(len(legal))]])
            for play in action["plays"]:
                yield f"plays:{decision.kind}", play
            state = act(rules, state, decision.seat, action, events)
            made += 1
            if made == 40:
                state = rules.forfeit(state, (rules.seats - 1,), events) or state
        for event in events:
            yield "events", event.data
    for seat in range(rules.seats):
        yield "view", rules.view(state, seat)


@pytest.mark.quick(14, 20)
@pytest.mark.parametrize("table", [*tables(), *single_options()], ids=str)
def test_real_games_fit(table: Table) -> None:
    met: Counter[str] = Counter()
    for name, payload in sent(table, 3):
        what = payload.get("event", name)
        met[what] += 1
        if met[what] > 3 and met[what] % 13:
            continue  # the first ones, and some of those that follow
        kind, _, decision = name.partition(":")
        validator = play_validator(table.name, decision) if decision else VALIDATORS[table.name, kind]
        validator.validate(payload)


@pytest.mark.parametrize("key", SCHEMAS, ids=lambda key: "-".join(key))
def test_a_schema_is_one_and_says_whose_it_is(key: tuple[str, str]) -> None:
    schema = SCHEMAS[key]
    Draft202012Validator.check_schema(schema)
    game, name = key
    assert schema["$id"] == f"urn:arena:protocol:1.0:{game}:{name}"


@pytest.mark.parametrize("game", GAMES)
def test_what_lacks_a_field_or_has_one_more_does_not_fit(game: str) -> None:
    """Each payload that a game sent, damaged: the schema is as strict as the page."""
    table = next(one for one in tables() if one.name == game)
    seen: set[str] = set()
    for name, payload in sent(table, 4):
        kind = payload.get("event", name)
        if kind in seen:
            continue
        seen.add(kind)
        base, _, decision = name.partition(":")
        validator = play_validator(game, decision) if decision else VALIDATORS[game, base]
        assert not validator.is_valid(payload | {"x_more": 1})
        for field in payload:
            less = copy.deepcopy(payload)
            del less[field]
            optional = (kind, field) == ("hand", "tiles")
            assert validator.is_valid(less) == optional, (kind, field)
            assert not validator.is_valid(payload | {field: 0.5})
    assert len(seen) > 10


@pytest.mark.parametrize("game", GAMES)
def test_every_event_and_field_of_the_view_is_on_the_page(game: str) -> None:
    page = (FOLDER / "rules" / f"{game}.md").read_text(encoding="utf-8")
    for event in SCHEMAS[game, "events"]["oneOf"]:
        assert f"| `{event['properties']['event']['const']}` |" in page
    for field in SCHEMAS[game, "view"]["properties"]:
        assert f"| `{field}` |" in page
    for kind in ("hand", "setup", "turn") if game == "samurai" else ("seize", "plant", "score"):
        assert f"#### `{kind}`" in page
        assert kind in SCHEMAS[game, "plays"]["$defs"]
