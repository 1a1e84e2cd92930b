"""The page of a game of the protocol, and random games to compare it with."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from acting import act, first_play

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.rules.base import Event
from arena.core.types import Payload
from tests.conformance.kit import FOLDER

Played = tuple[Any, list[Event], list[tuple[str, Payload, list[Payload], Payload]]]
"""A game: the rules, its events, and of each decision kind, view, legal plays and an action."""


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


class GamePage:
    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (FOLDER / "rules" / f"{name}.md").read_text(encoding="utf-8")
        self.examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", self.text, re.DOTALL)]
        self.events = {code(row[0])[0]: set(code(row[1])) for row in self.table("Events")}
        self.view = [code(row[0])[0] for row in self.table("The view")]
        self.streams = [code(row[0])[0] for row in self.table("Chance")]

    def section(self, heading: str) -> str:
        text = re.split(rf"^#+ {re.escape(heading)}\n", self.text, flags=re.MULTILINE)[1]
        return re.split(r"^#", text, flags=re.MULTILINE)[0]

    def table(self, heading: str) -> list[list[str]]:
        """The cells of the first table below a heading, without its head."""
        rows = re.findall(r"^ *\|(.*)\|$", self.section(heading), re.MULTILINE)
        return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]

    def kinds(self) -> set[str]:
        """The kinds of decisions that the page describes."""
        return set(re.findall(r"^#### `(\w+)`", self.text, re.MULTILINE))

    def play(self, seats: int, ruleset: str, seed: int, **overrides: str) -> Played:
        """Plays a random game; every draw is from a stream that the page names."""
        _, options = resolve_options(self.name, ruleset, overrides)
        rules: Any = make_rules(self.name, seats, options, default_board(self.name))
        state, rng, events, decisions = rules.start(), random.Random(seed), [], []
        while rules.outcome(state) is None:
            if draw := rules.draw_wanted(state):
                assert draw.stream.split("/")[0] in {stream.split("/")[0] for stream in self.streams}
                state = rules.draw(state, rng.randrange(draw.n), events)
                continue
            decision = rng.choice(rules.pending(state))
            legal = rules.write_legal(state, decision.seat)
            plays = rules.legal(state, decision.seat)
            action = rules.write_action([plays[rng.randrange(len(plays))]])
            decisions.append((decision.kind, rules.view(state, decision.seat), legal, action))
            state = act(rules, state, decision.seat, action, events)
        return rules, events, decisions


def play_firsts(rules: Any) -> None:
    """Plays a game in which everybody makes the first play of what is legal: the minimal bot of the specification."""
    state, rng = rules.start(), random.Random(1)
    while rules.outcome(state) is None:
        if draw := rules.draw_wanted(state):
            state = rules.draw(state, rng.randrange(draw.n))
            continue
        seat = rules.pending(state)[0].seat
        state = act(rules, state, seat, {"plays": [first_play(rules.write_legal(state, seat))]})
