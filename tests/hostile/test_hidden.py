"""What the hostile cases about hidden information rest on, where a bot cannot show it: two worlds, refused alike."""

from __future__ import annotations

import random
from typing import Any

import pytest
from kit import Table, tables, walk

from arena.core.errors import ActionError
from arena.core.rules.base import Rules

EACH = 12  # every how many steps of a game refusals are compared


@pytest.mark.quick(6, 6)
@pytest.mark.parametrize("table", [table for table in tables() if table.seats < 4], ids=str)
def test_a_refusal_says_the_same_whatever_is_hidden(table: Table) -> None:
    """§12-1, for errors: an illegal action is refused in the same words in a world that its seat cannot tell apart."""
    rules = table.rules
    chance = random.Random(0)
    steps = list(walk(rules, 0))
    actions = [rules.write_action([step.move]) for step in steps if step.seat is not None]
    refusals = changed = 0
    for step in steps[::EACH]:
        for decision in rules.pending(step.after):
            world = rules.resample(step.after, decision.seat, chance.randrange)
            changed += world != step.after
            for action in actions:
                here = refusal(rules, step.after, decision.seat, action)
                assert here == refusal(rules, world, decision.seat, action)
                refusals += here is not None
    assert refusals
    assert changed or table.name == "gardener", "its deck is drawn card by card: nothing in a state is hidden"


def refusal(rules: Rules[Any], state: Any, seat: int, action: Any) -> str | None:
    """How an action is refused, or None if it is legal."""
    try:
        rules.act(state, seat, rules.read_action(state, seat, action))
    except ActionError as error:
        return f"{type(error).__name__}: {error}"
    return None
