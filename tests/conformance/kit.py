"""The protocol's folder as data: vectors, schemas, and the numbered sentences of the specification."""

from __future__ import annotations

import json
import random
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

from acting import act, first_play

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.rules.base import Event
from arena.core.types import Payload

FOLDER = Path(__file__).parents[2] / "protocol"
DATA: dict[str, Any] = tomllib.loads((FOLDER / "messages.toml").read_text(encoding="utf-8"))
"""The protocol's own tables."""
PROTOCOL = {name: runpy.run_path(str(FOLDER / f"{name}.py")) for name in ("generate", "check_vectors")}
"""The programs of the protocol's folder, as their globals: they are no package, and import nothing of arena."""
SPECIFICATION = (FOLDER / "SPEC.md").read_text(encoding="utf-8")


def load(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def play(
    name: str, seats: int, ruleset: str, seed: int, *, stream: str = "", **overrides: str
) -> tuple[Any, list[Event], list[tuple[str, Payload, list[Payload], Payload]]]:
    """A random game: the rules, its events, and of each decision kind, view, legal plays and an action.

    `stream` is the only one that draws may come from; any, if it is empty.
    """
    rules: Any = make_rules(name, seats, resolve_options(name, ruleset, overrides)[1], default_board(name))
    state, rng, events, decisions = rules.start(), random.Random(seed), [], []
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            assert draw.stream == (stream or draw.stream)
            state = rules.draw(state, rng.randrange(draw.n), events)
            continue
        decision = rng.choice(rules.pending(state))
        legal = rules.write_legal(state, decision.seat)
        plays = rules.legal(state, decision.seat)
        action = rules.write_action([plays[rng.randrange(len(plays))]])
        decisions.append((decision.kind, rules.view(state, decision.seat), legal, action))
        state = act(rules, state, decision.seat, action, events)
    return rules, events, decisions


def play_first(rules: Any) -> None:
    """Plays a game whose every action is the first of everything that is legal."""
    state, rng = rules.start(), random.Random(1)
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, rng.randrange(draw.n))
            continue
        seat = rules.pending(state)[0].seat
        state = act(rules, state, seat, {"plays": [first_play(rules.write_legal(state, seat))]})


def frame(text: str) -> bytes:
    """The bytes that a vector writes as `hex`: parts separated by blanks, `hex*count` for one that repeats."""
    parts = (part.partition("*") for part in text.split())
    return b"".join(bytes.fromhex(unit) * int(count or 1) for unit, _, count in parts)


def vectors(kind: str) -> list[dict[str, Any]]:
    """All vectors of `valid` or `invalid`."""
    return [vector for path in sorted((FOLDER / "vectors" / kind).glob("*.json")) for vector in load(path)["vectors"]]


VALID = vectors("valid")
INVALID = vectors("invalid")
BREACHES = load(FOLDER / "vectors" / "breaches.json")["breaches"]
DIALOGUES = [load(path) for path in sorted((FOLDER / "vectors" / "sessions").glob("*.json"))]


def section(number: str) -> str:
    """The text of a section of the specification, up to the next of the same rank: `8.1`, `10`."""
    rank = "#" * (2 + number.count("."))
    match = re.search(
        rf"^{rank} {re.escape(number)}\.? .*?(?=^#{{2,{len(rank)}}} |\Z)", SPECIFICATION, re.MULTILINE | re.DOTALL
    )
    assert match, f"no section {number}"
    return match[0]


def first_column(table: str) -> list[str]:
    """The codes in the first column of a table."""
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
